"""tinygrad's tensors against NumPy, in its own renderer of PTX (DEV=CUDA:PTX) or through NVRTC (DEV=CUDA)."""
import unittest

import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes

RANDOM = np.random.default_rng(1)


class Ops(unittest.TestCase):
    def same(self, function, *shapes, rtol=1e-5, atol=1e-6):
        """`function` is one of arrays that NumPy and tinygrad both have, by what is passed as its first argument."""
        arrays = [RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes]
        found = function(Tensor, *[Tensor(a) for a in arrays]).numpy()
        np.testing.assert_allclose(found, function(np, *arrays), rtol=rtol, atol=atol)

    def test_device(self):
        self.assertTrue(Device.DEFAULT.startswith("CUDA"))

    def test_elementwise(self):
        self.same(lambda _, a, b: a * b + a - b / 3, (45, 65), (45, 65))
        self.same(lambda m, a: a.exp() if m is Tensor else np.exp(a), (45, 65))
        self.same(lambda m, a: a.sin() if m is Tensor else np.sin(a), (45, 65), rtol=1e-4, atol=1e-5)

    def test_broadcast(self):
        self.same(lambda _, a, b: a + b, (5, 13, 24), (5, 1, 24))

    def test_reductions(self):
        for axis in (0, 1, None):
            self.same(lambda _, a: a.sum(axis), (41, 129), rtol=1e-4, atol=1e-4)
            self.same(lambda _, a: a.max(axis), (41, 129))
            self.same(lambda _, a: a.mean(axis), (41, 129), rtol=1e-4, atol=1e-5)

    def test_matmul(self):
        self.same(lambda _, a, b: a @ b, (64, 99), (99, 32), rtol=1e-4, atol=1e-4)
        self.same(lambda _, a, b: a @ b, (3, 16, 8), (3, 8, 16), rtol=1e-4, atol=1e-4)

    def test_movement(self):
        self.same(lambda _, a: a.reshape(6, 20).T, (10, 12))
        self.same(lambda _, a: a[2:8:3, ::-1], (10, 12))
        self.same(lambda m, a, b: a.cat(b, dim=1) if m is Tensor else np.concatenate([a, b], 1), (4, 3), (4, 7))

    def test_integers(self):
        a, b = RANDOM.integers(-1000, 1000, (2, 500)).astype(np.int32)
        np.testing.assert_array_equal((Tensor(a) * Tensor(b) + 7).numpy(), a * b + 7)
        np.testing.assert_array_equal((Tensor(a) < Tensor(b)).numpy(), a < b)
        np.testing.assert_array_equal((Tensor(a) ^ Tensor(b)).numpy(), a ^ b)

    def test_half(self):
        a = RANDOM.standard_normal((33, 17)).astype(np.float16)
        np.testing.assert_allclose((Tensor(a) * 2 + 1).numpy(), a * 2 + 1, rtol=1e-3, atol=1e-3)
        self.assertEqual(Tensor(a).dtype, dtypes.half)

    def test_softmax(self):
        a = RANDOM.standard_normal((13, 77)).astype(np.float32)
        powers = np.exp(a - a.max(1, keepdims=True))
        np.testing.assert_allclose(Tensor(a).softmax().numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)

    def test_convolution(self):
        x, w = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 9, 9), (4, 3, 3, 3)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        np.testing.assert_allclose(Tensor(x).conv2d(Tensor(w)).numpy(), np.einsum("bchwij,ocij->bohw", windows, w), rtol=1e-3, atol=1e-4)

    def test_gradient(self):
        a = RANDOM.standard_normal((20,)).astype(np.float32)
        x = Tensor(a, requires_grad=True)
        (x * x * x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 3 * a * a, rtol=1e-5)

    def test_jit(self):
        @TinyJit
        def step(x):
            return (x * 2 + 1).sum(0).realize()

        for n in range(5):
            a = RANDOM.standard_normal((8, 16)).astype(np.float32) + n
            np.testing.assert_allclose(step(Tensor(a).realize()).numpy(), (a * 2 + 1).sum(0), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
