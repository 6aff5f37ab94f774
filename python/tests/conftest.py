"""Shared parts of the tests of the Python package."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def examples() -> Path:
    """The examples of the repository."""
    return Path(__file__).parents[2] / "examples"
