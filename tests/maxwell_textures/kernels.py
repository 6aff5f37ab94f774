"""Writes kernels.json.gz: what the kernels of tex.sm_50.cubin (compiled from tex.cu) leave in their output.

    python3 kernels.py            # needs numpy; the output is the same bytes every time

The kernels are followed as their source has them, with the model's textures, and as the SASS has what the source leaves open:
tex1D samples 2D at y = 0; tex1Dfetch is a TLD of level 0; texCubemap first multiplies by the reciprocal of the largest coordinate;
the sum goes from left to right, each addition rounded; of what several lanes store in o4, gathers come after samples.

All instructions use one handle, so most of them have other dimensions than its header. What happens then is open; the choice is
that of docs/fidelity.md: the coordinates and the layer that count are those of the header's kind, and a line is a plane of one row.

The file is one JSON object (memory and output are base64):
  images    as in cases.json.gz
  samplers  the fields that are not as in model.SAMPLER
  launches  of tx: image, sampler (its number), x and y (float bits), output: o4, oi and o
  queries   of txq: texture and surface (names of images), width, height
"""
import base64
import gzip
import json
import math
import pathlib
from random import Random

from cases import COLOUR, Suite
from model import F, NAN, SAMPLER, bits, gradient_level, value

HERE = pathlib.Path(__file__).resolve().parent
LANES = 10  # the last quad is not whole
# A bias above 0 comes with equal filters: a level from neighbours may be skipped for images of one level (facts 5.6), and then
# the bias would choose another filter than it does for steady coordinates.
SAMPLERS = [
    {},
    {"wrap": ["wrap"] * 3, "mag": "linear", "min": "linear"},
    {"wrap": ["mirror", "clamp_to_edge", "wrap"], "mag": "linear", "min": "linear", "mip": "linear"},
    {"wrap": ["border"] * 3, "mip": "point", "lod_bias": 0.75, "border": COLOUR},
    {"wrap": ["border", "wrap", "mirror"], "mag": "linear", "min": "linear", "mip": "linear", "border": COLOUR, "srgb_border": [9, 200, 31],
     "srgb_allowed": True, "seamless": True},
    {"wrap": ["clamp", "mirror", "clamp_to_edge"], "mag": "linear", "min": "linear", "force_unnormalized": True},
    {"wrap": ["mirror_once_border", "mirror_once_to_edge", "border"], "min": "linear", "mip": "point", "lod_bias": -0.75, "max_lod": 1.25},
    {"wrap": ["mirror_once_clamp", "mirror", "clamp"], "mag": "linear", "min": "linear", "mip": "linear", "min_lod": 0.625,
     "srgb_allowed": True},
]
STRANGE = [(math.nan, 0.4), (0.7, math.nan), (math.nan, math.nan), (math.inf, 0.3), (-0.6, -math.inf), (0.0, -0.0), (1e9, -3e8),
           (3e38, -2e38), (1e-40, -1e-39), (16777215.0, 0.5), (-1.0, 1.0), (2e-3, 1e-7)]


def images(suite):
    make = suite.image
    make("pitch", "2d", (10, 6, 1), "rgba8_unorm", layout="pitch")
    make("pitch raw", "2d", (10, 6, 1), "r32_float", layout="pitch", normalized=False)
    make("wild", "2d", (8, 8, 1), "r32_float", style="wild")
    make("levels", "2d", (37, 21, 1), "rgba8_unorm", levels=6, block_height=2)
    make("view", "2d", (37, 21, 1), "rgba16_float", levels=6, first_level=1, last_level=3, block_height=1, min_lod=0.5)
    make("integers", "2d", (12, 9, 1), "rgba8_uint", levels=3)
    make("wide", "2d", (6, 5, 1), "rgba32_uint", block_height=1)
    make("srgb", "2d", (16, 16, 1), "rgba8_srgb", levels=2)
    make("2d array", "2d", (9, 6, 1), "r32_float", array=True, layers=3, levels=3, block_height=1)
    make("1d", "1d", (13, 1, 1), "rgba8_snorm")
    make("1d array", "1d", (9, 1, 1), "rg16_snorm", array=True, layers=4, levels=2)
    make("3d", "3d", (7, 6, 5), "rgba8_unorm", levels=3, block_height=1, block_depth=2)
    make("3d raw", "3d", (5, 4, 3), "r32_float", normalized=False, block_depth=1)
    make("cube", "cube", (8, 8, 1), "rgba8_unorm", levels=4, block_height=1)
    make("cube array", "cube", (4, 4, 1), "r32_float", array=True, layers=3)
    make("buffer", "buffer", (21, 1, 1), "r32_float", layout="linear")
    make("short buffer", "buffer", (5, 1, 1), "rgba32_uint", layout="linear")


