"""Kernels of numba against NumPy. With --time, also how long they take, here or (NUMBA_ENABLE_CUDASIM=1) in numba's simulator."""
import math

import numpy as np
from numba import cuda, float32, int32

from checks import check, main, timed

RANDOM = np.random.default_rng(1)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def mandelbrot(image, left, top, step, most):
    column, row = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[1]:
        cx, cy = left + column * step, top + row * step
        x = y = 0.0
        count = 0
        while count < most and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            count += 1
        image[row, column] = count


@cuda.jit
def nbody(bodies, forces, softening):
    i = cuda.grid(1)
    if i < bodies.shape[0]:
        ax = ay = az = float32(0)
        for k in range(bodies.shape[0]):
            dx = bodies[k, 0] - bodies[i, 0]
            dy = bodies[k, 1] - bodies[i, 1]
            dz = bodies[k, 2] - bodies[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + softening
            s = bodies[k, 3] / (r2 * math.sqrt(r2))
            ax += dx * s
            ay += dy * s
            az += dz * s
        forces[i, 0], forces[i, 1], forces[i, 2] = ax, ay, az


TILE = 16


@cuda.jit
def matmul(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(a.shape[1] // TILE):
        left[tx, ty] = a[row, tile * TILE + ty]
        right[tx, ty] = b[tile * TILE + tx, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[tx, k] * right[k, ty]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def histogram(values, bins):
    own = cuda.shared.array(256, int32)
    own[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, cuda.threadIdx.x, own[cuda.threadIdx.x])


def size(full, simulated):
    """The simulator runs a thread of Python for each thread of the GPU."""
    from numba.core import config

    return simulated if config.ENABLE_CUDASIM else full


@check
def saxpy_matches_numpy():
    n = size(1 << 20, 1 << 10)
    x, y = (RANDOM.random(n, dtype=np.float32) for _ in range(2))
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    saxpy[(n + 255) // 256, 256](2.0, dx, dy)
    np.testing.assert_allclose(dy.copy_to_host(), 2 * x + y, rtol=1e-6)
    timed("saxpy", n, lambda: saxpy[(n + 255) // 256, 256](2.0, dx, dy), cuda.synchronize)


@check
def mandelbrot_matches_numpy():
    rows, columns, most = size(512, 16), size(768, 24), 100
    image = cuda.to_device(np.zeros((rows, columns), np.int32))
    step = 3.0 / columns
    launch = mandelbrot[((columns + 15) // 16, (rows + 15) // 16), (16, 16)]
    launch(image, -2.0, -1.0, step, most)
    c = (-2.0 + np.arange(columns) * step)[None, :] + 1j * (-1.0 + np.arange(rows) * step)[:, None]
    z, expected = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(most):
        inside = np.abs(z) <= 2
        expected += inside
        z = np.where(inside, z * z + c, z)
    different = np.count_nonzero(image.copy_to_host() != expected)
    assert different <= expected.size // 500, different  # where a sum is fused, the border may differ
    timed("mandelbrot", rows * columns, lambda: launch(image, -2.0, -1.0, step, most), cuda.synchronize)


@check
def nbody_matches_numpy():
    n = size(2048, 48)
    bodies = (RANDOM.random((n, 4)) * 2 - 1).astype(np.float32)
    forces = cuda.device_array((n, 3), np.float32)
    d = cuda.to_device(bodies)
    nbody[(n + 127) // 128, 128](d, forces, np.float32(0.01))
    p, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
    delta = p[None] - p[:, None]
    r2 = (delta**2).sum(2) + 0.01
    parts = delta * (mass[None] / r2**1.5)[..., None]
    error = np.abs(forces.copy_to_host() - parts.sum(1)).max(1)
    assert (error <= 1e-5 * np.abs(parts).sum((1, 2))).all(), error.max()
    timed("nbody", n * n, lambda: nbody[(n + 127) // 128, 128](d, forces, np.float32(0.01)), cuda.synchronize)


@check
def matmul_matches_numpy():
    n = size(512, 32)
    a, b = (RANDOM.integers(0, 16, (n, n)).astype(np.float32) for _ in range(2))
    da, db, c = cuda.to_device(a), cuda.to_device(b), cuda.device_array((n, n), np.float32)
    launch = matmul[(n // TILE, n // TILE), (TILE, TILE)]
    launch(da, db, c)
    np.testing.assert_array_equal(c.copy_to_host(), a @ b)  # small integers: exact
    timed("matmul", n**3, lambda: launch(da, db, c), cuda.synchronize)


@check
def histogram_matches_numpy():
    n = size(1 << 20, 1 << 9)
    values = RANDOM.integers(0, 256, n).astype(np.uint8)
    bins = cuda.to_device(np.zeros(256, np.int32))
    dv = cuda.to_device(values)
    histogram[size(64, 1), 256](dv, bins)
    np.testing.assert_array_equal(bins.copy_to_host(), np.bincount(values, minlength=256))
    timed("histogram", n, lambda: histogram[size(64, 1), 256](dv, bins), cuda.synchronize)


if __name__ == "__main__":
    main()
