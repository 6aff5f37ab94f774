#!/usr/bin/env python3
"""Writes cases.json.gz: golden cases for TYPED_ATOMIC, computed by model.py. It gives the same bytes every time.

The file is one JSON object:
  surfaces  dim, size, format, and the texels at first
  words     operands: 32 dwords each
  kernels   surface, mask (lanes that are active), and rows, which are executed one after the other; then texels is what there is
  rows      text; operands: the numbers in `words` of U, V, R, L (the level of detail), A and B (src0 and src1), -1 where the
            text has the null variable; predicate: the bits of P1; dst: what D holds afterwards, DST at first
"""
import gzip
import json
import pathlib
from random import Random

import model
from model import AXES, FLOATS, MASK32, OPS, WITH_SRC1, WITHOUT_SRC0, Surface, Undefined

HERE = pathlib.Path(__file__).parent
DST = 0xDEADBEEF
ROWS = 44
SIZES = {"1d": (37, 1, 1), "1d_buffer": (53, 1, 1), "1d_array": (19, 1, 5), "2d": (13, 9, 1), "2d_array": (11, 7, 3), "3d": (9, 5, 4)}
FORMATS = ("r32_uint", "r32_sint", "r32_float", "r16_uint", "r16_sint", "r16_float")
INTEGERS = tuple(op for op in OPS if op not in FLOATS)
EDGES = (0, 1, 2, 3, 4, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
F32 = (0, 0x80000000, 0x3F800000, 0xBFC00000, 0x40000000, 0x7F800000, 0xFF800000, 1, 0x80000003, 0x007FFFFF, 0x7FC00000, 0x7F800001)
F16 = (0, 0x8000, 0x3C00, 0xBE00, 0x4000, 0x7C00, 0xFC00, 1, 0x8003, 0x03FF, 0x7E00, 0x7C01)


def value(r, format):
    kind = r.random()
    if format == "r32_float":
        return r.choice(F32) if kind < 0.7 else r.getrandbits(1) << 31 | r.randrange(120, 134) << 23 | r.getrandbits(23)
    if format == "r16_float":
        # What is above is not looked at.
        low = r.choice(F16) if kind < 0.7 else r.getrandbits(1) << 15 | r.randrange(12, 19) << 10 | r.getrandbits(10)
        return low | r.getrandbits(16) << 16
    high = r.getrandbits(16) << 16 if format.startswith("r16") else 0
    return (r.randrange(4) if kind < 0.4 else r.choice(EDGES) if kind < 0.7 else r.getrandbits(32)) ^ high


def coordinate(r, extent, outside):
    if r.random() < outside:
        return r.choice((extent, extent + 1, 0x7FFFFFFF, 0x80000000, MASK32, MASK32 - 1))
    return r.randrange(min(extent, 3) if r.random() < 0.3 else extent)


class Pool:
    """Operands that many rows share."""

    def __init__(self, r):
        self.words, self.kinds = [], {}
        for extent in sorted({extent for size in SIZES.values() for extent in size if extent > 1}):
            for n in range(6):
                self.add(extent, [coordinate(r, extent, (0, 0.1, 0.3)[n % 3]) for _ in range(32)])
        self.add("lod", [0] * 32)
        self.add("lod", [0 if r.random() < 0.7 else r.choice((1, 2, MASK32)) for _ in range(32)])
        for format in ("r32_uint", "r32_float", "r16_uint", "r16_float"):
            for _ in range(12):
                self.add(format, [value(r, format) for _ in range(32)])

    def add(self, kind, words):
        self.kinds.setdefault(kind, []).append(len(self.words))
        self.words.append(words)

    def pick(self, r, kind):
        return r.choice(self.kinds[kind])


def exec_of(r, row):
    """Size, first lane and NoMask."""
    size = 8 if row % 8 else r.choice((1, 2, 4, 16))
    offset = r.randrange(0, 32, 4)
    while offset % size or offset + size > 32:
        offset = r.randrange(0, 32, 4)
    return size, offset, r.random() < 0.35


def row(r, pool, surface, op, mask, number):
    half = surface.bits == 16
    size, offset, no_mask = exec_of(r, number)
    predicate = None
    if r.random() < 0.4:
        predicate = (r.choice((r.getrandbits(32), MASK32, 0)), r.choice((None, None, "any", "all")), r.random() < 0.5)
    axes = AXES[surface.dim]
    extents = {"x": surface.size[0], "y": surface.size[1], "z": surface.size[2], "l": surface.size[2]}
    numbers = [pool.pick(r, extents[axis]) for axis in axes] + [-1] * (3 - len(axes))
    numbers.append(pool.pick(r, "lod") if r.random() < 0.25 else -1)
    kind = surface.format.replace("sint", "uint")
    numbers.append(-1 if op in WITHOUT_SRC0 else pool.pick(r, kind))
    numbers.append(pool.pick(r, kind) if op in WITH_SRC1 else -1)
    writes = r.random() < 0.8

    prefix = ""
    if predicate:
        _, combination, inverted = predicate
        prefix = f"({'!' if inverted else ''}P1{'.' + combination if combination else ''}) "
    names = [name + ".0" if at >= 0 else "%null.0" for name, at in zip("UVRLAB", numbers)]
    lanes = f"(M{offset // 4 + 1}{'_NM' if no_mask else ''}, {size})"
    text = f"{prefix}typed_atomic.{op}{'.16' if half else ''} {lanes} T6 {' '.join(names)} {'D.0' if writes else '%null.0'}"

    enabled = model.enabled(mask, size, offset, no_mask, predicate)
    operands = [None if at < 0 else pool.words[at] for at in numbers]
    dst = model.execute(surface, op, half, enabled, operands, [DST] * size)
    return {"text": text, "operands": numbers, "predicate": predicate[0] if predicate else 0,
            "dst": dst if writes else [DST] * size}


def main():
    r = Random("TYPED_ATOMIC")
    pool = Pool(r)
    surfaces, kernels = [], []
    for dim in AXES:
        for format in FORMATS:
            count = SIZES[dim][0] * SIZES[dim][1] * SIZES[dim][2]
            bits = int(format[1:3])
            texels = [value(r, format) & ((1 << bits) - 1) for _ in range(count)]
            surfaces.append({"dim": dim, "size": SIZES[dim], "format": format, "texels": texels})
            ops = FLOATS if format.endswith("float") else INTEGERS
            for mask in (MASK32, r.getrandbits(32)):
                surface = Surface(dim, SIZES[dim], format, texels)
                rows = []
                while len(rows) < ROWS:
                    try:
                        rows.append(row(r, pool, surface, ops[len(rows) % len(ops)], mask, len(rows)))
                    except Undefined:
                        continue
                kernels.append({"surface": len(surfaces) - 1, "mask": mask, "rows": rows,
                                "texels": [surface.texels[n] for n in range(count)]})
    content = json.dumps({"surfaces": surfaces, "words": pool.words, "kernels": kernels}, separators=(",", ":"))
    with open(HERE / "cases.json.gz", "wb") as file:
        file.write(gzip.compress(content.encode(), mtime=0))


if __name__ == "__main__":
    main()
