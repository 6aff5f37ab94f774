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
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

from peer import HERE, ROOT

# `asserts`: a program without output ends with another exit code than 0 where its check fails.
Program = collections.namedtuple("Program", "name folder build run asserts", defaults=[False])
# What programs print of their own checks.
FAILED = re.compile(
    r"Error Threshold.*: [1-9]|\bfail(ed|ure)?\b|\bmismatch|\bincorrect\b|\bwrong\b"
    r"|error: (?![0-9.])|\bCUDA error", re.I)
FAULT = re.compile(r"^warploom: .* at pc 0x", re.M)
NO_FAILURE = re.compile(
    r"failed as expected|\b(0|no) (fail\w*|errors?|mismatch\w*)"
    r"|(fail\w*|errors?|mismatch\w*)\s*[:=]\s*0\b", re.I)
PASSED = re.compile(
    r"Error Threshold.*: 0$|\bpass(ed)?\b|\bsuccess(ful|fully)?\b|\bverified\b|\bcorrect\b|\bOK\b",
    re.I)

# CUDA 13 has this function by its newer name only.
RENAMED = "-DcudaThreadSynchronize=cudaDeviceSynchronize"


def hecbench(root, nvcc):
    """HeCBench: a folder with a Makefile for each program, whose target `run` has the arguments."""
    for folder in sorted(root.glob("src/*-cuda")):
        if not (folder / "Makefile").exists():
            continue
        make = ["make", f"CC={nvcc}", "ARCH=sm_80", "VENDOR=nvidia"]
        lines = printed([*make, "-n", "run", "LAUNCHER=launched-by"], folder)
        if "sm_sm_80" in lines:
            make[2] = "ARCH=80"
        lines = lines.replace("\\\n", " ")
        runs = [line.split() for line in re.findall(r"^(?:launched-by +)?(\./.*)", lines, re.M)]
        name = folder.name.removesuffix("-cuda")
        yield Program(f"hecbench/{name}", folder, [make], runs[0] if runs else ["./main"])


def samples(root, nvcc):
    """NVIDIA's cuda-samples: a folder for each program. Its sources are compiled together, without the
    kernels that the program loads or compiles itself."""
    for folder in sorted(path.parent for path in root.glob("Samples/*/*/CMakeLists.txt")):
        rules = (folder / "CMakeLists.txt").read_text()
        sources = [path for path in sorted(folder.iterdir()) if path.suffix in (".cu", ".cpp", ".c")]
        files = [*sources, *folder.glob("*.h")]
        flags = ["-arch=sm_80", "-O2", "-std=c++17", f"-I{root}/Common", "-Xcompiler", "-fopenmp"]
        builds = []
        if "CUDA_FATBIN_FILE" in rules:
            for kernel in re.findall(r"/(\w+)64\.fatbin", rules):
                builds.append([nvcc, *flags, "-fatbin", f"{kernel}.cu", "-o", f"{kernel}64.fatbin"])
        if "CUDA_FATBIN_FILE" in rules or "nvrtc" in folder.name:
            sources = [path for path in sources if path.suffix != ".cu"]
        if "nvrtc" in folder.name:
            flags += ["-lnvrtc", f"-I{nvcc.parents[1]}/include"]
        if any("helper_multiprocess.h" in path.read_text(errors="replace") for path in files):
            sources.append(root / "Common/helper_multiprocess.cpp")
        if "CUDA_SEPARABLE_COMPILATION ON" in rules:
            flags.append("-rdc=true")
        if sources:
            builds.append([nvcc, *flags, *sources, "-o", "program"])
            yield Program(f"cuda-samples/{folder.name}", folder, builds, ["./program"])


def polybench(root, nvcc):
    """PolyBench/GPU: a folder with one source for each program, compiled without an option for a GPU."""
    for source in sorted(root.glob("CUDA/*/*.cu")):
        build = [nvcc, "-O3", RENAMED, source, "-o", "program"]
        yield Program(f"polybench/{source.parent.name}", source.parent, [build], ["./program"])


