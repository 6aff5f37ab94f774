"""Arrays of Python as bytes of buffers, and back."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._native import Error

#: The element types of NumPy by the names that warploom has for them.
DTYPES = {
    name: np.dtype(numpy)
    for name, numpy in {
        "i8": "<i1",
        "u8": "<u1",
        "i16": "<i2",
        "u16": "<u2",
        "i32": "<i4",
        "u32": "<u4",
        "i64": "<i8",
        "u64": "<u8",
        "f16": "<f2",
        "f32": "<f4",
        "f64": "<f8",
    }.items()
}

#: DLPack's numbers of kinds of devices.
_CPU, _CUDA_HOST, _CUDA_MANAGED = 1, 3, 13


def array_of(value: Any) -> Optional[np.ndarray]:
    """Returns a view of an array or a buffer, or None if the value is neither.

    Arrays of other libraries are taken by DLPack, without a copy.
    """
    if isinstance(value, np.ndarray):
        return _checked(value)
    if isinstance(value, np.generic) or isinstance(value, (bool, int, float, complex, str)):
        return None
    if hasattr(value, "__dlpack__"):
        return _checked(_of_dlpack(value))
    if hasattr(value, "__array_interface__"):
        return _checked(np.asarray(value))
    try:
        view = memoryview(value)
    except TypeError:
        return None
    return _checked(np.asarray(view))


def _of_dlpack(value: Any) -> np.ndarray:
    name = type(value).__name__
    device = value.__dlpack_device__()[0]
    if device not in (_CPU, _CUDA_HOST, _CUDA_MANAGED):
        raise Error(
            f"{name}: its memory is on a device (kind {int(device)} of DLPack): expected an array "
            "in the memory of the CPU, such as tensor.cpu()"
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as problem:
        raise Error(f"{name}: NumPy cannot take it by DLPack: {problem}") from None


def _checked(array: np.ndarray) -> np.ndarray:
    if array.dtype.hasobject:
        raise Error(f"an array of {array.dtype}: expected numbers, not Python objects")
    if array.dtype.byteorder == ">":
        raise Error(f"an array of {array.dtype}: expected little-endian elements")
    return array


def content(array: np.ndarray) -> bytes:
    """Returns the elements in C order, without gaps."""
    return array.tobytes()


def store(array: np.ndarray, content: bytes) -> None:
    """Replaces the elements of an array of any strides."""
    np.copyto(array, np.frombuffer(content, array.dtype).reshape(array.shape))


def fits(array: np.ndarray, element: str) -> bool:
    """Returns whether an array can be a buffer of a type of elements.

    Bytes and structures fit every type. The sign of integers does not matter.
    """
    wanted, has = DTYPES[element], array.dtype
    if has.kind in "VSU" or has == np.uint8 or (has.kind == "c" and wanted.kind == "f"):
        return True
    integers = "iub"
    same_kind = has.kind == wanted.kind or (has.kind in integers and wanted.kind in integers)
    return same_kind and has.itemsize == wanted.itemsize


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Returns whether two arrays have memory in common."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=10_000)
    except Exception:  # Too hard to tell: NumPy's exception has moved between versions.
        return True


def is_same(a: np.ndarray, b: np.ndarray) -> bool:
    """Returns whether two arrays are views of equal elements at equal places."""
    return (
        a.__array_interface__["data"] == b.__array_interface__["data"]
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
    )
