#!/usr/bin/env python3
"""Makes the manifests, inputs and expected results of the examples for AMD GFX9, and with --compile their code objects.

    python3 examples/gfx9/make.py              # needs numpy
    python3 examples/gfx9/make.py --compile    # needs clang-19, lld-19, llvm-19 and rocm-device-libs of Debian or apt.llvm.org
    python3 examples/gfx9/make.py --source FILE --output FOLDER     # compiles one CUDA, HIP or OpenCL source only

The CUDA sources of the examples next door are compiled as they are, by way of include/cuda.h; inputs and expected results are
those of next door. The other kernels are for what is special to GFX9. Their results are computed here, by NumPy or Python.
"""
import argparse
import fractions
import pathlib
import re
import struct
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
# Examples of next door. `half` is a name of clang's; printf and its buffer are a matter of the runtime's.
SHARED = ("saxpy", "matmul", "reduce", "histogram", "mandelbrot", "nbody", "scan", "stencil", "quicksort", "convolution",
          "bitonic", "fft", "hashtable", "half")
OWN = ("tree", "subgroup", "spmv", "insertion", "table", "packed", "mix64", "atomics", "pointers", "printf")
FLAGS = ["-O2", "-ffp-contract=off", "-mcode-object-version=5"]


def compile_kernel(name):
    """NAME/NAME.gfx900.hsaco from the CUDA, HIP or OpenCL source."""
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    sources = (folder / f"{name}.cl", folder / f"{name}.hip", HERE.parent / name / f"{name}.cu")
    compile_source(next(source for source in sources if source.exists()), folder)


def compile_source(source, folder):
    """FOLDER/NAME.gfx900.hsaco from NAME.cu, NAME.hip or NAME.cl."""
    output = folder / f"{source.stem}.gfx900.hsaco"
    if source.suffix == ".cl":
        command = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx900",
                   f"--rocm-device-lib-path={BITCODE}", source]
    else:
        command = ["clang-19", "-x", "hip", "--offload-arch=gfx900", "-nogpuinc", "-nogpulib", "--cuda-device-only",
                   "--no-gpu-bundle-output", f"-I{HERE / 'include'}", "-include", "cuda.h", source]
    if source.suffix == ".cl" and "printf(" in source.read_text():
        command = with_printf(command, output.with_suffix(".bc"))
    subprocess.check_call([*command, *FLAGS, "-o", output])
    output.with_suffix(".bc").unlink(missing_ok=True)
    output.chmod(0o644)


