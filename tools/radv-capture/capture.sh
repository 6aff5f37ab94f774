#!/bin/bash
# Compiles a compute shader as RADV does for Vega 10: capture.sh SHADER.comp OUTPUT [options of radv_capture ..]
#
# Writes OUTPUT.bin, the instructions as the GPU gets them, and OUTPUT.asm, the statistics and the assembly. Needs a C compiler
# and Debian's glslang-tools, libvulkan-dev and mesa-vulkan-drivers; no GPU.
set -euo pipefail
shader=$1 output=$2
shift 2
tool=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O1 -Wall -Wextra -o "$folder/radv_capture" "$tool/radv_capture.c" -lvulkan
glslangValidator -V --target-env vulkan1.2 "$shader" -o "$folder/shader.spv" >/dev/null
export VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/radeon_icd.x86_64.json RADV_FORCE_FAMILY=vega10
"$folder/radv_capture" "$folder/shader.spv" "$@" >"$folder/text"
# Without the hashes, which differ from one version of Mesa to the next.
awk '/^== / { shown = /Device|Statistics|Assembly/ } shown && !/[Hh]ash/' "$folder/text" >"$output.asm"
# The encoding is what follows the semicolon, in words.
sed -n '/^== Assembly/,$ s/.*; \([0-9a-f ]*\)$/\1/p' "$folder/text" | tr -s ' ' '\n' | grep -E '^[0-9a-f]{8}$' |
  sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/' | tr -d '\n' | xxd -r -p >"$output.bin"
size=$(sed -n 's/^Code size: //p' "$output.asm")
[ "$(stat -c %s "$output.bin")" = "$size" ] || { echo "$output.bin: expected $size bytes" >&2; exit 1; }
