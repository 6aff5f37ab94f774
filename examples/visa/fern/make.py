#!/usr/bin/env python3
"""Writes counts.expected.npy and picture.expected.npy: what fern.visaasm computes, followed lane by lane. Needs nothing but Python."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEIGHT, LANES, ROUNDS, PLACES = 256, 408, 1024, 512, 12
# Of 256 random numbers those below choose x' = a x + b y, y' = c x + d y + e.
JUMPS = ((3, (0, 0, 0, 0.16, 0)), (220, (0.85, 0.04, -0.04, 0.85, 1.6)), (238, (0.2, -0.26, 0.23, 0.22, 1.6)),
         (256, (-0.15, 0.28, 0.26, 0.24, 0.44)))


def fixed(value):
    return round(value * (1 << PLACES))


def npy(name, dtype, shape, content):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    (HERE / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)


def main():
    jumps = [(below, tuple(map(fixed, jump))) for below, jump in JUMPS]
    counts = [0] * (WIDTH * HEIGHT)
    for lane in range(LANES):
        random, x, y = (lane * 0x2C9277B5 + 0xAC564B05) & 0xFFFFFFFF, 0, 0
        for _ in range(ROUNDS):
            random = (random * 0x19660D + 0x3C6EF35F) & 0xFFFFFFFF
            a, b, c, d, e = next(jump for below, jump in jumps if random >> 24 < below)
            x, y = (a * x + b * y) >> PLACES, (c * x + d * y >> PLACES) + e
            u, v = (x * 40 >> PLACES) + 128, 404 - (y * 40 >> PLACES)
            if 0 <= u < WIDTH and 0 <= v < HEIGHT:
                counts[v * WIDTH + u] += 1
    colour = lambda count: bytes((min(count * 5, 255), min(count * 32, 255), min(count * 3, 176), 255))
    npy("counts.expected.npy", "<u4", (HEIGHT, WIDTH), struct.pack(f"<{len(counts)}I", *counts))
    npy("picture.expected.npy", "|u1", (HEIGHT, WIDTH, 4), b"".join(map(colour, counts)))


if __name__ == "__main__":
    main()
