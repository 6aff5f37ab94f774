"""Images and queries that show how a texture unit computes: weights, sums, levels, conversions."""
import math
import pathlib
import struct
import sys
from random import Random

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/maxwell_textures"))
from model import Texture, bits, value  # noqa: E402


def ulps(x, k):
    """The float k places above x's."""
    word = bits(x)
    place = word if word < 0x80000000 else 0x80000000 - word
    place += k
    return value(place if place >= 0 else 0x80000000 - place)


class Experiments:
    """As in tests/maxwell_textures/cases.json.gz; of the operation "grad" a query is three coordinates and both gradients."""

    def __init__(self):
        self.images, self.queries, self.cases = {}, {}, []

    def image(self, name, kind, size, format, texels, **more):
        """texels: level -> function of layer, x, y, z that gives the bytes."""
        t = Texture(kind, size, format, **more)
        for layer in range(t.layers * t.faces):
            for number, level in enumerate(t.levels):
                w, h, d = level.size
                for z in range(d):
                    for y in range(h):
                        for x in range(w):
                            at = layer * t.stride + level.offset(x, y, z)
                            t.memory[at:at + t.bytes] = texels(number, layer, x, y, z)
        self.images[name] = t.described()

    def case(self, image, operation, queries, **sampler):
        name = f"{len(self.cases)} {image}"
        self.queries[name] = [list(q) + [0] * (9 - len(q)) for q in queries]
        sampler.setdefault("mag", "linear")
        sampler["min"] = sampler["mag"]
        sampler.setdefault("wrap", "clamp_to_edge")
        sampler["wrap"] = [sampler["wrap"]] * 3
        self.cases.append({"image": image, "sampler": sampler, "operation": operation, "queries": name})


def f32(x):
    return struct.pack("<f", x)


