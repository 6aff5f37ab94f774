#!/bin/bash -eu
# Builds all fuzz targets with their seeds and dictionaries. $SRC and $OUT are the fuzzing fleet's.
cd "$SRC/warploom"
RUSTC_WRAPPER="$PWD/fuzz/rustc-ours" cargo fuzz build -O
cargo run --manifest-path fuzz/Cargo.toml --no-default-features --example prepare
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    zip -jqr "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"
    if [ -f "fuzz/dictionaries/$target.dict" ]; then
        cp "fuzz/dictionaries/$target.dict" "$OUT/"
    fi
    printf '[libfuzzer]\nmax_len = 4096\n' >"$OUT/$target.options"
done
