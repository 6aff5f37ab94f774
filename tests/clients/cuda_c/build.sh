#!/usr/bin/env bash
# Builds the programs: build.sh SITE LIBRARIES OUT [GPU]
#
# SITE is the site-packages of a Python environment with what ../requirements/cuda_c.txt names, LIBRARIES the folder with
# libcudart12.so, GPU sm_52 (cubins, by ptxas) or another. Needs clang 14 or later (CLANG, else clang++-19 or clang++).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
site=$1 libraries=$2 out=$3 gpu=${4:-sm_52}
clang=${CLANG:-$(command -v clang++-19 || command -v clang++)}

# clang wants a toolkit in one folder; the packages are several.
toolkit=$out/toolkit
mkdir -p "$toolkit/bin" "$toolkit/include" "$toolkit/nvvm" "$toolkit/lib64"
ln -sf "$site/nvidia/cuda_nvcc/bin/ptxas" "$here/fatbinary" "$toolkit/bin/"
ln -sfn "$site/nvidia/cuda_nvcc/nvvm/libdevice" "$toolkit/nvvm/libdevice"
for package in cuda_runtime cuda_nvcc cuda_cccl; do
    cp -rsn "$site/nvidia/$package/include/." "$toolkit/include/" 2>/dev/null || true
done
# clang's headers name it, and use nothing of it here.
touch "$toolkit/include/curand_mtgp32_kernel.h"

for source in "$here"/*.cu; do
    "$clang" -x cuda --cuda-path="$toolkit" --cuda-gpu-arch="$gpu" -Wno-unknown-cuda-version -std=c++17 -O2 "$source" \
        -o "$out/$(basename "$source" .cu)" -L"$libraries" -l:libcudart12.so
done
