"""Reference model of texture sampling: what TEX, TLD, TLD4 and TXD return for a header and a sampler.

Written from documents alone and sharing nothing with the translator, so that the two can be compared.
Source: facts/maxwell-surfaces.md ("facts" below), sections 1.4, 2, 3 and 5. Where section 5 leaves something open the
comment says "open", and the choice is that which src/ir/image/sample.rs lists at its beginning.

`Texture` is an image with its memory in the real byte layout. `Texture.sample` answers one query. All arithmetic on
coordinates and colours is in numpy float32, one rounding for each operation.
"""
import math

import numpy as np

F = np.float32
NAN = 0x7FFFFFFF
HUGE = 1 << 62  # infinite coordinates as integers; the fraction is zero
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
    """facts 5.7: c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ^ 2.4, of float32 with the power rounded once."""
    c = value(word)
    if c <= F(0.04045):
        return bits(c / F(12.92))
    base = (c + F(0.055)) / F(1.055)
    return bits(F(float(base) ** float(F(2.4))))


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


def whole(x):
    """A float32 integer as a Python integer; infinities as a number that no image reaches."""
    return (HUGE if x > 0 else -HUGE) if np.isinf(x) else int(x)


def scaled(x, n, wrap, normal, offset):
    """The coordinate in texels, and whether it is in a mirrored image (facts 5.2, 5.4)."""
    x, n, offset = F(0) if np.isnan(x) else x, F(n), F(offset)
    flipped = False
    if not normal:
        u = x + offset
    elif wrap in ("wrap", "mirror"):
        low = np.floor(x)
        frac = x - low
        if np.isnan(frac):  # of an infinity: open
            frac, low = F(0), F(0)
        if wrap == "mirror" and np.fmod(low, F(2)) != 0:
            frac, flipped = F(1) - frac, True
        u = frac * n + (-offset if flipped else offset)
    else:
        u = x * n + offset
    if wrap.startswith("mirror_once"):
        u, flipped = np.abs(u), bool(u < 0)
    if wrap in ("clamp", "mirror_once_clamp"):
        u = min(max(u, F(0)), n)
    return u, flipped


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


def eighth_bits(x):
    """round(x * 256), ties to even, as whole part and fraction (facts 5.3)."""
    q = whole(np.rint(x * F(256)))
    return q >> 8, F(q & 255) / F(256)


