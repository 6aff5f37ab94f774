#!/usr/bin/env python3
"""Random programs in C++, compiled for Maxwell and for Turing to Ada by NVIDIA's compilers, to PTX by the first of them, for GFX9 by clang, to vISA by Intel's, and for the host:
warploom must give what the host gives, to the bit.

    python3 tools/random_sources --seeds 0:200 --keep found

Each program is compiled with optimisations and limits of registers drawn by its seed, and run on one of warploom's engines and efforts.
What differs is kept: sources, binaries, manifests with the expected results. The exit status is 1 then. This looks for wrong meanings of
instructions that both engines share; mistakes of the compilers are found too (`ptxas -O0` mostly tells). Of Intel's three are known (of
2,121 programs 14 differed, and had one or the other): a negative or absolute value becomes a modifier of `cmp`, `sel`, `asr` and the like, which see that of
the least number as it is, not wrapped; leading zeros of reversed bits are read from a variable that nothing writes; and `x + c != c` of floats becomes
`x != 0`.

For NVIDIA's it needs a Python with numpy and the wheels that tools/nv.py names; for GFX9 and the host clang-19 and lld-19; for vISA (`--isa visa`)
what tools/igc.py needs. WARPLOOM is the program to test (target/release/warploom if it is not set).
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import igc  # noqa: E402
from program import COUNTERS, INPUT, OWN_BYTES, Program  # noqa: E402

WARPLOOM = pathlib.Path(os.environ.get("WARPLOOM", HERE.parent.parent / "target/release/warploom")).absolute()
FLAGS = ["-w", f"-I{HERE}", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing"]
RUNS = [["--effort", "full"], ["--effort", "quick"], ["--effort", "likely", "--threads", "2"], ["--engine", "interp"]]
SECONDS = 120


class Failed(Exception):
    pass


def call(command, folder, environment=None):
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]}: more than {SECONDS} s") from None
    if done.returncode:
        raise Failed(f"{' '.join(str(word) for word in command)}\n{(done.stdout + done.stderr)[-2000:]}")


def inputs(seed):
    """Bytes, among them floats of usual sizes and small numbers; and counters that are not 0."""
    draw = np.random.default_rng(seed)
    data = draw.integers(0, 256, INPUT, dtype=np.uint8)
    data.view(np.float32)[:512:2] = draw.normal(size=256) * 10.0 ** draw.integers(-3, 6, 256)
    data.view(np.float64)[300:400] = draw.normal(size=100) * 10.0 ** draw.integers(-5, 12, 100)
    data.view(np.float16)[1640:1760] = draw.normal(size=120) * 10.0 ** draw.integers(-2, 3, 120)
    data.view(np.uint32)[900:960] = draw.integers(0, 40, 60)
    return {"input": data, "counters_u32": draw.integers(0, 2**32, COUNTERS, dtype=np.uint32),
            "counters_u64": draw.integers(0, 2**63, COUNTERS, dtype=np.uint64)}


def maxwell(source, folder, draw):
    """The binary's name, and how it was compiled."""
    return sass(source, folder, draw, draw.choice(["50", "50", "52", "53"]))


def turing(source, folder, draw):
    return sass(source, folder, draw, draw.choice(["75", "80", "80", "86", "89"]))


def sass(source, folder, draw, arch):
    import nv
    options = [f"--gpu-architecture=compute_{arch}", "--std=c++17", "-default-device", "--fmad=false", "-w"]
    try:
        ptx = nv.nvrtc(source, "program.cu", options + [f"-I{at}" for at in (HERE, *nv.INCLUDES)])
    except RuntimeError as error:
        raise Failed(str(error)) from None
    (folder / "program.ptx").write_text(ptx)
    level = draw.choice(["-O3", "-O3", "-O3", "-O2", "-O1", "-O0"])
    more = draw.choice([[], [], ["-maxrregcount=24"], ["-maxrregcount=40"], ["--device-debug"] if level == "-O0" else []])
    call([nv.PTXAS, f"-arch=sm_{arch}", level, *more, "program.ptx", "-o", "program.cubin"], folder)
    return "program.cubin", [f"sm_{arch}", level, *more]


def ptx(source, folder, draw):
    import nv
    arch = draw.choice(["50", "60", "70", "75", "80", "86", "90"])
    more = draw.choice([[], [], [], ["--device-debug"], ["--generate-line-info"]])
    options = [f"--gpu-architecture=compute_{arch}", "--std=c++17", "-default-device", "--fmad=false", "-w", *more]
    try:
        text = nv.nvrtc(source, "program.cu", options + [f"-I{at}" for at in (HERE, *nv.INCLUDES)])
    except RuntimeError as error:
        raise Failed(str(error)) from None
    (folder / "for_driver.ptx").write_text(text)
    return "for_driver.ptx", [f"compute_{arch}", *more]


