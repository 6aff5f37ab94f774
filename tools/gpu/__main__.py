#!/usr/bin/env python3
"""Asks an NVIDIA GPU, through CUDA's driver, what warploom does without one: golden results, and where warploom has others.

    python3 tools/gpu prepare            # where warploom is built: what the jobs need besides the repository, in tools/gpu/build
    python3 tools/gpu run OUT [JOB ...]  # where the GPU is
    python3 tools/gpu keep OUT           # writes the golden files that the tests compare with

Jobs (all if none is named):
  semantics  the PTX of tests/semantics, form by form
  textures   the cases of tests/maxwell_textures that CUDA can say, and experiments.py
  surfaces   the cases of tests/maxwell_surfaces that PTX can say, against their model
  mufu       the special functions over all mantissas; fit.py finds the tables of src/ir/special in them
  manifests  examples and random sources against what their manifests expect

`prepare` needs a Python with the wheels that tools/nv.py names, and cargo; `run` numpy, cuda-bindings, pillow, and the folder
tools/gpu/build.
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
JOBS = ("semantics", "textures", "surfaces", "mufu", "manifests")


def prepare():
    import manifests
    import mufu
    build = HERE / "build"
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir()
    environment = dict(os.environ, WARPLOOM_WRITE_RUNS=str(build))
    subprocess.check_call(["cargo", "test", "-q", "--test", "semantics", "ptx"], env=environment, cwd=HERE.parent.parent)
    manifests.prepare(build)
    mufu.prepare(build)


def run(out, jobs):
    import importlib
    import driver
    out.mkdir(parents=True, exist_ok=True)
    print(driver.start())
    for job in jobs or JOBS:
        importlib.import_module(job).run(driver, out)


def keep(out):
    import semantics
    import textures
    semantics.keep(out)
    textures.keep(out)


def main():
    match sys.argv[1:]:
        case ["prepare"]:
            prepare()
        case ["run", out, *jobs] if set(jobs) <= set(JOBS):
            run(pathlib.Path(out), jobs)
        case ["keep", out]:
            keep(pathlib.Path(out))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
