#!/usr/bin/env python3
"""Makes the examples' inputs and expected results, and with --compile their cubins.

    python3 examples/make.py              # needs numpy and a C compiler (cc, or $CC)
    python3 examples/make.py --compile    # needs the wheels that tools/nv.py names

Nothing here uses warploom: what has an order of float operations is computed by expected.c, which is compiled for the host
and keeps the kernels' order, so those results are exact; integer results are exact anyhow. The one tolerance is nbody's,
whose reciprocal square root is an approximation on a GPU.
"""
import argparse
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = ("saxpy", "matmul", "reduce", "histogram", "mandelbrot", "nbody", "scan", "stencil", "quicksort", "convolution",
            "bitonic", "fft", "hashtable", "half", "julia", "printf", "surface")
# Those that need more than sm_50.
ARCHITECTURES = {"julia": "sm_53"}


def compile_host():
    """expected.c as a loaded library."""
    folder = tempfile.mkdtemp()
    library = pathlib.Path(folder) / "expected.so"
    cc = os.environ.get("CC", "cc")
    subprocess.check_call([cc, "-O2", "-ffp-contract=off", "-shared", "-fPIC", HERE / "expected.c", "-o", library, "-lm"])
    loaded = ctypes.CDLL(str(library))
    loaded.nbody.restype = ctypes.c_float
    return loaded


def call(function, *arguments):
    """Passes arrays as pointers, ints as int, floats as float, and what ctypes has as it is."""
    converted = []
    for a in arguments:
        if isinstance(a, np.ndarray):
            assert a.flags["C_CONTIGUOUS"]
            converted.append(a.ctypes.data_as(ctypes.c_void_p))
        elif isinstance(a, ctypes.c_double):
            converted.append(a)
        else:
            converted.append(ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int(a))
    return function(*converted)


def save(example, arrays):
    """Writes NAME.npy for each name."""
    for name, array in arrays.items():
        np.save(HERE / example / f"{name}.npy", array)


def saxpy(host):
    n = 10_007
    draw = np.random.default_rng(1)
    x = draw.normal(size=n).astype(np.float32)
    y = draw.normal(size=n).astype(np.float32)
    result = y.copy()
    call(host.saxpy, n, 2.5, x, result)
    save("saxpy", {"x": x, "y": y, "y.expected": result})


def matmul(host):
    m, n, k = 100, 75, 53
    draw = np.random.default_rng(2)
    a = draw.normal(size=(m, k)).astype(np.float32)
    b = draw.normal(size=(k, n)).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    call(host.matmul, a, b, c, m, n, k)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)
    save("matmul", {"a": a, "b": b, "c.expected": c})


def reduce(host):
    n = 20_003
    x = np.random.default_rng(3).normal(scale=1000, size=n).astype(np.float32)
    save("reduce", {"x": x})
    for name, grid, block in (("reduce", 13, 256), ("reduce-odd", 7, 100)):
        partial = np.zeros(grid, np.float32)
        maximum = np.full(1, -(2**31), np.int32)
        call(host.reduce, x, partial, maximum, n, grid, block)
        assert np.isclose(partial.sum(), x.sum(dtype=np.float64), rtol=1e-3) and maximum[0] == np.rint(x).max()
        save("reduce", {f"{name}.partial.expected": partial, f"{name}.maximum.expected": maximum})


def histogram(host):
    n = 100_003
    data = np.clip(np.random.default_rng(4).normal(128, 30, size=n), 0, 255).astype(np.uint8)
    save("histogram", {"data": data, "bins.expected": np.bincount(data, minlength=256).astype(np.uint32)})


def mandelbrot(host):
    for name, w, h, view in (("mandelbrot", 640, 427, (-2.25, -1.0, 0.005, 0.0046875)),
                             ("mandelbrot-odd", 101, 67, (-0.755, 0.05, 0.0003, 0.0003))):
        out = np.zeros((h, w), np.uint16)
        call(host.mandelbrot, out, w, h, *map(float, view), 256)
        save("mandelbrot", {f"{name}.expected": out})


def disc(draw, n, centre, drift, turn):
    """A turning disc of n bodies with a heavy centre: positions (mass 4th) and velocities."""
    radius = 0.9 * np.sqrt(draw.uniform(0.01, 1, n))
    angle = draw.uniform(0, 2 * np.pi, n)
    direction = np.stack([np.cos(angle), np.sin(angle), draw.normal(0, 0.02, n)], 1)
    mass = np.full(n, 0.05 / n)
    radius[0], mass[0] = 0, 1.0
    speed = np.sqrt((1.0 + 0.05 * radius**2 / 0.81) * radius**2 / (radius**2 + 0.0025) ** 1.5)
    position = np.concatenate([direction * radius[:, None] + centre, mass[:, None]], 1)
    tangent = turn * np.stack([-np.sin(angle), np.cos(angle), np.zeros(n)], 1)
    velocity = np.concatenate([tangent * speed[:, None] + drift, np.zeros((n, 1))], 1)
    return position, velocity


