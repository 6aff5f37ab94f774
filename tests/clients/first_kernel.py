"""The first kernels of a client, one or two, alone: first_kernel.py CLIENT. `speed.py first` measures it."""
import sys


def numba():
    import numpy as np
    from numba import cuda

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = np.arange(1000.0)
    double[4, 256](x)
    return x.sum()


def cupy():
    import cupy

    return (cupy.arange(1000.0) * 2).get().sum()


def torch():
    import torch

    return (torch.arange(1000.0, device="cuda") * 2).cpu().sum().item()


def tinygrad():
    from tinygrad import Tensor

    return (Tensor([float(i) for i in range(1000)]) * 2).numpy().sum()


def triton():
    from triton_kernels import add_kernel, on_device

    import numpy as np

    x = on_device(np.arange(1000.0))
    add_kernel[(1,)](x, x, x, 1000, BLOCK=1024)
    return x.cpu().sum().item()  # (PyTorch's own kernels have no PTX.)


def taichi():
    import taichi as ti

    ti.init(arch=ti.cuda)
    x = ti.field(ti.f64, 1000)

    @ti.kernel
    def fill() -> ti.f64:
        total = 0.0
        for i in x:
            x[i] = 2.0 * i
            total += x[i]
        return total

    return fill()


if __name__ == "__main__":
    assert globals()[sys.argv[1]]() == 999000.0
    print("1 passed, 0 failed")
