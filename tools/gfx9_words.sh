#!/bin/sh
# Fills in the words of the lines of tests/gfx9/words.txt that only have a text, with LLVM's assembler.
set -eu
file=$(dirname "$0")/../tests/gfx9/words.txt
while IFS='	' read -r text known; do
    if [ -z "$known" ]; then
        bytes=$(printf '%s\n' "$text" | llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=gfx900 -show-encoding 2>/dev/null |
            sed -n 's/.*encoding: \[\(.*\)\].*/\1/p')
        [ -n "$bytes" ] || bytes=$(printf '%s\n' "$text" | llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=gfx906 -show-encoding |
            sed -n 's/.*encoding: \[\(.*\)\].*/\1/p')
        known=$(echo "$bytes" | sed 's/0x//g' | awk -F, '{ for (i = 1; i < NF; i += 4)
            printf "%s%s%s%s%s", (i > 1 ? " " : ""), $(i + 3), $(i + 2), $(i + 1), $i }')
    fi
    printf '%s\t%s\n' "$text" "$known"
done <"$file" | sort -u >"$file.new"
mv "$file.new" "$file"
