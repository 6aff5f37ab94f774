"""warploom's part of cuBLAS, called as C programs call it, against NumPy."""
import ctypes

import numpy as np

from checks import check, main

RANDOM = np.random.default_rng(7)
cuda = ctypes.CDLL("libcuda.so.1")
blas = ctypes.CDLL("libcublas.so.12")

N, T = 0, 1
INVALID_VALUE, NOT_SUPPORTED = 7, 15
# cudaDataType_t and cublasComputeType_t.
KINDS = {np.float32: 0, np.float64: 1, np.float16: 2}
COMPUTE_32F, COMPUTE_64F = 68, 70


def ok(answer):
    assert answer == 0, answer


def start():
    context, handle = ctypes.c_void_p(), ctypes.c_void_p()
    ok(cuda.cuInit(0))
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    ok(cuda.cuCtxSetCurrent(context))
    ok(blas.cublasCreate_v2(ctypes.byref(handle)))
    return handle


HANDLE = start()


class Device:
    """A copy of an array in device memory, in columns."""

    def __init__(self, array):
        self.array = np.asfortranarray(array)
        self.pointer = ctypes.c_uint64()
        ok(cuda.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(self.array.nbytes)))
        ok(cuda.cuMemcpyHtoD_v2(self.pointer, self.array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.array.nbytes)))

    def get(self):
        found = np.empty_like(self.array)
        ok(cuda.cuMemcpyDtoH_v2(found.ctypes.data_as(ctypes.c_void_p), self.pointer, ctypes.c_size_t(found.nbytes)))
        return found


def scalar(value, dtype):
    return np.array([value], dtype).ctypes.data_as(ctypes.c_void_p)


def random(shape, dtype):
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


def tolerance(dtype):
    return {np.float16: 2e-3, np.float32: 1e-5, np.float64: 1e-12}[dtype]


@check
def gemm_of_all_types_and_orders():
    for name, dtype in [("S", np.float32), ("D", np.float64), ("H", np.float16)]:
        function = getattr(blas, "cublasSgemm_v2".replace("S", name) if name != "H" else "cublasHgemm")
        for ta in (N, T):
            for tb in (N, T):
                for m, n, k in [(5, 7, 3), (1, 1, 1), (33, 17, 65)]:
                    a, b, c = random((m, k), dtype), random((k, n), dtype), random((m, n), dtype)
                    da, db, dc = Device(a.T if ta else a), Device(b.T if tb else b), Device(c)
                    lda, ldb = da.array.shape[0], db.array.shape[0]
                    ok(function(HANDLE, ta, tb, m, n, k, scalar(0.5, dtype), da.pointer, lda, db.pointer, ldb, scalar(2, dtype), dc.pointer, m))
                    wide = np.float64 if dtype is np.float64 else np.float32
                    expected = 0.5 * a.astype(wide) @ b.astype(wide) + 2 * c.astype(wide)
                    np.testing.assert_allclose(dc.get(), expected, rtol=tolerance(dtype), atol=k * tolerance(dtype))


@check
def gemm_that_ignores_what_was_there():
    a, b = random((4, 4), np.float32), random((4, 4), np.float32)
    c = Device(np.full((4, 4), np.nan, np.float32))
    ok(blas.cublasSgemm_v2(HANDLE, N, N, 4, 4, 4, scalar(1, np.float32), Device(a).pointer, 4, Device(b).pointer, 4, scalar(0, np.float32), c.pointer, 4))
    np.testing.assert_allclose(c.get(), a @ b, rtol=1e-5, atol=1e-6)


@check
def strided_and_listed_batches():
    a, b = random((3, 4, 5), np.float32), random((3, 5, 6), np.float32)
    columns = lambda matrices: Device(np.concatenate([matrix.T.ravel() for matrix in matrices]))
    da, db, one, zero = columns(a), columns(b), scalar(1, np.float32), scalar(0, np.float32)
    strides = [ctypes.c_longlong(n) for n in (20, 30, 24)]
    c = Device(np.zeros(72, np.float32))
    ok(blas.cublasSgemmStridedBatched(HANDLE, N, N, 4, 6, 5, one, da.pointer, 4, strides[0], db.pointer, 5, strides[1], zero, c.pointer, 4, strides[2], 3))
    expected = np.concatenate([(x @ y).T.ravel() for x, y in zip(a, b)])
    np.testing.assert_allclose(c.get(), expected, rtol=1e-5, atol=1e-6)
    lists = [Device(np.array([d.pointer.value + 4 * step * i for i in range(3)], np.uint64)) for d, step in ((da, 20), (db, 30), (c, 24))]
    ok(cuda.cuMemsetD8_v2(c.pointer, 0, ctypes.c_size_t(288)))
    ok(blas.cublasSgemmBatched(HANDLE, N, N, 4, 6, 5, one, lists[0].pointer, 4, lists[1].pointer, 5, zero, lists[2].pointer, 4, 3))
    np.testing.assert_allclose(c.get(), expected, rtol=1e-5, atol=1e-6)


