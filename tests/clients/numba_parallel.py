"""The loops of numba_kernels.py on the CPU's threads, by numba.njit(parallel=True). With --time, how long they take."""
import math

import numpy as np
from numba import get_num_threads, njit, prange

from checks import check, main, timed

RANDOM = np.random.default_rng(1)


@njit(parallel=True)
def saxpy(a, x, y):
    for i in prange(x.size):
        y[i] = a * x[i] + y[i]


@njit(parallel=True)
def mandelbrot(image, left, top, step, most):
    for row in prange(image.shape[0]):
        for column in range(image.shape[1]):
            cx, cy = left + column * step, top + row * step
            x = y = 0.0
            count = 0
            while count < most and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                count += 1
            image[row, column] = count


@njit(parallel=True)
def nbody(bodies, forces, softening):
    for i in prange(bodies.shape[0]):
        ax = ay = az = np.float32(0)
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


@njit(parallel=True)
def matmul(a, b, c):
    for row in prange(a.shape[0]):
        for column in range(b.shape[1]):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, column]
            c[row, column] = total


@njit(parallel=True)
def histogram(values, bins, parts):
    own = np.zeros((parts, 256), np.int32)
    for part in prange(parts):
        for i in range(part * values.size // parts, (part + 1) * values.size // parts):
            own[part, values[i]] += 1
    for part in range(parts):
        bins += own[part]


def repeated(name, work, run):
    run()
    timed(name, work, run)


@check
def saxpy_on_threads():
    n = 1 << 20
    x, y = (RANDOM.random(n, dtype=np.float32) for _ in range(2))
    repeated("saxpy", n, lambda: saxpy(2.0, x, y))


@check
def mandelbrot_on_threads():
    rows, columns, most = 512, 768, 100
    image = np.zeros((rows, columns), np.int32)
    repeated("mandelbrot", rows * columns, lambda: mandelbrot(image, -2.0, -1.0, 3.0 / columns, most))


@check
def nbody_on_threads():
    n = 2048
    bodies, forces = (RANDOM.random((n, 4)) * 2 - 1).astype(np.float32), np.zeros((n, 3), np.float32)
    repeated("nbody", n * n, lambda: nbody(bodies, forces, np.float32(0.01)))


@check
def matmul_on_threads():
    n = 512
    a, b = (RANDOM.integers(0, 16, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    repeated("matmul", n**3, lambda: matmul(a, b, c))
    np.testing.assert_array_equal(c, a @ b)


@check
def histogram_on_threads():
    n = 1 << 20
    values, bins = RANDOM.integers(0, 256, n).astype(np.uint8), np.zeros(256, np.int32)
    histogram(values, bins, get_num_threads())
    np.testing.assert_array_equal(bins, np.bincount(values, minlength=256))
    timed("histogram", n, lambda: histogram(values, bins, get_num_threads()))


if __name__ == "__main__":
    main()
