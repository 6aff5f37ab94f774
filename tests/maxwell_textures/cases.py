"""Writes cases.json.gz: golden cases for texture sampling, computed by model.py.

Run it from anywhere; the output is the same bytes every time. `cases.py --summary` also prints counts.

The file is one JSON object (memory is base64, words are unsigned numbers):
  images     name -> kind, array, size [w, h, d], layers, levels, first_level, last_level, layout, block_height, block_depth
             (log2), pitch, format, normalized, min_lod, sources (of red, green, blue, alpha: r, g, b, a, 0, 1), memory
  queries    name -> [x, y, z, layer, lod, reference, offset x, y, z] each; coordinates, lod and reference are float bits, of
             fetches integers
  cases      image, sampler (the fields that are not as in model.SAMPLER), operation, queries, results (four words each)
  gradients  image, sampler, dx and dy (three floats' bits each), lod (bits)
"""
import gzip
import json
import pathlib
import sys
from collections import Counter
from random import Random

import model
from model import COMPARES, SAMPLER, WRAPS, Texture, bits

HERE = pathlib.Path(__file__).parent
COUNT = 24
ONE = 0x3F800000
INFINITY, NAN = 0x7F800000, 0x7FC00000
ODD = (0, 0x80000000, 1, 0x80000001, NAN, 0xFFC00001, INFINITY, INFINITY | 1 << 31, 0x7F7FFFFF, 0xFF7FFFFF, bits(1e9), bits(-1e9),
       bits(16777215.0), bits(-16777215.0), bits(8388608.5), bits(-4194304.25), 0x3F7FFFFF, 0x3F800001, 0xBF7FFFFF, 0xBF800001,
       0x33000000, 0xB3000000, bits(0.5), bits(1.0), bits(-1.0), bits(2.0), bits(1.5), bits(-0.5), bits(3.0))
COLOUR = (bits(0.25), bits(-3.0), bits(100.0), bits(0.625))


class Suite:
    def __init__(self):
        self.textures, self.images, self.queries, self.cases, self.gradients, self.counts = {}, {}, {}, [], [], Counter()

    def image(self, name, *args, style="plain", **kwargs):
        if name in self.textures:
            return name
        r, t = Random("image " + name), Texture(*args, **kwargs)
        t.memory[:] = b"\xa5" * len(t.memory)  # padding, which nothing may read
        for place in t.places():
            t.memory[place:place + t.bytes] = texel(r, t, style)
        self.textures[name] = t
        self.images[name] = t.described()
        return name

    def case(self, group, image, operation, queries, **sampler):
        """One case. `queries` is a style; the same style and shape of image share a list."""
        t = self.textures[image]
        if isinstance(sampler.get("wrap"), str):
            sampler["wrap"] = (sampler["wrap"],) * 3
        raw = not t.normalized or sampler.get("force_unnormalized", False)
        key = f"{queries} {t.kind} {'x'.join(map(str, t.size))}{' array' if t.array else ''}{' raw' if raw else ''} {len(t.levels)} {operation[:6]}"
        if key not in self.queries:
            r = Random(key)
            make = fetch_query if operation in ("fetch", "nearest") else sample_query
            self.queries[key] = [make(r, t, raw, queries, i) for i in range(COUNT)]
        full = dict(SAMPLER, **sampler)
        results = []
        for q in self.queries[key]:
            query = {"coords": q[:3], "layer": q[3], "lod": q[4], "reference": q[5], "offset": q[6:9]}
            results.append(t.sample(operation, full, query))
        self.cases.append({"image": image, "sampler": sampler, "operation": operation, "queries": key, "results": results})
        self.counts[group] += 1