def add(*words):
    """FADD of bits of floats, from left to right."""
    total, *others = (value(word) for word in words)
    for other in others:
        total = total + other
    return NAN if math.isnan(total) else bits(total)


def of_cube(x, y):
    """What texCubemap(x, y, x) multiplies coordinates with: FMNMX knows no NaN, MUFU.RCP no denormals."""
    largest = max((abs(c) for c in (x, y) if not math.isnan(c)), default=F(math.nan))
    normal = F(2.0 ** -126)
    reciprocal = F(1) / (F(0) if largest < normal else largest)
    return F(0) if reciprocal < normal else reciprocal


def tx(texture, sampler, x, y):
    """Words of o4, oi and o."""
    sampler = {**SAMPLER, **sampler}
    # All lanes have the same coordinates: where the level comes from a quad's differences, these are 0, or no numbers.
    steady = gradient_level(texture, sampler, [F(0)] * 3, [F(0)] * 3)

    def ask(*coords, operation="sample", layer=0, lod=steady):
        words = [c if operation == "fetch" else bits(c) for c in coords]
        middle = 0 if operation == "fetch" else bits(0.5)  # of the only row
        query = {"coords": (words + [middle] * (len(words) == 1) + [0, 0])[:3], "layer": layer, "lod": lod, "reference": 0, "offset": (0, 0, 0)}
        return texture.sample(operation, sampler, query)

    fetched = [ask(i, operation="fetch", lod=0) for i in range(LANES)]
    colour, gathered = ask(x, y), ask(x, y, operation="gather1")
    scale = of_cube(x, y)
    by_gradients = gradient_level(texture, sampler, (x, y, F(0)), (y, x, F(0)))
    line, volume, third = ask(x, F(0)), ask(x, y, x), ask(x, y, lod=bits(2))
    cube, slope = ask(x * scale, y * scale, x * scale), ask(x, y, lod=by_gradients)
    sums = []
    for i in range(LANES):
        layers = ask(x, layer=i), ask(x, y, layer=i)
        sums.append(add(*(texel[0] for texel in (fetched[i], line, colour, volume, third, *layers, cube, slope))))
    return sum([colour] + [gathered] * LANES + fetched, []) + sums


def coordinates(r, texture, sampler):
    """Four inside or not far outside, and four strange ones."""
    raw = not texture.normalized or sampler.get("force_unnormalized", False)
    scale = texture.size[:2] if raw else (1, 1)
    near = [[F(r.uniform(low, high) * n) for n in scale] for low, high in ((0, 1), (0, 1), (-0.2, 1.2), (-2.6, 3.6))]
    return near + [[F(c) for c in pair] for pair in r.sample(STRANGE, 4)]


def main():
    suite, r = Suite(), Random("kernels")
    images(suite)
    launches, queries = [], []
    for name, texture in suite.textures.items():
        for number, sampler in enumerate(SAMPLERS):
            for x, y in coordinates(r, texture, sampler):
                output = b"".join(word.to_bytes(4, "little") for word in tx(texture, sampler, x, y))
                launches.append({"image": name, "sampler": number, "x": bits(x), "y": bits(y), "output": base64.b64encode(output).decode()})
    sizes = {name: texture.levels[texture.first_level].size for name, texture in suite.textures.items()}
    for texture, surface in zip(sizes, [*sizes][1:] + [*sizes][:1]):
        queries.append({"texture": texture, "surface": surface, "width": sizes[texture][0], "height": sizes[surface][1]})
    data = {"images": suite.images, "samplers": SAMPLERS, "launches": launches, "queries": queries}
    packed = gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0)
    (HERE / "kernels.json.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
