"""Kernels of Taichi against NumPy."""
import numpy as np
import taichi as ti

from checks import check, main

ti.init(arch=ti.cuda, random_seed=1, offline_cache=False)
RANDOM = np.random.default_rng(1)


@check
def it_runs_on_cuda():
    assert ti.lang.impl.current_cfg().arch == ti.cuda


@check
def fields_are_filled_and_copied():
    field = ti.field(ti.f32, shape=(17, 33))
    field.fill(2.5)
    np.testing.assert_array_equal(field.to_numpy(), np.full((17, 33), 2.5, np.float32))
    values = RANDOM.random((17, 33), dtype=np.float32)
    field.from_numpy(values)
    np.testing.assert_array_equal(field.to_numpy(), values)


@check
def saxpy():
    n = 10000
    x, y = (RANDOM.random(n, dtype=np.float32) for _ in range(2))

    @ti.kernel
    def run(a: ti.f32, x: ti.types.ndarray(), y: ti.types.ndarray()):
        for i in range(x.shape[0]):
            y[i] = a * x[i] + y[i]

    expected = 2 * x + y
    run(2.0, x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@check
def sums_and_extremes():
    n = 5000
    values = RANDOM.integers(-1000, 1000, n).astype(np.int32)
    field = ti.field(ti.i32, shape=n)
    field.from_numpy(values)
    found = ti.field(ti.i32, shape=3)

    @ti.kernel
    def total() -> ti.i32:
        sum = 0
        for i in field:
            sum += field[i]
        return sum

    @ti.kernel
    def extremes():
        for i in field:
            ti.atomic_min(found[0], field[i])
            ti.atomic_max(found[1], field[i])
            ti.atomic_xor(found[2], field[i])

    assert total() == values.sum()
    extremes()
    assert found.to_numpy().tolist() == [values.min(), values.max(), np.bitwise_xor.reduce(values)]


@check
def julia_set():
    n = 64
    pixels = ti.field(ti.f32, shape=(2 * n, n))

    @ti.kernel
    def paint(t: ti.f32):
        for i, j in pixels:
            c = ti.Vector([-0.8, ti.cos(t) * 0.2])
            z = ti.Vector([i / n - 1, j / n - 0.5]) * 2
            count = 0
            while z.norm() < 20 and count < 50:
                z = ti.Vector([z[0] * z[0] - z[1] * z[1], 2 * z[0] * z[1]]) + c
                count += 1
            pixels[i, j] = 1 - count * 0.02

    paint(0.3)
    i, j = np.meshgrid(np.arange(2 * n, dtype=np.float32), np.arange(n, dtype=np.float32), indexing="ij")
    z = ((i / n - 1) + 1j * (j / n - np.float32(0.5))).astype(np.complex64) * 2
    c, count = np.complex64(-0.8 + 1j * np.cos(0.3) * 0.2), np.zeros(z.shape)
    for _ in range(50):
        inside = np.abs(z) < 20
        count += inside
        z = np.where(inside, z * z + c, z)
    different = np.count_nonzero(np.abs(pixels.to_numpy() - (1 - count * 0.02)) > 1e-5)
    assert different <= z.size // 100, different  # a point at the border may take one step more


@check
def small_matrices():
    n = 256
    m = RANDOM.random((n, 3, 3), dtype=np.float32) + np.eye(3, dtype=np.float32) * 2
    matrices, inverses, dets = ti.Matrix.field(3, 3, ti.f32, n), ti.Matrix.field(3, 3, ti.f32, n), ti.field(ti.f32, n)
    matrices.from_numpy(m)

    @ti.kernel
    def invert():
        for i in matrices:
            inverses[i] = matrices[i].inverse()
            dets[i] = matrices[i].determinant()

    invert()
    np.testing.assert_allclose(inverses.to_numpy(), np.linalg.inv(m), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(dets.to_numpy(), np.linalg.det(m), rtol=1e-4)


@check
def elementary_functions():
    x = np.linspace(0.1, 3, 500, dtype=np.float32)
    names = ["sin", "cos", "tan", "exp", "log", "sqrt", "tanh"]
    for name in names:
        function = getattr(ti, name)

        @ti.kernel
        def run(x: ti.types.ndarray(), y: ti.types.ndarray()):
            for i in range(x.shape[0]):
                y[i] = function(x[i])

        y = np.zeros_like(x)
        run(x, y)
        np.testing.assert_allclose(y, getattr(np, name)(x.astype(np.float64)), rtol=2e-5, atol=2e-6, err_msg=name)


@check
def sparse_fields():
    block = ti.root.pointer(ti.ij, 8)
    field = ti.field(ti.i32)
    block.dense(ti.ij, 4).place(field)

    @ti.kernel
    def touch():
        for i in range(4):
            field[i * 8, i * 4] = i + 1

    @ti.kernel
    def count() -> ti.i32:
        n = 0
        for i, j in field:
            n += 1
        return n

    touch()
    assert count() == 4 * 16  # every touched block is whole
    assert field.to_numpy().sum() == 10


@check
def sorting_and_prefix_sums():
    n = 1024
    keys = RANDOM.permutation(n).astype(np.int32)
    field = ti.field(ti.i32, shape=n)
    field.from_numpy(keys)
    ti.algorithms.parallel_sort(field)
    np.testing.assert_array_equal(field.to_numpy(), np.arange(n))
    executor = ti.algorithms.PrefixSumExecutor(n)
    executor.run(field)
    np.testing.assert_array_equal(field.to_numpy(), np.cumsum(np.arange(n)))


@check
def random_numbers():
    n = 20000
    field = ti.field(ti.f32, shape=n)

    @ti.kernel
    def fill():
        for i in field:
            field[i] = ti.random()

    fill()
    values = field.to_numpy()
    assert 0 <= values.min() and values.max() < 1 and abs(values.mean() - 0.5) < 0.02 and abs(values.std() - 12**-0.5) < 0.01
    assert np.unique(values).size > n * 0.9


@check
def gradients():
    n = 64
    x, loss = ti.field(ti.f32, shape=n, needs_grad=True), ti.field(ti.f32, shape=(), needs_grad=True)
    values = RANDOM.random(n, dtype=np.float32)
    x.from_numpy(values)

    @ti.kernel
    def sum_of_cubes():
        for i in x:
            loss[None] += x[i] ** 3

    with ti.ad.Tape(loss):
        sum_of_cubes()
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * values**2, rtol=1e-5)


if __name__ == "__main__":
    main()