def gfx9(_, folder, draw):
    level = draw.choice(["-O2", "-O2", "-O3", "-Os", "-O1", "-O0"])
    target = draw.choice(["gfx900", "gfx900", "gfx906"])
    call(["clang++-19", "-x", "hip", f"--offload-arch={target}", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output",
          level, *FLAGS, "-mcode-object-version=5", "program.cu", "-o", "program.hsaco"], folder)
    return "program.hsaco", [target, level]


def visa(_, folder, draw):
    """C++ for OpenCL through Intel's compiler for GPUs that have doubles, with registers of 32 and of 64 bytes."""
    level, device = draw.choice([igc.PASSES_LEFT_OUT] * 3 + [["-O0"]]), draw.choice(["skl", "pvc"])
    for command in igc.commands("program.cu", device, [*level, *FLAGS]):
        call(command, folder, igc.environment())
    shutil.copy(igc.made(folder), folder / "program.zebin")
    return "program.zebin", [device, *level]


def manifest(program, binary, options):
    lanes = program.grid * program.block
    lines = [f"# A random program, for {' '.join(options)}; what is expected was computed by the host.", f'kernel = {{ binary = "{binary}", entry = "{"random_" * binary.endswith(".zebin")}kernel" }}',
             f"launch = {{ grid = {list(program.grid_shape)}, block = {list(program.block_shape)}, stack_bytes = 8192, time_limit = 60.0 }}"]
    for buffer in ("input", "owns", "counters_u32", "counters_u64", "results"):
        lines += ["[[arg]]", f'buffer = "{buffer}"']
    lines += ["[[arg]]", f"u32 = {lanes}", "[buffer.input]", 'file = "input.bin"', 'dtype = "u8"']
    for buffer, kind, content in (("owns", "u8", f"zeros = {OWN_BYTES * lanes}"), ("counters_u32", "u32", 'file = "counters_u32.bin"'),
                                  ("counters_u64", "u64", 'file = "counters_u64.bin"'),
                                  ("results", "u64", f"zeros = {8 * program.results * lanes}")):
        lines += [f"[buffer.{buffer}]", content, f'dtype = "{kind}"', f'expect = "{buffer}.expected"']
    return "\n".join(lines) + "\n"


def test(seed, folder, isas):
    """What is wrong with the program of a seed: texts."""
    draw = random.Random(~seed)
    # Intel's compiler computes with halves in single precision.
    program = Program(seed, halves=visa not in isas)
    (folder / "program.cu").write_text(program.text)
    for name, array in inputs(seed).items():
        array.tofile(folder / f"{name}.bin")
    call(["clang++-19", "-x", "c++", "-DHOST", "-O1", "-mfma", "-mf16c", *FLAGS, "program.cu", "-o", "host"], folder)
    call(["./host"], folder)
    wrong = []
    for compiler in isas:
        used = []
        try:
            binary, options = compiler(program.text, folder, draw)
            (folder / f"{binary}.toml").write_text(manifest(program, binary, options))
            for run in draw.sample(RUNS, draw.choice([1, 1, 2])):
                used = [*options, *run]
                call([WARPLOOM, "run", *run, f"{binary}.toml"], folder)
        except Failed as error:
            wrong.append(f"{compiler.__name__} {' '.join(used)}: {error}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:100", help="FIRST:END")
    parser.add_argument("--keep", default="random_sources", type=pathlib.Path, help="folder for programs that fail")
    parser.add_argument("--all", action="store_true", help="keep those that do not fail too")
    parser.add_argument("--isa", choices=["maxwell", "turing", "ptx", "gfx9", "visa"], help="only this one")
    arguments = parser.parse_args()
    if not WARPLOOM.exists():
        parser.error(f"{WARPLOOM} is not there: build it, or name another one by WARPLOOM")
    compilers = {compiler.__name__: compiler for compiler in (maxwell, turing, ptx, gfx9, visa)}
    # Intel's compiler mostly is not there: it is asked for by name.
    isas = [compilers[arguments.isa]] if arguments.isa else [maxwell, turing, ptx, gfx9]
    first, end = map(int, arguments.seeds.split(":"))
    start, failures = time.time(), 0
    for seed in range(first, end):
        folder = (arguments.keep / str(seed)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            wrong = test(seed, folder, isas)
        except Failed as error:
            wrong = [f"host: {error}"]
        for text in wrong:
            print(f"{seed}: {text}\n", flush=True)
        failures += bool(wrong)
        if not wrong and not arguments.all:
            shutil.rmtree(folder)
    print(f"{end - first} programs in {time.time() - start:.0f} s, {failures} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
