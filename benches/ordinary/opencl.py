#!/usr/bin/env python3
"""Compiles the programs to vISA: makes C++ for OpenCL of them, which goes through Intel's graphics compiler.

    python3 benches/ordinary/opencl.py                 # all
    python3 benches/ordinary/opencl.py gcd crc         # these only
    python3 benches/ordinary/opencl.py --show gcd      # prints what clang gets behind opencl.h

Needs what tools/igc.py needs.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent / "tools"))
import igc  # noqa: E402

PROGRAMS = HERE / "programs"
# What OpenCL cannot say.
LEFT_OUT = {"interval": "OpenCL has directed rounding in conversions only"}
# Gen9 has doubles and 64-bit integers.
DEVICE = "skl"
# Arrays of two address spaces, of which one is chosen.
EDITS = {"generic": ("near : own", "(const int *)near : own")}


def kernel(found):
    """The kernel's head; its pointers point to global memory. Those elsewhere are generic, as CUDA's are."""
    arguments = [f"__global {argument.strip()}" if "*" in argument else argument.strip() for argument in found[2].split(",")]
    head = f"__kernel void {found[1]}({', '.join(arguments)})"
    # The name that it keeps if opencl.h has another one for it.
    return f'{head} __asm__("{found[1]}");\n{head}'


def translated(name):
    source = (PROGRAMS / f"{name}.cu").read_text().replace(*EDITS.get(name, ("", "")))
    # OpenCL's `long` has 64 bits.
    source = source.replace("long long", "long")
    source = re.sub(r'extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(([^)]*)\)', kernel, source)
    # What a constructor makes cannot be in constant memory.
    source = re.sub(r"__constant__ (\w+) (\w+);", r"__global const \1 \2;", source)
    # Else the compiler chooses how many lanes a thread has.
    if "__shfl_" in source:
        source = source.replace("__kernel", "__attribute__((intel_reqd_sub_group_size(32))) __kernel")
    return source


def compile(name, folder):
    """What went wrong, if anything did."""
    (folder / "program.cl").write_text(translated(name))
    for command in igc.commands("program.cl", DEVICE, [*igc.PASSES_LEFT_OUT, "-include", HERE / "opencl.h", "-ffp-contract=off", "-w"]):
        done = subprocess.run(command, cwd=folder, env=igc.environment(), capture_output=True, text=True)
        if done.returncode:
            return f"{command[0]}: {(done.stdout + done.stderr)[-2000:]}"
    shutil.copy(igc.made(folder), PROGRAMS / f"{name}.{DEVICE}.zebin")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    failed = False
    for name in options.programs or sorted(path.stem for path in PROGRAMS.glob("*.cu")):
        if options.show:
            print(translated(name))
        elif name in LEFT_OUT:
            print(f"{name}: left out: {LEFT_OUT[name]}")
        else:
            with tempfile.TemporaryDirectory() as folder:
                if problem := compile(name, pathlib.Path(folder)):
                    failed = True
                    print(f"{name}: {problem}", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
