#!/usr/bin/env bash
# Compiles OpenCL C with Intel's graphics compiler to a zebin that has its vISA:
#
#     tools/igc.sh FILE.cl DEVICE OUT.zebin [OPTION..]
#
# DEVICE is skl, tgllp, dg2 or pvc, whose sources are OpenCL C 2.0, as it has no images; the options are OpenCL's. Needs Debian 12's package
# intel-opencl-icd (IGC 1.0.12504), installed, or unpacked with what it needs (libigc1, libigdfcl1, libopencl-clang14, libllvm14, libclang-cpp14,
# libllvmspirvlib14, libigdgmm12) into the folder $IGC_ROOT.
#
# So `examples/visa` and the benchmark suite are compiled, and the skl and tgllp fixtures in tests/fixtures/visa/kernels, where
# `life.tgllp.zebin` was made with IGC_NAMELESS=1: without files beside it this compiler calls every kernel `kernel`. The other fixtures are
# the work of IGC 2.40.14 with `-ze-emit-zebin-visa-sections`, which is all that a newer ocloc must be given.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
file=$(realpath "$1") device=$2 out=$(realpath "$3")
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export IGC_EnableZEBinary=1 IGC_EmitZeBinVISASections=1
[ -n "${IGC_NAMELESS:-}" ] || export IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir="$work/dump"
root=${IGC_ROOT:-}
[ -z "$root" ] || export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu"
# With OpenCL C 3.0 the compiler's own header does not compile where there are no images.
standard=CL3.0
[ "$device" != pvc ] || standard=CL2.0
# It leaves files where it runs.
cd "$work"
if ! "$root/usr/bin/ocloc" compile -file "$file" -device "$device" -out_dir "$work" -options "-cl-std=$standard $*" \
    -internal_options "-cl-intel-enable-zebin -ze-emit-zebin-visa-sections" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    exit 1
fi
cp "$work"/*.bin "$out"
