"""JAX against NumPy: what needs no cuDNN, cuSOLVER or cuSPARSE, whose runtime is linked statically."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from checks import check, main

jax.config.update("jax_enable_x64", True)
numbers = np.random.default_rng(1)


def same(found, expected, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(np.asarray(found, dtype=np.asarray(expected).dtype), expected, rtol=rtol, atol=atol)


@check
def the_device_is_a_gpu():
    assert [device.platform for device in jax.devices()] == ["gpu"]


@check
def elementwise():
    x, y = numbers.normal(size=(3, 1001)).astype(np.float32), numbers.normal(size=1001).astype(np.float32)
    same(jax.jit(lambda a, b: jnp.where(a > 0, jnp.sin(a) * b, jnp.exp(-a * a)) + jnp.tanh(b))(x, y), np.where(x > 0, np.sin(x) * y, np.exp(-x * x)) + np.tanh(y))
    i = numbers.integers(-1000, 1000, 4096)
    same(jax.jit(lambda a: (a // 7 ^ 5) % 11)(i), (i // 7 ^ 5) % 11)


@check
def reductions():
    x = numbers.normal(size=(64, 1000)).astype(np.float32)
    same(jnp.sum(x, axis=1), x.sum(axis=1), rtol=1e-4, atol=1e-4)
    same(jnp.max(x, axis=0), x.max(axis=0))
    same(jnp.argmin(x, axis=1), x.argmin(axis=1))
    same(jnp.cumsum(x.astype(np.float64), axis=1), x.astype(np.float64).cumsum(axis=1))
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    same(jax.nn.softmax(x), shifted / shifted.sum(axis=1, keepdims=True))


@check
def products_of_matrices():
    for dtype, rtol in (np.float64, 1e-10), (np.float32, 1e-2):
        a, b = numbers.normal(size=(65, 33)).astype(dtype), numbers.normal(size=(33, 70)).astype(dtype)
        same(jnp.asarray(a) @ jnp.asarray(b), a @ b, rtol=rtol, atol=rtol)
        c = numbers.normal(size=(5, 16, 24)).astype(dtype)
        same(jnp.einsum("bij,bkj->bik", c, c), np.einsum("bij,bkj->bik", c, c), rtol=rtol, atol=rtol)
    a = numbers.normal(size=(64, 64)).astype(np.float32)
    half = jnp.asarray(a, jnp.bfloat16)
    exact = np.asarray(half, np.float32)
    same(jnp.matmul(half, half, preferred_element_type=jnp.float32), exact @ exact, rtol=1e-2, atol=1e-2)


@check
def gradients():
    x = numbers.normal(size=100)
    same(jax.grad(lambda a: jnp.sum(a ** 3 + jnp.sin(a)))(x), 3 * x ** 2 + np.cos(x))
    same(jax.jit(jax.vmap(jax.grad(lambda a: jnp.tanh(a) ** 2)))(x), 2 * np.tanh(x) * (1 - np.tanh(x) ** 2))


@check
def sorting_and_gathering():
    x = numbers.normal(size=5000).astype(np.float32)
    same(jnp.sort(x), np.sort(x))
    same(jnp.argsort(x), np.argsort(x, kind="stable"))
    same(lax.top_k(jnp.asarray(x), 10)[0], np.sort(x)[::-1][:10])
    at = numbers.integers(0, 5000, 777)
    same(jnp.asarray(x)[at], x[at])
    counts = np.zeros(50)
    np.add.at(counts, at % 50, 1)
    same(jnp.zeros(50).at[at % 50].add(1), counts)


@check
def loops():
    same(lax.fori_loop(0, 100, lambda i, sum: sum + i, 0), 4950)
    carry, all_of = lax.scan(lambda sum, x: (sum + x, sum * x), 0.0, np.arange(100.0))
    sums = np.concatenate([[0.0], np.arange(100.0).cumsum()])
    same(carry, sums[-1])
    same(all_of, sums[:-1] * np.arange(100.0))
    same(lax.while_loop(lambda n: n < 1000, lambda n: n * 2, 1), 1024)


@check
def random_numbers():
    key = jax.random.key(7)
    on_cpu = jax.devices("cpu")[0]
    for draw in jax.random.normal, jax.random.uniform, jax.random.exponential:
        found = draw(key, (1000,))
        with jax.default_device(on_cpu):
            same(found, draw(jax.device_put(key, on_cpu), (1000,)), rtol=1e-4)


@check
def transforms():
    x = numbers.normal(size=(4, 64))
    same(jnp.abs(jnp.fft.fft(x)), np.abs(np.fft.fft(x)))
    same(jnp.fft.irfft2(jnp.fft.rfft2(x)), x)


@check
def a_network_learns():
    x = numbers.normal(size=(256, 8)).astype(np.float32)
    y = np.sin(x.sum(axis=1, keepdims=True))
    weights = [jnp.asarray(numbers.normal(size=shape).astype(np.float32) / 3) for shape in ((8, 32), (32, 1))]

    def loss(weights):
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)

    step = jax.jit(lambda weights: [w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights))])
    before = loss(weights)
    for _ in range(100):
        weights = step(weights)
    assert loss(weights) < before / 2


main()
