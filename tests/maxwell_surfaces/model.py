"""Reference model of the Maxwell surface instructions: SULD, SUST, SURED, SUATOM.

Written from documents alone and sharing nothing with the translator, so that the two can be compared.
Sources, cited as below:
  seed   seeds/nvidia-suatom.txt (NVIDIA's description of SUATOM); wins over the facts
  ptx    seeds/nvidia-ptx-surface.txt (PTX ISA 9.7.11, suld/sust/sured/suq)
  facts  facts/maxwell-surfaces.md; section 7 lists the choices where no public text speaks

`Surface` is a surface header with the memory behind it, in its real byte layout. `execute` runs one instruction,
given as disassembly text, for some lanes. Registers: coordinates R4.., data R12.., destination R8.. (see cases.py).
"""
import math
import struct
from dataclasses import dataclass

import numpy as np

MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
PAGE = 0x10000  # sparse residency is per 64 KiB page
F32_NAN, F16_NAN = 0x7FFFFFFF, 0x7FFF  # canonical NaN results

ILLEGAL = "illegal instruction"
RANGE = "surface access out of range"
MISALIGNED = "misaligned address"
INVALID = "invalid surface"


# ---------------------------------------------------------------------------------------------------- formats
@dataclass(frozen=True)
class Format:
    """A texel format: header code, component widths from bit 0 up, one data type, legality for .P (facts 2)."""
    name: str
    code: int
    fields: tuple
    kind: str  # unorm, snorm, uint, sint, float (sRGB: unorm with srgb set)
    formatted: bool  # legal for SULD.P and SUST.P
    srgb: bool = False

    @property
    def bytes(self):
        return (sum(self.fields) + 7) // 8


_TYPES = {"F": "float", "U": "uint", "I": "sint", "N": "unorm", "S": "snorm"}
FORMATS = {}
for _name, _code, _fields, _types, _formatted in (
    ("rgba32", 0x01, (32,) * 4, "FUI", True), ("rgb32", 0x02, (32,) * 3, "FUI", False),
    ("rgba16", 0x03, (16,) * 4, "NSFUI", True), ("rg32", 0x04, (32,) * 2, "FUI", True),
    ("rgbx8", 0x07, (8,) * 4, "N", False), ("rgba8", 0x08, (8,) * 4, "NSUI", True),
    ("rgb10a2", 0x09, (10, 10, 10, 2), "NU", True), ("rg16", 0x0C, (16,) * 2, "NSFUI", True),
    ("r32", 0x0F, (32,), "FUI", True), ("rgba4", 0x12, (4,) * 4, "N", False),
    ("r5g6b5", 0x15, (5, 6, 5), "N", False), ("rg8", 0x18, (8,) * 2, "NSUI", True),
    ("r16", 0x1B, (16,), "NSFUI", True), ("r8", 0x1D, (8,), "NSUI", True),
    ("rgb9e5", 0x20, (9, 9, 9, 5), "F", False), ("r11g11b10", 0x21, (11, 11, 10), "F", True),
):
    for _t in _types:
        _full = f"{_name}_{_TYPES[_t]}"
        FORMATS[_full] = Format(_full, _code, _fields, _TYPES[_t], _formatted)
for _name in ("rgba8", "r8"):  # sRGB is a header bit on top of unorm; no .P (facts 2)
    _base = FORMATS[_name + "_unorm"]
    FORMATS[_name + "_srgb"] = Format(_name + "_srgb", _base.code, _base.fields, "unorm", False, True)


def f32_value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def f32_bits(value):
    return struct.unpack("<I", np.float32(value).tobytes())[0]


def small_value(bits, mantissa):
    """Value of an unsigned float of 5 exponent bits (bias 15): uf10, uf11 and the magnitude of f16."""
    exponent, fraction = bits >> mantissa, bits & ((1 << mantissa) - 1)
    if exponent == 31:
        return math.nan if fraction else math.inf
    if exponent == 0:
        return math.ldexp(fraction, -14 - mantissa)
    return math.ldexp((1 << mantissa) + fraction, exponent - 15 - mantissa)