def with_printf(command, bitcode):
    """Debian's device libraries define a printf that does nothing: calls are lowered before these are linked."""
    subprocess.check_call([*command, *FLAGS, "-nogpulib", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o", bitcode])
    subprocess.check_call(["opt-19", "-passes=amdgpu-printf-runtime-binding", bitcode, "-o", bitcode])
    libraries = ["opencl", "ocml", "ockl", "oclc_isa_version_900", "oclc_abi_version_500", "oclc_wavefrontsize64_on",
                 "oclc_finite_only_off", "oclc_unsafe_math_off", "oclc_daz_opt_off", "oclc_correctly_rounded_sqrt_on"]
    links = [word for name in libraries for word in
             ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"{BITCODE}/{name}.bc")]
    return ["clang-19", "-x", "ir", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx900", "-nogpulib", bitcode, *links]


def shared(name):
    """Manifests of next door, for the other binary. A frame of quicksort's is larger here."""
    for manifest in sorted((HERE.parent / name).glob("*.toml")):
        text = re.sub(r"sm_50\.cubin", "gfx900.hsaco", manifest.read_text())
        text = re.sub(r'"([^"]+\.(npy|txt))"', rf'"../../{name}/\1"', text)
        text = text.replace("stack_bytes = 2048", "stack_bytes = 4096").replace("takes 24 bytes", "takes 32 bytes")
        (HERE / name).mkdir(exist_ok=True)
        (HERE / name / manifest.name).write_text(text)


def launch(name, comment, entry, grid, block, args, buffers, variant=None):
    """Writes a manifest and its arrays. `args` are lines of TOML; a buffer is an input array, or a pair of one (or the
    number of zero bytes) and the expected array."""
    folder = HERE / name
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += ["[kernel]", f'binary = "{name}.gfx900.hsaco"', f'entry = "{entry}"', "[launch]", f"grid = {grid}",
              f"block = {block}"]
    for arg in args:
        lines += ["[[arg]]", f'buffer = "{arg}"' if arg in buffers else arg]
    prefix = f"{variant}." if variant else ""
    for buffer, content in buffers.items():
        initial, expected = content if isinstance(content, tuple) else (content, None)
        lines += [f"[buffer.{buffer}]"]
        if isinstance(initial, int):
            lines += [f"zeros = {initial}"]
        else:
            np.save(folder / f"{buffer}.npy", initial)
            lines += [f'file = "{buffer}.npy"']
        if expected is not None:
            common = folder / f"{buffer}.expected.npy"
            same = variant and common.exists() and np.array_equal(np.load(common), expected)
            path = common if same else folder / f"{prefix}{buffer}.expected.npy"
            np.save(path, expected)
            lines += [f'expect = "{path.name}"']
    (folder / f"{name}{'-' + variant if variant else ''}.toml").write_text("\n".join(lines) + "\n")


def tree():
    n = 9_001
    data = np.random.default_rng(20).integers(0, 2**32, n, dtype=np.uint32)
    for variant, grid, block in ((None, 5, 256), ("odd", 9, 77)):
        owner = np.arange(n) // block % grid
        sums = np.array([data[owner == g].sum(dtype=np.uint32) for g in range(grid)], np.uint32)
        high = np.array([data[owner == g].max() for g in range(grid)], np.uint32)
        launch("tree", f"{grid} sums and maxima of {n} numbers, each by a tree of {block} lanes in LDS that the launch provides.",
               "tree", [grid, 1, 1], [block, 1, 1],
               ["in", "sums", f"u32 = {n}", f"local = {4 * block}", f"local = {4 * block}", "high"],
               {"in": data, "sums": (4 * grid, sums), "high": (4 * grid, high)}, variant)


def subgroup():
    def collective(x, block):
        out = np.zeros((len(x), 8), np.int32)
        for first in range(0, len(x), block):
            for wave in range(0, block, 64):
                at = slice(first + wave, first + min(wave + 64, block))
                v = x[at]
                sums = np.cumsum(v, dtype=np.int32)
                out[at] = np.stack([
                    np.full_like(v, sums[-1]), np.full_like(v, v.max()), sums, sums - v, np.full_like(v, v[5]),
                    np.full_like(v, (v > -900).all() * 2 + (v > 900).any()), np.arange(len(v)) + wave,
                    np.full_like(v, len(v))], 1)
        return out

    for variant, grid, block in ((None, 3, 256), ("odd", 4, 100)):
        x = np.random.default_rng(21).integers(-1000, 1000, grid * block).astype(np.int32)
        x[:70] = np.abs(x[:70]) % 900
        name = "in" if variant is None else "in_odd"
        launch("subgroup", f"Reductions, scans, votes and broadcasts within waves; workgroups of {block} items.",
               "collective", [grid, 1, 1], [block, 1, 1], [name, "out"],
               {name: x, "out": (32 * len(x), collective(x, block))}, variant)

    x = np.random.default_rng(22).integers(0, 2**32, 3 * 128, dtype=np.uint32)
    lane = np.arange(64)
    rows = []
    for v in x.reshape(-1, 64):
        previous = np.where(lane % 16 == 0, 777, np.roll(v, 1))
        row_end = v[np.maximum(lane // 16 * 16 - 1, 0)]
        even = sum(1 << int(i) for i in lane[v % 2 == 0])
        rows.append(np.stack([
            v[lane * 5 & 63], v[63 - lane], v[lane ^ 1], v[lane ^ 3], previous, v[lane ^ 3], v[lane ^ 15],
            np.where(lane // 16 % 2 == 1, row_end, 5), np.full(64, v[37]), np.where(lane & 1, v[1], 1),
            np.full(64, even & 0xFFFFFFFF), np.full(64, (even >> 32) + bin(even).count("1") & 0xFFFFFFFF)], 1))
    launch("subgroup", "Permutations of whole waves: ds_permute, ds_swizzle, DPP, readlane, a ballot.", "permute", [3, 1, 1],
           [128, 1, 1], ["permuted", "out"], {"permuted": x, "out": (48 * len(x), np.concatenate(rows).astype(np.uint32))},
           "permute")


def fma32(a, b, c):
    """One rounding to single precision."""
    exact = fractions.Fraction(float(a)) * fractions.Fraction(float(b)) + fractions.Fraction(float(c))
    near = np.float32(float(exact))
    # float() rounds to double first: among the neighbours the nearest to the exact value is right.
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    distance = [abs(fractions.Fraction(float(x)) - exact) for x in around]
    best = min(distance)
    ties = [x for x, d in zip(around, distance) if d == best]
    return next((x for x in ties if x.view(np.uint32) % 2 == 0), ties[0])


def spmv():
    rows = 1_003
    draw = np.random.default_rng(23)
    lengths = draw.integers(0, 12, rows)
    lengths[[5, 500]] = 150
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    columns = draw.integers(0, rows, starts[-1]).astype(np.uint32)
    values = draw.normal(size=starts[-1]).astype(np.float32)
    x = draw.normal(size=rows).astype(np.float32)
    y = np.zeros(rows, np.float32)
    for row in range(rows):
        for k in range(starts[row], starts[row + 1]):
            y[row] = fma32(values[k], x[columns[k]], y[row])
    buffers = {"starts": starts, "columns": columns, "values": values, "x": x, "y": (4 * rows, y)}
    for variant, grid, block in ((None, 4, 256), ("odd", 17, 60)):
        launch("spmv", f"{rows} rows of 0 to 150 numbers, {block} to a workgroup.", "spmv", [grid, 1, 1], [block, 1, 1],
               ["starts", "columns", "values", "x", "y", f"u32 = {rows}"], buffers, variant)


def insertion():
    items = 301
    data = np.random.default_rng(24).integers(-(2**31), 2**31, (items, 48)).astype(np.int32)
    data[7] //= 2**29
    data[8].sort()
    for variant, grid, block in ((None, 5, 64), ("odd", 8, 40)):
        launch("insertion", f"{items} items sort 48 numbers each in scratch memory.", "insertion", [grid, 1, 1], [block, 1, 1],
               ["in", "out", f"u32 = {items}"], {"in": data, "out": (data.nbytes, np.sort(data, axis=1))}, variant)


def table():
    items, count = 1_500, 57
    rows = np.random.default_rng(25).integers(0, 2**32, (count, 4), dtype=np.uint32)
    own = np.array([0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F, 0x165667B1, 0xD3A2646C, 0xFD7046C5, 0xB55A4F09], np.uint32)
    for variant, grid, block in ((None, 6, 256), ("odd", 21, 75)):
        item = np.arange(items, dtype=np.uint32)
        group = item // block
        x = item * own[group & 7]
        for k in range(count):
            r = rows[k]
            x = (x ^ r[0]) * (r[1] | np.uint32(1)) + r[2]
            x ^= x >> (r[3] & np.uint32(15))
            x += rows[(k + group) % count, 0]
        launch("table", f"{items} items go through a table of {count} rows.", "table", [grid, 1, 1], [block, 1, 1],
               ["rows", f"u32 = {count}", "out", f"u32 = {items}"], {"rows": rows, "out": (4 * items, x)}, variant)


def packed():
    n = 777
    draw = np.random.default_rng(26)
    # Products and sums of these are exact in double precision, so that rounding once more gives the fused result.
    a, b, c = (np.float16(draw.uniform(0.06, 15, (n, 2)) * draw.choice([-1, 1], (n, 2))) for _ in range(3))
    wide = [v.astype(np.float64) for v in (a, b, c)]
    fused = (wide[0] * wide[1] + wide[2]).astype(np.float16)
    product = (a.astype(np.float32) * b.astype(np.float32) * np.float32(0.125)).astype(np.float16)
    swapped = np.stack([a[:, 1], -c[:, 0]], 1)
    out = np.stack([a + b, a * b, fused, np.minimum(a, np.maximum(b, c)), swapped, product], 1)
    for variant, grid, block in ((None, 4, 256), ("odd", 12, 65)):
        launch("packed", f"{n} pairs of halves, {block} to a workgroup.", "packed", [grid, 1, 1], [block, 1, 1],
               ["a", "b", "c", "out", f"u32 = {n}"], {"a": a, "b": b, "c": c, "out": (24 * n, out)}, variant)
    x, y = (draw.integers(-(2**15), 2**15, (n, 2)).astype(np.int16) for _ in range(2))
    shorts = np.stack([x + y, x * y - np.array([7, -9], np.int16), np.minimum(x, y) + (np.maximum(x, y) >> 3),
                       x << (y & 15) | np.int16(1)], 1)
    launch("packed", f"{n} pairs of 16-bit integers.", "packed_integers", [4, 1, 1], [200, 1, 1],
           ["x", "y", "out", f"u32 = {n}"], {"x": x, "y": y, "out": (16 * n, shorts)}, "integers")


def mix64():
    n, rounds, divisor = 500, 5, 0x1_2345_6789
    data = np.random.default_rng(27).integers(0, 2**64, n, dtype=np.uint64)
    data[:4] = [0, 1, 2**63, 2**64 - 1]
    full = 2**64 - 1

    def mix(x):
        total = 0
        for _ in range(rounds):
            x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & full
            total = total + (x * 0xC4CEB9FE1A85EC53 >> 64) & full
            signed = x - 2**64 if x >> 63 else x
            x = (x << 27 | x >> 37) + (signed >> (x & 63)) & full
            total ^= (bin(x).count("1") | (64 - x.bit_length()) << 8) * 0x100000001 & full
            x = x - (total // divisor + x % divisor) & full
        return x ^ total

    out = np.array([mix(int(x)) for x in data], np.uint64)
    for variant, grid, block in ((None, 2, 256), ("odd", 10, 51)):
        launch("mix64", f"{n} numbers of 64 bits, {rounds} rounds.", "mix64", [grid, 1, 1], [block, 1, 1],
               ["in", "out", f"u32 = {rounds}", f"u64 = {divisor}", f"u32 = {n}"], {"in": data, "out": (8 * n, out)}, variant)


def atomics():
    n, bins = 2_500, 7
    data = np.random.default_rng(28).integers(-(2**31), 2**31, n).astype(np.int32)
    cells, wide = np.zeros((bins, 8), np.int32), np.zeros((bins, 3), np.uint64)
    start = cells.copy()
    start[:, 3] = -1
    for b in range(bins):
        i = np.arange(b, n, bins)
        x = data[i]
        x64 = x.astype(np.int64)
        xor = lambda v: np.bitwise_xor.reduce(v)
        cells[b] = [x.sum(dtype=np.int32), min(x.min(), 0), x.view(np.uint32).max().view(np.int32),
                    np.bitwise_and.reduce(x | 0xFF), np.bitwise_or.reduce(x & 0xFF00), xor(x), len(x),
                    (x * x).sum(dtype=np.int32)]
        wide[b] = [(x64 * x64).view(np.uint64).sum(dtype=np.uint64), x64.view(np.uint64).max(),
                   xor(x64.view(np.uint64) << np.uint64(32) | i.astype(np.uint64))]
    for variant, grid, block in ((None, 10, 256), ("odd", 28, 90)):
        launch("atomics", f"{n} numbers go into {bins} bins by ten kinds of atomics.", "atomics", [grid, 1, 1], [block, 1, 1],
               ["in", "cells", "wide", f"u32 = {n}"], {"in": data, "cells": (start, cells), "wide": (24 * bins, wide)}, variant)


def pointers():
    n, block = 600, 120
    data = np.random.default_rng(29).integers(0, 2**20, n).astype(np.int32)
    out = np.zeros(n, np.int32)
    for i, x in enumerate(map(int, data)):
        lane = i % block
        there = [(i - lane + (lane + 1) % block) * 7, [i, i + 1, i ^ 5, -i][x & 3], x][x % 3]
        result = [x + there, x * there - 3, (x & ~there) * 3][x % 5 % 3]
        out[i] = np.array(result & 0xFFFFFFFF, np.uint32).view(np.int32)
    launch("pointers", "Functions through a table, and pointers into LDS, scratch and global memory.", "pointers", [5, 1, 1],
           [block, 1, 1], ["in", "out", f"i32 = {n}"], {"in": data, "out": (4 * n, out)})


def printf():
    groups, lanes, count = 5, 70, 333
    signed = lambda value, bits: (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    single = lambda value: struct.unpack("f", struct.pack("f", value))[0]
    out = []
    # A wave prints all lines of a call before those of the next; the lines of 64 lanes come lane by lane.
    for first in range(0, groups * lanes, lanes):
        for wave in range(first, first + lanes, 64):
            items = range(wave, min(wave + 64, first + lanes))
            if wave == first:
                out.append(f"group {first // lanes}: items from {first}\n")
            printing = [item for item in items if item < count and item % 7 == 3]
            for item in printing:
                product = item * -0x123456789
                out.append("%3u: %f %.3e %d %#x %10s\n" % (item, item / 8, item / 8 * 1e10, product, product % (1 << 64),
                                                         "seventh"))
            for item in printing:
                if item % 3:
                    continue
                x, product = item / 8, item * -0x123456789
                floats = ",".join("%5.1f" % single(value) for value in (x, -x, x * x, 0.5))
                chars = ",".join(str(signed(item * k, 8)) for k in range(1, 9))
                longs = ",".join("%x" % (value % (1 << 64)) for value in (product, item))
                out.append(f"{floats}|{item},-1,{1 << item % 31}|{chars}|{longs} {chr(ord('a') + item % 26)}%\n")
    (HERE / "printf" / "printf.expected.txt").write_text("".join(out))
    launch("printf", "5 groups of 70 items, of which every seventh below 333 prints.", "lines", [groups, 1, 1], [lanes, 1, 1],
           [f"u32 = {count}"], {})
    manifest = HERE / "printf" / "printf.toml"
    manifest.write_text(manifest.read_text() + '[printf]\nexpect = "printf.expected.txt"\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("examples", nargs="*", help=f"which ones; all if left out: {' '.join(SHARED + OWN)}")
    arguments = parser.parse_args()
    if arguments.source:
        compile_source(arguments.source, arguments.output)
        return
    np.seterr(over="ignore")
    for name in arguments.examples or SHARED + OWN:
        if arguments.compile:
            compile_kernel(name)
        shared(name) if name in SHARED else globals()[name]()


if __name__ == "__main__":
    main()
