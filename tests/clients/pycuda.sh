#!/usr/bin/env bash
# Builds PyCUDA, which its registry has as source alone, against warploom's driver library: pycuda.sh PYTHON SITE LIBRARIES OUT
#
# SITE is the site-packages of PYTHON's environment with what requirements/pycuda.txt names, LIBRARIES the folder with libcuda.so. Takes minutes.
set -euo pipefail
python=$1 site=$2 libraries=$3 out=$4
# A toolkit in one folder, as PyCUDA's build wants it.
mkdir -p "$out/bin" "$out/include" "$out/lib64"
for package in cuda_runtime cuda_nvcc cuda_cccl cuda_profiler_api curand; do
    cp -rsn "$site/nvidia/$package/include/." "$out/include/" 2>/dev/null || true
done
ln -sfn "$libraries/libcuda.so" "$out/lib64/libcuda.so"
ln -sfn "$site/nvidia/curand/lib/libcurand.so.10" "$out/lib64/libcurand.so"
CUDA_ROOT=$out CPATH=$out/include LIBRARY_PATH=$out/lib64 "$python" -m pip install -q --no-binary pycuda pycuda==2026.1
