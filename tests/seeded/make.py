#!/usr/bin/env python3
"""Compiles faults.cl and warp.ptx for all guests.

    python3 tests/seeded/make.py          # needs what tools/nv.py, tools/igc.sh and
                                          # examples/gfx9/make.py name
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "examples" / "gfx9"))
import nv
from make import BITCODE


def nvidia(sm, cubin):
    """PTX and, if asked for, machine code."""
    source = (HERE / "faults.cl").read_text()
    options = [f"-arch=compute_{sm}", f"-I{HERE}", "-lineinfo", "-default-device"]
    options += [f"-I{include}" for include in nv.INCLUDES]
    ptx = nv.nvrtc(source, "faults.cl", options).replace(f"{pathlib.Path.cwd()}/", "")
    (HERE / f"faults.sm_{sm}.ptx").write_text(ptx)
    if cubin:
        assemble(HERE / f"faults.sm_{sm}.ptx", sm, HERE / f"faults.sm_{sm}.cubin")


def assemble(text, sm, out):
    subprocess.check_call([nv.PTXAS, f"-arch=sm_{sm}", "-lineinfo", text.name, "-o", out], cwd=HERE)


def main():
    nvidia(50, True)
    nvidia(80, True)
    assemble(HERE / "warp.ptx", 80, HERE / "warp.sm_80.cubin")
    subprocess.check_call(["clang-19", "-x", "cl", "-cl-std=CL2.0", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx900",
                           f"--rocm-device-lib-path={BITCODE}", "-O2", "-gline-tables-only",
                           "-fdebug-compilation-dir=.", "-mcode-object-version=5", "faults.cl", "-o",
                           "faults.gfx900.hsaco"], cwd=HERE)
    with tempfile.TemporaryDirectory() as folder:
        # The compiler does not find headers.
        joined = pathlib.Path(folder) / "faults.cl"
        text = (HERE / "faults.cl").read_text()
        joined.write_text(text.replace('#include "faults.h"', (HERE / "faults.h").read_text()))
        out = HERE / "faults.dg2.zebin"
        subprocess.check_call([ROOT / "tools" / "igc.sh", joined, "dg2", out])
        subprocess.check_call(["gzip", "-9", "-n", "-f", out])


main()