# Rodinia: folder, sources, options, arguments. Its Makefiles name GPUs that nvcc 13 does not know.
# Most of its input files are in no repository; `rodinia_inputs` writes the files that are named here.
RODINIA = """
b+tree          | main.c kernel/*wrapper*.cu util/*/*.c util/*/*.cu  | | file mil.txt command command.txt
backprop        | backprop.c facetrain.c imagenet.c backprop_cuda.cu | | 65536
bfs             | bfs.cu              | -I../util -DTIMING  | graph.txt
dwt2d           | *.cu dwt_cuda/*.cu  | -I.                 | rgb.bmp -d 192x192 -f -5 -l 3
gaussian        | gaussian.cu         |                     | -s 128
hotspot         | hotspot.cu          |                     | 512 2 4 temp.txt power.txt output.txt
hotspot3D       | 3D.cu               |                     | 512 8 10 power3d.txt temp3d.txt output.txt
huffman         | main_test_cu.cu vlc_kernel_sm64huff.cu scan.cu pack_kernels.cu *.cpp | | bytes.bin
hybridsort      | bucketsort.cu mergesort.cu main.cu |      | r
kmeans          | *.c *.cu            |                     | -o -i features.txt
lavaMD          | main.c kernel/*wrapper*.cu util/*/*.c util/*/*.cu | -Xcompiler -fopenmp | -boxes1d 4
lud             | cuda/*.cu common/*.c | -Icommon           | -s 256 -v
myocyte         | main.cu             |                     | 10 1 0
nn              | nn_cuda.cu          |                     | filelist.txt -r 5 -lat 30 -lng 90
nw              | needle.cu           |                     | 512 10
particlefilter  | ex_particle_CUDA_float_seq.cu |           | -x 64 -y 64 -z 5 -np 1000
pathfinder      | pathfinder.cu       |                     | 10000 100 20
srad/srad_v1    | main.cu             |                     | 10 0.5 502 458
srad/srad_v2    | srad.cu             |                     | 256 256 0 127 0 127 0.5 2
streamcluster   | streamcluster_cuda_cpu.cpp streamcluster_cuda.cu | | 10 20 32 4096 4096 1000 none output.txt 1
"""


def rodinia(root, nvcc):
    """Rodinia 3.1: C and CUDA sources of each program in one folder."""
    for line in RODINIA.strip().splitlines():
        name, sources, flags, arguments = (part.split() for part in line.split("|"))
        folder = root / "cuda" / name[0]
        rodinia_inputs(folder, arguments)
        files = [path.relative_to(folder) for pattern in sources for path in sorted(folder.glob(pattern))]
        build = [nvcc, "-arch=sm_80", "-O2", RENAMED, *flags, *files, "-o", "program"]
        yield Program(f"rodinia/{name[0].split('/')[-1]}", folder, [build], ["./program", *arguments])


def rodinia_inputs(folder, arguments):
    """The input files that Rodinia describes and does not keep, with numbers of a fixed seed."""
    some = random.Random(52)

    def lines(count, one):
        return "".join(f"{one(number)}\n" for number in range(count))

    def line_of_graph(number):
        return f"{some.randrange(nodes)} {some.randint(1, 10)}"

    def features(number):
        return " ".join([str(number), *(f"{some.random():.4f}" for _ in range(34))])

    def storm(n):
        time = f"{1950 + n % 50} {n % 12 + 1:2} {n % 28 + 1:2} {n % 24:2} {n % 100:2}"
        return f"{time} STORM{n:<7}{some.uniform(0, 70):5.1f} {some.uniform(0, 180):5.1f} 10 100"

    nodes, degree = 4096, 6
    writers = {
        "mil.txt": lambda: lines(100001, lambda n: n or 100000),
        "command.txt": lambda: "j 600 3000\nk 1000\n",
        "graph.txt": lambda: f"{nodes}\n" + lines(nodes, lambda n: f"{n * degree} {degree}")
        + f"0\n{nodes * degree}\n" + lines(nodes * degree, line_of_graph),
        "temp.txt": lambda: lines(512 * 512, lambda n: f"{some.uniform(320, 345):.3f}"),
        "power.txt": lambda: lines(512 * 512, lambda n: f"{some.uniform(0, 0.01):.6f}"),
        "temp3d.txt": lambda: lines(512 * 512 * 8, lambda n: f"{some.uniform(320, 345):.3f}"),
        "power3d.txt": lambda: lines(512 * 512 * 8, lambda n: f"{some.uniform(0, 0.01):.6f}"),
        "bytes.bin": lambda: "".join(chr(int(some.triangular(0, 127, 60))) for _ in range(1 << 18)),
        "features.txt": lambda: lines(4000, features),
        "filelist.txt": lambda: "storms.db\n",
        "storms.db": lambda: lines(4000, storm),
    }
    wanted = [*arguments, "storms.db"] if "filelist.txt" in arguments else arguments
    for name in wanted:
        if name in writers and folder.exists() and not (folder / name).exists():
            (folder / name).write_text(writers[name]())


