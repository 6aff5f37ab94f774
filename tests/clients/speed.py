#!/usr/bin/env python3
"""How fast kernels of numba and Triton are on warploom, against what else runs them without a GPU: speed.py [--warploom target/release/warploom].

For a piece of each kernel's work: warploom; numba's simulator; the same loops by numba.njit(parallel=True) on the same cores; Triton's interpreter.
Prints each, the ratios, and their geometric means; and what launches cost. Environments are those of run.py.
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def times(python, script, under=(), **environment):
    """Nanoseconds for a piece of work, by the name of the kernel."""
    command = [*under, python, script, "--time"]
    ran = subprocess.run(command, cwd=HERE, env=dict(os.environ, **environment), text=True, capture_output=True)
    if ran.returncode != 0:
        sys.exit(f"{script}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    lines = re.findall(r"^time +(\S+) (\d+) (\d+) ns$", ran.stdout, re.MULTILINE)
    return {name: int(ns) / int(work) for name, work, ns in lines}


def compare(own, other, what):
    """Prints how many times faster `own` is."""
    ratios = {name: other[name] / own[name] for name in own if name in other}
    for name, ratio in ratios.items():
        print(f"  {name:16} {own[name]:12.4f} ns  {what} {other[name]:14.4f} ns  {ratio:10.2f} x")
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"  geometric mean over {what}: {mean:.2f} x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["launches", "numba", "triton"], help="launches, numba, triton")
    parser.add_argument("--warploom", type=pathlib.Path, default=ROOT / "target" / "release" / "warploom")
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "target" / "clients")
    options = parser.parse_args()

    def under(device):
        return [options.warploom.resolve(), "cuda", "--device", device, "--summary", "0", "--"]

    def python(name):
        return options.environments.resolve() / name / "bin" / "python"

    if "launches" in options.parts:
        print("launches")
        for name, ns in times(sys.executable, "launch_cost.py", under("sm_52")).items():
            print(f"  {name:22} {ns / 1e3:10.2f} us", flush=True)
    if "numba" in options.parts:
        print("numba")
        own = times(python("numba"), "numba_kernels.py", under("sm_52"))
        compare(own, times(python("numba"), "numba_parallel.py"), "njit(parallel)")
        compare(own, times(python("numba"), "numba_kernels.py", NUMBA_ENABLE_CUDASIM="1"), "simulator")
    if "triton" in options.parts:
        print("triton")
        own = times(python("torch"), "triton_kernels.py", under("sm_80"))
        compare(own, times(python("torch"), "triton_kernels.py", TRITON_INTERPRET="1"), "interpreter")


if __name__ == "__main__":
    main()
