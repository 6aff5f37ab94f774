"""Writes cases.json.gz: golden cases for the Maxwell surface instructions, computed by model.py.

Run it from anywhere; the output is the same bytes every time. `cases.py --summary` also prints counts.

The file is one JSON object (bytes are base64, words are unsigned numbers):
  surfaces  name -> dim, size [w, h, d], format, code (header), kind and srgb (component type), layout, block_height and
            block_depth (log2), pitch (pitch layout only), bytes and memory (initial image; may end in guard bytes),
            sparse_pages, handle
  coords    name -> per lane [R4, R5, R6]; registers that a dimension does not use hold noise
  data      name -> per lane [R12, R13, R14, R15]
  cases     text, surface, coords, data; result (per lane, the words of R8..; empty lists for stores and reductions) or
            fault {kind, lane}; ps (per lane) if the text names a destination predicate; crc of the memory image afterwards
All 32 lanes are active. The handle is c[0x50] (the immediate 0x50) or R16, as the text says.
"""
import base64
import gzip
import json
import pathlib
import sys
import zlib
from collections import Counter
from random import Random

import model
from model import DIMS, FORMATS, LEGAL, MASK32, SIZES, TYPES, Surface

HERE = pathlib.Path(__file__).parent
LANES = 32
CLAMPS = ("IGN", "NEAR", "TRAP")
OPS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS")
ATOMIC_TYPES = tuple(t for t in TYPES if t != "P32")
AXES = {"1D": "x", "1D_BUFFER": "x", "1D_ARRAY": "xl", "2D": "xy", "2D_ARRAY": "xyl", "3D": "xyz"}

# ---------------------------------------------------------------------------------------------------- values
INT_EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x1FF, 0x3FF, 0x400, 0x7FFFFFFE, 0x7FFFFFFF,
             0x80000000, 0x80000001, 0xFFFF7FFF, 0xFFFF8000, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFE, 0xFFFFFFFF)
F32_EDGES = (0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x3F800000, 0xBF800000,
             0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000)
F32_NANS = (0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF)
F16_EDGES = (0, 0x8000, 0x0400, 0x8400, 0x0401, 0x8401, 0x3C00, 0xBC00, 0x3C01, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00)
F16_NANS = (0x7E00, 0xFE00, 0x7D01, 0x7FFF)
F16_DENORMALS = (1, 0x8001, 0x03FF, 0x83FF, 0x0200, 0x8200)
# f32 values where a formatted store rounds or saturates: halves, f16 and uf11/uf10 limits, denormals and overflow.
P_EDGES = tuple(model.f32_bits(v) for v in (
    0.0, -0.0, 1.0, -1.0, 1.0000001, -1.0000001, 0.5, -0.5, 0.25, 2.0, -2.0, 1e-40, 65504.0, 65519.0, 65520.0, 65536.0, -65520.0,
    2.0**-24, 2.0**-25, 3 * 2.0**-25, -(2.0**-24), 6.1e-5, 65024.0, 65279.0, 65280.0, 64512.0, 65023.0, 2.0**-20, 2.0**-21,
    3 * 2.0**-21, 2.0**-19, 1e30, -1e30)) + (0x7F800000, 0xFF800000, 0x33333333, 0x3F7FFFFF)


def float32_word(r, edges):
    if r.random() < 0.4:
        return r.choice(edges)
    # Exponents close together, so that sums round and cancel.
    return r.getrandbits(1) << 31 | r.choice((r.randrange(120, 134), r.randrange(1, 4))) << 23 | r.getrandbits(23)


def float16_half(r, edges):
    if r.random() < 0.4:
        return r.choice(edges)
    return r.getrandbits(1) << 15 | r.choice((r.randrange(12, 19), r.randrange(1, 4))) << 10 | r.getrandbits(10)


def float16_word(r, edges):
    return float16_half(r, edges) << 16 | float16_half(r, edges)


def integer_word(r, edges=INT_EDGES):
    return r.choice(edges) if r.random() < 0.25 else r.getrandbits(32)


def tie_word(r):
    """The f32 nearest to (k + 1/2) / (2^n - 1): exact products lie just beside the half."""
    top = r.choice((3, 127, 255, 1023, 32767, 65535))
    return model.f32_bits((r.randrange(top) + 0.5) / top * r.choice((1, 1, -1)))


def p_word(r, edges):
    pick = r.random()
    if pick < 0.4:
        return r.choice(edges)
    return model.f32_bits(r.uniform(-1.1, 1.1) if pick < 0.8 else r.uniform(-70000, 70000))


ODD_MASKS = ("RB", "G", "RGA", "A", "BA", "RGB", "GB", "RA", "B", "GBA", "GA", "RBA")