def small_bits(value, mantissa):
    """Round a non-negative number to such a float: nearest even, overflow to infinity, denormals kept (facts 4.4)."""
    infinity = 31 << mantissa
    if value == 0 or value == math.inf:
        return infinity if value else 0
    exponent = max(math.frexp(value)[1] - 1, -14)
    # An f32, or a sum of two f16, scales exactly in a double; round() then rounds half to even.
    return min(((exponent + 14) << mantissa) + round(math.ldexp(value, mantissa - exponent)), infinity)


def small_cut(value, mantissa):
    """The same, cut towards 0: at most the greatest number, unless it is infinite (facts 4.4)."""
    if value == math.inf:
        return 31 << mantissa
    bits = small_bits(value, mantissa)
    return bits - 1 if bits == 31 << mantissa or small_value(bits, mantissa) > value else bits


def f16_value(bits):
    return math.copysign(1.0, -1.0 if bits & 0x8000 else 1.0) * small_value(bits & 0x7FFF, 10)


def f16_bits(value):
    if math.isnan(value):
        return F16_NAN
    return (0x8000 if math.copysign(1.0, value) < 0 else 0) | small_bits(abs(value), 10)


def unpack(raw, width, kind):
    """One component of a texel as the 32-bit register that SULD.P delivers (facts 4.4, "Load")."""
    if kind == "uint":
        return raw
    if kind == "sint":
        return (raw - (1 << width) if raw >> (width - 1) else raw) & MASK32
    if kind == "unorm":  # one correctly rounded f32 division
        return f32_bits(np.float32(raw) / np.float32((1 << width) - 1))
    if kind == "snorm":
        value = raw - (1 << width) if raw >> (width - 1) else raw
        return f32_bits(max(np.float32(value) / np.float32((1 << (width - 1)) - 1), np.float32(-1)))
    if width == 32:
        return raw
    mantissa = 10 if width == 16 else width - 5
    value = f16_value(raw) if width == 16 else small_value(raw, mantissa)
    if math.isnan(value):  # as IEEE 754 converts: quiet, sign and fraction kept (nothing is documented)
        sign = raw >> 15 << 31 if width == 16 else 0
        return sign | 0x7FC00000 | (raw & ((1 << mantissa) - 1)) << (23 - mantissa)
    return f32_bits(value)


def pack(word, width, kind):
    """One register of SUST.P as the component's bits (facts 4.4, "Store"; the source type is ptx's)."""
    if width == 32:
        return word
    if kind == "uint":
        return min(word, (1 << width) - 1)
    if kind == "sint":
        top = (1 << (width - 1)) - 1
        value = word - (1 << 32) if word >> 31 else word
        return max(-top - 1, min(top, value)) & ((1 << width) - 1)
    value = f32_value(word)
    if kind in ("unorm", "snorm"):
        if math.isnan(value):
            return 0
        low, top = (0, (1 << width) - 1) if kind == "unorm" else (-1, (1 << (width - 1)) - 1)
        # The product is exact in a double, so there is one rounding, half to even.
        return round(max(low, min(1.0, value)) * top) & ((1 << width) - 1)
    if width == 16:
        # Of a NaN the sign and the upper bits of the fraction stay, or one that is set.
        return word >> 31 << 15 | (0x7C00 | max(word >> 13 & 0x3FF, 1) if math.isnan(value) else small_cut(abs(value), 10))
    if math.isnan(value):
        return (1 << width) - 1
    return small_cut(max(value, 0.0), width - 5)


# ---------------------------------------------------------------------------------------------------- memory
def gob(x, y):
    """Byte offset in a GOB of 64 bytes by 8 rows (facts 3.1)."""
    return (x & 15) | (y & 1) << 4 | (x >> 4 & 1) << 5 | (y >> 1 & 3) << 6 | (x >> 5 & 1) << 8


def ceil_log2(n):
    return (n - 1).bit_length()


