"""The farm's error, and imports that may be missing."""

from __future__ import annotations

import importlib
from types import ModuleType

import warploom


class Error(warploom.Error):
    """A campaign that cannot start or go on. The message names the file and the expectation."""


def need(module: str) -> ModuleType:
    """Returns a module of the extra `farm`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise Error(
            f"the farm needs the package {package}: pip install warploom[farm] ({error})"
        ) from error