DATA_WORDS = {
    "int0": integer_word, "int1": integer_word, "edges0": lambda r: r.choice(INT_EDGES), "edges1": lambda r: r.choice(INT_EDGES),
    "f32_0": lambda r: float32_word(r, F32_EDGES + F32_NANS), "f32_1": lambda r: float32_word(r, F32_EDGES),
    "f16_0": lambda r: float16_word(r, F16_EDGES + F16_NANS), "f16_1": lambda r: float16_word(r, F16_EDGES),
    "f16_denormal": lambda r: float16_word(r, F16_EDGES + F16_DENORMALS * 3),
    "p_float": lambda r: p_word(r, P_EDGES[:9]), "p_edges": lambda r: p_word(r, P_EDGES), "p_ties": tie_word,
    "p_nan": lambda r: p_word(r, F32_NANS),
}


def texel(r, fmt, style):
    """Random texel bytes. Narrow floats are NaN only in style "nan" and "atomic", denormal not in "atomic"."""
    bits, shift = 0, 0
    for width in fmt.fields:
        if fmt.kind != "float":
            field = (r.choice(INT_EDGES) if r.random() < 0.3 else r.getrandbits(32)) & ((1 << width) - 1)
        elif width == 32:
            field = float32_word(r, F32_EDGES + F32_NANS)
        elif width == 16:
            field = float16_half(r, F16_EDGES + {"plain": F16_DENORMALS, "denormal": F16_DENORMALS * 3}.get(style, F16_NANS))
        else:
            field = r.getrandbits(width)
            infinity = 31 << (width - 5)
            if style != "nan" and field > infinity:
                field = infinity
        bits |= field << shift
        shift += width
    return bits.to_bytes(fmt.bytes, "little")


