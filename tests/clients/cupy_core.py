"""CuPy's core over the runtime library, against NumPy. With CUPY_ACCELERATORS= (empty), so that no code of CUB is used."""
import os

os.environ.setdefault("CUPY_ACCELERATORS", "")

import cupy as cp
import numpy as np

from checks import check, main

RANDOM = np.random.default_rng(1)


@check
def elementwise():
    x = RANDOM.random(10007).astype(np.float32)
    d = cp.asarray(x)
    np.testing.assert_allclose(cp.asnumpy(cp.sin(d) ** 2 + 3 * d - 1), np.sin(x) ** 2 + 3 * x - 1, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(cp.asnumpy(cp.arange(1000)[::-3]), np.arange(1000)[::-3])
    np.testing.assert_array_equal(cp.asnumpy(cp.where(d > 0.5, d, 0)), np.where(x > 0.5, x, 0))


@check
def reductions():
    x = RANDOM.integers(-1000, 1000, (37, 211))
    d = cp.asarray(x)
    assert int(d.sum()) == x.sum()
    np.testing.assert_array_equal(cp.asnumpy(d.max(axis=1)), x.max(axis=1))
    np.testing.assert_array_equal(cp.asnumpy(d.argmin(axis=0)), x.argmin(axis=0))
    np.testing.assert_allclose(float(d.std()), x.std())


@check
def reduction_kernel():
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "root_of_squares")
    x = RANDOM.random((64, 100)).astype(np.float32)
    np.testing.assert_allclose(cp.asnumpy(norm(cp.asarray(x), axis=1)), np.linalg.norm(x, axis=1), rtol=1e-5)


@check
def elementwise_kernel():
    kernel = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_difference")
    x, y = (RANDOM.random((5, 1, 7)).astype(np.float32), RANDOM.random((3, 7)).astype(np.float32))
    np.testing.assert_allclose(cp.asnumpy(kernel(cp.asarray(x), cp.asarray(y))), (x - y) ** 2, rtol=1e-6)


@check
def matrix_products():
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-10)):
        a, b = RANDOM.random((33, 20)).astype(dtype), RANDOM.random((20, 7)).astype(dtype)
        np.testing.assert_allclose(cp.asnumpy(cp.asarray(a).dot(cp.asarray(b))), a @ b, rtol=tolerance)
        np.testing.assert_allclose(cp.asnumpy(cp.asarray(a) @ cp.asarray(b[:, 0])), a @ b[:, 0], rtol=tolerance)
        np.testing.assert_allclose(float(cp.asarray(a[0]).dot(cp.asarray(a[1]))), a[0] @ a[1], rtol=tolerance)


SOURCE = r"""
__constant__ float factor[4];
extern "C" __global__ void scale(const float *x, float *y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = factor[i % 4] * x[i];
}
template <typename T> __global__ void twice(T *x, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) x[i] = x[i] + x[i];
}
"""


@check
def raw_kernel():
    kernel = cp.RawKernel(SOURCE.replace("factor[i % 4]", "2.5f"), "scale")
    x = cp.arange(1000, dtype=cp.float32)
    y = cp.zeros_like(x)
    kernel((8,), (128,), (x, y, np.int32(x.size)))
    np.testing.assert_array_equal(cp.asnumpy(y), 2.5 * np.arange(1000, dtype=np.float32))
    assert kernel.attributes["max_threads_per_block"] >= 128


@check
def raw_module():
    module = cp.RawModule(code=SOURCE, options=("-std=c++11",), name_expressions=["twice<int>", "twice<double>"])
    pointer = module.get_global("factor")
    factor = cp.ndarray((4,), cp.float32, pointer)
    factor[...] = cp.asarray([1, 2, 3, 4], dtype=cp.float32)
    x = cp.arange(100, dtype=cp.float32)
    y = cp.zeros_like(x)
    module.get_function("scale")((1,), (128,), (x, y, np.int32(100)))
    np.testing.assert_array_equal(cp.asnumpy(y), np.arange(100) * (np.arange(100) % 4 + 1))
    z = cp.arange(50, dtype=cp.float64)
    module.get_function("twice<double>")((1,), (64,), (z, np.int32(50)))
    np.testing.assert_array_equal(cp.asnumpy(z), 2.0 * np.arange(50))


