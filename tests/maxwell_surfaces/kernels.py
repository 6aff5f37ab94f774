#!/usr/bin/env python3
"""Writes kernels.json.gz: what the kernels of surf.sm_50.cubin (compiled from surf.cu) leave in their surface and their output.

    python3 kernels.py            # needs numpy

The kernels are followed as their source has them, with the model's surfaces; lanes go through each statement together, the highest
last. Clamp modes are CUDA's: trap where everything is in range, clamp and zero also where it is not.
"""
import base64
import gzip
import itertools
import json
import pathlib
import random

from model import Surface

HERE = pathlib.Path(__file__).resolve().parent
LANES = 8
TYPES = {"u8": (1, "r8_uint"), "u16": (2, "r16_uint"), "u32": (4, "r32_uint"), "v2u32": (8, "rg32_uint"),
         "v4u32": (16, "rgba32_uint"), "u64": (8, "rg32_uint")}
ROW = 160  # bytes
DIMS = {"s1": ("1d", 0), "s2": ("2d", 1), "s3": ("3d", 2), "sl1": ("1d_array", 1), "sl2": ("2d_array", 2), "sc": ("2d_array", 2)}


def clamp(value, most):
    return max(0, min(value, most))


class Access:
    """Reads and writes of n bytes with CUDA's boundary modes (facts 4.2)."""

    def __init__(self, surface, n):
        self.surface, self.n = surface, n

    def place(self, mode, xb, y, z):
        surface, n = self.surface, self.n
        last = (surface.row_bytes - n, surface.height - 1, surface.depth - 1)
        inside = 0 <= xb <= last[0] and 0 <= y <= last[1] and 0 <= z <= last[2]
        if mode == "clamp" and not inside:
            return clamp(xb, last[0]) // n * n, clamp(y, last[1]), clamp(z, last[2])
        assert inside or mode == "zero", "nothing traps here"
        return (xb, y, z) if inside else None

    def read(self, mode, xb, y, z):
        at = self.place(mode, xb, y, z)
        return self.surface.load(self.n, *at) if at else 0

    def write(self, mode, value, xb, y, z):
        at = self.place(mode, xb, y, z)
        if at:
            self.surface.store(self.n, value, *at)


def case(kernel, layout, draw):
    kind, type_name = kernel.split("_")
    n, format = TYPES[type_name]
    dim, coordinates = DIMS[kind]
    size = (ROW // n, 1 if dim.startswith("1d") else 11, {"3d": 5, "1d_array": 4, "2d_array": 4}.get(dim, 1))
    surface = Surface(dim, size, format, layout, 2, 1 if dim == "3d" else 0)
    surface.memory[:] = bytes(draw.randrange(256) for _ in surface.memory)
    before = bytes(surface.memory)
    args = [112] + [draw.randrange(axis) for axis in [a for a in size[1:] if a > 1][:coordinates]]
    x, (y, z) = args[0], (args[1:] + [0, 0])[:2]
    if dim == "1d_array":
        y, z = 0, args[1]
    access = Access(surface, n)

    def output(statements):
        out = bytearray(n * (LANES + 2))
        for offset, values in statements:
            for i, value in enumerate(values):
                out[n * (i + offset):n * (i + offset + 1)] = value.to_bytes(n, "little")
        return bytes(out)

    lanes = range(LANES)
    if kind in ("s1", "s2", "s3"):
        v = [access.read("trap", i * n, y, z) for i in lanes]
        w = [access.read("clamp", i * n + x, y, z) for i in lanes]
        q = [access.read("zero", i * n - x, y, z) for i in lanes]
        # A lane's three stores do not overlap, so the compiler may order them as it likes.
        outputs = {output(order) for order in itertools.permutations(enumerate((v, w, q)))}
        for mode, values, at in (("trap", v, x), ("clamp", w, x + 16), ("zero", q, x + 32)):
            for i in lanes:
                access.write(mode, values[i], at, y, z)
    else:
        read, write = ("trap", "clamp") if kind == "sl1" else ("zero", "trap")
        v = [access.read(read, i * n, y, z) for i in lanes]
        outputs = {output([(0, v)])}
        for i in lanes:
            access.write(write, v[i], x, y, z)
    encode = lambda data: base64.b64encode(bytes(data)).decode()
    description = {"dim": dim, "size": size, "format": format, "layout": layout, "block_height": 2,
                   "block_depth": 1 if dim == "3d" else 0, "memory": encode(before), "handle": "valid"}
    if layout == "pitch":
        description["pitch"] = surface.pitch
    return {"kernel": kernel, "surface": description, "args": args, "outputs": [encode(out) for out in sorted(outputs)], "after": encode(surface.memory)}


def main():
    draw = random.Random(7)
    cases = []
    for kind in DIMS:
        for type_name in TYPES:
            for layout in ["block_linear"] + (["pitch"] if kind == "s2" else []):
                cases.append(case(f"{kind}_{type_name}", layout, draw))
    packed = gzip.compress(json.dumps(cases, separators=(",", ":")).encode(), mtime=0)
    (HERE / "kernels.json.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
