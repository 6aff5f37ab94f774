#!/usr/bin/env python3
"""Compiles kernels.cu in every spelling, for each guest, into binaries/.

    python3 tests/spellings/make.py --cuda11 PYTHON11 [--clang 15 16]

Run it with a Python that tools/nv.py can be run with (CUDA 12). PYTHON11 is one that has the wheels nvidia-cuda-nvcc-cu11 and
nvidia-cuda-nvrtc-cu11 (11.8). Clang 15, 16 and 19 are Debian's.
"""
import argparse
import ctypes as C
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCE = HERE / "kernels.cu"
OUT = HERE / "binaries"
# Of every guest.
SPELLINGS = {
    "int": [],
    "unsigned": ["-DINDEX=unsigned"],
    "size": ["-DINDEX=unsigned long long"],
    "long": ["-DINDEX=long long"],
    "do_while": ["-DDO_WHILE"],
    "moving": ["-DMOVING"],
    "moving_size": ["-DMOVING", "-DINDEX=unsigned long long"],
    "unrolled": ["-DUNROLLED"],
    "reversed": ["-DREVERSED"],
}


def hip(compiler, name, options):
    subprocess.check_call([compiler, "-x", "hip", "--offload-arch=gfx900", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output",
                           f"-I{ROOT / 'examples/gfx9/include'}", "-include", "cuda.h", SOURCE, "-ffp-contract=off", "-mcode-object-version=5", *options, "-o", OUT / f"{name}.gfx900.hsaco"])
    (OUT / f"{name}.gfx900.hsaco").chmod(0o644)


def wheels(python):
    """The folder of this Python's wheels."""
    return pathlib.Path(subprocess.check_output([python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], text=True).strip())


def ptxas(python, source, name, arch, *flags):
    subprocess.check_call([wheels(python) / "nvidia/cuda_nvcc/bin/ptxas", f"-arch={arch}", *flags, source, "-o", OUT / f"{name}.{arch}.cubin"])


def nvrtc(python, arch, options):
    """PTX by the compiler of this Python's wheels."""
    library = C.CDLL(str(next((wheels(python) / "nvidia/cuda_nvrtc/lib").glob("libnvrtc.so.1?*"))))
    program, size = C.c_void_p(), C.c_size_t()
    words = [f"--gpu-architecture={arch}", "--fmad=false", *options]
    if library.nvrtcCreateProgram(C.byref(program), SOURCE.read_bytes(), b"kernels.cu", 0, None, None) \
            or library.nvrtcCompileProgram(program, len(words), (C.c_char_p * len(words))(*map(str.encode, words))):
        library.nvrtcGetProgramLogSize(program, C.byref(size))
        log = C.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    library.nvrtcGetPTXSize(program, C.byref(size))
    text = C.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, text)
    return text.value


def ptx(python, name, options):
    (OUT / f"{name}.sm_70.ptx").write_bytes(nvrtc(python, "compute_70", options))


def cubin(python, name, options, *flags):
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(nvrtc(python, "compute_50", options))
        file.flush()
        ptxas(python, file.name, name, "sm_50", *flags)


def turing(python):
    """Cubins of the PTX that is there."""
    for name in [*SPELLINGS, "clang19"]:
        ptxas(python, OUT / f"{name}.sm_70.ptx", name, "sm_80", "-fmad", "false")
    ptxas(python, OUT / "int.sm_70.ptx", "O1", "sm_80", "-O1", "-fmad", "false")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuda11", required=True)
    parser.add_argument("--clang", nargs="*", default=["15", "16"])
    options = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    for name, words in SPELLINGS.items():
        hip("clang-19", name, ["-O2", *words])
        ptx(sys.executable, name, words)
        cubin(sys.executable, name, words)
    for level in ("O1", "O3"):
        hip("clang-19", level, [f"-{level}"])
    for version in options.clang:
        # Functions that the header names and the old ones do not have; no kernel calls them.
        absent = [f"-D__builtin_amdgcn_{name}=__builtin_amdgcn_rcpf" for name in ("exp2f", "logf")]
        hip(f"clang-{version}", f"clang{version}", ["-O2", *absent])
    cubin(sys.executable, "O1", [], "-O1")
    ptx(options.cuda11, "cuda11", [])
    cubin(options.cuda11, "cuda11", [])
    subprocess.check_call(["clang-19", "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib", "-S", "-O2",
                           "-ffp-contract=off", "-include", HERE / "clang_cuda.h", "-o", OUT / "clang19.sm_70.ptx", SOURCE])
    turing(sys.executable)


if __name__ == "__main__":
    main()