def lerp(a, t0, t1):
    a = F(a)
    return [(F(1) - a) * p + a * q for p, q in zip(t0, t1)]


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
        self.axes = {"buffer": 1, "1d": 1, "2d": 2, "3d": 3, "cube": 2}[kind]
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
            found = list(sampler["border"])
            if self.decodes(sampler):  # sRGB encoded bytes (facts 1.4)
                found[:3] = [srgb_decode(unpack(c, 8, "unorm")) for c in sampler["srgb_border"]]
        return self.compare(sampler, reference, found)

    # ------------------------------------------------------------------------------------------------ operations
    def fetch(self, query):
        """TLD (facts 5.5): zero for whatever is out of range."""
        level = query["lod"] - (1 << 32) if query["lod"] >> 31 else query["lod"]
        if not 0 <= level <= self.last_level - self.first_level:
            return [0] * 4
        size = list(self.levels[self.first_level + level].size)
        offset = query["offset"]
        if self.kind == "cube":
            size[2], offset = 6, (0, 0, 0)
        xyz = [(c + o) & 0xFFFFFFFF for c, o in zip(query["coords"], offset)]
        layer = query["layer"] if self.array else 0
        if any(c >= n for c, n in zip(xyz, size)) or layer >= self.layers:
            return [0] * 4
        if self.kind == "cube":
            layer, xyz = 6 * layer + xyz[2], [xyz[0], xyz[1], 0]
        plain = dict(SAMPLER, srgb_allowed=self.fetch_srgb)
        return self.texel(plain, level, layer, *xyz)

    def sample(self, operation, sampler, query):
        """operation: sample, fetch, gather0 to gather3. query: coords, layer, lod, reference (words) and offset."""
        self.fetch_srgb = sampler["srgb_allowed"]
        if operation == "fetch":
            return self.fetch(query)
        if self.kind == "buffer":  # linear memory knows no modes; zero outside (facts 5.5)
            sampler = dict(sampler, wrap=("border",) * 3, mag="point", min="point", mip="none", border=(0,) * 4, srgb_border=(0,) * 3)
        coords = [value(c) for c in query["coords"]]
        offset = query["offset"]
        face = 0
        layer = min(query["layer"], self.layers - 1) if self.array else 0
        if self.kind == "cube":
            x, y, z = (F(0) if np.isnan(c) else c for c in coords)
            face = face_of(x, y, z)
            m, s, t = PROJECT[face](x, y, z)
            coords, offset = [(s / m + F(1)) / F(2), (t / m + F(1)) / F(2), F(0)], (0, 0, 0)
        go = (sampler, value(query["reference"]), coords, offset, face, layer)
        if operation.startswith("gather"):
            return self.gather(int(operation[6]), *go)
        return self.sampled(value(query["lod"]), *go)

    def sampled(self, lod, sampler, *go):
        """LOD and mip filter (facts 5.6)."""
        lod = lod + F(sampler["lod_bias"])
        lod = F(0) if np.isnan(lod) else lod
        lod = min(max(lod, F(sampler["min_lod"])), F(sampler["max_lod"]))
        filter = sampler["min"] if lod > 0 else sampler["mag"]
        if self.integers or self.kind == "buffer":
            filter = "point"
        lod = min(max(lod, F(self.min_lod), F(0)), F(self.last_level - self.first_level))
        level, fraction = 0, F(0)
        if sampler["mip"] == "linear" and not self.integers:
            level, fraction = eighth_bits(lod)
        elif sampler["mip"] != "none":
            level = int(np.floor(lod + F(0.5)))
        if filter == "point" and fraction == 0:
            return self.point(level, sampler, *go)
        if filter == "point":
            near, far = ([value(c) for c in self.point(k, sampler, *go)] if k is not None else None for k in (level, level + 1))
        else:
            near = self.linear(level, sampler, *go)
            far = self.linear(level + 1, sampler, *go) if fraction else None
        result = lerp(fraction, near, far) if fraction else near
        return [NAN if np.isnan(c) else bits(c) for c in result]

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
            u, _ = scaled(coords[k], size[k], modes[k], normal, offset[k])
            i = whole(np.floor(u))
            if modes[k] in ("clamp", "mirror_once_clamp"):  # the end belongs to the last texel (open; OpenGL's rule)
                i = min(i, size[k] - 1)
            index[k] = wrapped(i, size[k], modes[k])
        return self.looked_up(sampler, reference, level, layer * self.faces + face, index)

    def corners(self, level, sampler, coords, offset):
        """Per axis the two texel numbers before wrapping, the weight of the second, and whether mirrored."""
        normal, modes = self.modes(sampler)
        size = self.levels[self.first_level + level].size
        for k in range(self.axes):
            u, flipped = scaled(coords[k], size[k], modes[k], normal, offset[k])
            i, a = eighth_bits(u - F(0.5))
            yield i, i + 1, a, flipped

    def neighbour(self, level, sampler, reference, face, layer, ijk, gathered=False):
        """The texel with these numbers before wrapping; across edges if seamless (facts 5.6; corners open)."""
        size = self.levels[self.first_level + level].size
        _, modes = self.modes(sampler)
        if not (self.kind == "cube" and sampler["seamless"]):
            index = [wrapped(i, n, mode) for i, n, mode in zip(ijk, size, modes)] + [0] * (3 - len(ijk))
            return self.looked_up(sampler, reference, level, layer * self.faces + face, index)
        n, (i, j) = size[0], ijk
        def look(f, x, y):
            return self.looked_up(sampler, reference, level, layer * 6 + f, (x, y, 0))
        in_i, in_j = 0 <= i < n, 0 <= j < n
        if in_i and in_j:
            return look(face, i, j)
        if in_i or in_j:
            return look(*across(face, i, j, n))
        ci, cj = min(max(i, 0), n - 1), min(max(j, 0), n - 1)
        if gathered:
            return look(face, ci, cj)
        three = [[value(c) for c in t] for t in (look(face, ci, cj), look(*across(face, i, cj, n)), look(*across(face, ci, j, n)))]
        return [bits((a + b + c) / F(3)) for a, b, c in zip(*three)]

    def linear(self, level, sampler, reference, coords, offset, face, layer):
        """Lerps along x, then y, then z (facts 5.3)."""
        spans = list(self.corners(level, sampler, coords, offset))

        def along(axis, chosen):
            if axis < 0:
                return [value(c) for c in self.neighbour(level, sampler, reference, face, layer, chosen)]
            low, high, a, _ = spans[axis]
            return lerp(a, along(axis - 1, (low, *chosen)), along(axis - 1, (high, *chosen)))
        return along(self.axes - 1, ())

    def gather(self, component, sampler, reference, coords, offset, face, layer):
        """(i, j+1), (i+1, j+1), (i+1, j), (i, j) of the first level; the order follows the unmirrored image (facts 5.6)."""
        normal, modes = self.modes(sampler)
        spans = list(self.corners(0, sampler, coords, offset))
        z = ()
        if self.axes == 3:
            n = self.levels[self.first_level].size[2]
            i = whole(np.floor(scaled(coords[2], n, modes[2], normal, offset[2])[0]))
            z = (min(i, n - 1) if modes[2] in ("clamp", "mirror_once_clamp") else i,)
        pairs = [(high, low) if flipped else (low, high) for low, high, _, flipped in spans[:2]]
        result = []
        for right, down in ((0, 1), (1, 1), (1, 0), (0, 0)):
            ij = (pairs[0][right],) if self.axes == 1 else (pairs[0][right], pairs[1][down])
            result.append(self.neighbour(0, sampler, reference, face, layer, ij + z, gathered=True)[component])
        return result


def gradient_level(texture, sampler, dx, dy):
    """log2 of the longer gradient in texels (facts 5.6); of cubes with m = 1; one that is no number does not count (both open)."""
    size = texture.levels[texture.first_level].size
    scale = size if texture.normalized and not sampler["force_unnormalized"] else (1, 1, 1)
    axes = texture.axes
    if texture.kind == "cube":
        axes, scale = 3, (size[0] / 2,) * 3
    lengths = [math.sqrt(sum((float(g) * n) ** 2 for g, n in zip(d[:axes], scale))) for d in (dx, dy)]
    longest = max((length for length in lengths if not math.isnan(length)), default=math.nan)
    return bits(math.log2(longest) if longest else -math.inf)
