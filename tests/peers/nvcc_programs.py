#!/usr/bin/env python3
"""Programs of other projects, compiled by NVIDIA's nvcc and run under `warploom cuda`.

A program is compiled as its project does it, with NVCC_APPEND_FLAGS="-cudart shared", and run with the
arguments that the project has, or with those of the file nvcc_programs.sizes. The result is one of
  passed    it says that its own check passed
  ended     it has no check, and ends with exit code 0
  failed    its check failed, or it ended with another exit code
  slow      it did not end within the CPU time
  unbuilt   nvcc or g++ did not compile it
A program that neither passed nor ended needs a reason in the file nvcc_programs.expected.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from peer import HERE, ROOT

Program = collections.namedtuple("Program", "name folder build run")
# What programs print of their own checks.
FAILED = re.compile(r"\bfail(ed|ure)?\b|\bmismatch|\bincorrect\b|\bwrong\b|error: |\bCUDA error", re.I)
NO_FAILURE = re.compile(r"\b(0|no) (fail\w*|errors?|mismatch\w*)|(fail\w*|errors?|mismatch\w*)\s*[:=]\s*0\b", re.I)
PASSED = re.compile(r"\bpass(ed)?\b|\bsuccess(ful|fully)?\b|\bverified\b|\bcorrect\b|\bOK\b", re.I)


def hecbench(root, nvcc):
    """HeCBench: a folder with a Makefile for each program, whose target `run` has the arguments."""
    make = ["make", f"CC={nvcc}", "ARCH=sm_80", "VENDOR=nvidia"]
    for folder in sorted(root.glob("src/*-cuda")):
        if not (folder / "Makefile").exists():
            continue
        name = folder.name.removesuffix("-cuda")
        lines = subprocess.run([*make, "-n", "run", "LAUNCHER=launched-by"], cwd=folder, text=True, capture_output=True)
        runs = [line.split("launched-by", 1)[1].split() for line in lines.stdout.splitlines() if "launched-by" in line]
        yield Program(f"hecbench/{name}", folder, [make], runs[0] if runs else ["./main"])


def samples(root, nvcc):
    """NVIDIA's cuda-samples: a folder for each program, all of whose sources are compiled together."""
    for folder in sorted(path.parent for path in root.glob("Samples/*/*/CMakeLists.txt")):
        sources = [path.name for path in sorted(folder.iterdir()) if path.suffix in (".cu", ".cpp", ".c")]
        flags = ["-arch=sm_80", "-O2", "-std=c++17", f"-I{root}/Common", "-Xcompiler", "-fopenmp"]
        text = (folder / "CMakeLists.txt").read_text()
        if "CUDA_SEPARABLE_COMPILATION ON" in text:
            flags.append("-rdc=true")
        if sources:
            build = [nvcc, *flags, *sources, "-o", "program", "-lcuda"]
            yield Program(f"cuda-samples/{folder.name}", folder, [build], ["./program"])


SUITES = {
    "hecbench": (hecbench, "zjin-lcf/HeCBench", "f27000a51"),
    "cuda-samples": (samples, "NVIDIA/cuda-samples", "c94ff366"),
}


def table(file):
    """Lines of a name and the rest behind it."""
    lines = (HERE / file).read_text().splitlines() if (HERE / file).exists() else []
    words = (line.split(None, 1) for line in lines if line.strip() and not line.startswith("#"))
    return {name: rest[0].strip() if rest else "" for name, *rest in words}


def done(command, folder, seconds, environment):
    """Exit code, output and CPU seconds of a command with a limit of CPU time; no exit code: it did not end."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen(
            list(map(str, command)), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True,
        )
        # Programs that wait for something take no CPU time.
        try:
            code = process.wait(timeout=3 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            code = None
        output.seek(0)
        text = output.read(1 << 20).decode("utf-8", "replace")
    over = code is None or code in (-9, -24, 128 + 9, 128 + 24)
    return (None if over else code), text, time.monotonic() - start


def judged(code, text):
    said = [line for line in text.splitlines() if not line.startswith("warploom:")]
    if code is None:
        return "slow"
    if code != 0 or any(FAILED.search(line) and not NO_FAILURE.search(line) for line in said):
        return "failed"
    return "passed" if any(PASSED.search(line) for line in said) else "ended"


def tried(program, given, sizes):
    environment = dict(os.environ, NVCC_APPEND_FLAGS="-cudart shared", CUDA_HOME=str(given.cuda))
    environment["PATH"] = f"{given.cuda}/bin:{environment['PATH']}"
    for command in program.build:
        code, text, took = done(command, program.folder, 1200, environment)
        if code != 0:
            return program.name, "unbuilt", took, text
    arguments = sizes[program.name].split() if program.name in sizes else program.run[1:]
    command = [given.warploom, "cuda", "--device", "sm_80", "--summary", "3", "--", program.run[0], *arguments]
    code, text, took = done(command, program.folder, given.seconds, environment)
    return program.name, judged(code, text), took, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--cuda", required=True, type=pathlib.Path, help="the folder nvidia/cu13 of the packages")
    parser.add_argument("--folder", type=pathlib.Path, help="files of the suite; else they are cloned")
    parser.add_argument("--warploom", default=ROOT / "target" / "release" / "warploom", type=pathlib.Path)
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--seconds", default=600, type=int, help="of CPU time that a program may take")
    parser.add_argument("--jobs", default=1, type=int, help="programs at a time")
    parser.add_argument("--logs", type=pathlib.Path, help="a folder for what programs print")
    given = parser.parse_args()
    given.cuda, given.warploom = given.cuda.resolve(), given.warploom.resolve()
    programs, repository, commit = SUITES[given.suite]
    with tempfile.TemporaryDirectory() as temporary:
        root = given.folder
        if root is None:
            root = pathlib.Path(temporary)
            subprocess.run(["git", "clone", "-q", f"https://github.com/{repository}.git", root], check=True)
            subprocess.run(["git", "-C", root, "checkout", "-q", commit], check=True)
        chosen = [one for one in programs(root.resolve(), given.cuda / "bin/nvcc") if re.search(given.only, one.name)]
        sizes, expected = table("nvcc_programs.sizes"), table("nvcc_programs.expected")
        counts, unexplained = collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            for name, result, took, text in pool.map(lambda one: tried(one, given, sizes), chosen):
                counts[result] += 1
                reason = expected.get(name, "") if result in ("failed", "slow", "unbuilt") else ""
                print(f"{result:8} {took:7.1f} s  {name}  {reason}", flush=True)
                if result in ("failed", "slow", "unbuilt") and not reason:
                    unexplained.append(name)
                if given.logs:
                    given.logs.mkdir(parents=True, exist_ok=True)
                    (given.logs / name.replace("/", "_")).write_text(text)
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    if unexplained:
        sys.exit(f"without a reason: {' '.join(unexplained)}")


if __name__ == "__main__":
    main()
