#!/usr/bin/env python3
"""How fast kernels of numba and Triton are on warploom, against what else runs them without a GPU: speed.py [--warploom target/release/warploom].

For a piece of each kernel's work: warploom; numba's simulator; the same loops by numba.njit(parallel=True) on the same cores; Triton's interpreter.
Prints each, the ratios, and their geometric means; what launches cost; and, of each client's first kernel in a process, how much of the time is warploom's:
the calls of the driver (with translation and the kernels themselves), with and without the cache of
compiled code, and what the libraries add to the start of a process. Environments are those of run.py.
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from run import CLIENTS, environment_of

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


FIRST = ["numba", "cupy", "torch", "tinygrad", "triton", "taichi"]
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def shortest(command, environment, times=5):
    """Seconds of the shortest run."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        best = min(best, time.perf_counter() - start)
    return best


def first_kernel(name, command, environment):
    """Seconds of a client's first kernel: of the whole process, and of calls of the driver."""
    begin = time.perf_counter()
    ran = subprocess.run([*command, "first_kernel.py", name], cwd=HERE, env=environment, text=True, capture_output=True)
    whole = time.perf_counter() - begin
    spent = re.search(r"in calls of the driver ([\d.]+) (ns|us|ms|s)$", ran.stderr, re.MULTILINE)
    if ran.returncode != 0 or not spent:
        sys.exit(f"{name}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return whole, float(spent[1]) * NANOSECONDS[spent[2]] / 1e9


def first(options, under):
    """Of each client's first kernel: the whole process, and calls of the driver, the best of three. Then calls of a process that
    finds the cache of compiled code empty, and of the next process."""
    for name in FIRST:
        client = CLIENTS[name]
        python, site = environment_of(client, options)
        if not python.exists():
            print(f"  {name:10} is not installed", flush=True)
            continue
        environment = client.variables(site)
        device = under(client.devices[0])
        device[device.index("--summary") + 1] = "1"
        start = shortest([*device, python, "-c", ""], environment) - shortest([python, "-c", ""], environment)
        command = [*device, python]
        runs = [first_kernel(name, command, environment) for _ in range(3)]
        whole, calls = (min(column) for column in zip(*runs))
        kept = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                caching = environment | {"WARPLOOM_CACHE": folder}
                kept.append([first_kernel(name, command, caching)[1] for _ in range(2)])
        empty, full = (min(column) for column in zip(*kept))
        print(f"  {name:10} {whole:6.2f} s, of that warploom {(start + calls) * 1e3:6.1f} ms: start {start * 1e3:5.1f}, calls {calls * 1e3:6.1f}; "
              f"calls with an empty cache {empty * 1e3:6.1f}, and next {full * 1e3:6.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["launches", "first", "numba", "triton"], help="launches, first, numba, triton")
    parser.add_argument("--warploom", type=pathlib.Path, default=ROOT / "target" / "release" / "warploom")
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "target" / "clients")
    parser.add_argument("--as-they-are", action="store_true", help="install nothing")
    options = parser.parse_args()
    options.warploom, options.environments = options.warploom.resolve(), options.environments.resolve()

    def under(device):
        return [options.warploom, "cuda", "--device", device, "--summary", "0", "--"]

    def python(name):
        return options.environments / name / "bin" / "python"

    if "launches" in options.parts:
        print("launches")
        for name, ns in times(sys.executable, "launch_cost.py", under("sm_52")).items():
            print(f"  {name:22} {ns / 1e3:10.2f} us", flush=True)
    if "first" in options.parts:
        print("first kernel")
        first(options, under)
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