def build():
    e, r = Experiments(), Random("experiments")
    ramp = {"r32_float": lambda v: f32(v), "r16_float": lambda v: struct.pack("<e", v), "r8_unorm": lambda v: bytes([255 * v]),
            "r16_unorm": lambda v: struct.pack("<H", 65535 * v), "r8_snorm": lambda v: bytes([127 * v]), "r16_snorm": lambda v: struct.pack("<h", 32767 * v)}
    # Weights: two texels 0 and 1.
    fine = [0.5 + k / 4096 for k in range(-64, 4096 + 65)]
    ties = [ulps(0.5 + (k + 0.5) / 256, d) for k in range(0, 256, 5) for d in (-3, -2, -1, 0, 1, 2, 3)]
    for format, pack in ramp.items():
        e.image(f"step {format}", "1d", (2, 1, 1), format, lambda l, a, x, y, z, pack=pack: pack(x), normalized=False)
        e.case(f"step {format}", "sample", [[bits(x)] for x in fine + ties])
    for n in (2, 3, 7, 11, 1000, 4096):
        e.image(f"step of {n}", "1d", (n, 1, 1), "r32_float", lambda l, a, x, y, z: f32(x))
        queries = []
        for _ in range(1500):
            i, k = r.randrange(n - 1), r.randrange(257)
            x = (i + 0.5 + (k + r.choice((0, 0.5, r.random()))) / 256) / n
            queries.append([bits(ulps(x, r.randrange(-3, 4)))])
        e.case(f"step of {n}", "sample", queries)
        e.case(f"step of {n}", "sample", queries, wrap="wrap")
        e.case(f"step of {n}", "sample", [[bits(value(q[0]) + r.choice((-3, 1, 5, 100)))] for q in queries], wrap="wrap")
        e.case(f"step of {n}", "sample", [[bits(value(q[0]) + r.choice((-3, 1, 5, 100)))] for q in queries], wrap="mirror")
        # Which texel is nearest: beside the edges.
        edges = [[bits(ulps((r.randrange(n + 1)) / n, r.randrange(-40, 41)))] for _ in range(1500)]
        e.case(f"step of {n}", "sample", edges, mag="point")
        e.case(f"step of {n}", "sample", edges, mag="point", wrap="wrap")
        e.case(f"step of {n}", "sample", [[bits(value(q[0]) + r.choice((-3, 1, 5, 100)))] for q in edges], mag="point", wrap="wrap")
    e.image("raw", "1d", (1000, 1, 1), "r32_float", lambda l, a, x, y, z: f32(x), normalized=False)
    e.case("raw", "sample", [[bits(ulps(float(r.randrange(1001)), r.randrange(-40, 41)))] for _ in range(1000)], mag="point")
    e.case("raw", "sample", [[bits(r.randrange(1001) - 2.0 ** -k)] for k in range(1, 20) for _ in range(20)], mag="point")
    e.case("raw", "sample", [[bits(r.uniform(0, 1000))] for _ in range(1000)])
    # Sums.
    e.image("random 1d", "1d", (64, 1, 1), "rg32_float", lambda *_: f32(r.uniform(-2, 2)) + f32(r.choice((-1, 1)) * 2.0 ** r.uniform(-30, 30)),
            normalized=False)
    e.case("random 1d", "sample", [[bits(r.uniform(0, 64))] for _ in range(2000)])
    e.image("random 2d", "2d", (16, 16, 1), "rg32_float", lambda *_: f32(r.uniform(-2, 2)) + f32(r.choice((-1, 1)) * 2.0 ** r.uniform(-30, 30)),
            normalized=False)
    e.case("random 2d", "sample", [[bits(r.uniform(0, 16)), bits(r.uniform(0, 16))] for _ in range(4000)])
    e.image("random 3d", "3d", (8, 8, 8), "rg32_float", lambda *_: f32(r.uniform(-2, 2)) + f32(r.choice((-1, 1)) * 2.0 ** r.uniform(-30, 30)),
            normalized=False)
    e.case("random 3d", "sample", [[bits(r.uniform(0, 8)) for _ in range(3)] for _ in range(4000)])
    for format, bytes_of in (("rgba8_unorm", 4), ("rgba8_snorm", 4), ("rgba16_unorm", 8), ("rgba16_snorm", 8)):
        e.image(f"random {format}", "2d", (16, 16, 1), format, lambda *_, n=bytes_of: r.randbytes(n), normalized=False)
        e.case(f"random {format}", "sample", [[bits(r.uniform(0, 16)), bits(r.uniform(0, 16))] for _ in range(3000)])
    e.image("random half", "2d", (16, 16, 1), "rg16_float",
            lambda *_: struct.pack("<ee", r.uniform(-2, 2), r.choice((-1, 1)) * 2.0 ** r.uniform(-14, 14)), normalized=False)
    e.case("random half", "sample", [[bits(r.uniform(0, 16)), bits(r.uniform(0, 16))] for _ in range(3000)])
    e.image("srgb", "2d", (16, 16, 1), "rgba8_srgb", lambda l, a, x, y, z: bytes([16 * y + x] * 4))
    squares = [[bits((x + 0.5) / 16), bits((y + 0.5) / 16)] for y in range(16) for x in range(16)]
    e.case("srgb", "sample", squares, mag="point", srgb_allowed=True)
    e.case("srgb", "sample", squares, srgb_allowed=True)
    e.case("srgb", "sample", [[bits(r.random()), bits(r.random())] for _ in range(3000)], srgb_allowed=True)
    # Narrow numbers.
    for format in ("r8_unorm", "r8_snorm"):
        e.image(f"all {format}", "1d", (256, 1, 1), format, lambda l, a, x, y, z: bytes([x]), normalized=False)
        e.case(f"all {format}", "sample", [[bits(x + 0.5)] for x in range(256)], mag="point")
    for format in ("r16_unorm", "r16_snorm", "r16_float"):
        e.image(f"all {format}", "2d", (256, 256, 1), format, lambda l, a, x, y, z: struct.pack("<H", 256 * y + x), normalized=False)
        e.case(f"all {format}", "sample", [[bits(x + 0.5), bits(y + 0.5)] for y in range(0, 256) for x in range(y % 8, 256, 8)], mag="point")
    # Levels of detail: each level holds its number.
    e.image("levels", "2d", (64, 64, 1), "r32_float", lambda l, a, x, y, z: f32(l), levels=7)
    lods = [-1 + k / 1024 for k in range(0, 8 * 1024, 3)] + [ulps(k / 256 + 1 / 512, d) for k in range(0, 1536, 7) for d in (-2, -1, 0, 1, 2)]
    middle = [bits(0.5), bits(0.5), 0, 0]
    for mip in ("linear", "point"):
        e.case("levels", "sample", [[*middle, bits(l)] for l in lods], mip=mip)
        e.case("levels", "sample", [[*middle, bits(l)] for l in lods[::5]], mip=mip, lod_bias=0.3, min_lod=0.21, max_lod=4.77)
        e.case("levels", "sample", [[*middle, bits(l)] for l in lods[::5]], mip=mip, lod_bias=-1.0039, min_lod=1.5, max_lod=3.0)
    e.image("random levels", "2d", (32, 32, 1), "r32_float", lambda *_: f32(r.uniform(-2, 2)), levels=6)
    e.case("random levels", "sample", [[bits(r.random()), bits(r.random()), 0, 0, bits(r.uniform(0, 5))] for _ in range(3000)], mip="linear")
    e.case("random levels", "sample", [[bits(r.random()), bits(r.random()), 0, 0, bits(r.uniform(0, 5))] for _ in range(3000)],
           mip="linear", mag="point")
    # Gradients: x, y, z, then dx and dy.
    e.image("levels 3d", "3d", (64, 32, 16), "r32_float", lambda l, a, x, y, z: f32(l), levels=7)
    e.image("levels cube", "cube", (64, 64, 1), "r32_float", lambda l, a, x, y, z: f32(l), levels=7)
    e.image("levels wide", "2d", (128, 16, 1), "r32_float", lambda l, a, x, y, z: f32(l), levels=8)

    def slope():
        kind = r.random()
        if kind < 0.15:
            return 0.0
        return r.choice((-1, 1)) * 2.0 ** r.uniform(-8, 1)

    for image in ("levels", "levels 3d", "levels wide"):
        queries = []
        for i in range(3000):
            d = [slope() for _ in range(6)]
            if i % 3 == 0:  # along one axis
                keep = r.randrange(6)
                d = [x if k == keep else 0.0 for k, x in enumerate(d)]
            queries.append([bits(0.5)] * 3 + [bits(x) for x in d])
        e.case(image, "grad", queries, mip="linear")
        e.case(image, "grad", queries[::3], mip="point")
    queries = []
    for i in range(3000):
        axis, sign = r.randrange(3), r.choice((-1.0, 1.0))
        c = [r.uniform(-0.9, 0.9) for _ in range(3)]
        c[axis] = sign
        if i % 2:
            scale = 2.0 ** r.uniform(-3, 3)
            c = [x * scale for x in c]
        d = [slope() / 4 for _ in range(6)]
        if i % 3 == 0:
            d[axis] = d[3 + axis] = 0.0
        queries.append([bits(x) for x in c + d])
    e.case("levels cube", "grad", queries, mip="linear")
    strange = [0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, bits(1e20), bits(-1e20), bits(0.25)]
    e.case("levels", "grad", [[bits(0.5)] * 3 + [r.choice(strange) for _ in range(6)] for _ in range(400)], mip="linear")
    e.case("levels", "sample", [[*middle, l] for l in strange + [bits(1e9), bits(-1e9)]], mip="linear")
    # Gathers: which four texels.
    e.image("index", "2d", (8, 8, 1), "r32_float", lambda l, a, x, y, z: f32(8 * y + x))
    g = [[bits(ulps((r.randrange(-8, 24) / 2) / 8, r.randrange(-9, 10))), bits(ulps((r.randrange(-8, 24) / 2) / 8, r.randrange(-9, 10)))] for _ in range(1000)]
    g += [[bits((k + 0.5) / 8 + r.uniform(-1, 1) / 1024), bits((k + 0.5) / 8 + r.uniform(-1, 1) / 1024)] for k in range(8) for _ in range(60)]
    for wrap in ("clamp_to_edge", "wrap", "mirror", "border"):
        e.case("index", "gather0", g, wrap=wrap)
        e.case("index", "sample", g, wrap=wrap)
    # Cubes: each texel has its number; faces, ties, edges.
    e.image("index cube", "cube", (8, 8, 1), "r32_float", lambda l, a, x, y, z: f32(100 * a + 8 * y + x))
    directions = []
    for _ in range(3000):
        kind = r.random()
        c = [r.choice((-1.0, 1.0)) * r.choice((1.0, 0.5, r.random(), 1.0)) for _ in range(3)]
        if kind < 0.3:
            c[r.randrange(3)] = 0.0
        if kind > 0.8:
            c = [r.uniform(-1, 1) for _ in range(3)]
        directions.append([bits(x) for x in c])
    for seamless in (False, True):
        e.case("index cube", "sample", directions, mag="point", seamless=seamless)
        e.case("index cube", "sample", directions, seamless=seamless)
        e.case("index cube", "gather0", directions, seamless=seamless)
    e.image("random cube", "cube", (4, 4, 1), "r32_float", lambda *_: f32(r.uniform(-2, 2)))
    for seamless in (False, True):
        e.case("random cube", "sample", directions, seamless=seamless)
    # Layers and offsets.
    e.image("layers", "2d", (4, 4, 1), "r32_float", lambda l, a, x, y, z: f32(100 * a + 4 * y + x), array=True, layers=5)
    e.case("layers", "sample", [[bits(0.4), bits(0.4), 0, layer] for layer in (0, 1, 4, 5, 6, 0xFFFF, 0x10000, 0x10001, 0x80000000, 0xFFFFFFFF)])
    e.case("layers", "gather0", [[bits(0.4), bits(0.4), 0, layer] for layer in (0, 1, 4, 5, 6, 0xFFFF, 0x10000, 0x10001, 0x80000000, 0xFFFFFFFF)])
    e.case("layers", "nearest", [[1, 2, 0, layer] for layer in (0, 1, 4, 5, 6, 0xFFFF, 0x10000, 0x10001, 0x80000000, 0xFFFFFFFF)])
    for wrap in ("clamp_to_edge", "wrap", "mirror", "border"):
        e.case("index", "nearest", [[x & 0xFFFFFFFF, y & 0xFFFFFFFF] for x in (-9, -1, 0, 3, 7, 8, 9, 20, 1 << 31) for y in (-1, 0, 7, 8)], wrap=wrap)
        q = [[bits(r.uniform(-0.5, 1.5)), bits(r.uniform(-0.5, 1.5)), 0, 0, 0, 0, r.randrange(-8, 8), r.randrange(-8, 8), 0] for _ in range(500)]
        e.case("index", "sample", q, wrap=wrap, mag="point")
        e.case("index", "sample", q, wrap=wrap)
        e.case("index", "gather0", q, wrap=wrap)
    e.case("index", "nearest", [[3, 3, 0, 0, lod & 0xFFFFFFFF] for lod in (0, 1, -1, 5)])
    e.case("levels", "nearest", [[3, 3, 0, 0, lod & 0xFFFFFFFF] for lod in (0, 1, 2, 3, 4, 5, 6, 7, -1)], mip="linear")
    e.image("buffer", "buffer", (40, 1, 1), "r32_float", lambda l, a, x, y, z: f32(x + 1), layout="linear")
    e.case("buffer", "fetch", [[x & 0xFFFFFFFF] for x in (-1, 0, 1, 39, 40, 41, 1 << 31, -40, 1 << 27)], mag="point")
    # Numbers that are none, beside weights of 0.
    strange = [math.inf, -math.inf, math.nan, 1.0, 3e38, -3e38, 1e-40, 0.0]
    e.image("strange", "1d", (8, 1, 1), "r32_float", lambda l, a, x, y, z: f32(strange[x]), normalized=False)
    e.case("strange", "sample", [[bits(k / 8)] for k in range(-4, 72)])
    e.case("strange", "sample", [[bits(k / 8)] for k in range(-4, 72)], mag="point")
    return e
