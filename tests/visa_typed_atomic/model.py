"""Reference model of TYPED_ATOMIC, an instruction of Intel's vISA.

Written from documents alone and sharing nothing with the translator, so that the two can be compared.
Sources, cited as below:
  seed   seeds/intel-typed-atomic.md (Intel's page of the instruction)
  facts  facts/visa-semantics.md, section 7: where the page is silent (which source CMPXCHG compares with, what a NaN does)
"""
import math
import struct

MASK32 = 0xFFFFFFFF

# seed: bits 4..0 of Op, with the spelling of the compiler's text (facts).
OPS = {"add": 0, "sub": 1, "inc": 2, "dec": 3, "min": 4, "max": 5, "xchg": 6, "cmpxchg": 7, "and": 8, "or": 9, "xor": 10,
       "minsint": 11, "maxsint": 12, "predec": 13, "fmax": 16, "fmin": 17, "fcmpwr": 18}
WITHOUT_SRC0 = ("inc", "dec", "predec")
WITH_SRC1 = ("cmpxchg", "fcmpwr")
FLOATS = ("fmax", "fmin", "fcmpwr")

# seed, Notes: which of U, V, R a surface uses, for x, y, z, layer.
AXES = {"1d": "x", "1d_buffer": "x", "1d_array": "xl", "2d": "xy", "2d_array": "xyl", "3d": "xyz"}


class Undefined(Exception):
    """The documents leave the result open."""


class Surface:
    """Texels of 16 or 32 bits, [layer or slice][row][column]. There is one level of detail."""

    def __init__(self, dim, size, format, texels):
        self.dim, self.size, self.format = dim, tuple(size), format
        self.bits = int(format[1:3])
        self.texels = dict(enumerate(texels))

    def place(self, u, v, r, lod):
        """The number of a texel, or None outside of the surface (seed: "Out-of-bound Access")."""
        given = dict(zip(AXES[self.dim], (u, v, r)))
        width, height, depth = self.size
        x, y, z = given["x"], given.get("y", 0), given.get("z", given.get("l", 0))
        if lod != 0 or x >= width or y >= height or z >= depth:
            return None
        return (z * height + y) * width + x


def as_float(bits, width):
    return struct.unpack("<f", struct.pack("<I", bits))[0] if width == 32 else struct.unpack("<e", struct.pack("<H", bits))[0]


def signed(bits, width):
    return bits - (1 << width) if bits >> (width - 1) else bits


def combine(op, width, old, src0, src1):
    """The new value, and what is returned: both of `width` bits."""
    mask = (1 << width) - 1
    old, src0, src1 = old & mask, src0 & mask, src1 & mask
    if op in FLOATS:
        a, b = as_float(old, width), as_float(src0, width)
        if op == "fcmpwr":  # facts: compares with src0, writes src1; -0 equals +0, a NaN equals nothing
            return (src1 if a == b else old), old
        if math.isnan(a) and math.isnan(b) or a == b and old != src0:
            raise Undefined
        if math.isnan(a) or math.isnan(b):  # facts: a NaN loses
            return (src0 if math.isnan(a) else old), old
        wins = b > a if op == "fmax" else b < a
        return (src0 if wins else old), old
    new = {
        "add": lambda: old + src0,
        "sub": lambda: old - src0,
        "inc": lambda: old + 1,
        "dec": lambda: old - 1,
        "predec": lambda: old - 1,
        "min": lambda: min(old, src0),
        "max": lambda: max(old, src0),
        "minsint": lambda: min(signed(old, width), signed(src0, width)),
        "maxsint": lambda: max(signed(old, width), signed(src0, width)),
        "xchg": lambda: src0,
        "cmpxchg": lambda: src0 if old == src1 else old,  # facts: legacy messages compare with src1
        "and": lambda: old & src0,
        "or": lambda: old | src0,
        "xor": lambda: old ^ src0,
    }[op]() & mask
    return new, (new if op == "predec" else old)


def enabled(mask, size, offset, no_mask, predicate):
    """The lanes, from `offset` on, that take part. `predicate`: None, or (bits, combination, inverted) (seed: Exec_size, Pred)."""
    lanes = [bool(no_mask or mask >> (offset + n) & 1) for n in range(size)]
    if predicate is None:
        return lanes
    bits, combination, inverted = predicate
    own = [bool(bits >> (offset + n) & 1) for n in range(size)]
    if combination:
        own = [any(own) if combination == "any" else all(own)] * size
    return [lane and bit != inverted for lane, bit in zip(lanes, own)]


def execute(surface, op, half, lanes, operands, dst):
    """Lanes one after the other. `operands`: u, v, r, lod, src0, src1, each a list or None for the null variable.
    Changes the surface; gives the new content of dst."""
    width = 16 if half else 32
    texels, result = dict(surface.texels), list(dst)
    for n, lane in enumerate(lanes):
        if not lane:
            continue
        u, v, r, lod, src0, src1 = (0 if operand is None else operand[n] for operand in operands)
        at = surface.place(u, v, r, lod)
        if at is None:
            result[n] = 0
            continue
        texels[at], result[n] = combine(op, width, texels[at], src0, src1)
    surface.texels = texels
    return result