def texel(r, t, style):
    """Random bytes of a texel. No NaN but in r32 of style "wild"."""
    raw, shift = 0, 0
    for width in t.fields:
        field = r.getrandbits(width)
        if t.number == "float" and t.format != "rgb9e5_float":
            if width == 32:
                field = r.choice(ODD) if style == "wild" and r.random() < 0.5 else bits(r.uniform(-2, 2))
                field = bits(r.randrange(9) / 8) if style == "depth" else field
            elif field >> (5 if width == 10 else 6 if width == 11 else 10) & 31 == 31:
                field &= ~(1 << (width - 5 if width < 16 else 10))  # not all ones
        elif r.random() < 0.15:
            field = r.choice((0, 1, (1 << width) - 1, 1 << (width - 1), (1 << width - 1) - 1))
        raw |= (field & ((1 << width) - 1)) << shift
        shift += width
    return raw.to_bytes(t.bytes, "little")


def coordinate(r, n, raw, style, i):
    """Float bits of a coordinate along an axis of n texels."""
    if style == "odd" or i % 8 == 7:
        return r.choice(ODD)
    unit = 1.0 if raw else 1.0 / n
    pick = r.random()
    if pick < 0.25:  # centres and edges of texels
        return bits(r.randrange(-3 * n, 4 * n + 1) / 2 * unit)
    if pick < 0.4:  # where the fraction of eight bits is halfway
        return bits((r.randrange(-n, 2 * n) + 0.5 + (r.randrange(256) + 0.5) / 256) * unit)
    if pick < 0.7:
        return bits(r.uniform(-0.1, 1.1) * n * unit)
    return bits(r.uniform(-2.6, 3.6) * n * unit)


def direction(r, n, style, i):
    """A cube's coordinates, many near edges and corners."""
    if style == "odd" or i % 8 == 7:
        return [r.choice(ODD) for _ in range(3)]
    major, scale, out = r.randrange(3), r.choice((1.0, 1.0, 0.3, 17.0)), [0.0] * 3
    for k in range(3):
        along = r.uniform(-1, 1) if r.random() < 0.5 else r.choice((-1, 1)) * (1 - r.random() / n)
        if r.random() < 0.1:
            along = r.choice((-1.0, 1.0, 0.0))
        out[k] = (r.choice((-1, 1)) if k == major else along) * scale
    return [bits(c) for c in out]


def sample_query(r, t, raw, style, i):
    coords = direction(r, t.size[0], style, i) if t.kind == "cube" else [coordinate(r, t.size[k], raw, style, i) for k in range(3)]
    for k in range(t.axes if t.kind != "cube" else 3, 3):
        coords[k] = r.choice(ODD)  # nobody looks at it
    layer = r.choice((*range(t.layers + 1), t.layers + 5, 0xFFFF))
    span = t.last_level - t.first_level
    lod = bits(r.choice((0.0, 0.5, 1.0, 1.5, r.uniform(-1, span + 1), r.uniform(0, span), r.randrange(256 * span + 1) / 256)))
    if style == "odd" or i % 8 == 6:
        lod = r.choice(ODD)
    reference = bits(r.choice((r.randrange(9) / 8, r.random(), r.uniform(-1, 2)))) if r.random() < 0.9 else r.choice(ODD)
    offset = [r.randrange(-8, 8) for _ in range(3)] if style == "offset" else [0, 0, 0]
    return [*coords, layer, lod, reference, *offset]


def fetch_query(r, t, raw, style, i):
    far = i % 4 == 3
    lod = r.choice((0xFFFFFFFF, 1 << 31, len(t.levels), 256, 15)) if far and r.random() < 0.3 else r.randrange(t.last_level - t.first_level + 1)
    coords = []
    for k in range(3):
        n = 6 if k == 2 and t.kind == "cube" else max(t.size[k] >> (t.first_level + lod if lod < 16 else 0), 1)
        coords.append(r.choice((-1, n, n + 1, -n, 0x7FFFFFFF, 1 << 31, 0)) & 0xFFFFFFFF if far and r.random() < 0.5 else r.randrange(n))
    layer = r.choice((t.layers, 0xFFFF)) if far and r.random() < 0.3 else r.randrange(t.layers)
    offset = [r.randrange(-2, 3) for _ in range(3)] if style == "offset" else [0, 0, 0]
    return [*coords, layer, lod, 0, *offset]


