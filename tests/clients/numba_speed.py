"""How fast numba's kernels are on warploom, against numba's simulator and against loops under njit(parallel=True) on as many cores.

Prints nanoseconds of CPU time for each unit of work, the best of some runs: the machine may do other things besides.
"""
import json
import math
import os
import subprocess
import sys
import time

import numpy as np
from numba import cuda, njit, prange

from numba_kernels import TILE, histogram, mandelbrot, matmul, nbody, saxpy, size

RANDOM = np.random.default_rng(1)


@njit(parallel=True)
def saxpy_loop(a, x, y):
    for i in prange(x.size):
        y[i] = a * x[i] + y[i]


@njit(parallel=True)
def mandelbrot_loop(image, left, top, step, most):
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
def nbody_loop(bodies, forces, softening):
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
def matmul_loop(a, b, c):
    for row in prange(a.shape[0]):
        for column in range(b.shape[1]):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, column]
            c[row, column] = total


@njit(parallel=True)
def histogram_loop(values, bins):
    parts = 64
    own = np.zeros((parts, 256), np.int32)
    for part in prange(parts):
        for i in range(part, values.size, parts):
            own[part, values[i]] += 1
    bins += own.sum(0)


def best(launch, runs):
    """The least CPU time of a run."""
    launch()
    launch()
    times = []
    for _ in range(runs):
        start = time.process_time()
        launch()
        times.append(time.process_time() - start)
    return min(times)


def programs():
    """Of each: units of work, the kernel's launch, the loop's call, and what both have computed."""
    n = size(1 << 22, 1 << 10)
    x, y = RANDOM.random(n, dtype=np.float32), np.zeros(n, np.float32)
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    yield "saxpy", n, lambda: saxpy[(n + 255) // 256, 256](np.float32(2), dx, dy), lambda: saxpy_loop(np.float32(2), x, y)
    rows, columns = size(1024, 16), size(1024, 16)
    step, image = 3.0 / columns, np.zeros((rows, columns), np.int32)
    d_image = cuda.to_device(image)
    launch = mandelbrot[((columns + 15) // 16, (rows + 15) // 16), (16, 16)]
    yield "mandelbrot", rows * columns, lambda: launch(d_image, -2.0, -1.5, step, 100), lambda: mandelbrot_loop(image, -2.0, -1.5, step, 100)
    m = size(4096, 64)
    bodies, forces = (RANDOM.random((m, 4)) * 2 - 1).astype(np.float32), np.zeros((m, 3), np.float32)
    d_bodies, d_forces = cuda.to_device(bodies), cuda.to_device(forces)
    yield "n-body", m * m, lambda: nbody[(m + 127) // 128, 128](d_bodies, d_forces, np.float32(0.01)), lambda: nbody_loop(bodies, forces, np.float32(0.01))
    k = size(512, 32)
    a, b, c = (RANDOM.random((k, k), dtype=np.float32) for _ in range(3))
    da, db, dc = (cuda.to_device(array) for array in (a, b, c))
    yield "matmul", k**3, lambda: matmul[(k // TILE, k // TILE), (TILE, TILE)](da, db, dc), lambda: matmul_loop(a, b, c)
    count = size(1 << 22, 1 << 10)
    values, bins = RANDOM.integers(0, 256, count).astype(np.uint8), np.zeros(256, np.int32)
    dv, d_bins = cuda.to_device(values), cuda.to_device(bins)
    yield "histogram", count, lambda: histogram[size(64, 1), 256](dv, d_bins), lambda: histogram_loop(values, bins)


def measure(simulated):
    found = {}
    for name, units, launch, loop in programs():
        def kernel():
            launch()
            cuda.synchronize()

        times = [best(kernel, 1 if simulated else 7)]
        if not simulated:
            times.append(best(loop, 7))
        found[name] = [seconds / units * 1e9 for seconds in times]
    return found


def main():
    if "--simulated" in sys.argv:
        print(json.dumps(measure(True)))
        return
    ran = subprocess.run([sys.executable, __file__, "--simulated"], env=dict(os.environ, NUMBA_ENABLE_CUDASIM="1"), capture_output=True, text=True, check=True)
    simulated, found = json.loads(ran.stdout.splitlines()[-1]), measure(False)
    print("| kernel | warploom, ns | njit(parallel), ns | simulator, ns | against njit | against the simulator |\n|---|---|---|---|---|---|")
    ratios = []
    for name, (ours, loop) in found.items():
        ratios.append((ours / loop, simulated[name][0] / ours))
        print(f"| {name} | {ours:.3g} | {loop:.3g} | {simulated[name][0]:.3g} | {ours / loop:.2f} times its time | {ratios[-1][1]:,.0f} times as fast |")
    means = [math.exp(sum(math.log(ratio[i]) for ratio in ratios) / len(ratios)) for i in range(2)]
    print(f"| geometric mean | | | | {means[0]:.2f} times its time | {means[1]:,.0f} times as fast |")


main()
