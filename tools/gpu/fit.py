#!/usr/bin/env python3
"""Finds the tables of src/ir/special in what `tools/gpu run OUT mufu` wrote, and writes them: python3 fit.py OUT. Needs scipy.

Each function is cut into equal parts. In a part it is C0 + C1 u + C2 s, where u is how far the operand is and s the truncated square
of that (src/ir/special/mod.rs). A result says that this lies between itself and the next float: for each part a linear programme
over its points, whose solution is rounded to whole C1 and C2, and then tried on all of them.
"""
import pathlib
import sys

import numpy as np
from scipy.optimize import linprog

import mufu

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINADE, PART = 1 << 23, 17
# What there is a table of: the operands' first bits, how many parts, the places of a unit, the name and what it is.
TABLES = [("rcp", 0x3F800000, 128, 24, "RECIPROCAL", "1/x of 1 <= x < 2, in units of 2^-24"),
          ("rsq", 0x3F800000, 64, 24, "RECIPROCAL_ROOT", "1/sqrt(x) of 1 <= x < 2, in units of 2^-24"),
          ("rsq", 0x40000000, 64, 24, "RECIPROCAL_ROOT_OF_DOUBLE", "The same of 2 <= x < 4"),
          ("sqrt", 0x3F800000, 64, 24, "ROOT", "sqrt(x) of 1 <= x < 2, in units of 2^-24"),
          ("sqrt", 0x40000000, 64, 24, "ROOT_OF_DOUBLE", "The same of 2 <= x < 4"),
          ("ex2", 0x3F800000, 64, 22, "POWER", "2^x of 0 <= x < 1, in units of 2^-23"),
          ("lg2", 0x3F800000, 64, 24, "LOGARITHM", "log2(x) of 1 <= x < 2, in units of 2^-24"),
          ("sin", 0x3E800000, 64, 24, "SINE", "Sine of 0 <= x < 1 quarter of a turn, in units of 2^-24")]


def square(x):
    """The square of 17 bits in units of 2^34, without the products of two bits that are worth at most 2^18."""
    bits, total = [(x >> i) & 1 for i in range(PART)], np.zeros_like(x)
    for i in range(PART):
        total += bits[i] << 2 * i if 2 * i > 18 else 0
        for j in range(i + 1, PART):
            total += (bits[i] & bits[j]) << (i + j + 1) if i + j + 1 > 18 else 0
    return total / 2.0 ** 34


def part(results, places, cut, skip):
    """C1, C2, and the least and the greatest C0, of a part's results as floats. Places from 2^-cut on are lost before they are floats."""
    n = len(results)
    x = np.arange(n, dtype=np.int64) << (PART - (n.bit_length() - 1))
    u, s = x / 2.0 ** PART, square(x)
    low = results * 2.0 ** places
    high = low + 2.0 ** (np.maximum(np.floor(np.log2(np.maximum(results, 2.0 ** -60))) - 23, -cut) + places)
    changes = np.nonzero(np.diff(results))[0]
    points = np.unique(np.concatenate([[skip, n - 1], changes, changes + 1]))
    points = points[points >= skip]
    if len(points) > 14000:
        points = np.sort(np.random.default_rng(1).choice(points, 14000, replace=False))
    rows = np.stack([np.ones(len(points)), u[points], s[points]], 1)
    below, width = low[points] - low[skip], (high - low)[points]
    # How far the results may be beyond their bounds, in their last place: the solution has less than 0.
    bounds = np.concatenate([np.column_stack([-rows, -width]), np.column_stack([rows, -width])])
    found = linprog([0, 0, 0, 1], A_ub=bounds, b_ub=np.concatenate([-below, below + width]), bounds=[(None, None)] * 4).x
    for d1 in range(-4, 5):
        for d2 in range(-8, 9):
            c1, c2 = round(found[1]) + d1, round(found[2]) + d2
            rest = c1 * u + c2 * s
            least, most = (low - rest)[skip:].max(), (high - rest)[skip:].min()
            if least < most:
                return c1, c2, least, most
    raise ValueError("no whole coefficients")


def bias(parts):
    """The least common rest of all C0 by a quarter, in 2^-17."""
    for candidate in range(1 << (PART - 2)):
        b = candidate / 2.0 ** PART
        if all(np.ceil((least - b) * 4 - 1e-6) / 4 + b < most for _, _, least, most in parts):
            return candidate
    raise ValueError("no common rest")


def main(out):
    ranges = {(name, int(words[0]) + at * BINADE): found[at * BINADE:(at + 1) * BINADE]
              for name, words, found in mufu.results(out) for at in range(len(words) // BINADE)}
    text = ["//! Coefficients of [`special`](super): of each interval the constant in quarters of a unit, slope and curvature in units.",
            "//!", "//! Found from results of an H200 for all mantissas, which they give exactly (`tools/gpu/fit.py`).", "", "use super::Table;", ""]
    for name, first, count, places, title, what in TABLES:
        results = ranges[name, first].view(np.float32).astype(np.float64)
        if name == "sin":
            results = results[::-1]  # the second quarter, backwards: it has all places of the angle
        # 1 has a result of its own.
        special = name in ("rsq", "lg2") and first == 0x3F800000
        cut = 36 if name == "lg2" else 60
        parts = [part(chunk, places, cut, int(special and n == 0)) for n, chunk in enumerate(results.reshape(count, -1))]
        rest = bias(parts)
        text += [f"/// {what}.", "#[rustfmt::skip]", f"pub static {title}: Table<{count}> = Table {{", f"    bias: {rest},", "    rows: ["]
        line = "       "
        for c1, c2, least, _ in parts:
            entry = f" ({int(np.ceil((least - rest / 2.0 ** PART) * 4 - 1e-6))}, {c1}, {c2}),"
            if len(line + entry) > 140:
                text.append(line)
                line = "       "
            line += entry
        text += [line, "    ],", "};", ""]
        print(title, "bias", rest, flush=True)
    (ROOT / "src/ir/special/tables.rs").write_text("\n".join(text))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
