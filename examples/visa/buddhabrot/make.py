#!/usr/bin/env python3
"""Writes counts.expected.npy and picture.expected.npy: what buddhabrot.cl computes, followed lane by lane. Needs nothing but Python.

tools/igc.sh examples/visa/buddhabrot/buddhabrot.cl dg2 examples/visa/buddhabrot/buddhabrot.dg2.zebin compiles it again."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEIGHT, LANES, SAMPLES, ROUNDS, PLACES = 144, 144, 1024, 32, 64, 13
ONE = 1 << PLACES
MASK = 0xFFFFFFFF


def npy(name, dtype, shape, content):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    (HERE / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)


def orbit(cx, cy):
    """The points until it leaves; none if it stays."""
    x = y = 0
    points = []
    while len(points) < ROUNDS and (x * x >> PLACES) + (y * y >> PLACES) < 4 * ONE:
        x, y = (x * x >> PLACES) - (y * y >> PLACES) + cx, (x * y >> (PLACES - 1)) + cy
        points.append((x, y))
    return points if len(points) < ROUNDS else []


def main():
    counts = [0] * (WIDTH * HEIGHT)
    for lane in range(LANES):
        random = (lane * 0x9E3779B9 + 12345) & MASK
        for _ in range(SAMPLES):
            random = (random * 1664525 + 1013904223) & MASK
            cx = ((random >> 16) * 3 >> 3) - 2 * ONE
            random = (random * 1664525 + 1013904223) & MASK
            cy = ((random >> 16) * 3 >> 3) - 3 * ONE // 2
            for x, y in orbit(cx, cy):
                for side in (y, -y):
                    u, v = (side * 48 >> PLACES) + WIDTH // 2, (x * 48 >> PLACES) + 93
                    if 0 <= u < WIDTH and 0 <= v < HEIGHT:
                        counts[v * WIDTH + u] += 1
    colour = lambda n: bytes((min(n * 5, 255), min(n * 7, 255), min(n * 12, 255), 255))
    npy("counts.expected.npy", "<u4", (HEIGHT, WIDTH), struct.pack(f"<{len(counts)}I", *counts))
    npy("picture.expected.npy", "|u1", (HEIGHT, WIDTH, 4), b"".join(map(colour, counts)))


if __name__ == "__main__":
    main()
