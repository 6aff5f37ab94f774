"""What Triton's tutorials 1 to 6 do, in kernels of our own, against NumPy: vector addition, softmax, matrix products, dropout, layer norm forward and
backward, attention forward and backward. Triton's own ptxas makes cubins.

With the variable WITH_PTX, `ptxas_passes_ptx` gives Triton the PTX back, which the driver takes: for GPUs whose code warploom does not run.
With --time, also how long each takes, here or (TRITON_INTERPRET=1) in Triton's interpreter.
"""
import os
import pathlib
import tempfile
import time

HERE = pathlib.Path(__file__).parent
if os.environ.get("WITH_PTX"):
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


def wait():
    """(The interpreter has done it when it returns, and there may be no driver.)"""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def launched(name, work, launch):
    """Launches, and again to be timed."""
    launch()
    timed(name, work, launch, wait)


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
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
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
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr = ""):
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
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
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


CONFIGS = [
    triton.Config(dict(M=32, N=64, K=32, GROUP=8), num_stages=3, num_warps=4),
    triton.Config(dict(M=64, N=32, K=64, GROUP=4), num_stages=2, num_warps=2),
    triton.Config(dict(M=128, N=64, K=32, GROUP=8), num_stages=4, num_warps=8),
]


def measured(launch, quantiles):
    start = time.perf_counter()
    launch()
    wait()
    return [time.perf_counter() - start] * len(quantiles)


@check
def matmul_tuned_with_activation():
    """The same by the fastest of several shapes, pipelined in stages, and with an activation, to halves."""
    # (Triton's own measure clears a cache by a kernel of PyTorch's, for which there is no PTX.)
    tuned = triton.autotune(configs=CONFIGS, key=["m", "n", "k"], do_bench=measured)(matmul_kernel)
    m, n, k = 256, 192, 128
    a, b = (RANDOM.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = torch.empty(m, n, device=DEVICE, dtype=torch.float16)
    tuned[lambda meta: (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)](on_device(a), on_device(b), c, m, n, k, ACTIVATION="leaky_relu")
    product = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c.cpu().numpy(), np.where(product >= 0, product, 0.01 * product), rtol=2e-3, atol=2e-3)


