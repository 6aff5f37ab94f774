#!/bin/sh
# Compiles the CUDA sources of the tests, benches and examples again, but for tests/fixtures/maxwell/containers, whose README
# says how those are made, and what benches have for GFX9 and vISA (benches/ordinary/opencl.py, tools/igc.sh). PYTHON names a Python
# with numpy and the wheels that nv.py asks for;
# listings (code only, as nvdisasm prints it) are made if nv.py finds nvdisasm. examples/gfx9/make.py says what GFX9 needs.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
"$python" benches/fixtures/unroll10k.py
for source in examples/*/*.cu benches/fixtures/*.cu tests/fixtures/maxwell/kernels/*.cu tests/fixtures/maxwell/behaviour/*.cu tests/fixtures/maxwell/semantics/*.cu; do
    folder=$(dirname "$source")
    base=$(basename "$source" .cu)
    [ "$base" = julia ] && arch=sm_53 || arch=sm_50
    "$python" tools/nv.py compile -arch $arch -o "$folder" "$source"
    case "$source" in
        examples/*) "$python" tools/nv.py ptx -arch sm_70 -o "examples/ptx/$base" "$source" ;;
        benches/*) "$python" tools/nv.py ptx -arch sm_70 -o "$folder" "$source" ;;
    esac
    case "$source" in
        examples/*) listing=example-$base ;;
        tests/fixtures/maxwell/kernels/*) [ -f "tests/fixtures/maxwell/listings/corpus-$base.sass" ] && listing=corpus-$base || listing= ;;
        *) listing= ;;
    esac
    if [ -n "$listing" ] && [ -f "$folder/$base.$arch.sass" ]; then
        awk '/^\/\/-+ / { code = $2 ~ /^\.text/ } code' "$folder/$base.$arch.sass" >"tests/fixtures/maxwell/listings/$listing.sass"
    fi
    rm -f "$folder/$base.$arch.ptx" "$folder/$base.$arch.sass"
done
"$python" benches/fixtures/surface.py
# Each product and each sum is rounded, as on the host that these are compared with.
for source in benches/ordinary/programs/*.cu; do
    folder=$(dirname "$source")
    base=$(basename "$source" .cu)
    "$python" tools/nv.py compile -fmad false -o "$folder" "$source"
    rm -f "$folder/$base.sm_50.ptx" "$folder/$base.sm_50.sass"
    "$python" tools/nv.py ptx -arch sm_70 -fmad false -o "$folder" "$source"
    "$python" examples/gfx9/make.py --source "$source" --output "$folder"
done
# From PTX.
turing() {
    "$python" tools/nv.py compile -arch sm_80 -o "$1" "$2"
    base=$(basename "$2" .sm_70.ptx)
    mv "$1/$base.sm_70.sm_80.cubin" "$1/$base.sm_80.cubin"
    rm -f "$1/$base.sm_70.sm_80.sass"
}
for source in benches/fixtures/turing/*.sm_80.cubin; do
    base=$(basename "$source" .sm_80.cubin)
    [ -f "benches/fixtures/$base.sm_70.ptx" ] && ptx=benches/fixtures || ptx=examples/ptx/$base
    turing benches/fixtures/turing "$ptx/$base.sm_70.ptx"
done
for source in benches/ordinary/programs/*.sm_70.ptx; do
    turing benches/ordinary/programs "$source"
done
for source in benches/fixtures/fma.cu benches/fixtures/dfma.cu benches/fixtures/mix.cu benches/fixtures/gather.cu benches/fixtures/spmv.cu \
    benches/fixtures/heat.cu benches/fixtures/atomic_max.cu benches/fixtures/unroll100.cu benches/fixtures/unroll1k.cu \
    benches/fixtures/unroll10k.cu benches/opencl/surface_filter.cl benches/opencl/surface_histogram.cl; do
    "$python" examples/gfx9/make.py --source "$source" --output benches/fixtures
done
