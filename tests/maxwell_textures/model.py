"""Reference model of texture sampling: what TEX, TLD, TLD4 and TXD return for a header and a sampler.

Written from documents alone and sharing nothing with the translator, so that the two can be compared.
Source: facts/maxwell-surfaces.md ("facts" below), sections 1.4, 2, 3 and 5. Where section 5 leaves something open the
comment says "open", and the choice is that which src/ir/image/sample.rs lists at its beginning. hardware.json.gz has what an H200
gives for many of the cases and for others; hardware.rs compares.

`Texture` is an image with its memory in the real byte layout. `Texture.sample` answers one query. All arithmetic on
coordinates and colours is exact, in Fractions, with the hardware's roundings.
"""
import base64
import gzip
import json
import math
import pathlib
from fractions import Fraction

import numpy as np

F = np.float32
NAN = 0x7FFFFFFF
HUGE = 1 << 62  # infinite coordinates as integers; the fraction is zero
ONE = 1 << 21  # of normalised coordinates
np.seterr(all="ignore")


def bits(value):
    return int(F(value).view(np.uint32))


def value(word):
    return np.uint32(word).view(F)


# ---------------------------------------------------------------------------------------------------- formats
WIDTHS = {"rgba32": (32,) * 4, "rgba16": (16,) * 4, "rg32": (32, 32), "rgba8": (8,) * 4, "bgra8": (8,) * 4,
          "rgb10a2": (10, 10, 10, 2), "rg16": (16, 16), "r32": (32,), "rgba4": (4,) * 4, "r5g6b5": (5, 6, 5),
          "rgb5a1": (5, 5, 5, 1), "rg8": (8, 8), "r16": (16,), "r8": (8,), "rgb9e5": (9, 9, 9, 5), "r11g11b10": (11, 11, 10)}


def unpack(field, width, kind):
    """A component as register bits (facts 5.7)."""
    signed = field - (1 << width) if field >> (width - 1) else field
    if kind == "uint":
        return field
    if kind == "sint":
        return signed & 0xFFFFFFFF
    if kind == "unorm":
        return bits(F(field) / F((1 << width) - 1))
    if kind == "snorm":
        return bits(max(F(signed) / F((1 << (width - 1)) - 1), F(-1)))
    if width == 32:
        return field
    sign, mantissa = (-1.0 if field >> 15 else 1.0, 10) if width == 16 else (1.0, width - 5)
    exponent, fraction = field >> mantissa & 31, field & ((1 << mantissa) - 1)
    assert exponent < 31 or fraction == 0  # NaN patterns of narrow floats are open
    if exponent == 31:
        return bits(sign * math.inf)
    scaled = math.ldexp(fraction, -14 - mantissa) if exponent == 0 else math.ldexp((1 << mantissa) + fraction, exponent - 15 - mantissa)
    return bits(sign * scaled)


def srgb_decode(word):
    """facts 5.7: what an H200 gives for each byte."""
    if not _DECODED:
        with gzip.open(pathlib.Path(__file__).parent / "hardware.json.gz") as file:
            _DECODED.extend(json.load(file)["srgb"])
    return _DECODED[round(float(value(word)) * 255)]


_DECODED = []


# ---------------------------------------------------------------------------------------------------- layout
def gob(x, y):
    """Byte offset in a GOB of 64 bytes by 8 rows (facts 3.1)."""
    return (x & 15) | (y & 1) << 4 | (x >> 4 & 1) << 5 | (y >> 1 & 3) << 6 | (x >> 5 & 1) << 8


def ceil_log2(n):
    return (n - 1).bit_length()