@triton.jit
def masked_dropout_kernel(x, kept, out, n, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    values = tl.load(x + at, mask=mask)
    tl.store(out + at, tl.where(tl.load(kept + at, mask=mask), values / (1 - p), 0.0), mask=mask)


@check
def dropout_by_a_mask():
    x, kept = RANDOM.standard_normal(1000).astype(np.float32), RANDOM.random(1000) > 0.25
    out = torch.empty(1000, device=DEVICE)
    masked_dropout_kernel[(4,)](on_device(x), on_device(kept), out, 1000, 0.25, BLOCK=256)
    np.testing.assert_allclose(out.cpu().numpy(), np.where(kept, x / np.float32(0.75), 0), rtol=1e-6)


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
def layer_norm_back_kernel(dx, dy, dw, db, x, w, mean, rstd, locks, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """The input's gradient, and the weights' in partial sums, each of which rows add to one after the other by a lock."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    gradient = tl.load(dy + row * columns + at, mask=mask, other=0.0)
    scale = tl.load(rstd + row)
    normed = tl.where(mask, (values - tl.load(mean + row)) * scale, 0.0)
    weighted = tl.where(mask, tl.load(w + at, mask=mask, other=0.0) * gradient, 0.0)
    along, average = tl.sum(normed * weighted, axis=0) / columns, tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * columns + at, (weighted - (normed * along + average)) * scale, mask=mask)
    part = row % GROUP
    lock, used = locks + part, locks + GROUP + part
    own_dw, own_db = dw + part * columns + at, db + part * columns + at
    to_w, to_b = gradient * normed, gradient
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(used) == 0:
        tl.atomic_xchg(used, 1)
    else:
        to_w += tl.load(own_dw, mask=mask)
        to_b += tl.load(own_db, mask=mask)
    tl.store(own_dw, to_w, mask=mask)
    tl.store(own_db, to_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_sum_kernel(parts, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        total += tl.load(parts + row[:, None] * columns + at[None, :], mask=(row[:, None] < rows) & (at[None, :] < columns), other=0.0)
    tl.store(out + at, tl.sum(total, axis=0), mask=at < columns)


@check
def layer_norm_backward():
    rows, columns, group = 97, 300, 16
    x, dy = (RANDOM.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    w = RANDOM.random(columns, dtype=np.float32)
    mean, deviation = x.mean(1, dtype=np.float64), np.sqrt(x.var(1, dtype=np.float64) + 1e-5)
    statistics = [on_device(each.astype(np.float32)) for each in (mean, 1 / deviation)]
    dx = torch.empty(rows, columns, device=DEVICE)
    # Zeros, since a warp may see what another one of its block has set already.
    parts = [on_device(np.zeros((group, columns), np.float32)) for _ in range(2)]
    locks = on_device(np.zeros(2 * group, np.int32))
    layer_norm_back_kernel[(rows,)](dx, on_device(dy), *parts, on_device(x), on_device(w), *statistics, locks, columns, GROUP=group, BLOCK=512)
    sums = [torch.empty(columns, device=DEVICE) for _ in range(2)]
    for part, total in zip(parts, sums):
        layer_norm_sum_kernel[(triton.cdiv(columns, 128),)](part, total, group, columns, ROWS=32, COLUMNS=128)
    normed, weighted = (x - mean[:, None]) / deviation[:, None], w * dy.astype(np.float64)
    expected = (weighted - normed * (normed * weighted).mean(1, keepdims=True) - weighted.mean(1, keepdims=True)) / deviation[:, None]
    np.testing.assert_allclose(dx.cpu().numpy(), expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(sums[0].cpu().numpy(), (dy * normed).sum(0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(sums[1].cpu().numpy(), dy.sum(0), rtol=1e-3, atol=1e-3)


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


@triton.jit
def weighted_sums(sums, total, largest, queries, k, v, rows, depth, low, high, scale, MASKED: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Goes on with the sums of some rows over keys from low to high."""
    for start in range(low, high, N):
        columns = start + tl.arange(0, N)
        scores = tl.dot(queries, tl.load(k + columns[None, :] * D + depth[:, None])) * scale
        if MASKED:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -1.0e6)
        now = tl.maximum(largest, tl.max(scores, 1))
        powers, shrink = tl.math.exp2(scores - now[:, None]), tl.math.exp2(largest - now)
        total = total * shrink + tl.sum(powers, 1)
        values = tl.load(v + columns[:, None] * D + depth[None, :])
        sums = tl.dot(powers.to(values.dtype), values, sums * shrink[:, None])
        largest = now
    return sums, total, largest


@triton.jit
def staged_attention_kernel(q, k, v, out, logs, length, scale, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """In powers of two, with the keys before the diagonal apart from those on it; keeps the logarithms of the sums."""
    block, head = tl.program_id(0), tl.program_id(1)
    rows, depth = block * M + tl.arange(0, M), tl.arange(0, D)
    base = head * length * D
    queries = tl.load(q + base + rows[:, None] * D + depth[None, :])
    largest, total = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    scale *= 1.44269504
    before = block * M if CAUSAL else length
    sums, total, largest = weighted_sums(sums, total, largest, queries, k + base, v + base, rows, depth, 0, before, scale, False, N, D)
    if CAUSAL:
        sums, total, largest = weighted_sums(sums, total, largest, queries, k + base, v + base, rows, depth, block * M, block * M + M, scale, True, N, D)
    tl.store(logs + head * length + rows, largest + tl.math.log2(total))
    tl.store(out + base + rows[:, None] * D + depth[None, :], (sums / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def attention_back_kernel(q, k, v, do, logs, delta, dq, dk, dv, length, scale, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The gradients of a block of keys and values, by a walk over queries; those of the queries are added up."""
    head = tl.program_id(1)
    base = head * length * D
    columns, depth = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, D)
    keys = tl.load(k + base + columns[:, None] * D + depth[None, :])
    values = tl.load(v + base + columns[:, None] * D + depth[None, :])
    sum_k, sum_v = tl.zeros((N, D), tl.float32), tl.zeros((N, D), tl.float32)
    for start in range(tl.program_id(0) * N if CAUSAL else 0, length, M):
        rows = start + tl.arange(0, M)
        at = base + rows[:, None] * D + depth[None, :]
        queries, gradient = tl.load(q + at), tl.load(do + at)
        powers = tl.math.exp2(tl.dot(queries, tl.trans(keys)) * (scale * 1.44269504) - tl.load(logs + head * length + rows)[:, None])
        if CAUSAL:
            powers = tl.where(rows[:, None] >= columns[None, :], powers, 0.0)
        sum_v = tl.dot(tl.trans(powers.to(gradient.dtype)), gradient, sum_v)
        of_scores = powers * (tl.dot(gradient, tl.trans(values)) - tl.load(delta + head * length + rows)[:, None])
        of_scores = of_scores.to(queries.dtype)
        sum_k = tl.dot(tl.trans(of_scores), queries, sum_k)
        tl.atomic_add(dq + at, tl.dot(of_scores, keys) * scale)
    at = base + columns[:, None] * D + depth[None, :]
    tl.store(dk + at, sum_k * scale)
    tl.store(dv + at, sum_v)


def attention_both_ways(causal):
    heads, length, d = 2, 128, 64
    scale = d**-0.5
    q, k, v, do = (RANDOM.standard_normal((heads, length, d)).astype(np.float16) for _ in range(4))
    on = [on_device(array) for array in (q, k, v)]
    out = torch.empty(heads, length, d, device=DEVICE, dtype=torch.float16)
    logs = torch.empty(heads, length, device=DEVICE)
    staged_attention_kernel[(length // 64, heads)](*on, out, logs, length, scale, CAUSAL=causal, M=64, N=32, D=d)
    wide = [array.astype(np.float64) for array in (q, k, v, do)]
    scores = np.einsum("hid,hjd->hij", *wide[:2]) * scale
    scores = np.where(np.tril(np.ones((length, length), bool)) | (not causal), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    expected = weights @ wide[2]
    np.testing.assert_allclose(out.cpu().numpy(), expected, rtol=2e-2, atol=1e-2)

    delta = (expected * wide[3]).sum(-1)
    gradients = [on_device(np.zeros((heads, length, d), np.float32)) for _ in range(3)]
    arguments = (*on, on_device(do), logs, on_device(delta.astype(np.float32)), *gradients, length, scale)
    attention_back_kernel[(length // 32, heads)](*arguments, CAUSAL=causal, M=32, N=32, D=d)
    of_weights = np.einsum("hid,hjd->hij", wide[3], wide[2])
    of_scores = weights * (of_weights - delta[..., None])
    wanted = of_scores @ wide[1] * scale, of_scores.swapaxes(1, 2) @ wide[0] * scale, weights.swapaxes(1, 2) @ wide[3]
    for found, each in zip(gradients, wanted):
        np.testing.assert_allclose(found.cpu().numpy(), each, rtol=2e-2, atol=2e-2)


@check
def attention_forward_and_backward():
    attention_both_ways(False)


@check
def causal_attention_forward_and_backward():
    attention_both_ways(True)


if __name__ == "__main__":
    main()