# ---------------------------------------------------------------------------------------------------- the suite
def shapes(suite):
    """Names of images of each shape, all rgba8_unorm or r32_float."""
    make = suite.image
    make("1d", "1d", (13, 1, 1), "rgba8_unorm")
    make("2d", "2d", (11, 7, 1), "rgba8_unorm", block_height=1)
    make("2d float", "2d", (16, 8, 1), "rg32_float", block_height=2)
    make("3d", "3d", (7, 6, 5), "rgba8_unorm", block_height=1, block_depth=2)
    make("1d array", "1d", (9, 1, 1), "rgba8_unorm", array=True, layers=4)
    make("2d array", "2d", (9, 6, 1), "rg16_unorm", array=True, layers=3, block_height=1)
    make("pitch", "2d", (10, 6, 1), "r16_snorm", layout="pitch")
    make("pitch raw", "2d", (10, 6, 1), "r32_float", layout="pitch", normalized=False)
    make("2d raw", "2d", (11, 7, 1), "rgba8_snorm", normalized=False)
    make("1d raw", "1d", (17, 1, 1), "r32_float", normalized=False)
    make("cube", "cube", (5, 5, 1), "rgba8_unorm")
    make("cube power", "cube", (8, 8, 1), "r32_float", block_height=1)
    make("cube one", "cube", (1, 1, 1), "rgba8_unorm")
    make("cube array", "cube", (4, 4, 1), "rgba8_unorm", array=True, layers=3)
    make("cube levels", "cube", (8, 8, 1), "rgba8_unorm", levels=4)
    make("2d levels", "2d", (37, 21, 1), "rgba8_unorm", levels=6, block_height=2)
    make("2d view", "2d", (37, 21, 1), "r16_float", levels=6, first_level=1, last_level=3, block_height=1)
    make("2d clamped", "2d", (16, 16, 1), "rgba8_unorm", levels=5, block_height=1, min_lod=1.375)
    make("1d array levels", "1d", (40, 1, 1), "r32_float", levels=4, array=True, layers=2)
    make("2d array levels", "2d", (20, 12, 1), "r8_unorm", levels=4, array=True, layers=3, block_height=2)
    make("3d levels", "3d", (12, 10, 9), "rg8_snorm", levels=4, block_height=2, block_depth=3)
    make("buffer", "buffer", (50, 1, 1), "rg16_float", layout="linear")
    make("depth", "2d", (8, 9, 1), "r32_float", style="depth")
    make("depth cube", "cube", (4, 4, 1), "r16_unorm", array=True, layers=2)
    make("wild", "2d", (8, 8, 1), "r32_float", style="wild")


FORMATS = [name + "_" + number for name, numbers in (
    ("rgba32", "float uint sint"), ("rgba16", "unorm snorm float uint sint"), ("rg32", "float uint sint"),
    ("rgba8", "unorm snorm uint sint"), ("bgra8", "unorm"), ("rgb10a2", "unorm uint"), ("rg16", "unorm snorm float uint sint"),
    ("r32", "float uint sint"), ("rgba4", "unorm"), ("r5g6b5", "unorm"), ("rgb5a1", "unorm"), ("rg8", "unorm snorm uint sint"),
    ("r16", "unorm snorm float uint sint"), ("r8", "unorm snorm uint sint"), ("rgb9e5", "float"), ("r11g11b10", "float"))
    for number in numbers.split()]