# SHOC: program, folder, sources.
SHOC = """
BFS          | level1/bfs       | BFS.cu bfs_kernel.cu ../../../common/Graph.cpp
BusSpeedDownload | level0       | BusSpeedDownload.cu
BusSpeedReadback | level0       | BusSpeedReadback.cu
DeviceMemory | level0           | DeviceMemory.cu
FFT          | level1/fft       | FFT.cpp fftlib.cu
MaxFlops     | level0           | MaxFlops.cu
MD           | level1/md        | MD.cu
MD5Hash      | level1/md5hash   | MD5Hash.cu
NeuralNet    | level1/neuralnet | NeuralNet.cu
QTC          | level2/qtclustering | QTC.cu libdata.cpp
Reduction    | level1/reduction | Reduction.cu
S3D          | level2/s3d       | *.cu
Scan         | level1/scan      | Scan.cu
Sort         | level1/sort      | Sort.cu sort_kernel.cu
Spmv         | level1/spmv      | Spmv.cu
Stencil2D    | level1/stencil2d | CUDA*.cu CUDA*.cpp Common*.cpp Stencil2Dmain.cpp ../../../common/*Stencil*.cpp ../../../common/*Matrix2D*.cpp ../../../common/InvalidArgValue.cpp
Triad        | level1/triad     | Triad.cu
"""


def shoc(root, nvcc):
    """SHOC: one `main` and a library of options for all programs, of the smallest of its four sizes."""
    common = root / "src" / "common"
    (root / "config.h").write_text("#define HAVE_GETTIMEOFDAY 1\n")
    always = [root / "src/cuda/common/main.cpp"]
    library = ("CTimer", "Option", "OptionParser", "ProgressBar", "ResultDatabase", "Timer")
    always += [common / f"{name}.cpp" for name in library]
    for line in SHOC.strip().splitlines():
        name, place, sources = (part.strip() for part in line.split("|"))
        folder = root / "src" / "cuda" / place
        files = [path for pattern in sources.split() for path in sorted(folder.glob(pattern))]
        headers = (root, common, root / "src/cuda/common", root / "src/cuda/include", folder)
        include = [f"-I{path}" for path in headers]
        # CUDA 13 has no longer the member `clockRate`, which `main` prints.
        defined = [RENAMED, "-DclockRate=warpSize", "-Drestrict=__restrict__"]
        build = [nvcc, "-arch=sm_80", "-O2", *defined, *include, *files, *always, "-o", name]
        yield Program(f"shoc/{name}", folder, [build], [f"./{name}", "-s", "1", "-n", "1", "--passes", "1"])


