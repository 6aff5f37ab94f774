"""The pytest plugin: `pytest --warploom` runs tests that need CUDA on the CPU.

CUDA is there before pytest reads any conftest.py or test, so that
`skipif(not torch.cuda.is_available())` does not skip.
"""

from __future__ import annotations

from typing import Any, Optional

import pytest


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("warploom", "CUDA on the CPU, by warploom")
    group.addoption("--warploom", action="store_true", help="run CUDA on the CPU")
    group.addoption(
        "--warploom-device",
        metavar="GPU",
        help="the GPU that tests see, such as sm_80; without it sm_89 (implies --warploom)",
    )
    group.addoption("--warploom-engine", choices=["jit", "interp"], help="the engine")
    group.addoption("--warploom-threads", type=int, metavar="N", help="worker threads")
    parser.addini("warploom", "run CUDA on the CPU", type="bool", default=False)
    parser.addini("warploom_device", "the GPU that tests see")


def _device(config: Any) -> Optional[str]:
    return config.known_args_namespace.warploom_device or config.getini("warploom_device") or None


def _is_wanted(config: Any) -> bool:
    given = config.known_args_namespace
    return bool(given.warploom or given.warploom_device or config.getini("warploom"))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    if not _is_wanted(early_config):
        return
    from . import Error, cuda

    given = early_config.known_args_namespace
    try:
        cuda.enable(
            _device(early_config), threads=given.warploom_threads, engine=given.warploom_engine
        )
    except Error as problem:
        raise pytest.UsageError(f"--warploom: {problem}") from None


def pytest_report_header(config: Any) -> Optional[str]:
    if not _is_wanted(config):
        return None
    from . import __version__

    return f"warploom {__version__}: CUDA on the CPU, device {_device(config) or 'sm_89'}"
