"""Turns cuDNN off in PyTorch, for Python programs under warploom's CUDA libraries.

cuDNN contains NVIDIA's runtime, which needs NVIDIA's driver. Without cuDNN, PyTorch's own kernels convolve and normalise.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


class _CudnnFinder(importlib.abc.MetaPathFinder):
    """Finds PyTorch's module of cuDNN, and sets its switch when the module has been imported."""

    def find_spec(self, name, path, target=None):
        if name != "torch.backends.cudnn":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                switch = getattr(sys.modules["torch"]._C, "_set_cudnn_enabled", None)
                if switch is not None:
                    switch(False)

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


sys.meta_path.insert(0, _CudnnFinder())
if __name__ == "sitecustomize":
    _run_other()