def nbody(host):
    """Two galaxies that have just met. The example is the next step."""
    n, w, h, dt, softening2, scale = 2_500, 256, 256, 0.0078125, 0.0025, 56.0
    draw = np.random.default_rng(5)
    left = disc(draw, 1_500, [-1.3, -0.45, 0], [0.5, 0.1, 0], 1)
    right = disc(draw, 1_000, [1.3, 0.45, 0], [-0.75, -0.15, 0], 1)
    position = np.concatenate([left[0], right[0]]).astype(np.float32)
    velocity = np.concatenate([left[1], right[1]]).astype(np.float32)
    margin = 0
    for step in range(1000):
        next_position, next_velocity = np.zeros_like(position), np.zeros_like(velocity)
        image = np.zeros((h, w), np.uint32)
        margin = call(host.nbody, position, velocity, next_position, next_velocity, image, n, dt, softening2, w, h, scale)
        # A pixel must not hang on the rounding of the last bits, so the step shown has every body well inside its pixel.
        if step >= 265 and margin > 1e-4:
            break
        position, velocity = next_position, next_velocity
    print(f"nbody: step {step}, least distance to a pixel's border {margin:.2g}")
    save("nbody", {"position": position, "velocity": velocity, "position.expected": next_position,
                   "velocity.expected": next_velocity, "image.expected": image})