class Surface:
    """A surface: header fields and memory in the real layout (facts 3). Coordinates are (byte column, row, slice or layer).

    dim      1d, 1d_buffer, 1d_array, 2d, 2d_array, 3d: the header's type
    size     (width, height, depth or layers) in texels; 1 for axes the type lacks
    layout   block_linear, pitch (2d only) or linear (1d_buffer only)
    handle   valid, null, or too_large (above the pool's maximum index): the last two reach no memory
    guard    bytes after the surface that no access may touch
    """

    def __init__(self, dim, size, format, layout, block_height=0, block_depth=0, sparse_pages=(), handle="valid", guard=0):
        assert layout in {"1d_buffer": ["linear"], "2d": ["pitch", "block_linear"]}.get(dim, ["block_linear"])
        assert block_depth == 0 or dim == "3d"
        self.dim, self.size, self.format, self.layout = dim, tuple(size), FORMATS[format], layout
        self.block_height, self.block_depth = block_height, block_depth
        self.sparse_pages, self.handle = frozenset(sparse_pages), handle
        self.width, self.height, self.depth = size
        self.row_bytes = self.width * self.format.bytes
        self.pitch = -(-self.row_bytes // 32) * 32
        if layout == "block_linear":
            # The hardware shrinks the block to less than twice the level (facts 3.3).
            self.bh = min(block_height, ceil_log2(-(-self.height // 8)))
            self.bd = min(block_depth, ceil_log2(self.depth)) if dim == "3d" else 0
            self.gx, self.by = -(-self.row_bytes // 64), -(-self.height // (8 << self.bh))
            self.block_bytes = 512 << (self.bh + self.bd)
            slices = -(-self.depth // (1 << self.bd)) if dim == "3d" else 1
            # One level, so the layer stride is its size, already a multiple of the block (facts 3.4).
            self.layer_stride = self.gx * self.by * slices * self.block_bytes
            length = self.layer_stride * (1 if dim == "3d" else self.depth)
        else:
            length = self.pitch * self.height if layout == "pitch" else self.row_bytes
        self.memory = bytearray(length + guard)

    def address(self, xb, y=0, z=0):
        """Byte offset from the base of a byte column, row and slice or layer (facts 3.2, 3.4, 3.5)."""
        if self.layout != "block_linear":
            return y * self.pitch + xb
        layer, z = (0, z) if self.dim == "3d" else (z, 0)
        block = ((z >> self.bd) * self.by + (y >> (3 + self.bh))) * self.gx + (xb >> 6)
        in_block = (z & ((1 << self.bd) - 1)) << self.bh | (y >> 3) & ((1 << self.bh) - 1)
        return layer * self.layer_stride + block * self.block_bytes + in_block * 512 + gob(xb & 63, y & 7)

    def _addresses(self):
        for z in range(self.depth):
            for y in range(self.height):
                for xb in range(self.row_bytes):
                    yield self.address(xb, y, z)

    def linear(self):
        """The texels without padding: rows, then slices or layers."""
        return bytes(self.memory[a] for a in self._addresses())

    def set_linear(self, texels):
        assert len(texels) == self.row_bytes * self.height * self.depth
        for address, byte in zip(self._addresses(), texels):
            self.memory[address] = byte

    def resident(self, xb, y=0, z=0):
        return self.address(xb, y, z) // PAGE not in self.sparse_pages

    def load(self, n, xb, y=0, z=0):
        """n raw bytes as a little-endian integer; 0 from a page that is not resident."""
        if not self.resident(xb, y, z):
            return 0
        return int.from_bytes(bytes(self.memory[self.address(xb + i, y, z)] for i in range(n)), "little")

    def store(self, n, value, xb, y=0, z=0):
        """Stores the low n bytes of value; dropped where the page is not resident."""
        if self.resident(xb, y, z):
            for i, byte in enumerate((value & ((1 << 8 * n) - 1)).to_bytes(n, "little")):
                self.memory[self.address(xb + i, y, z)] = byte

    def atomic(self, op, type, operand, xb, y=0, z=0, swap=0):
        """Replaces memory by op(memory, operand) and returns the old value; 0 and no effect where not resident."""
        if not self.resident(xb, y, z):
            return 0
        n = TYPES[type][0]
        old = self.load(n, xb, y, z)
        self.store(n, combine(op, type, old, operand, swap, self.format.kind == "sint"), xb, y, z)
        return old

    def load_texel(self, mask, xb, y=0, z=0):
        """SULD.P: the masked components, converted. Absent ones read 0, 0, 0, 1 as drivers set the sources (facts 2)."""
        if not self.resident(xb, y, z):
            return [0] * len(mask)
        raw, fields, kind = self.load(self.format.bytes, xb, y, z), self.format.fields, self.format.kind
        texel = [0, 0, 0, 1 if kind in ("uint", "sint") else 0x3F800000]
        for i, width in enumerate(fields):
            texel[i] = unpack(raw & ((1 << width) - 1), width, kind)
            raw >>= width
        return [texel["RGBA".index(c)] for c in mask]

    def store_texel(self, mask, words, xb, y=0, z=0):
        """SUST.P: words[i] goes to component mask[i]; the format's other components become 0 bits (facts 4.4)."""
        source, raw, shift = dict(zip(mask, words)), 0, 0
        for component, width in zip("RGBA", self.format.fields):
            if component in source:
                raw |= pack(source[component], width, self.format.kind) << shift
            shift += width
        self.store(self.format.bytes, raw, xb, y, z)


# ---------------------------------------------------------------------------------------------------- atomics
# type -> (bytes, signed). SD32 and SD64 take their sign from the header (facts 4.5); P32 is SURED.P, which prints no type.
TYPES = {"U32": (4, False), "S32": (4, True), "U64": (8, False), "S64": (8, True), "F32": (4, False), "F16x2": (4, False),
         "SD32": (4, None), "SD64": (8, None), "P32": (4, None)}
_LOGIC = ("U32", "S32", "SD32", "U64")
_MINMAX = ("U32", "S32", "SD32", "U64", "S64", "SD64", "F16x2")
# seed, table "Reduction Operations". Every other pair is an illegal instruction (facts 4.5).
LEGAL = {"ADD": _LOGIC + ("F32", "F16x2"), "MIN": _MINMAX, "MAX": _MINMAX, "INC": ("U32",), "DEC": ("U32",), "AND": _LOGIC,
         "OR": _LOGIC, "XOR": _LOGIC, "EXCH": ("U32", "S32", "U64"), "CAS": ("U32", "S32", "U64")}


def add_f32(a, b):
    """Add, round to nearest even; denormal inputs and results become zero of their sign."""
    def flush(bits):
        return bits if bits & 0x7F800000 else bits & 0x80000000
    with np.errstate(all="ignore"):
        total = np.float32(f32_value(flush(a))) + np.float32(f32_value(flush(b)))
    return F32_NAN if np.isnan(total) else flush(f32_bits(total))


def add_f16(a, b):
    def flush(bits):
        return bits if bits & 0x7C00 else bits & 0x8000
    a, b = f16_value(flush(a)), f16_value(flush(b))
    return flush(f16_bits(math.nan if math.isinf(a) and a == -b else a + b))


def minmax_f16(op, a, b):
    """minNum, maxNum: a NaN loses to a number, -0 is below +0. Denormals are kept: the seed's table has no FTZ here."""
    nan_a, nan_b = (a & 0x7FFF) > 0x7C00, (b & 0x7FFF) > 0x7C00
    if nan_a or nan_b:
        return F16_NAN if nan_a and nan_b else b if nan_a else a
    def order(bits):
        return -(bits & 0x7FFF) - 1 if bits & 0x8000 else bits
    return (min if op == "MIN" else max)(a, b, key=order)


def combine(op, type, m, b, swap=0, header_signed=False):
    """The new memory value (seed, table "Reduction Operations", M = m, Rb = b)."""
    n, signed = TYPES[type]
    mask = (1 << 8 * n) - 1
    if type == "F32":
        return add_f32(m, b)
    if type == "F16x2":
        f = add_f16 if op == "ADD" else lambda x, y: minmax_f16(op, x, y)
        return f(m >> 16, b >> 16) << 16 | f(m & 0xFFFF, b & 0xFFFF)
    if op in ("MIN", "MAX"):
        signed = header_signed if signed is None else signed
        bias = 1 << (8 * n - 1) if signed else 0
        return (min if op == "MIN" else max)(m, b, key=lambda v: v ^ bias)
    return {"ADD": lambda: (m + b) & mask, "INC": lambda: 0 if m >= b else m + 1,
            "DEC": lambda: b if m == 0 or m > b else m - 1, "AND": lambda: m & b, "OR": lambda: m | b, "XOR": lambda: m ^ b,
            "EXCH": lambda: b, "CAS": lambda: swap if m == b else m}[op]()


# ---------------------------------------------------------------------------------------------------- instructions
DIMS = ("1D", "1D_BUFFER", "1D_ARRAY", "2D", "2D_ARRAY", "3D")
SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}


@dataclass(frozen=True)
class Instruction:
    name: str  # SULD, SUST, SURED, SUATOM
    mode: str  # D: raw; P: by texel of the header's format
    byte_address: bool
    dim: str
    clamp: str  # IGN, NEAR, TRAP
    size: str = ""  # of SULD.D and SUST.D
    mask: str = ""  # of SULD.P and SUST.P
    op: str = ""
    type: str = ""
    sparse: bool = False  # has a destination predicate


@dataclass
class Outcome:
    """registers: the destination words of each lane given; ps: each lane's sparse status; or fault = (kind, lane)."""
    registers: list = None
    ps: list = None
    fault: tuple = None


def parse(text):
    """Reads disassembly text, in nvdisasm's spelling."""
    mnemonic, operands = text.split(" ", 1)
    tokens = mnemonic.split(".")
    name, mode = tokens[:2]
    byte_address = mode == "D" and tokens[2] == "BA"
    rest = tokens[3 if byte_address else 2:]
    dim = rest.pop(0)
    assert dim in DIMS, text
    clamp = rest.pop() if rest and rest[-1] in ("IGN", "TRAP") else "NEAR"
    if rest and rest[0] in ("CA", "CG", "CS", "CV", "CI", "WB", "WT"):
        rest.pop(0)  # cache operations do not change values (seed: surfaces are uncached in L1)
    field = {"name": name, "mode": mode, "byte_address": byte_address, "dim": dim, "clamp": clamp,
             "sparse": operands.startswith("P")}
    if name in ("SULD", "SUST"):
        word = rest.pop(0) if rest else ""
        field |= {"size": word or "32"} if mode == "D" else {"mask": word or "RGBA"}
    else:
        field["op"] = rest.pop(0)
        field["type"] = rest.pop(0) if rest else "U32" if mode == "D" else "P32"
        rest = [t for t in rest if t not in ("FTZ", "RN")]
    assert not rest, text
    return Instruction(**field)


def s32(word):
    return word - (1 << 32) if word >> 31 else word


def access_bytes(insn, surface):
    """n of facts 4.2: the bytes one lane touches."""
    if insn.type:
        return TYPES[insn.type][0]
    return SIZES[insn.size] if insn.mode == "D" else surface.format.bytes


def coordinates(insn, registers):
    """x, y and z or layer from Ra.. (seed, table of coordinates; facts 4.1). The header says what z means (facts 4.7)."""
    x, y, z = (s32(r) for r in registers)
    if insn.dim == "1D_BUFFER" and insn.clamp != "NEAR":
        x = registers[0]  # U32, so that -1 is a huge index
    return {"1D": (x, 0, 0), "1D_BUFFER": (x, 0, 0), "1D_ARRAY": (x, 0, y & 0xFFFF), "2D": (x, y, 0),
            "2D_ARRAY": (x, y, z & 0xFFFF), "3D": (x, y, z)}[insn.dim]


def locate(insn, surface, registers):
    """(in range, place): place is where the lane acts as (xb, y, z), or None where it does not (facts 4.2)."""
    n, width = access_bytes(insn, surface), surface.row_bytes
    x, y, z = coordinates(insn, registers)
    xb = x if insn.byte_address else x * n  # a wide product: no 32-bit overflow
    if 0 <= xb and xb + n <= width and 0 <= y < surface.height and 0 <= z < surface.depth:
        return True, (xb, y, z)
    if insn.clamp != "NEAR" or width < n:
        return False, None
    nearest = min(max(xb, 0), width - n)
    return False, (nearest - nearest % n, min(max(y, 0), surface.height - 1), min(max(z, 0), surface.depth - 1))


def destination_count(insn):
    if insn.name in ("SUST", "SURED"):
        return 0
    if insn.name == "SUATOM":
        return TYPES[insn.type][0] // 4
    return len(insn.mask) if insn.mode == "P" else max(1, SIZES[insn.size] // 4)


def words(value, count):
    return [value >> 32 * i & MASK32 for i in range(count)]


def legal(insn):
    if not insn.op:
        return True
    if insn.name == "SURED" and insn.op in ("EXCH", "CAS"):
        return False
    return insn.type == "P32" or insn.type in LEGAL[insn.op]


def act(insn, surface, place, data):
    """The effect of one lane at a place; returns its destination words."""
    if insn.mode == "P" and not insn.op:
        if insn.name == "SULD":
            return surface.load_texel(insn.mask, *place)
        surface.store_texel(insn.mask, data, *place)
        return []
    n = access_bytes(insn, surface)
    value = sum(word << 32 * i for i, word in enumerate(data)) & ((1 << 8 * n) - 1)
    if insn.name == "SULD":
        value = surface.load(n, *place)
        if insn.size in ("S8", "S16") and value >> (8 * n - 1):
            value |= MASK32 << 8 * n & MASK32
        return words(value, destination_count(insn))
    if insn.name == "SUST":
        surface.store(n, value, *place)
        return []
    swap = sum(word << 32 * i for i, word in enumerate(data[n // 4:n // 2]))  # follows the compare value (seed, Rb)
    return words(surface.atomic(insn.op, insn.type, value, *place, swap=swap), destination_count(insn))


def execute(insn, surface, coords, data, lanes=range(32)):
    """Runs one instruction (text or Instruction) for the active lanes, ascending; coords and data are indexed by lane.

    Faults are found before any lane acts: what the instruction is, the surface, then misaligned lanes, then those out of
    range under TRAP. Facts 4.2 and 7 (11) stop the whole instruction for a TRAP lane; we do so for all faults.
    """
    insn = parse(insn) if isinstance(insn, str) else insn
    lanes = sorted(lanes)
    if not lanes:
        return Outcome([], [])
    if not legal(insn):
        return Outcome(fault=(ILLEGAL, lanes[0]))
    nothing = [0] * destination_count(insn)
    if surface.handle != "valid":  # facts 4.6
        if insn.clamp == "TRAP":
            return Outcome(fault=(INVALID, lanes[0]))
        return Outcome([list(nothing) for _ in lanes], [0] * len(lanes))
    buffer = surface.dim == "1d_buffer"  # facts 4.7
    if (insn.dim == "1D_BUFFER" and not buffer) or (buffer and insn.dim not in ("1D", "1D_BUFFER")):
        return Outcome(fault=(INVALID, lanes[0]))
    if insn.mode == "P" and not insn.op and not surface.format.formatted:  # facts 4.4, last item
        return Outcome(fault=(INVALID, lanes[0]))
    found = {lane: locate(insn, surface, coords[lane]) for lane in lanes}
    n = access_bytes(insn, surface)
    for lane in lanes:
        # The coordinate counts, not the address, in range or not (facts 4.2, 4.3).
        if insn.byte_address and coords[lane][0] & (n - 1):
            return Outcome(fault=(MISALIGNED, lane))
    for lane, (inside, _) in found.items():
        if insn.clamp == "TRAP" and not inside:
            return Outcome(fault=(RANGE, lane))
    outcome = Outcome([], [])
    for lane, (_, place) in found.items():
        outcome.registers.append(list(nothing) if place is None else act(insn, surface, place, data[lane]))
        outcome.ps.append(int(place is not None and not surface.resident(*place)))
    return outcome
