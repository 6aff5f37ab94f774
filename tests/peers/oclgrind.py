#!/usr/bin/env python3
"""Compares checks with Oclgrind's, on the OpenCL C kernels of tests/seeded: which of both finds the
fault of each kernel, whether the twin without the fault is clean, and the times in one run.

    python3 tests/peers/oclgrind.py --warploom target/release/warploom

Needs `oclgrind-kernel` (Debian: oclgrind). Both check memory, races and uninitialized values of 3
groups of 128 items. Times are of whole processes, the best of `--times`; Oclgrind also compiles the
source, as it runs no code object.
"""
import argparse
import math
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDED = ROOT / "tests" / "seeded"
ITEMS, GROUP = 384, 128


def timed(command, times, folder):
    """The best time in seconds, and the output with the exit code."""
    best = math.inf
    for _ in range(times):
        start = time.perf_counter()
        run = subprocess.run(command, cwd=folder, capture_output=True, errors="replace", check=False)
        best = min(best, time.perf_counter() - start)
    return best, run.stdout + run.stderr, run.returncode


def oclgrind(kernel, times, folder, checks=True):
    (folder / "launch.sim").write_text(
        f"faults.cl\n{kernel}\n{ITEMS} 1 1\n{GROUP} 1 1\n<size={4 * ITEMS} fill=0 int>\n"
        f"<size={4 * ITEMS} fill=1 int>\n<size=4 int>\n{ITEMS}\n")
    options = ["--data-races", "--uninitialized"] if checks else []
    command = ["oclgrind-kernel", *options, "--build-options", "-DFENCE()=mem_fence(CLK_GLOBAL_MEM_FENCE)",
               "launch.sim"]
    seconds, text, code = timed(command, times, folder)
    found = sorted(set(re.findall(r"(Invalid \w+|[\w-]+ data race|Uninitialized value)", text)))
    if "Build failure" in text:
        raise SystemExit(text)
    return seconds, found, code


def warploom(exe, kernel, times, folder, binary):
    command = [exe, "run", SEEDED / binary, kernel, "--grid", str(ITEMS // GROUP), "--block", str(GROUP),
               "--arg", f"zeros=i32[{ITEMS}]", "--arg", f"values=i32[{','.join(['1'] * ITEMS)}]",
               "--arg", f"i32={ITEMS}", "--check", "memory,race,init,sync", "--quiet"]
    seconds, text, code = timed(command, times, folder)
    found = sorted(set(re.findall(r"(race:|written|which has \d+ bytes)", text)))
    names = {"race:": "race", "written": "unwritten"}
    return seconds, sorted({names.get(one, "past end") for one in found}), code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warploom", required=True)
    parser.add_argument("--binary", default="faults.gfx900.hsaco")
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    exe = pathlib.Path(args.warploom).resolve()
    kernels = re.findall(r"^KERNEL void (\w+)\(", (SEEDED / "faults.cl").read_text(), re.MULTILINE)
    ratios = []
    print(f"{'kernel':24} {'warploom':28} {'Oclgrind':44} {'ms':>7} {'ms':>7} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("faults.cl", "faults.h"):
            (folder / file).write_text((SEEDED / file).read_text())
        for kernel in kernels:
            ours, found, _ = warploom(exe, kernel, args.times, folder, args.binary)
            theirs, other, _ = oclgrind(kernel, args.times, folder)
            ratios.append(theirs / ours)
            print(f"{kernel:24} {', '.join(found) or '-':28} {', '.join(other) or '-':44} "
                  f"{1000 * ours:7.1f} {1000 * theirs:7.1f} {ratios[-1]:6.1f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"Oclgrind's time by warploom's: geometric mean {mean:.1f}, least {min(ratios):.1f}")


main()