@check
def streams_and_events():
    stream = cp.cuda.Stream(non_blocking=True)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with stream:
        start.record()
        x = cp.arange(100000) * 3
        end.record()
    end.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) > 0 and stream.done
    np.testing.assert_array_equal(cp.asnumpy(x), np.arange(100000) * 3)
    called = []
    stream.launch_host_func(called.append, 7)
    stream.synchronize()
    assert called == [7]


@check
def managed_and_pinned_memory():
    with cp.cuda.using_allocator(cp.cuda.malloc_managed):
        x = cp.arange(1000)
        assert int((x * 2).sum()) == 999000
    pinned = cp.cuda.alloc_pinned_memory(4000)
    host = np.frombuffer(pinned, np.float32, 1000)
    host[...] = np.arange(1000)
    d = cp.empty(1000, cp.float32)
    d.set(host)
    np.testing.assert_array_equal(cp.asnumpy(d + 1), host + 1)
    free, total = cp.cuda.runtime.memGetInfo()
    assert 0 < free <= total


@check
def asynchronous_pool():
    with cp.cuda.using_allocator(cp.cuda.MemoryAsyncPool().malloc):
        assert int(cp.arange(1000).sum()) == 499500


@check
def indexing():
    x = RANDOM.integers(0, 100, (40, 50))
    d = cp.asarray(x)
    rows = RANDOM.integers(0, 40, 20)
    np.testing.assert_array_equal(cp.asnumpy(d[cp.asarray(rows)]), x[rows])
    np.testing.assert_array_equal(cp.asnumpy(cp.take(d, cp.asarray(rows), axis=1)), np.take(x, rows, axis=1))
    np.testing.assert_array_equal(cp.asnumpy(cp.concatenate([d.T, d.T], axis=1)), np.concatenate([x.T, x.T], axis=1))
    bins = cp.zeros(100, dtype=cp.int32)
    cp.add.at(bins, d.ravel(), 1)
    np.testing.assert_array_equal(cp.asnumpy(bins), np.bincount(x.ravel(), minlength=100))


@check
def cumulative_sums():
    x = RANDOM.integers(-50, 50, 5000)
    np.testing.assert_array_equal(cp.asnumpy(cp.cumsum(cp.asarray(x))), np.cumsum(x))


@check
def sorting():
    x = RANDOM.random(3000).astype(np.float32)
    np.testing.assert_array_equal(cp.asnumpy(cp.sort(cp.asarray(x))), np.sort(x))
    np.testing.assert_array_equal(cp.asnumpy(cp.argsort(cp.asarray(x))), np.argsort(x))


@check
def fused_functions():
    @cp.fuse()
    def f(x, y):
        return cp.sqrt(x * x + y * y) + 1

    x, y = (RANDOM.random(500).astype(np.float64) for _ in range(2))
    np.testing.assert_allclose(cp.asnumpy(f(cp.asarray(x), cp.asarray(y))), np.hypot(x, y) + 1)


@check
def textures():
    from cupy.cuda import texture

    image = RANDOM.random((16, 32)).astype(np.float32)
    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, cp.cuda.runtime.cudaChannelFormatKindFloat)
    array = texture.CUDAarray(channel, 32, 16)
    array.copy_from(image)
    mode = (cp.cuda.runtime.cudaAddressModeClamp,) * 2
    sampled = texture.TextureObject(
        texture.ResourceDescriptor(cp.cuda.runtime.cudaResourceTypeArray, cuArr=array),
        texture.TextureDescriptor(mode, cp.cuda.runtime.cudaFilterModePoint, cp.cuda.runtime.cudaReadModeElementType),
    )
    kernel = cp.RawKernel(
        r"""extern "C" __global__ void read(cudaTextureObject_t t, float *y) {
            y[blockIdx.x * 32 + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, blockIdx.x + 0.5f); }""",
        "read",
    )
    y = cp.zeros((16, 32), cp.float32)
    kernel((16,), (32,), (sampled, y))
    np.testing.assert_array_equal(cp.asnumpy(y), image)


@check
def device_properties():
    properties = cp.cuda.runtime.getDeviceProperties(0)
    assert properties["warpSize"] == 32 and properties["maxThreadsPerBlock"] == 1024
    assert cp.cuda.Device(0).compute_capability == f"{properties['major']}{properties['minor']}"


if __name__ == "__main__":
    main()
