#!/usr/bin/env python3
"""The knot of ../knot for the programs here, and the picture that they should give: NumPy in doubles. Writes into this folder."""
import pathlib, sys
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "knot"))
import make as knot  # which writes its own files again

f32 = np.float32
CELLS, RADIUS = np.array([48, 6]), 0.1
LIGHT, BRIGHT, DIM = np.array([0.36, 0.48, 0.8]), 0.8, 0.2
COLOURS = np.array([[0.25, 0.6, 0.85], [0.95, 0.55, 0.2]])


def shade(attributes):
    """Colours of pixels from direction and coordinate, and which are kept."""
    normal, cell = attributes[:, :3], attributes[:, 3:] * CELLS
    odd = np.trunc(cell).astype(int).sum(1) & 1
    hole = (((cell - np.trunc(cell) - 0.5) ** 2).sum(1) < RADIUS) & (odd == 0)
    light = np.abs(normal @ LIGHT) / np.linalg.norm(normal, axis=1) * BRIGHT + DIM
    return COLOURS[odd] * light[:, None], ~hole


place, normal, coordinate = (array.astype(f32) for array in knot.knot())
direction = normal.astype(float) @ knot.matrices[1, :3, :3].astype(float)
direction /= np.linalg.norm(direction, axis=1)[:, None]
for name, array in {"place": place, "normal": normal, "0x70": knot.clip.astype(f32), "0x80": direction.astype(f32), "0x90": coordinate}.items():
    np.save(HERE / f"{name}.npy", array)
attributes = np.concatenate([direction, coordinate.astype(float)], 1)
knot.png(HERE / "knot.png", knot.picture(knot.clip, attributes, knot.triangles, shade))