class Level:
    """One level: its size in texels, and where its bytes are (facts 3.2 to 3.5)."""

    def __init__(self, texture, level, start):
        w, h, d = texture.size
        self.size = (max(w >> level, 1), max(h >> level, 1), max(d >> level, 1))
        self.start, self.texture = start, texture
        row_bytes = self.size[0] * texture.bytes
        if texture.layout == "block_linear":
            self.bh = min(texture.block_height, ceil_log2(-(-self.size[1] // 8)))
            self.bd = min(texture.block_depth, ceil_log2(self.size[2]))
            self.gx, self.by = -(-row_bytes // 64), -(-self.size[1] // (8 << self.bh))
            self.length = self.gx * self.by * -(-self.size[2] >> self.bd) * (512 << (self.bh + self.bd))
        else:
            self.length = texture.pitch * self.size[1] if texture.layout == "pitch" else row_bytes

    def offset(self, x, y, z):
        xb = x * self.texture.bytes
        if self.texture.layout != "block_linear":
            return self.start + y * self.texture.pitch + xb
        block = ((z >> self.bd) * self.by + (y >> (3 + self.bh))) * self.gx + (xb >> 6)
        inner = (z & ((1 << self.bd) - 1)) << self.bh | (y >> 3) & ((1 << self.bh) - 1)
        return self.start + block * (512 << (self.bh + self.bd)) + inner * 512 + gob(xb & 63, y & 7)


# ---------------------------------------------------------------------------------------------------- samplers
SAMPLER = {"wrap": ("clamp_to_edge",) * 3, "mag": "point", "min": "point", "mip": "none", "compare": None, "srgb_allowed": False,
           "seamless": False, "lod_bias": 0.0, "min_lod": 0.0, "max_lod": 4095 / 256, "force_unnormalized": False,
           "border": (0, 0, 0, 0), "srgb_border": (0, 0, 0)}
WRAPS = ("wrap", "mirror", "clamp_to_edge", "border", "clamp", "mirror_once_to_edge", "mirror_once_border", "mirror_once_clamp")
COMPARES = {"never": lambda r, t: False, "less": lambda r, t: r < t, "equal": lambda r, t: r == t, "lequal": lambda r, t: r <= t,
            "greater": lambda r, t: r > t, "notequal": lambda r, t: r != t, "gequal": lambda r, t: r >= t, "always": lambda r, t: True}


def finite(x):
    """0 for a NaN and for what is too small to be normal; infinities as a number that no image reaches. Exact."""
    if np.isnan(x) or abs(x) < 2.0 ** -126:
        return Fraction(0)
    return Fraction(HUGE if x > 0 else -HUGE) if np.isinf(x) else Fraction(float(x))


def scaled(x, n, wrap, normal, offset):
    """The coordinate in texels, a Fraction (facts 5.2). Repeated and mirrored images go on beside the first."""
    # 21 bits of fraction, of which infinities have none.
    u = 0 if normal and np.isinf(x) and wrap in ("wrap", "mirror") else math.floor(finite(x) * ONE)
    u = Fraction(u * n if normal else u, ONE) + offset
    if wrap.startswith("mirror_once"):
        u = abs(u)
    if wrap in ("clamp", "mirror_once_clamp"):
        u = min(max(u, Fraction(0)), Fraction(n))
    return u


def around(u):
    """The first of two texels and the weight of the second in 256ths (facts 5.3): the place is rounded, of two to the greater."""
    fixed = math.floor(u * 256 + Fraction(1, 2)) - 128
    return fixed >> 8, fixed & 255


def wrapped(i, n, wrap):
    """Texel number that stands for i, None for the border (facts 5.4)."""
    if wrap == "wrap":
        return i % n
    if wrap == "mirror":
        m = i % (2 * n)
        return m if m < n else 2 * n - 1 - m
    if wrap in ("clamp_to_edge", "mirror_once_to_edge"):
        return min(max(i, 0), n - 1)
    return i if 0 <= i < n else None


# ---------------------------------------------------------------------------------------------------- filters
def share(part, a):
    """A part of a weight, in 256ths, of which there are `a`."""
    return part * a + 128 >> 8


def weights(total, a, b=0, c=0):
    """Of the eight texels of two slices of two rows of two, with x first: 256ths of `total` (facts 5.3)."""
    out = []
    for slice in (total - share(total, c), share(total, c)):
        second = share(slice, a)
        first = slice - second
        below = [first * b + 127 >> 8, share(second, b)]
        out += [first - below[0], second - below[1], *below]
    return out


def magnitude(x):
    return math.frexp(x)[1]


def rounded(total, places):
    """To so many significant places, of two the one farther from 0; no places below those of a normal float."""
    if total == 0:
        return F(0)
    exponent = magnitude(float(abs(total)))
    while Fraction(2) ** exponent <= abs(total):
        exponent += 1
    while Fraction(2) ** (exponent - 1) > abs(total):
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -13) - places if places < 24 else exponent - places)
    result = math.floor(abs(total) / unit + Fraction(1, 2)) * unit
    if result >= (Fraction(2) ** 128 if places == 24 else 65536):
        result = math.inf
    result = F(float(result))
    result = F(0) if result < F(2.0 ** -126) else result
    return -result if total < 0 else result


def summed(quads, places):
    """Sum of weighted floats; each quad of texels has its own exponent, the greatest, and four places more than the result."""
    terms = [(t, w) for quad in quads for t, w in quad if w]
    if any(np.isnan(t) or np.isinf(t) for t, _ in terms):
        total = F(0)
        for t, _ in terms:
            total = total + (t if np.isnan(t) or np.isinf(t) else F(0))
        return total
    quads = [[(float(t), w) for t, w in quad if w and abs(t) >= F(2.0 ** -126)] for quad in quads]
    quads = [(max(magnitude(abs(t)) for t, _ in quad) - places - 4, quad) for quad in quads if quad]
    greatest = max((unit for unit, _ in quads), default=0)
    total = 0
    for unit, quad in quads:
        sum = 0
        for t, w in quad:
            cut = math.floor(abs(Fraction(t)) / Fraction(2) ** unit)
            sum += (cut if t > 0 else -cut) * w
        total += sum >> (greatest - unit)  # the places that the other has not are lost
    return rounded(Fraction(total, 256) * Fraction(2) ** greatest, places)


# ---------------------------------------------------------------------------------------------------- cubes
# face: (m, s, t) of a direction; facts 5.6
PROJECT = [lambda x, y, z: (x, -z, -y), lambda x, y, z: (-x, z, -y), lambda x, y, z: (y, x, z),
           lambda x, y, z: (-y, x, -z), lambda x, y, z: (z, x, -y), lambda x, y, z: (-z, -x, -y)]


def face_of(x, y, z):
    ax, ay, az = abs(x), abs(y), abs(z)
    if az >= ax and az >= ay:  # ties: z, y, x
        return 4 if z >= 0 else 5
    if ay >= ax:
        return 2 if y >= 0 else 3
    return 0 if x >= 0 else 1


def unproject(face, s, t):
    """The point of the cube's surface, |m| = 1."""
    return [(1, -t, -s), (-1, -t, s), (s, 1, t), (s, -1, -t), (s, -t, 1), (-s, -t, -1)][face]


def edge_points(face, i, j, n):
    """Middles of the sides of a texel, times n, that lie on the cube's edges; by how far i and j go to cross there."""
    s, t = 2 * i + 1 - n, 2 * j + 1 - n
    for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if not (0 <= i + di < n and 0 <= j + dj < n):
            m, a, b = n, s + di, t + dj
            unit = unproject(face, a / m, b / m)
            yield (di, dj), tuple(round(c * n) for c in unit)


_EDGES = {}


def across(face, i, j, n):
    """The texel beyond one edge: the one of another face with the middle of a side in the same point."""
    if n not in _EDGES:
        table = {}
        for f in range(6):
            for k in range(n):
                for b in {(0, k), (n - 1, k), (k, 0), (k, n - 1)}:
                    for _, point in edge_points(f, *b, n):
                        table.setdefault(point, set()).add((f, *b))
        _EDGES[n] = table
    ci, cj = min(max(i, 0), n - 1), min(max(j, 0), n - 1)
    point = next(p for step, p in edge_points(face, ci, cj, n) if step == (i - ci, j - cj))
    (found,) = _EDGES[n][point] - {(face, ci, cj)} if n > 1 else {t for t in _EDGES[n][point] if t[0] != face}
    return found


# ---------------------------------------------------------------------------------------------------- textures
class Texture:
    """kind: buffer, 1d, 2d, 3d, cube. size in texels of level 0. layers: of arrays; of cubes the number of cubes."""

    def __init__(self, kind, size, format, array=False, layers=1, levels=1, first_level=0, last_level=None, layout="block_linear",
                 block_height=0, block_depth=0, normalized=True, min_lod=0.0, sources=None):
        name, self.kind_name = format.split("_")
        self.kind, self.size, self.array, self.layers = kind, tuple(size), array, layers
        self.format, self.fields = format, WIDTHS[name]
        self.number = "unorm" if self.kind_name == "srgb" else self.kind_name
        self.srgb = self.kind_name == "srgb"
        self.bytes = sum(self.fields) // 8
        self.first_level, self.last_level = first_level, levels - 1 if last_level is None else last_level
        self.layout, self.block_height, self.block_depth = layout, block_height, block_depth
        self.normalized, self.min_lod = normalized and kind != "buffer", min_lod
        self.pitch = -(-self.size[0] * self.bytes // 32) * 32
        self.integers = self.number in ("uint", "sint")
        self.one = 1 if self.integers else 0x3F800000
        self.axes = {"buffer": 1, "1d": 2, "2d": 2, "3d": 3, "cube": 2}[kind]  # a line is a plane of one row
        self.faces = 6 if kind == "cube" else 1
        # Sources as drivers write them (facts 2): absent components are 0, 0, 0, 1.
        has = {"r": 1, "rg": 2}.get(name.rstrip("0123456789"), 3 if name in ("r5g6b5", "rgb9e5", "r11g11b10") else 4)
        order = "bgra" if name == "bgra8" else "rgba"
        self.sources = sources or order[:has] + "0001"[has:]
        self.levels, start = [], 0
        for level in range(levels):
            self.levels.append(Level(self, level, start))
            start += self.levels[-1].length
        first = self.levels[0]
        block = 512 << (first.bh + first.bd) if layout == "block_linear" else 1
        self.stride = -(-start // block) * block  # facts 3.4
        self.memory = bytearray(self.stride * layers * self.faces)

    def places(self):
        """The offset of every texel."""
        for layer in range(self.layers * self.faces):
            for level in self.levels:
                w, h, d = level.size
                for z in range(d):
                    for y in range(h):
                        for x in range(w):
                            yield layer * self.stride + level.offset(x, y, z)

    def described(self):
        """As cases.json.gz has it."""
        return {
            "kind": self.kind, "array": self.array, "size": self.size, "layers": self.layers, "levels": len(self.levels),
            "first_level": self.first_level, "last_level": self.last_level, "layout": self.layout,
            "block_height": self.block_height, "block_depth": self.block_depth, "pitch": self.pitch, "format": self.format,
            "normalized": self.normalized, "min_lod": self.min_lod, "sources": self.sources,
            "memory": base64.b64encode(bytes(self.memory)).decode()}

    def texel(self, sampler, level, layer, x, y, z):
        """Fetch, unpack, sRGB, swizzle (facts 5.7)."""
        at = layer * self.stride + self.levels[self.first_level + level].offset(x, y, z)
        raw = int.from_bytes(self.memory[at:at + self.bytes], "little")
        out = []
        fields = []
        for width in self.fields:
            fields.append(raw & ((1 << width) - 1))
            raw >>= width
        if self.format == "rgb9e5_float":
            out = [bits(math.ldexp(f, fields[3] - 15 - 9)) for f in fields[:3]]
        else:
            out = [unpack(f, w, self.number) for f, w in zip(fields, self.fields)]
            if self.decodes(sampler):
                alpha = {2: 1, 4: 3}.get(len(self.fields))
                out = [c if i == alpha else srgb_decode(c) for i, c in enumerate(out)]
        named = dict(zip("rgba", out))
        named.update({"0": 0, "1": self.one})
        return [named[s] for s in self.sources]

    def decodes(self, sampler):
        return self.srgb and sampler["srgb_allowed"] and max(self.fields) <= 8

    def as_texel(self, i, word):
        """A border's component as the format can hold it."""
        if self.number not in ("unorm", "snorm"):
            return word
        width = self.fields[i] if i < len(self.fields) else 16
        low, most = (0, (1 << width) - 1) if self.number == "unorm" else (-1, (1 << (width - 1)) - 1)
        c = value(word)
        return bits(F(math.floor(max(low, min(float(c), 1.0)) * most + 0.5)) / F(most)) if c == c else 0

    def compare(self, sampler, reference, texel):
        """ref FUNC texel, of the red after the swizzle; in all components (open)."""
        if sampler["compare"] is None or self.integers:
            return texel
        return [0x3F800000 if COMPARES[sampler["compare"]](reference, value(texel[0])) else 0] * 4

    def looked_up(self, sampler, reference, level, layer, index):
        """A texel by wrapped numbers, or the border in its place."""
        if None not in index:
            found = self.texel(sampler, level, layer, *index)
        else:
            found = [self.as_texel(i, word) for i, word in enumerate(sampler["border"])]
            if self.decodes(sampler):  # sRGB encoded bytes (facts 1.4)
                found[:3] = [srgb_decode(unpack(c, 8, "unorm")) for c in sampler["srgb_border"]]
        return self.compare(sampler, reference, found)

    # ------------------------------------------------------------------------------------------------ operations
    def fetch(self, query, nearest):
        """TLD (facts 5.5): zero for whatever is out of range, or the nearest texel and layer."""
        level = query["lod"] - (1 << 32) if query["lod"] >> 31 else query["lod"]
        if not 0 <= level <= self.last_level - self.first_level:
            return [0] * 4
        size = list(self.levels[self.first_level + level].size)
        offset = query["offset"]
        if self.kind == "cube":
            size[2], offset = 6, (0, 0, 0)
        xyz = [(c + o) & 0xFFFFFFFF for c, o in zip(query["coords"], offset)]
        layer = query["layer"] if self.array else 0
        if nearest:
            xyz = [min(max(c - (c >> 31 << 32), 0), n - 1) for c, n in zip(xyz, size)]
            layer = min(layer, self.layers - 1)
        if any(c >= n for c, n in zip(xyz, size)) or layer >= self.layers:
            return [0] * 4
        if self.kind == "cube":
            layer, xyz = 6 * layer + xyz[2], [xyz[0], xyz[1], 0]
        plain = dict(SAMPLER, srgb_allowed=self.fetch_srgb)
        return self.texel(plain, level, layer, *xyz)

    def sample(self, operation, sampler, query):
        """operation: sample, fetch, nearest (a fetch), gather0 to gather3. query: coords, layer, lod, reference (words) and offset."""
        self.fetch_srgb = sampler["srgb_allowed"]
        if operation in ("fetch", "nearest"):
            return self.fetch(query, operation == "nearest")
        if self.kind == "buffer":  # linear memory is only fetched from (facts 5.5)
            return [0] * 4
        coords = [value(c) for c in query["coords"]]
        offset = query["offset"]
        face = 0
        layer = min(query["layer"], self.layers - 1) if self.array else 0
        if self.kind == "cube":
            x, y, z = (F(0) if np.isnan(c) else c for c in coords)
            face = face_of(x, y, z)
            m, s, t = PROJECT[face](x, y, z)
            coords, offset = [(float(s / m) + 1) / 2, (float(t / m) + 1) / 2, 0.0], (0, 0, 0)  # more places than a float's
        go = (sampler, value(query["reference"]), coords, offset, face, layer)
        if operation.startswith("gather"):
            return self.gather(int(operation[6]), *go)
        return self.sampled(value(query["lod"]), *go)

    def sampled(self, lod, sampler, *go):
        """LOD and mip filter (facts 5.6)."""
        lod = F(0) if np.isnan(lod) else min(max(lod, F(-1000)), F(1000))
        lod = F(np.trunc(lod * F(256)) / F(256)) + F(sampler["lod_bias"])
        lod = min(max(lod, F(sampler["min_lod"])), F(sampler["max_lod"]))
        filter = sampler["min"] if lod > 0 else sampler["mag"]
        if self.integers:
            filter = "point"
        lod = min(max(lod, F(self.min_lod), F(0)), F(self.last_level - self.first_level))
        level, fraction = 0, 0
        if sampler["mip"] == "linear" and not self.integers:
            level, fraction = divmod(math.floor(lod * 256), 256)
        elif sampler["mip"] != "none":
            level = int(np.floor(lod + F(0.5)))
        if filter == "point" and fraction == 0:
            return self.point(level, sampler, *go)
        parts = [(level, 256 - fraction)] + [(level + 1, fraction)] * (fraction > 0)
        if filter == "point":
            quads = [[(self.point(k, sampler, *go), weight)] for k, weight in parts]
        else:
            quads = [quad for k, weight in parts for quad in self.linear(k, weight, sampler, *go)]
        return [self.filtered(sampler, [[(texel[c], weight) for texel, weight in quad] for quad in quads], c) for c in range(4)]

    def filtered(self, sampler, quads, c):
        """Bits of the weighted sum: of normalised integers one of 16 bits, of floats one as precise as the texels (facts 5.3)."""
        quads = [[(value(t), weight) for t, weight in quad] for quad in quads]
        if self.number == "float" or sampler["compare"] is not None:
            places = 24 if max(self.fields) == 32 or sampler["compare"] is not None else 11
            total = summed(quads, places)
            return NAN if np.isnan(total) else bits(total)
        if self.decodes(sampler) and self.sources[c] != {2: "g", 4: "a"}.get(len(self.fields)):
            return bits(summed(quads, 11))
        narrow = self.number == "snorm" and max(self.fields) == 8
        most = 65535 if self.number == "unorm" else 127 if narrow else 32767
        total = sum(round(float(t) * most) * weight for quad in quads for t, weight in quad)
        if narrow:
            return bits(F(math.floor(Fraction(total * 32767, 127 * 256) + Fraction(1, 2))) / F(32767))
        return bits(F(total + 128 >> 8) / F(most))

    def modes(self, sampler):
        """Whether coordinates are normalised, and the wrap modes that hold then (facts 1.4)."""
        normal = self.kind == "cube" or self.normalized and not sampler["force_unnormalized"]
        modes = list(sampler["wrap"])
        if self.kind == "cube" and sampler["seamless"]:
            modes = ["clamp_to_edge"] * 3
        return normal, modes if normal else ["clamp_to_edge" if m in ("wrap", "mirror") else m for m in modes]

    def point(self, level, sampler, reference, coords, offset, face, layer):
        normal, modes = self.modes(sampler)
        size, index = self.levels[self.first_level + level].size, [0, 0, 0]
        for k in range(self.axes):
            i = math.floor(scaled(coords[k], size[k], modes[k], normal, offset[k]))
            if modes[k] in ("clamp", "mirror_once_clamp"):  # the end belongs to the last texel (open; OpenGL's rule)
                i = min(i, size[k] - 1)
            index[k] = wrapped(i, size[k], modes[k])
        return self.looked_up(sampler, reference, level, layer * self.faces + face, index)

    def corners(self, level, sampler, coords, offset):
        """Per axis the two texel numbers before wrapping, and the weight of the second."""
        normal, modes = self.modes(sampler)
        size = self.levels[self.first_level + level].size
        for k in range(self.axes):
            i, a = around(scaled(coords[k], size[k], modes[k], normal, offset[k]))
            outside = modes[k] in ("clamp_to_edge", "mirror_once_to_edge") and not 0 <= i < size[k] - 1
            yield i, i + 1, 0 if outside and not (self.kind == "cube" and sampler["seamless"]) else a

    def neighbours(self, level, sampler, reference, face, layer, ijk, weight):
        """The texel with these numbers before wrapping; across edges if seamless, beyond a corner the three at it (facts 5.6).

        With its share of the weight."""
        size = self.levels[self.first_level + level].size
        _, modes = self.modes(sampler)
        if not (self.kind == "cube" and sampler["seamless"]):
            index = [wrapped(i, n, mode) for i, n, mode in zip(ijk, size, modes)] + [0] * (3 - len(ijk))
            return [(self.looked_up(sampler, reference, level, layer * self.faces + face, index), weight)]
        n, (i, j) = size[0], ijk
        def look(f, x, y):
            return self.looked_up(sampler, reference, level, layer * 6 + f, (x, y, 0))
        in_i, in_j = 0 <= i < n, 0 <= j < n
        if in_i and in_j:
            return [(look(face, i, j), weight)]
        if in_i or in_j:
            return [(look(*across(face, i, j, n)), weight)]
        ci, cj = min(max(i, 0), n - 1), min(max(j, 0), n - 1)
        if self.integers:
            return [(look(face, ci, cj), weight)]
        third = share(weight, 85)
        return [(look(face, ci, cj), weight - 2 * third), (look(*across(face, i, cj, n)), third), (look(*across(face, ci, j, n)), third)]

    def linear(self, level, total, sampler, reference, coords, offset, face, layer):
        """Quads of texels and their weights, which are 256ths of `total`; of volumes two (facts 5.3)."""
        spans = [*self.corners(level, sampler, coords, offset)]
        fractions = [a for _, _, a in spans]
        spans += [(0, 0, 0)] * (3 - self.axes)
        shares = iter(weights(total, *fractions))
        quads = []
        for z in spans[2][:2] if self.axes == 3 else (0,):
            quad = []
            for y in spans[1][:2]:
                for x in spans[0][:2]:
                    ijk, weight = (x, y, z)[:self.axes], next(shares)
                    quad += self.neighbours(level, sampler, reference, face, layer, ijk, weight) if weight else []
            quads.append(quad)
        return quads

    def gather(self, component, sampler, reference, coords, offset, face, layer):
        """(i, j+1), (i+1, j+1), (i+1, j), (i, j) of the first level, through the filter (facts 5.6)."""
        normal, modes = self.modes(sampler)
        spans = list(self.corners(0, sampler, coords, offset))
        z = ()
        if self.axes == 3:
            n = self.levels[self.first_level].size[2]
            i = math.floor(scaled(coords[2], n, modes[2], normal, offset[2]))
            z = (min(i, n - 1) if modes[2] in ("clamp", "mirror_once_clamp") else i,)
        result = []
        for right, down in ((0, 1), (1, 1), (1, 0), (0, 0)):
            ij = (spans[0][right], spans[1][down])
            found = [(texel[component], weight) for texel, weight in self.neighbours(0, sampler, reference, face, layer, ij + z, 256)]
            result.append(found[0][0] if self.integers else self.filtered(sampler, [found], component))
        return result


def gradient_level(texture, sampler, dx, dy):
    """log2 of the longer gradient in texels, whose length is about that (facts 5.6); of cubes with m = 1 (open)."""
    size = texture.levels[texture.first_level].size
    scale = size if texture.normalized and not sampler["force_unnormalized"] else (1, 1, 1)
    axes = texture.axes
    if texture.kind == "cube":
        axes, scale = 3, (size[0] / 2,) * 3
    lengths = []
    for d in (dx, dy):
        least, middle, most = sorted([abs(0.0 if math.isnan(g) else float(g) * n) for g, n in zip(d[:axes], scale)] + [0.0] * (3 - axes))
        lengths.append(most + 11 / 32 * middle + least / 4)
    longest = max(lengths)
    return bits(math.log2(longest) if longest else -math.inf) if longest < math.inf else bits(math.inf)