def cccl(root, nvcc):
    """CCCL: examples of CUB and Thrust, tests of Thrust, and tests of libcu++, each its own program."""
    test, thrust = root / "libcudacxx/test", root / "thrust"
    parts = ("libcudacxx/include", "cub", "thrust", "libcudacxx/test/support", "thrust/testing",
             "thrust/examples", "c2h/include")
    flags = ["-arch=sm_80", "-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda"]
    flags += [f"-I{root / part}" for part in parts]
    wanted = [
        ("cub", root / "cub/examples", "*/*.cu", []),
        ("thrust.examples", thrust / "examples", "*.cu", []),
        ("thrust.testing", thrust / "testing", "*.cu", sorted(thrust.glob("testing/unittest/**/*.cu"))),
        ("libcudacxx", test / "libcudacxx", "**/*.pass.cpp", ["-include", test / "libcudacxx/force_include.h"]),
    ]
    for part, folder, pattern, more in wanted:
        # Catch2, with which the other tests are written, takes minutes to compile.
        for source in sorted(path for path in folder.glob(pattern) if not path.name.startswith("catch2")):
            name = f"{part}.{source.relative_to(folder)}".replace("/", ".")
            name = name.removesuffix(".cu").removesuffix(".pass.cpp")
            build = [nvcc, *flags, *more, "-x", "cu", source, "-o", f"{name}.out"]
            yield Program(f"cccl/{name}", folder, [build], [f"./{name}.out"], asserts=part == "libcudacxx")


# Functions that list programs, repositories, commits.
SUITES = {
    "hecbench": (hecbench, "zjin-lcf/HeCBench", "f27000a51"),
    "cuda-samples": (samples, "NVIDIA/cuda-samples", "c94ff366"),
    "polybench": (polybench, "sgrauerg/polybenchGpu", "5584aaa7"),
    "rodinia": (rodinia, "yuhc/gpu-rodinia", "9c10d3ea"),
    "shoc": (shoc, "vetter/shoc", "0aea03be"),
    "cccl": (cccl, "NVIDIA/cccl", "571f2fc3"),
}


def printed(command, folder):
    return subprocess.run(list(map(str, command)), cwd=folder, text=True, capture_output=True).stdout


def table(file):
    """Lines of a name and the rest behind it."""
    lines = (HERE / file).read_text().splitlines() if (HERE / file).exists() else []
    words = (line.split(None, 1) for line in lines if line.strip() and not line.startswith("#"))
    return {name: rest[0].strip() if rest else "" for name, *rest in words}


def done(command, folder, seconds, environment):
    """Exit code, output and seconds of a command with a limit of CPU time; no exit code: it did not end."""

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


def judged(code, text, asserts):
    if code is None:
        return "slow"
    said = [line for line in text.splitlines() if not line.startswith("warploom:")]
    denied = any(FAILED.search(line) and not NO_FAILURE.search(line) for line in said)
    if code != 0 or denied or FAULT.search(text):
        return "failed"
    return "passed" if asserts or any(PASSED.search(line) for line in said) else "ended"


def tried(program, given, sizes):
    # Programs that call the driver library are linked with warploom's.
    flags = f"-cudart shared -L{given.warploom.parent} -lcuda" + " -rdc=true" * given.rdc
    environment = dict(os.environ, NVCC_APPEND_FLAGS=flags, CUDA_HOME=str(given.cuda), WARPLOOM_CACHE="off")
    environment["PATH"] = f"{given.cuda}/bin:{environment['PATH']}"
    for command in program.build:
        code, text, took = done(command, program.folder, 1200, environment)
        if code != 0:
            return program.name, "unbuilt", took, text
    environment["LD_LIBRARY_PATH"] = f"{given.cuda}/lib"
    arguments = sizes[program.name].split() if program.name in sizes else program.run[1:]
    command = [given.warploom, "cuda", "--device", "sm_80", "--summary", "3", "--", program.run[0], *arguments]
    code, text, took = done(command, program.folder, given.seconds, environment)
    return program.name, judged(code, text, program.asserts), took, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--cuda", required=True, type=pathlib.Path, help="the folder nvidia/cu13 of the packages")
    parser.add_argument("--folder", type=pathlib.Path, help="files of the suite; else they are cloned")
    parser.add_argument("--warploom", default=ROOT / "target" / "release" / "warploom", type=pathlib.Path)
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--seconds", default=600, type=int, help="of CPU time that a program may take")
    parser.add_argument("--jobs", default=1, type=int, help="programs at a time")
    parser.add_argument("--rdc", action="store_true", help="separate compilation: nvlink's code alone")
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
