"""C++ for OpenCL through clang 14, as SPIR-V, and Intel's graphics compiler to a zebin that has its vISA.

Needs Debian 12's clang-14, libclang-common-14-dev, llvm-spirv-14 and what tools/igc.sh needs, installed, or unpacked into the folder
$IGC_ROOT.
"""
import os
import pathlib

ROOT = os.environ.get("IGC_ROOT", "")
# Intel's compiler has passes of its own; what clang's make, the translator to SPIR-V does not always take.
PASSES_LEFT_OUT = ["-O1", "-Xclang", "-disable-llvm-passes"]


def environment():
    # Without files beside it this compiler calls every kernel `kernel`.
    made = {**os.environ, "IGC_EnableZEBinary": "1", "IGC_EmitZeBinVISASections": "1", "IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": "dump"}
    if ROOT:
        made["LD_LIBRARY_PATH"] = f"{ROOT}/usr/lib/x86_64-linux-gnu"
    return made


def commands(source, device, clang_options):
    """What is to be called in a folder of its own, with `environment()`; `made` is there then. Quotients and roots are rounded."""
    return [
        [f"{ROOT}/usr/lib/llvm-14/bin/clang", "--target=spir64", "-x", "cl", "-cl-std=clc++2021", "-Xclang", "-finclude-default-header",
         *clang_options, "-emit-llvm", "-c", source, "-o", "program.bc"],
        [f"{ROOT}/usr/bin/llvm-spirv-14", "--spirv-ext=+SPV_INTEL_function_pointers", "program.bc", "-o", "program.spv"],
        [f"{ROOT}/usr/bin/ocloc", "compile", "-spirv_input", "-file", "program.spv", "-device", device, "-out_dir", "out",
         "-options", "-cl-fp32-correctly-rounded-divide-sqrt", "-internal_options", "-cl-intel-enable-zebin -ze-emit-zebin-visa-sections"]]


def made(folder):
    """The zebin."""
    return next((pathlib.Path(folder) / "out").glob("*.bin"))