def build():
    suite = Suite()
    shapes(suite)
    case = suite.case
    both = ("point", "linear")

    def filters(filter):
        return {"mag": filter, "min": filter}

    for wrap in WRAPS:
        for filter in both:
            for image in ("1d", "2d", "2d float", "3d", "2d raw", "1d raw", "pitch", "pitch raw"):
                case("wrap", image, "sample", "plain", wrap=wrap, border=COLOUR, **filters(filter))
            for image in ("1d", "2d", "3d", "pitch"):
                case("wrap raw", image, "sample", "plain", wrap=wrap, border=COLOUR, force_unnormalized=True, **filters(filter))
            for image in ("1d", "2d", "3d", "2d raw"):
                case("odd", image, "sample", "odd", wrap=wrap, border=COLOUR, **filters(filter))
            for image in ("1d", "2d", "3d", "2d raw"):
                case("offset", image, "sample", "offset", wrap=wrap, border=COLOUR, **filters(filter))
            for image in ("1d array", "2d array"):
                case("array", image, "sample", "plain", wrap=wrap, border=COLOUR, **filters(filter))
            case("cube", "cube", "sample", "plain", wrap=wrap, border=COLOUR, **filters(filter))
        for k, image in enumerate(("1d", "2d", "3d", "2d raw", "1d array", "2d array", "cube", "pitch raw")):
            case("gather", image, f"gather{(k + WRAPS.index(wrap)) % 4}", "plain", wrap=wrap, border=COLOUR)
        for image in ("1d", "2d", "3d"):
            case("gather", image, "gather1", "offset", wrap=wrap, border=COLOUR)
        mixed = (wrap, WRAPS[(WRAPS.index(wrap) + 3) % 8], WRAPS[(WRAPS.index(wrap) + 6) % 8])
        case("mixed", "3d", "sample", "plain", wrap=mixed, border=COLOUR, mag="linear", min="point")
        case("mixed", "2d", "gather0", "odd", wrap=mixed, border=COLOUR)

    for image in ("cube", "cube power", "cube one", "cube array", "cube levels"):
        for filter in both:
            for style in ("plain", "odd", "edges", "offset"):
                case("seamless", image, "sample", style, seamless=True, mip="linear", **filters(filter))
            case("cube", image, "sample", "edges", wrap="wrap", **filters(filter))
        for component in range(4):
            case("seamless", image, f"gather{component}", "edges", seamless=True)
            case("seamless", image, f"gather{component}", "plain", seamless=True)

    for image in ("2d levels", "2d view", "2d clamped", "1d array levels", "2d array levels", "3d levels", "cube levels"):
        for mip in ("none", "point", "linear"):
            for mag, min in (("point", "linear"), ("linear", "point"), ("linear", "linear"), ("point", "point")):
                case("mip", image, "sample", "plain", wrap="wrap", mip=mip, mag=mag, min=min)
            case("mip", image, "sample", "odd", wrap="mirror", mip=mip, mag="linear", min="linear")
            case("lod", image, "sample", "plain", mip=mip, mag="linear", min="point", lod_bias=0.6796875)
            case("lod", image, "sample", "plain", mip=mip, mag="point", min="linear", lod_bias=-1.25, min_lod=0.3125, max_lod=1.75)
            case("lod", image, "sample", "lod", mip=mip, min="linear", min_lod=2.0, max_lod=1.0)
            case("lod", image, "sample", "lod", mip=mip, min="linear", max_lod=0.0)
        case("gather", image, "gather0", "plain", wrap="border", mip="linear", border=COLOUR)

    for compare in COMPARES:
        for image in ("depth", "depth cube"):
            for filter in both:
                case("compare", image, "sample", "plain", compare=compare, wrap="border", border=COLOUR, **filters(filter))
            case("compare", image, "gather2", "plain", compare=compare, wrap="wrap", seamless=compare in ("less", "equal"))
            case("compare", image, "sample", "edges", compare=compare, mag="linear", min="linear", seamless=True)
        case("compare", "wild", "sample", "plain", compare=compare, wrap="mirror")
        case("compare", "2d array levels", "sample", "plain", compare=compare, mip="linear", mag="linear", min="linear")

    for image in suite.textures.copy():
        for style in ("plain", "offset"):
            case("fetch", image, "fetch", style, compare="less", border=COLOUR)
            case("fetch", image, "nearest", style, compare="less", border=COLOUR)
    for operation in ("sample", "gather3"):
        for filter in both:
            case("buffer", "buffer", operation, "plain", wrap="wrap", mip="linear", border=COLOUR, **filters(filter))
            case("buffer", "buffer", operation, "offset", border=COLOUR, **filters(filter))

    for k, format in enumerate(FORMATS):
        image = suite.image(format, "2d", (9, 5, 1), format, block_height=1, levels=2)
        integers = format.endswith("int")
        border = (7, 0xFFFFFFF9, 1, 0xDEADBEEF) if integers else COLOUR
        for filter in both:
            case("format", image, "sample", "plain", wrap=WRAPS[k % 8], mip="linear", border=border, **filters(filter))
        case("format", image, "sample", "plain", wrap="border", compare="less" if integers else None, border=border, srgb_allowed=True)
        case("format", image, "fetch", "plain")
        case("format", image, f"gather{k % 4}", "plain", wrap="border", border=border)
    for image in ("rgba32_sint", "r8_uint"):
        name = suite.image("cube " + image, "cube", (3, 3, 1), image)
        for operation in ("sample", "gather0"):
            case("seamless", name, operation, "edges", seamless=True, mag="linear", min="linear")

    for format in ("rgba8_srgb", "bgra8_srgb", "rg8_srgb", "r8_srgb"):
        image = suite.image(format, "2d", (16, 16, 1), format, levels=2)
        for allowed in (True, False):
            for filter in both:
                case("srgb", image, "sample", "plain", wrap="border", border=COLOUR, srgb_border=(9, 200, 31), srgb_allowed=allowed,
                     mip="linear", **filters(filter))
            case("srgb", image, "fetch", "plain", srgb_allowed=allowed)
            case("srgb", image, "gather1", "plain", wrap="border", border=COLOUR, srgb_border=(250, 3, 10), srgb_allowed=allowed)

    for sources in ("abgr", "rrr1", "r001", "0g1b", "1111", "gggg"):
        for format in ("rgba8_unorm", "rgba8_uint"):
            image = suite.image(f"{format} {sources}", "2d", (6, 5, 1), format, sources=sources)
            for filter in both:
                case("swizzle", image, "sample", "plain", wrap="border", border=COLOUR, **filters(filter))
            case("swizzle", image, "gather0", "plain", wrap="border", border=COLOUR)
            case("swizzle", image, "sample", "plain", wrap="wrap", compare="gequal", mag="linear", min="linear")
            case("swizzle", image, "fetch", "plain")

    for wrap in ("wrap", "clamp_to_edge", "border"):
        for filter in both:
            case("wild", "wild", "sample", "plain", wrap=wrap, border=(NAN, INFINITY, 0x80000000, 1), **filters(filter))
        case("wild", "wild", "gather0", "plain", wrap=wrap, border=(NAN, INFINITY, 0x80000000, 1))

    r = Random("gradients")
    for image, t in suite.textures.items():
        for force in (False, True):
            for _ in range(4):
                dx, dy = ([bits(r.choice((0.0, r.uniform(-1, 1), r.gauss(0, 1e-3), 1e20))) for _ in range(3)] for _ in range(2))
                words = [[model.value(c) for c in d] for d in (dx, dy)]
                lod = model.gradient_level(t, dict(SAMPLER, force_unnormalized=force), *words)
                suite.gradients.append({"image": image, "sampler": {"force_unnormalized": force}, "dx": dx, "dy": dy, "lod": lod})
    return suite


def main():
    suite = build()
    data = {"images": suite.images, "queries": suite.queries, "cases": suite.cases, "gradients": suite.gradients}
    text = json.dumps(data, separators=(",", ":"))
    with open(HERE / "cases.json.gz", "wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=9, mtime=0) as packed:
        packed.write(text.encode())
    if "--summary" in sys.argv:
        size = (HERE / "cases.json.gz").stat().st_size
        print(f"{len(suite.cases)} cases, {sum(len(c['results']) for c in suite.cases)} results, {len(suite.images)} images, "
              f"{len(suite.gradients)} gradients, {size} bytes")
        print(dict(suite.counts))


if __name__ == "__main__":
    main()
