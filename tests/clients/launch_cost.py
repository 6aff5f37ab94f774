"""What the driver library itself costs, by ctypes: start, a small module, its first launch, and launches. Run it under `warploom cuda`."""
import ctypes
import sys
import time

PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry empty() { ret; }
.visible .entry small(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 a) {
    .reg .pred %p;
    .reg .u32 %i, %n, %b, %t;
    .reg .u64 %x, %y, %o;
    .reg .f32 %a, %v, %w;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.u32 %n, [n];
    ld.param.f32 %a, [a];
    mov.u32 %b, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %b, %t, %i;
    setp.ge.u32 %p, %i, %n;
    @%p bra done;
    mul.wide.u32 %o, %i, 4;
    add.u64 %x, %x, %o;
    add.u64 %y, %y, %o;
    ld.global.f32 %v, [%x];
    ld.global.f32 %w, [%y];
    fma.rn.f32 %v, %v, %a, %w;
    st.global.f32 [%y], %v;
done:
    ret;
}
"""


def main():
    begin = time.perf_counter()
    cuda = ctypes.CDLL("libcuda.so.1")

    def ok(answer):
        if answer != 0:
            sys.exit(f"error {answer}")

    def handle():
        return ctypes.c_uint64()

    context, module, empty, small, x, y = (handle() for _ in range(6))
    ok(cuda.cuInit(0))
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    ok(cuda.cuCtxSetCurrent(context))
    ok(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    for function, name in ((empty, b"empty"), (small, b"small")):
        ok(cuda.cuModuleGetFunction(ctypes.byref(function), module, name))
    count = 256
    for memory in (x, y):
        ok(cuda.cuMemAlloc_v2(ctypes.byref(memory), 4 * count))
        ok(cuda.cuMemsetD8_v2(memory, 0, 4 * count))
    n, a = ctypes.c_uint32(count), ctypes.c_float(2)
    params = (ctypes.c_void_p * 4)(*(ctypes.addressof(p) for p in (x, y, n, a)))
    null = ctypes.c_void_p()
    # Made once: ctypes takes longer to convert arguments than the driver takes.
    one, lanes, bytes_ = ctypes.c_uint(1), ctypes.c_uint(256), ctypes.c_uint(0)
    launch = cuda.cuLaunchKernel

    def run(function, lanes, params):
        ok(launch(function, one, one, one, lanes, one, one, bytes_, null, params, null))

    run(small, lanes, params)
    ok(cuda.cuCtxSynchronize())
    print(f"time    start_to_first_result 1 {(time.perf_counter() - begin) * 1e9:.0f} ns")

    def best(what, times=50):
        # Short enough for some to be left alone on a busy machine.
        shortest = float("inf")
        for _ in range(1000):
            start = time.perf_counter()
            for _ in range(times):
                what()
            shortest = min(shortest, (time.perf_counter() - start) / times)
        return shortest

    # The same number of arguments, and an error at the first of them.
    nothing = best(lambda: launch(null, one, one, one, one, one, one, bytes_, null, null, null))
    for name, what in (("empty_launch", lambda: run(empty, one, null)), ("small_launch", lambda: run(small, lanes, params))):
        print(f"time    {name} 1 {max(0.0, best(what) - nothing) * 1e9:.0f} ns")
    ok(cuda.cuCtxSynchronize())
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
