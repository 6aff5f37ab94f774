"""Settings of Python programs under warploom's CUDA libraries.

cuDNN contains NVIDIA's runtime, which needs NVIDIA's driver. Without cuDNN, PyTorch's own kernels convolve and normalise. JAX
needs a cuDNN that makes handles, and looks for files of NVIDIA's driver.
"""

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


def _set_torch(module):
    switch = getattr(sys.modules["torch"]._C, "_set_cudnn_enabled", None)
    if switch is not None:
        switch(False)


def _set_jax(module):
    module.has_visible_nvidia_gpu = lambda: True
    for library in "libcudnn9.so", "libcublaslt12.so":
        try:
            # JAX finds the library that is loaded first.
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            pass


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules, and changes a setting when such a module has been imported."""

    settings = {"torch.backends.cudnn": _set_torch, "jax._src.hardware_utils": _set_jax}

    def find_spec(self, name, path, target=None):
        change = self.settings.get(name)
        if change is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                change(module)

            spec.loader.exec_module = exec_module
        return spec


def _run_other():
    """Runs the `sitecustomize` that Python would have found without this one."""
    own = os.path.dirname(os.path.abspath(__file__))
    folders = [folder for folder in sys.path if os.path.abspath(folder) != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder())
if __name__ == "sitecustomize":
    _run_other()