def scan(host):
    n, block = 20_011, 256
    data = np.random.default_rng(6).integers(0, 2**32, n, dtype=np.uint32)
    total = np.cumsum(data, dtype=np.uint32)
    blocks = -(-n // block)
    ends = total[np.minimum(np.arange(1, blocks + 1) * block, n) - 1]
    parts = np.split(data, np.arange(block, n, block))
    save("scan", {
        "data": data,
        "scan.expected": total,
        "scan.prefix.expected": ends,
        "scan-blocks.expected": np.concatenate([np.cumsum(p, dtype=np.uint32) for p in parts]),
        "scan-blocks.sums.expected": np.array([p.sum(dtype=np.uint32) for p in parts], np.uint32),
    })


def printf(_):
    primes = [i for i in range(2, 370) if all(i % d for d in range(2, i))]
    line = "%4d is prime: %s, root %8.4f, %#06x, 2^i mod 64 = %d\n"
    text = "".join(line % (i, "odd" if i & 1 else "even", i**0.5, i, 1 << (i & 63)) for i in primes)
    (HERE / "printf" / "printf.expected.txt").write_text(text)


def stencil(host):
    """Discs and bars with noise."""
    w, h, steps = 128, 96, 12
    y, x = np.mgrid[0:h, 0:w]
    picture = 0.2 + 0.5 * (np.hypot(x - 45, y - 40) < 28) + 0.2 * ((x + y) // 16 % 2) * (x > 80)
    now = np.clip(picture + np.random.default_rng(7).normal(0, 0.05, (h, w)), 0, 1)
    noisy = now
    for _ in range(steps):
        result = np.zeros_like(now)
        call(host.stencil, now, result, w, h, ctypes.c_double(8.0), ctypes.c_double(0.2))
        now = result
    assert np.std((now - picture)[30:50, 35:55]) < 0.3 * np.std((noisy - picture)[30:50, 35:55])
    grey = np.rint(now * 255).astype(np.uint8)
    save("stencil", {"picture": noisy, "picture.expected": now, "grey.expected": grey})


def quicksort(host):
    """Segments of 0 to 40 floats; a few long ones, of which one is in order and one has few different values."""
    draw = np.random.default_rng(8)
    lengths = draw.integers(0, 41, 500)
    lengths[[3, 77, 130]] = 200
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    data = draw.normal(size=starts[-1]).astype(np.float32)
    segments = np.split(data, starts[1:-1])
    segments[77].sort()
    segments[130][:] = np.rint(segments[130]) + 0.0  # no negative zeros
    save("quicksort", {"starts": starts, "data": data,
                       "data.expected": np.concatenate([np.sort(segment) for segment in segments])})


def convolution(host):
    """A low pass of 25 taps over two tones and noise."""
    n, radius = 10_003, 12
    draw = np.random.default_rng(9)
    t = np.arange(n)
    signal = (np.sin(t / 60) + np.sin(t * 2.1) + draw.normal(0, 0.2, n)).astype(np.float32)
    k = np.arange(-radius, radius + 1)
    taps = np.sinc(k / 6) * np.hamming(len(k))
    taps = (taps / taps.sum()).astype(np.float32)
    result = np.zeros_like(signal)
    call(host.convolution, taps, signal, result, n, radius)
    assert np.allclose(result, np.convolve(signal.astype(np.float64), taps[::-1], "same"), atol=1e-5)
    save("convolution", {"taps": taps, "signal": signal, "signal.expected": result})


def bitonic(host):
    rows = np.random.default_rng(10).integers(-(2**31), 2**31, (13, 1_000)).astype(np.int32)
    rows[4] //= 2**28  # many equal ones
    save("bitonic", {"rows": rows, "rows.expected": np.sort(rows, axis=1)})


def fft(host):
    n, rows = 1024, 5
    draw = np.random.default_rng(11)
    x = draw.normal(size=(rows, n)) + 1j * draw.normal(size=(rows, n))
    x[0] = np.cos(np.arange(n) * 2 * np.pi * 37 / n)
    pairs = lambda complexes: np.ascontiguousarray(np.stack([complexes.real, complexes.imag], -1), np.float32)
    roots = pairs(np.exp(-2j * np.pi * np.arange(n // 2) / n))
    reversed_bits = [int(f"{i:010b}"[::-1], 2) for i in range(n)]
    result = np.ascontiguousarray(pairs(x)[:, reversed_bits])
    for row in result:
        call(host.fft, row, roots, n)
    assert np.allclose(result, pairs(np.fft.fft(x)), atol=1e-3)
    save("fft", {"signal": pairs(x), "roots": roots, "spectrum.expected": result})


def hashtable(host):
    """With the greatest key first no key moves again, so plain linear probing gives the table."""
    size = 4096
    draw = np.random.default_rng(12)
    distinct = draw.integers(1, 2**64, 3_000, dtype=np.uint64)
    keys = draw.permutation(np.concatenate([distinct, draw.choice(distinct, 1_003)]))
    wanted = draw.permutation(np.concatenate([draw.choice(distinct, 1_200), draw.integers(1, 2**64, 801, dtype=np.uint64)]))

    def mix(key):
        key = (key ^ key >> 33) * 0xFF51AFD7ED558CCD % 2**64
        key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
        return key ^ key >> 33

    table = np.zeros(size, np.uint64)
    slots = {}
    for key in sorted(map(int, distinct), reverse=True):
        slot = mix(key) % size
        while table[slot]:
            slot = (slot + 1) % size
        table[slot], slots[key] = key, slot
    found = np.array([slots.get(int(key), -1) for key in wanted], np.int32)
    save("hashtable", {"keys": keys, "table.expected": table, "wanted": wanted, "slots.expected": found})


def half(host):
    """A sky with a bright sun and a dark ground, and a mask that goes from one to the other. The sun's light exceeds what a
    half can hold once `gain` has been applied."""
    w, h, gain = 160, 100, 1.5
    y, x = np.mgrid[0:h, 0:w]
    draw = np.random.default_rng(13)
    sky = 0.5 + 60_000 * np.exp(-((x - 120) ** 2 + (y - 25) ** 2) / 60)
    ground = 0.3 * draw.random((h, w)) ** 4 + 1e-7
    mask = 1 / (1 + np.exp(-(y - 60 - 6 * np.sin(x / 15)) / 2))
    halves = [picture.astype(np.float16) for picture in (sky, ground, mask)]
    light, grey = np.zeros((h, w), np.float32), np.zeros((h, w), np.uint8)
    call(host.blend, *(picture.astype(np.float32) for picture in halves), light, grey, w * h, gain)
    with np.errstate(over="ignore"):
        out = light.astype(np.float16)
    assert np.isinf(out).any() and (np.abs(out) < 2**-14).any()
    save("half", {"sky": halves[0], "ground": halves[1], "mask": halves[2], "light.expected": out, "grey.expected": grey})


def julia(host):
    """The rounds of each pixel in halves. Sums and products are rounded from exact values: NumPy's own are, and of a fused operation
    the long doubles hold all places but of sums that are far apart."""
    w, h, zoom, re, im, rounds = 160, 120, 0.0185, -0.78, 0.13, 200
    f, wide = np.float16, np.longdouble

    def fma(a, b, c):
        return (a.astype(wide) * b.astype(wide) + c.astype(wide)).astype(f)

    y, x = np.mgrid[0:h, 0:w]
    zoom, re, im = f(zoom), f(re), f(im)
    zr, zi = (x - w // 2).astype(f) * zoom, (y - h // 2).astype(f) * zoom
    count, going = np.zeros((h, w), np.uint8), np.ones((h, w), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(rounds):
            rr = zr * zr
            inside = fma(zi, zi, rr) <= 4
            assert not (inside & ~going).any(), "a pixel does not come back"
            going = inside
            count += inside
            difference = fma(-zi, zi, rr)
            zi = fma(zr + zr, zi, np.full_like(zi, im))
            zr = difference + re
    assert 0 < going.mean() < 0.5 and count.std() > 20
    save("julia", {"out.expected": count})


def picture(path):
    """Rows of a PNG of red, green and blue in eight bits each, not interlaced: a chunk, its filters undone row by row."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data[24:29] == bytes([8, 2, 0, 0, 0])
    packed, at = b"", 8
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    rows, above = [], np.zeros(3 * width, int)
    for how, *line in lines.tolist():
        row = np.zeros(3 * width, int)
        for i, value in enumerate(line):
            a, b, c = (row[i - 3], above[i], above[i - 3]) if i >= 3 else (0, above[i], 0)
            distances = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
            paeth = (a, b, c)[distances.index(min(distances))]
            row[i] = (value + (0, a, b, (a + b) // 2, paeth)[how]) % 256
        rows.append(row)
        above = row
    return np.array(rows).reshape(height, width, 3)


def surface(host):
    """The picture sharpened, how often each brightness occurs in it, and the picture turned."""
    rgb = picture(HERE / "surface" / "picture.png")
    h, w, _ = rgb.shape
    padded = np.pad(rgb, ((1, 1), (1, 1), (0, 0)), "edge")
    weights = {-1: 1, 0: 2, 1: 1}
    near = sum(weights[dx] * weights[dy] * padded[1 + dy:1 + dy + h, 1 + dx:1 + dx + w] for dx in weights for dy in weights)
    sharp = np.full((h, w, 4), 255, np.uint8)
    sharp[..., :3] = np.clip((32 * rgb - near + 8) >> 4, 0, 255)
    grey = (77 * rgb[..., 0] + 150 * rgb[..., 1] + 29 * rgb[..., 2] + 128) >> 8
    bins = np.bincount(grey.ravel(), minlength=256).astype(np.uint32)
    f = np.float32
    x, y = np.arange(160, dtype=f)[None, :], np.arange(120, dtype=f)[:, None]
    u, v = x * f(0.0078125) + f(-0.625), y * f(0.0078125) + f(-0.5)
    cosine, sine = f(0.86602540), f(0.5)
    texels = np.concatenate([rgb, np.full((h, w, 1), 255)], 2) * 257  # of 16 bits
    # Coordinates are cut to one period and to 21 places, then scaled; a weight is whole 256ths: docs/facts/maxwell-surfaces.md, 5.2
    # and 5.3.
    (i, a), (j, b) = (weighted(c, n) for c, n in ((u * cosine - v * sine, w), (u * sine + v * cosine, h)))
    both = (a * b + 128) >> 8
    corners = ((0, 0, 256 - a - b + both), (0, 1, a - both), (1, 0, b - both), (1, 1, both))
    total = sum(weight * texels[(j + down) % h, (i + right) % w] for down, right, weight in corners)
    turned = np.rint(((total + 128) >> 8).astype(f) / f(65535) * f(255)).astype(np.uint8)
    save("surface", {"sharp.expected": sharp, "bins.expected": bins, "turned.expected": turned})


def weighted(coordinate, n):
    """The first of two of n texels, and the other's weight."""
    place = (np.floor(coordinate.astype(np.float64) * 2 ** 21).astype(np.int64) & 2 ** 21 - 1) * n
    fixed = (place + 2 ** 12 >> 13) - 128
    return fixed >> 8, (fixed & 255)[..., None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("examples", nargs="*", help=f"which ones; all if left out: {' '.join(EXAMPLES)}")
    arguments = parser.parse_args()
    host = compile_host()
    for name in arguments.examples or EXAMPLES:
        if arguments.compile:
            source = HERE / name / f"{name}.cu"
            nv = HERE.parent / "tools" / "nv.py"
            arch = ARCHITECTURES.get(name, "sm_50")
            subprocess.check_call([sys.executable, nv, "compile", "-arch", arch, "-o", source.parent, source])
            subprocess.check_call([sys.executable, nv, "ptx", "-arch", "sm_70", "-o", HERE / "ptx" / name, source])
        globals()[name](host)


if __name__ == "__main__":
    main()