@check
def products_of_halves_in_floats():
    a, b = random((8, 40), np.float16), random((40, 9), np.float16)
    c = Device(np.zeros((8, 9), np.float32))
    ok(blas.cublasGemmEx(HANDLE, N, N, 8, 9, 40, scalar(1, np.float32), Device(a).pointer, 2, 8, Device(b).pointer, 2, 40,
                         scalar(0, np.float32), c.pointer, 0, 8, COMPUTE_32F, -1))
    np.testing.assert_allclose(c.get(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-5)


@check
def matrices_and_vectors():
    for name, dtype in [("S", np.float32), ("D", np.float64)]:
        a, x, y = random((6, 4), dtype), random(4, dtype), random(6, dtype)
        dy = Device(y)
        ok(getattr(blas, f"cublas{name}gemv_v2")(HANDLE, N, 6, 4, scalar(2, dtype), Device(a).pointer, 6, Device(x).pointer, 1, scalar(3, dtype), dy.pointer, 1))
        np.testing.assert_allclose(dy.get(), 2 * a @ x + 3 * y, rtol=1e-5, atol=1e-6)
        dx = Device(x)
        ok(getattr(blas, f"cublas{name}gemv_v2")(HANDLE, T, 6, 4, scalar(1, dtype), Device(a).pointer, 6, Device(y).pointer, -1, scalar(0, dtype), dx.pointer, 1))
        np.testing.assert_allclose(dx.get(), a.T @ y[::-1], rtol=1e-5, atol=1e-6)


@check
def vectors():
    for name, dtype in [("S", np.float32), ("D", np.float64)]:
        function = lambda operation: getattr(blas, f"cublas{name}{operation}_v2")
        x, y, out = random(10, dtype), random(5, dtype), np.zeros(1, dtype)
        dx, dy, at = Device(x), Device(y), out.ctypes.data_as(ctypes.c_void_p)
        ok(function("dot")(HANDLE, 5, dx.pointer, 2, dy.pointer, 1, at))
        np.testing.assert_allclose(out[0], x[::2] @ y, rtol=1e-5)
        ok(function("nrm2")(HANDLE, 10, dx.pointer, 1, at))
        np.testing.assert_allclose(out[0], np.linalg.norm(x), rtol=1e-6)
        ok(function("asum")(HANDLE, 10, dx.pointer, 1, at))
        np.testing.assert_allclose(out[0], abs(x).sum(), rtol=1e-6)
        ok(function("axpy")(HANDLE, 5, scalar(3, dtype), dx.pointer, 2, dy.pointer, -1))
        np.testing.assert_allclose(dy.get(), y + 3 * x[::2][::-1], rtol=1e-5, atol=1e-6)
        ok(function("scal")(HANDLE, 5, scalar(-2, dtype), dx.pointer, 2))
        scaled = x.copy()
        scaled[::2] *= -2
        np.testing.assert_allclose(dx.get(), scaled, rtol=1e-6)


@check
def halves():
    x, y, out = random(20, np.float16), random(20, np.float16), np.zeros(1, np.float32)
    dx, dy = Device(x), Device(y)
    ok(blas.cublasDotEx(HANDLE, 20, dx.pointer, 2, 1, dy.pointer, 2, 1, out.ctypes.data_as(ctypes.c_void_p), 0, 0))
    np.testing.assert_allclose(out[0], x.astype(np.float32) @ y.astype(np.float32), rtol=1e-5, atol=1e-6)
    ok(blas.cublasAxpyEx(HANDLE, 20, scalar(2, np.float32), 0, dx.pointer, 2, 1, dy.pointer, 2, 1, 0))
    np.testing.assert_allclose(dy.get(), (y.astype(np.float32) + 2 * x.astype(np.float32)).astype(np.float16), rtol=1e-3)


@check
def scalars_in_device_memory():
    x, alpha, out = Device(random(4, np.float32)), Device(np.float32([4])), Device(np.float32([0]))
    ok(blas.cublasSetPointerMode_v2(HANDLE, 1))
    try:
        ok(blas.cublasSscal_v2(HANDLE, 4, alpha.pointer, x.pointer, 1))
        ok(blas.cublasSnrm2_v2(HANDLE, 4, x.pointer, 1, out.pointer))
    finally:
        ok(blas.cublasSetPointerMode_v2(HANDLE, 0))
    np.testing.assert_allclose(out.get()[0], 4 * np.linalg.norm(x.array), rtol=1e-6)


@check
def what_is_wrong_is_refused():
    a = Device(np.zeros((4, 4), np.float32))
    one = scalar(1, np.float32)
    call = lambda m, lda, pointer: blas.cublasSgemm_v2(HANDLE, N, N, m, 4, 4, one, pointer, lda, a.pointer, 4, one, a.pointer, max(m, 4))
    assert call(-1, 4, a.pointer) == INVALID_VALUE
    assert call(4, 3, a.pointer) == INVALID_VALUE
    assert call(4, 5, a.pointer) == INVALID_VALUE  # more than the memory has
    assert call(4, 4, ctypes.c_uint64(4096)) == INVALID_VALUE
    assert blas.cublasCgemm_v2(HANDLE) == NOT_SUPPORTED


main()