# ---------------------------------------------------------------------------------------------------- the suite
class Suite:
    """Collects the named tables and the cases; equal tables are shared by name."""

    def __init__(self):
        self.surfaces, self.images, self.coords, self.data, self.cases = {}, {}, {}, {}, []
        self.turns, self.counts, self.met = Counter(), Counter(), set()

    def turn(self, key, options, start=0):
        """Takes the options in turn, separately for each key."""
        self.turns[key] += 1
        return options[(self.turns[key] - 1 + start) % len(options)]

    def surface(self, name, *args, style="plain", **kwargs):
        if name not in self.surfaces:
            r = Random("surface " + name)
            s = Surface(*args, **kwargs)
            s.memory[:] = b"\xa5" * len(s.memory)  # padding and guard; no access may reach them
            s.set_linear(b"".join(texel(r, s.format, style) for _ in range(s.width * s.height * s.depth)))
            self.surfaces[name], self.images[name] = s, bytes(s.memory)
        return name

    def data_set(self, name):
        if name not in self.data:
            r = Random("data " + name)
            self.data[name] = [[DATA_WORDS[name](r) for _ in range(4)] for _ in range(LANES)]
        return name

    def coord_set(self, surface, dim, n, byte_address, kind):
        s = self.surfaces[surface]
        name = f"{s.row_bytes}x{s.height}x{s.depth} {dim} {n}{'b' if byte_address else ''} {kind}"
        if name not in self.coords:
            self.coords[name] = lane_coords(Random("coords " + name), s, dim, n, byte_address, kind)
        return name

    def near_data(self, text, surface, coords):
        """Operands that meet memory: for CAS mostly the value a lane will find, for INC and DEC one beside it."""
        name = f"near {surface} {coords} {text.split(' ')[0]}"
        r, insn, s = Random(name), model.parse(text), self.surfaces[surface]
        n = TYPES[insn.type][0]
        current, out = {}, []
        for lane in range(LANES):
            row = [integer_word(r) for _ in range(4)]
            _, place = model.locate(insn, s, self.coords[coords][lane])
            if place is not None and r.random() < 0.65:
                address = s.address(*place)
                value = current.get(address, s.load(n, *place))
                if insn.op == "CAS":
                    row[:n // 4] = model.words(value, n // 4)
                    current[address] = sum(w << 32 * i for i, w in enumerate(row[n // 4:n // 2]))
                else:
                    row[0] = (value + r.choice((-1, 0, 1))) & MASK32
            out.append(row)
        self.data[name] = out
        return name

    def add(self, mnemonic, surface, coords, data="int0", predicate=None, handle=None):
        """One case. A fifth of the handles are in R16 where the encoding has both forms."""
        insn = model.parse(mnemonic + " ")
        if handle is None:
            handle = self.turn("handle", ("0x50", "0x50", "R16", "0x50", "0x50"))
        if predicate is not None and insn.name == "SUATOM" and insn.op != "CAS":
            handle = "R16"  # seed: no immediate form with Ps for these
        lead = f"P{predicate}, " if predicate is not None else ""
        operands = {"SULD": "R8, [R4]", "SUST": "[R4], R12", "SURED": "[R4], R12", "SUATOM": "R8, [R4], R12"}[insn.name]
        text = f"{mnemonic} {lead}{operands}, {handle}"
        s = self.surfaces[surface]
        if data == "near":
            data = self.near_data(text, surface, coords)
        else:
            self.data_set(data)
        s.memory[:] = self.images[surface]
        outcome = model.execute(text, s, self.coords[coords], self.data[data])
        case = {"text": text, "surface": surface, "coords": coords, "data": data}
        if outcome.fault:
            case["fault"] = {"kind": outcome.fault[0], "lane": outcome.fault[1]}
        else:
            case["result"] = outcome.registers
            if predicate is not None:
                case["ps"] = outcome.ps
        case["crc"] = zlib.crc32(s.memory)
        s.memory[:] = self.images[surface]
        self.cases.append(case)
        family = insn.name + "." + insn.mode + (".CAS" if insn.op == "CAS" else "")
        self.counts[family, outcome.fault[0] if outcome.fault else "ran"] += 1
        if not outcome.fault or outcome.fault[0] == model.RANGE:
            self.met.add((family.split(".")[0], insn.dim, s.layout, insn.op or insn.size or insn.mode, insn.clamp))

    def dump(self):
        encode = lambda b: base64.b64encode(b).decode()
        surfaces = {}
        for name, s in self.surfaces.items():
            surfaces[name] = {
                "dim": s.dim, "size": list(s.size), "format": s.format.name, "code": s.format.code, "kind": s.format.kind,
                "srgb": s.format.srgb, "layout": s.layout, "block_height": s.block_height, "block_depth": s.block_depth,
                **({"pitch": s.pitch} if s.layout == "pitch" else {}), "bytes": len(s.memory),
                "memory": encode(self.images[name]), "sparse_pages": sorted(s.sparse_pages), "handle": s.handle}
        used = {key: {c[key] for c in self.cases} for key in ("surface", "coords", "data")}
        return {"surfaces": {k: v for k, v in surfaces.items() if k in used["surface"]},
                "coords": {k: v for k, v in self.coords.items() if k in used["coords"]},
                "data": {k: v for k, v in self.data.items() if k in used["data"]}, "cases": self.cases}


# ---------------------------------------------------------------------------------------------------- coordinates
def lane_coords(r, s, dim, n, byte_address, kind):
    """Registers R4..R6 of 32 lanes. Kinds:
      inside      in range and aligned, from few texels so that lanes meet
      one_out     inside, but two late lanes out of range
      mixed       every way out of range on every axis, the rest inside
      mild        inside and just outside, for a dimension that is not the header's
      misaligned  inside, with some byte columns not a multiple of n
      both        misaligned lanes below out-of-range ones
    """
    axes, width = AXES[dim], s.row_bytes
    unit = n if byte_address else 1
    count = max(width // n, 1)
    limits = {"y": s.height, "z": s.depth, "l": s.depth}
    wrap = (1 << 32) // n  # x * n overflows 32 bits here
    if byte_address:
        # Multiples of n: others fault, in range or not.
        x_out = [width - width % n, width + n - width % n, width + 4 * n - width % n, -n, -4 * n, 0x80000000 - n, 0x80000000, -width // n * n]
    else:
        x_out = [count, count + 1, -1, -count, 0x7FFFFFFF, 0x80000000, 0x10000, wrap - 1] + [wrap, wrap + 1] * (n > 1)
    outside = {"x": [x for x in x_out if not 0 <= (x if byte_address else x * n) <= width - n]}
    for axis, limit in limits.items():
        outside[axis] = [limit, limit + 1, 0xFFFF, 0x1FFFF, 0x8000, limit | 0x70000] if axis == "l" else \
            [-1, limit, limit + 1, 0x7FFFFFFF, 0x80000000, 0x10000, -limit]
    if kind == "mild":
        outside = {"x": outside["x"][:4], **{a: [limits[a], limits[a] + 1] for a in limits}}

    def inside(axis):
        if axis == "x":
            return r.choice((0, count - 1, r.randrange(count), r.randrange(count))) * unit
        value = r.choice((0, limits[axis] - 1, r.randrange(limits[axis])))
        # Only the low 16 bits of a layer count (seed).
        return value | (r.choice((0, 0, 1, 0x8000, 0xFFFF)) << 16 if axis == "l" and kind != "mild" else 0)

    pool = [{a: inside(a) for a in axes} for _ in range(10)]
    lanes = [dict(r.choice(pool)) for _ in range(LANES)]
    if kind in ("mixed", "mild"):
        order = r.sample(range(LANES), LANES)
        for axis in axes:
            for value in outside[axis]:
                if len(order) > 8:
                    lanes[order.pop()][axis] = value
        for lane in order[:2]:  # several axes at once, low corner and high corner
            lanes[lane] = {a: r.choice(outside[a]) for a in axes}
    if kind in ("one_out", "both"):
        for lane in sorted(r.sample(range(14, LANES), 2)):
            axis = "x" if kind == "both" else r.choice(axes)
            lanes[lane][axis] = r.choice(outside[axis])
    if kind in ("misaligned", "both"):
        for lane in r.sample(range(3, 13), 3):
            column = r.randrange(width - n + 1)
            lanes[lane]["x"] = column - column % n + r.randrange(1, n)
            if lanes[lane]["x"] + n > width:
                lanes[lane]["x"] = r.randrange(1, n)
        if kind == "misaligned" and r.random() < 0.5:  # out of range too
            lanes[2]["x"] = r.choice((width, width + n, -n)) // n * n + r.randrange(1, n)
    return [[(lane[axes[i]] if i < len(axes) else r.getrandbits(32)) & MASK32 for i in range(3)] for lane in lanes]


# ---------------------------------------------------------------------------------------------------- surfaces
# Groups of surfaces for the raw instructions: header type, layout, height and depth. Odd sizes leave padding.
GROUPS = {"1d": ("1d", "block_linear", 1, 1), "buffer": ("1d_buffer", "linear", 1, 1),
          "1d_array": ("1d_array", "block_linear", 1, 5), "pitch": ("2d", "pitch", 13, 1), "2d": ("2d", "block_linear", 21, 1),
          "2d_array": ("2d_array", "block_linear", 11, 3), "3d": ("3d", "block_linear", 9, 5)}
OF_DIM = {"1D": ("1d", "buffer"), "1D_BUFFER": ("buffer",), "1D_ARRAY": ("1d_array",), "2D": ("pitch", "2d"),
          "2D_ARRAY": ("2d_array",), "3D": ("3d",)}
# Row lengths are no multiple of the wider accesses, so that some straddle the row end.
WIDTHS = {"r8_uint": 77, "rgba8_unorm": 27, "r32_uint": 25, "r32_sint": 27, "r32_float": 25, "rg16_float": 25, "rg32_uint": 13,
          "rg32_sint": 15, "rg32_float": 13, "rgba32_float": 7}
BLOCKS = ((0, 0), (1, 1), (2, 0), (1, 2), (5, 5), (3, 1), (0, 3))  # log2 height and depth; depth for 3-D only
TYPE_FORMATS = {"U32": ("r32_uint", "r32_sint", "rgba8_unorm", "r8_uint"), "S32": ("r32_sint", "r32_uint"),
                "U64": ("rg32_uint", "r32_uint"), "S64": ("rg32_sint", "rg32_uint"), "F32": ("r32_float",),
                "F16x2": ("rg16_float",),
                "SD32": ("r32_sint", "r32_uint", "r32_float"), "SD64": ("rg32_sint", "rg32_uint", "rg32_float"),
                "P32": ("r32_uint", "r32_sint")}


def guard_bytes(layout):
    """Only a one-D buffer ends without padding of its own."""
    return 64 if layout == "linear" else 0


def raw_surface(suite, group, fmt, style="atomic"):
    dim, layout, height, depth = GROUPS[group]
    bh, bd = BLOCKS[(list(WIDTHS).index(fmt) + list(GROUPS).index(group)) % len(BLOCKS)]
    block = (bh, bd if dim == "3d" else 0) if layout == "block_linear" else (0, 0)
    name = f"{group} {fmt}" + (" denormal" if style == "denormal" else "")
    return suite.surface(name, dim, (WIDTHS[fmt], height, depth), fmt, layout, *block, style=style, guard=guard_bytes(layout))


def clamp_text(clamp):
    return "" if clamp == "NEAR" else "." + clamp


def atomic(name, dim, op, type, clamp, byte_address=False):
    kind = {"U32": "", "P32": "", "F32": ".F32.FTZ.RN", "F16x2": ".F16x2.FTZ.RN"}.get(type, "." + type)
    mode = "P" if type == "P32" else "D.BA" if byte_address else "D"
    return f"{name}.{mode}.{dim}.{op}{kind}{clamp_text(clamp)}"


def raw(name, dim, size, clamp, byte_address=False):
    return f"{name}.D{'.BA' if byte_address else ''}.{dim}{'' if size == '32' else '.' + size}{clamp_text(clamp)}"


def formatted(name, dim, mask, clamp):
    return f"{name}.P.{dim}{'' if mask == 'RGBA' else '.' + mask}{clamp_text(clamp)}"


def kinds(suite, clamp, key):
    """TRAP runs with every lane in range, and every other time (by key) also with a late lane out of range."""
    return suite.turn(("kinds", key), (("inside", "one_out"), ("inside",))) if clamp == "TRAP" else ("mixed",)


def atomic_data(suite, op, type):
    if op == "CAS" or (op in ("INC", "DEC") and suite.turn(("near", op), (True, True, False))):
        return "near"
    sets = {"F32": ("f32_0", "f32_1"), "F16x2": ("f16_0", "f16_1")}.get(type, ("int0", "edges0", "int1", "edges1"))
    return suite.turn(("data", type), sets)


# ---------------------------------------------------------------------------------------------------- families
def atomics(suite, name):
    """Every legal op and type with every dimension, clamp and address mode; then each illegal pair once."""
    ops = OPS if name == "SUATOM" else OPS[:8]
    for d, dim in enumerate(DIMS):
        for o, op in enumerate(ops):
            for type in LEGAL[op]:
                for c, clamp in enumerate(CLAMPS):
                    for byte_address in (False, True):
                        group = suite.turn((name, dim, op, clamp), OF_DIM[dim], o + c + (name == "SURED"))
                        surface = raw_surface(suite, group, suite.turn((name, dim, type), TYPE_FORMATS[type], d))
                        data = atomic_data(suite, op, type)
                        for kind in kinds(suite, clamp, (name, dim)):
                            coords = suite.coord_set(surface, dim, TYPES[type][0], byte_address, kind)
                            suite.add(atomic(name, dim, op, type, clamp, byte_address), surface, coords, data)
        for i, clamp in enumerate(CLAMPS):  # denormal halves, apart since the seed is silent on them for MIN and MAX
            surface = raw_surface(suite, OF_DIM[dim][-1], "rg16_float", "denormal")
            for op in ("ADD", "MIN", "MAX"):
                coords = suite.coord_set(surface, dim, 4, bool(i & 1), "inside")
                suite.add(atomic(name, dim, op, "F16x2", clamp, bool(i & 1)), surface, coords, "f16_denormal")
    for op in ops:
        for type in ATOMIC_TYPES:
            if type not in LEGAL[op]:
                dim = suite.turn(name + " illegal", DIMS)
                surface = raw_surface(suite, OF_DIM[dim][-1], "rg32_uint")
                coords = suite.coord_set(surface, dim, TYPES[type][0], False, "mixed")
                suite.add(atomic(name, dim, op, type, suite.turn("illegal clamp", CLAMPS)), surface, coords)


def reductions_by_texel(suite):
    for dim in DIMS:
        for o, op in enumerate(OPS[:8]):
            for clamp in CLAMPS:
                for group in OF_DIM[dim]:
                    fmt = suite.turn(("SURED.P", dim, op), TYPE_FORMATS["P32"], o)
                    surface = raw_surface(suite, group, fmt)
                    for kind in kinds(suite, clamp, ("SURED.P", dim)):
                        coords = suite.coord_set(surface, dim, 4, False, kind)
                        suite.add(atomic("SURED", dim, op, "P32", clamp), surface, coords, atomic_data(suite, op, "P32"))


def raw_access(suite, name):
    formats = ("r32_uint", "r8_uint", "rgba32_float", "rg32_sint", "rg16_float", "rgba8_unorm")
    for dim in DIMS:
        for i, (size, n) in enumerate(SIZES.items()):
            for c, clamp in enumerate(CLAMPS):
                for byte_address in (False, True):
                    for kind in kinds(suite, clamp, (name, dim)):
                        group = suite.turn((name, dim, size, clamp), OF_DIM[dim], i + c)
                        surface = raw_surface(suite, group, suite.turn((name, dim), formats))
                        coords = suite.coord_set(surface, dim, n, byte_address, kind)
                        data = suite.turn("store", ("int0", "edges0", "int1"))
                        suite.add(raw(name, dim, size, clamp, byte_address), surface, coords, data)


def misaligned(suite):
    """Byte columns that are no multiple of the access size; never mixed into the sets above."""
    for dim in DIMS:
        for clamp in CLAMPS:
            for kind in ("misaligned", "both"):
                fmt = suite.turn("mis", ("r8_uint", "rg32_sint", "r32_uint"))
                surface = raw_surface(suite, suite.turn(("mis", dim), OF_DIM[dim]), fmt)
                for size in ("U16", "32", "64", "128"):
                    coords = suite.coord_set(surface, dim, SIZES[size], True, kind)
                    suite.add(raw(suite.turn("mis name", ("SULD", "SUST")), dim, size, clamp, True), surface, coords)
                for name in ("SUATOM", "SURED"):
                    for type in ("U32", "U64"):
                        coords = suite.coord_set(surface, dim, TYPES[type][0], True, kind)
                        suite.add(atomic(name, dim, suite.turn("mis op", OPS[:3]), type, clamp, True), surface, coords)
                for type in ("S32", "U64"):
                    coords = suite.coord_set(surface, dim, TYPES[type][0], True, kind)
                    suite.add(atomic("SUATOM", dim, "CAS", type, clamp, True), surface, coords, "near")


def formatted_access(suite):
    """Every format that .P allows, on a 2-D surface and on one of another dimension."""
    shapes = {"1D": ("1d", 11, 1, 1), "1D_BUFFER": ("1d_buffer", 11, 1, 1), "1D_ARRAY": ("1d_array", 7, 1, 3),
              "2D": ("2d", 7, 5, 1), "2D_ARRAY": ("2d_array", 5, 3, 2), "3D": ("3d", 5, 3, 3)}
    others = [d for d in DIMS if d != "2D"]
    for f, fmt in enumerate(f for f in FORMATS.values() if f.formatted):
        for which, dim in enumerate(("2D", others[f % len(others)])):
            header, *size = shapes[dim]
            layout = {"1D_BUFFER": "linear", "2D": ("pitch", "block_linear")[f % 2]}.get(dim, "block_linear")
            block = (f % 3, f // 3 % 3 if dim == "3D" else 0) if layout == "block_linear" else (0, 0)
            surface = suite.surface(f"p {header} {fmt.name}", header, size, fmt.name, layout, *block, guard=guard_bytes(layout))
            for clamp in CLAMPS:
                masks = ("RGBA", suite.turn("mask", ("R", "RG")), suite.turn("odd mask", ODD_MASKS))
                for m, mask in enumerate(masks):
                    # .P converts; NaN in narrow floats and ties near halves have data of their own.
                    sets = ("int0", "edges0") if fmt.kind in ("uint", "sint") else ("p_float", "p_edges")
                    data = suite.turn(("p", fmt.kind), sets)
                    kind = "mixed" if clamp != "TRAP" else "one_out" if m == 2 and f % 2 else "inside"
                    coords = suite.coord_set(surface, dim, fmt.bytes, False, kind)
                    suite.add(formatted("SULD", dim, mask, clamp), surface, coords)
                    suite.add(formatted("SUST", dim, mask, clamp), surface, coords, data)
            coords = suite.coord_set(surface, dim, fmt.bytes, False, "inside")
            if fmt.kind in ("unorm", "snorm", "float") and which == 0:
                suite.add(formatted("SUST", dim, "RGBA", "IGN"), surface, coords, "p_nan")
                if fmt.kind == "unorm":
                    # Met in real code.
                    suite.add(formatted("SUST", dim, "RG", "IGN"), surface, coords, "p_float")
                if fmt.kind != "float":
                    suite.add(formatted("SUST", dim, "RGBA", "IGN"), surface, coords, "p_ties")
                elif fmt.fields[0] < 32:
                    nan = suite.surface(f"nan {header} {fmt.name}", header, size, fmt.name, layout, *block, style="nan")
                    suite.add(formatted("SULD", dim, "RGBA", "IGN"), nan, coords)


def every_family(dim, clamp):
    """One mnemonic of each family, with its access size (0: the texel)."""
    return ((raw("SULD", dim, "32", clamp), 4), (raw("SULD", dim, "128", clamp, True), 16), (raw("SUST", dim, "64", clamp), 8),
            (formatted("SULD", dim, "RG", clamp), 0), (formatted("SUST", dim, "RGBA", clamp), 0),
            (atomic("SURED", dim, "ADD", "U32", clamp, True), 4), (atomic("SURED", dim, "MAX", "P32", clamp), 4),
            (atomic("SUATOM", dim, "XOR", "U64", clamp), 8), (atomic("SUATOM", dim, "CAS", "U32", clamp), 4))


def odd_surfaces(suite):
    """Invalid handles, headers of another dimension, formats without .P, rows shorter than an access."""
    for handle in ("null", "too_large"):
        surface = suite.surface(f"{handle} 2d", "2d", (19, 7, 1), "r32_uint", "block_linear", handle=handle)
        for clamp in CLAMPS:
            dim = suite.turn("invalid", ("2D", "1D_BUFFER", "3D", "2D_ARRAY"))
            for mnemonic, n in every_family(dim, clamp):
                suite.add(mnemonic, surface, suite.coord_set(surface, dim, n or 4, False, "mild"))
        for mnemonic in (raw("SULD", "2D", "64", "IGN"), atomic("SUATOM", "2D", "CAS", "U32", "NEAR"),
                         atomic("SUATOM", "2D", "ADD", "U64", "IGN")):
            suite.add(mnemonic, surface, suite.coord_set(surface, "2D", 4, False, "mild"), predicate=1)
    # facts 4.7: which dimension meets which header; one-D buffers only by 1D and 1D_BUFFER and 1D_BUFFER only on those.
    pairs = [("1D", "2d"), ("1D", "pitch"), ("1D", "1d_array"), ("1D_ARRAY", "2d_array"), ("1D_ARRAY", "2d"), ("2D", "1d"),
             ("2D", "2d_array"), ("2D", "3d"), ("2D_ARRAY", "3d"), ("2D_ARRAY", "pitch"), ("3D", "2d_array"), ("3D", "2d")]
    wrong = [("1D_BUFFER", g) for g in GROUPS if g != "buffer"] + [(d, "buffer") for d in DIMS if d not in ("1D", "1D_BUFFER")]
    for dim, group in pairs + wrong:
        surface = raw_surface(suite, group, "r32_uint")
        for clamp in CLAMPS if (dim, group) in pairs else (suite.turn("wrong", CLAMPS),):
            for mnemonic, n in every_family(dim, clamp):
                # "inside" sets high bits of the layer, which matter if another dimension reads them.
                kind = "inside" if clamp == "TRAP" and dim in ("1D", "2D") and suite.turn("trap", (True, True, False)) else "mild"
                coords = suite.coord_set(surface, dim, n or 4, ".BA" in mnemonic, kind)
                suite.add(mnemonic, surface, coords, "near" if "CAS" in mnemonic else "int0")
    for fmt, dim in (("rgba8_srgb", "2D"), ("r8_srgb", "1D"), ("rgb32_float", "1D_BUFFER"), ("r5g6b5_unorm", "2D"),
                     ("rgb9e5_float", "3D"), ("rgbx8_unorm", "2D_ARRAY"), ("rgba4_unorm", "1D_ARRAY")):
        header, layout, height, depth = GROUPS[OF_DIM[dim][0]]
        surface = suite.surface(f"no p {fmt}", header, (9, min(height, 5), min(depth, 2)), fmt, layout)
        n = FORMATS[fmt].bytes
        for clamp in CLAMPS:
            for name in ("SULD", "SUST"):
                for mask in ("R", "RGBA"):
                    suite.add(formatted(name, dim, mask, clamp), surface, suite.coord_set(surface, dim, n, False, "mixed"))
                suite.add(raw(name, dim, "U16", clamp), surface, suite.coord_set(surface, dim, 2, False, "inside"))
    for dim in DIMS:
        for group in OF_DIM[dim]:
            header, layout, height, depth = GROUPS[group]
            shape = (3, min(height, 2), min(depth, 2))
            surface = suite.surface(f"tiny {group}", header, shape, "r8_uint", layout, guard=guard_bytes(layout))
            for clamp in CLAMPS:
                for byte_address in (False, True):
                    for size in ("U8", "U16", "32", "128"):
                        coords = suite.coord_set(surface, dim, SIZES[size], byte_address, "mixed")
                        suite.add(raw(suite.turn("tiny", ("SULD", "SUST")), dim, size, clamp, byte_address), surface, coords)
                    coords = suite.coord_set(surface, dim, 4, byte_address, "mixed")
                    suite.add(atomic("SUATOM", dim, "ADD", "U32", clamp, byte_address), surface, coords)


def sparse(suite):
    """Surfaces with pages that are not resident, and the forms with a destination predicate."""
    shapes = {"1D": ("1d", (4096, 1, 1), "r32_uint", "block_linear", 0, 0, {0}),
              "1D_BUFFER": ("1d_buffer", (32768, 1, 1), "r32_sint", "linear", 0, 0, {1}),
              "1D_ARRAY": ("1d_array", (2048, 1, 2), "r32_uint", "block_linear", 0, 0, {1}),
              "2D": ("2d", (256, 192, 1), "r32_uint", "block_linear", 2, 0, {1}),
              "2D_ARRAY": ("2d_array", (64, 64, 8), "rgba8_unorm", "block_linear", 4, 0, {0}),
              "3D": ("3d", (128, 32, 8), "r32_sint", "block_linear", 2, 1, {1})}
    for dim, (header, size, fmt, layout, bh, bd, pages) in shapes.items():
        surface, r = "sparse " + header, Random("sparse " + dim)
        s = Surface(header, size, fmt, layout, bh, bd, pages)
        pool = [(16 * r.randrange(s.row_bytes // 16), r.randrange(s.height), r.randrange(s.depth)) for _ in range(24)]
        for place in pool:  # absent pages get bytes too, which nobody may see or change
            for i in range(16):
                s.memory[s.address(place[0] + i, *place[1:])] = r.randrange(1, 256)
        suite.surfaces[surface], suite.images[surface] = s, bytes(s.memory)

        def coords(n, byte_address, out):
            name = f"{surface} {n}{'b' if byte_address else ''}{' out' if out else ''}"
            if name not in suite.coords:
                rows = []
                for lane in range(LANES):
                    xb, y, z = r.choice(pool)
                    xb += n * r.randrange(16 // n)
                    x = xb if byte_address else xb // n
                    if out and lane % 7 == 3:
                        x = r.choice((-n, s.row_bytes))
                    rows.append([v & MASK32 for v in ((x, z, y) if dim == "1D_ARRAY" else (x, y, z))])
                suite.coords[name] = rows
            return name

        mask = "RGBA" if fmt == "rgba8_unorm" else "R"
        for c, clamp in enumerate(CLAMPS):
            out = clamp != "TRAP"
            for size in ("32", "64", "128", "U8"):
                byte_address = suite.turn("sparse", (False, True, True))
                where = coords(SIZES[size], byte_address, out)
                suite.add(raw("SULD", dim, size, clamp, byte_address), surface, where, predicate=suite.turn("ps", range(7)))
                suite.add(raw("SULD", dim, size, clamp, byte_address), surface, where)
                suite.add(raw("SUST", dim, size, clamp, byte_address), surface, where)
            four, eight = coords(4, False, out), coords(8, False, out)
            suite.add(formatted("SULD", dim, mask, clamp), surface, four, predicate=suite.turn("ps", range(7)))
            suite.add(formatted("SULD", dim, mask, clamp), surface, four)
            suite.add(formatted("SUST", dim, mask, clamp), surface, four, "p_float")
            for op in OPS[:8]:
                suite.add(atomic("SUATOM", dim, op, "U32", clamp), surface, four, "edges0", predicate=suite.turn("ps", range(7)))
            suite.add(atomic("SUATOM", dim, "EXCH", "U64", clamp), surface, eight, predicate=suite.turn("ps", range(7)))
            suite.add(atomic("SUATOM", dim, "MIN", "SD64", clamp), surface, eight, predicate=suite.turn("ps", range(7)))
            suite.add(atomic("SUATOM", dim, "ADD", "U32", clamp), surface, four)
            suite.add(atomic("SURED", dim, OPS[c], "S32", clamp), surface, four)
            suite.add(atomic("SURED", dim, OPS[c + 5], "P32", clamp), surface, four)
            for type, where in (("U32", four), ("U64", eight)):
                cas = atomic("SUATOM", dim, "CAS", type, clamp)
                for handle in ("0x50", "R16"):
                    suite.add(cas, surface, where, "near", handle=handle, predicate=suite.turn("ps", range(7)))
                suite.add(cas, surface, where, "near")
        # A predicate form on a surface without sparse pages: every lane's predicate becomes false.
        plain = raw_surface(suite, OF_DIM[dim][0], "r32_uint")
        where = suite.coord_set(plain, dim, 4, False, "mixed")
        suite.add(raw("SULD", dim, "32", "IGN"), plain, where, predicate=2)
        suite.add(atomic("SUATOM", dim, "CAS", "U32", "NEAR"), plain, where, "near", predicate=3)
        suite.add(atomic("SUATOM", dim, "ADD", "U32", "TRAP"), plain, where, predicate=4)


def check_coverage(suite):
    """Every dimension and layout meets every op (or size) and every clamp."""
    for dim in DIMS:
        for layout in {GROUPS[g][1] for g in OF_DIM[dim]}:
            for clamp in CLAMPS:
                for op in OPS:
                    assert ("SUATOM", dim, layout, op, clamp) in suite.met, (dim, layout, op, clamp)
                for op in OPS[:8]:
                    assert ("SURED", dim, layout, op, clamp) in suite.met, (dim, layout, op, clamp)
                for name in ("SULD", "SUST"):
                    for size in SIZES:
                        assert (name, dim, layout, size, clamp) in suite.met, (name, dim, layout, size, clamp)


def main():
    suite = Suite()
    for name in ("SUATOM", "SURED"):
        atomics(suite, name)
    reductions_by_texel(suite)
    for name in ("SULD", "SUST"):
        raw_access(suite, name)
    misaligned(suite)
    formatted_access(suite)
    odd_surfaces(suite)
    sparse(suite)
    check_coverage(suite)
    text = json.dumps(suite.dump(), separators=(",", ":"))
    (HERE / "cases.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    if "--summary" in sys.argv:
        print(len(suite.cases), "cases", len(suite.surfaces), "surfaces", len(suite.coords), "coords", len(suite.data), "data")
        for (family, end), count in sorted(suite.counts.items()):
            print(f"{family:14} {end:30} {count}")


if __name__ == "__main__":
    main()
