"""Kernels in the manner of Triton's tutorials 1 to 6, against NumPy: PTX from Triton's compiler, since its ptxas is told to do nothing.

Triton asks its ptxas for a cubin of a GPU that warploom does not run; `ptxas_passes_ptx` gives it the PTX back, which the driver takes.
With --time, also how long each takes, here or (TRITON_INTERPRET=1) in Triton's interpreter.
"""
import os
import pathlib
import tempfile

HERE = pathlib.Path(__file__).parent
os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = str(HERE / "ptxas_passes_ptx")
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())

import numpy as np
import torch
import triton
import triton.language as tl

from checks import check, main, timed

RANDOM = np.random.default_rng(1)
DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"


def on_device(array):
    return torch.from_numpy(array).to(DEVICE)


def launched(name, work, launch):
    """Launches, and again to be timed."""
    launch()
    timed(name, work, launch, torch.cuda.synchronize if DEVICE == "cuda" else lambda: None)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@check
def vector_add():
    n = 98432
    x, y = (RANDOM.random(n, dtype=np.float32) for _ in range(2))
    out = torch.empty(n, device=DEVICE)
    dx, dy = on_device(x), on_device(y)
    launched("vector_add", n, lambda: add_kernel[(triton.cdiv(n, 1024),)](dx, dy, out, n, BLOCK=1024))
    np.testing.assert_array_equal(out.cpu().numpy(), x + y)


@triton.jit
def softmax_kernel(x, out, rows, columns, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@check
def softmax():
    x = RANDOM.standard_normal((181, 781)).astype(np.float32)
    d, out = on_device(x), torch.empty(181, 781, device=DEVICE)
    launched("softmax", x.size, lambda: softmax_kernel[(16,)](d, out, 181, 781, d.stride(0), BLOCK=1024))
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.cpu().numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5, atol=1e-8)


@triton.jit
def matmul_kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, M), tl.cdiv(n, N)
    first = pid // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m, tile_n = first + pid % (GROUP * tiles_n) % height, pid % (GROUP * tiles_n) // height
    rows = tile_m * M + tl.arange(0, M)
    columns = tile_n * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (start + depth)[None, :], mask=(rows < m)[:, None] & (start + depth < k)[None, :], other=0.0)
        right = tl.load(b + (start + depth)[:, None] * n + columns[None, :], mask=(start + depth < k)[:, None] & (columns < n)[None, :], other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty), mask=(rows < m)[:, None] & (columns < n)[None, :])


def matmul_of(dtype, rtol):
    m, n, k = 200, 136, 96
    a, b = (RANDOM.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
    c = torch.empty(m, n, device=DEVICE, dtype=torch.float32)
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 64),)
    da, db = on_device(a), on_device(b)
    launched(f"matmul_{dtype.__name__}", m * n * k, lambda: matmul_kernel[grid](da, db, c, m, n, k, M=64, N=64, K=32, GROUP=2))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c.cpu().numpy(), expected, rtol=rtol, atol=rtol * 10)


@check
def matmul_of_halves():
    matmul_of(np.float16, 1e-3)


@check
def matmul_of_floats():
    matmul_of(np.float32, 1e-2)  # TF32: 10 bits of fraction


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@check
def dropout():
    x = RANDOM.random(10000, dtype=np.float32) + 1
    d = on_device(x)
    outs = [torch.empty_like(d) for _ in range(3)]
    for out, seed in zip(outs, (123, 123, 512)):
        launched("dropout", x.size, lambda: dropout_kernel[(triton.cdiv(x.size, 512),)](d, out, x.size, 0.5, seed, BLOCK=512))
    first, again, other = (out.cpu().numpy() for out in outs)
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.3 and 0.47 < (first == 0).mean() < 0.53
    np.testing.assert_array_equal(first[first != 0], 2 * x[first != 0])


@triton.jit
def layer_norm_kernel(x, y, w, b, mean, rstd, columns, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    average = tl.sum(values, axis=0) / columns
    centred = tl.where(mask, values - average, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    tl.store(y + row * columns + at, centred * scale * tl.load(w + at, mask=mask) + tl.load(b + at, mask=mask), mask=mask)


@triton.jit
def layer_norm_weights_kernel(dy, x, mean, rstd, dw, db, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < columns
    gradient = tl.load(dy + row * columns + at, mask=mask, other=0.0)
    normed = (tl.load(x + row * columns + at, mask=mask, other=0.0) - tl.load(mean + row)) * tl.load(rstd + row)
    tl.atomic_add(dw + at, gradient * normed, mask=mask)
    tl.atomic_add(db + at, gradient, mask=mask)


@check
def layer_norm():
    rows, columns = 151, 500
    x, dy = (RANDOM.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    w, b = (RANDOM.random(columns, dtype=np.float32) for _ in range(2))
    y, mean, rstd = torch.empty(rows, columns, device=DEVICE), torch.empty(rows, device=DEVICE), torch.empty(rows, device=DEVICE)
    d, dw, db = on_device(x), on_device(w), on_device(b)
    launched("layer_norm", x.size, lambda: layer_norm_kernel[(rows,)](d, y, dw, db, mean, rstd, columns, 1e-5, BLOCK=512))
    normed = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y.cpu().numpy(), normed * w + b, rtol=1e-4, atol=1e-5)
    dw, db = (on_device(np.zeros(columns, np.float32)) for _ in range(2))
    layer_norm_weights_kernel[(rows,)](on_device(dy), on_device(x), mean, rstd, dw, db, columns, BLOCK=512)
    np.testing.assert_allclose(dw.cpu().numpy(), (dy * normed).sum(0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(db.cpu().numpy(), dy.sum(0), rtol=1e-3, atol=1e-3)


@triton.jit
def attention_kernel(q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    rows, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    base = head * length * D
    queries = tl.load(q + base + rows[:, None] * D + depth[None, :])
    largest = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * M, N):
        columns = start + tl.arange(0, N)
        keys = tl.load(k + base + columns[None, :] * D + depth[:, None])
        scores = tl.dot(queries, keys) * scale
        scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp(scores - now[:, None])
        shrink = tl.exp(largest - now)
        total = total * shrink + tl.sum(powers, 1)
        values = tl.load(v + base + columns[:, None] * D + depth[None, :])
        sums = sums * shrink[:, None] + tl.dot(powers.to(values.dtype), values)
        largest = now
    tl.store(out + base + rows[:, None] * D + depth[None, :], sums / total[:, None])


@check
def attention():
    heads, length, d = 3, 128, 32
    q, k, v = (RANDOM.standard_normal((heads, length, d)).astype(np.float16) for _ in range(3))
    out = torch.empty(heads, length, d, device=DEVICE, dtype=torch.float32)
    dq, dk, dv = (on_device(array) for array in (q, k, v))
    grid = (length // 32, heads)
    launched("attention", heads * length * length, lambda: attention_kernel[grid](dq, dk, dv, out, length, d**-0.5, M=32, N=32, D=d))
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * d**-0.5
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (weights / weights.sum(-1, keepdims=True)) @ v.astype(np.float64)
    np.testing.assert_allclose(out.cpu().numpy(), expected, rtol=2e-2, atol=5e-3)


if __name__ == "__main__":
    main()
