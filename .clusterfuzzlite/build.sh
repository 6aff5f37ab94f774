#!/bin/bash -eu
# Builds all fuzz targets with their seeds and dictionaries. $SRC and $OUT are the fuzzing fleet's.
cd "$SRC/warploom"
RUSTC_WRAPPER="$PWD/fuzz/rustc-ours" cargo fuzz build -O
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    # It writes its seeds and its dictionary before it looks at its options.
    mkdir -p "fuzz/corpus/$target"
    "$OUT/$target" -help=1 "fuzz/corpus/$target" >/dev/null 2>&1
    zip -jqr "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"
    cp "fuzz/dictionaries/$target.dict" "$OUT/"
    printf '[libfuzzer]\nmax_len = %d\n' "$(fuzz/max-len "$target")" >"$OUT/$target.options"
done
