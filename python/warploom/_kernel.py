"""Kernels, and their launches."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from ._arrays import DTYPES, array_of, content, fits, is_same, overlap, store
from ._images import Sampler, Surface, Texture
from ._native import Error
from ._results import Fault, Finding, Options, Report

if TYPE_CHECKING:
    from ._module import Module

Shape = Union[int, "tuple[int, ...]"]


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a binary says of a kernel's argument.

    `form` is a type of numbers such as `f32`, or `buffer`, `local`, `surface`, `texture`, `sampler`
    or `bytes`. `element` is the type of a buffer's elements. Where the binary has no types (`type`
    is None), an argument of 8 bytes is taken for a buffer, one of 4 bytes for an integer.
    """

    name: Optional[str]
    type: Optional[str]
    size: int
    form: str
    element: Optional[str]


@dataclasses.dataclass(frozen=True)
class Local:
    """Dynamic shared memory as an argument: a `local` pointer of OpenCL to so many bytes."""

    bytes: int


class Kernel:
    """A kernel of a module: `kernel[grid, block](arguments)` launches it."""

    def __init__(self, module: Module, native: Any, name: str, options: Options) -> None:
        self.module = module
        self.name = name
        self.options = options
        self._native = native

    @functools.cached_property
    def arguments(self) -> list[Argument]:
        return [Argument(**one) for one in json.loads(self._native.arguments(self.name))]

    @property
    def signature(self) -> str:
        """The name and the arguments as the source may have them."""
        return self._native.signature(self.name)

    def with_options(self, **changes: Any) -> Kernel:
        """Returns the kernel with other options: see Options."""
        return Kernel(self.module, self._native, self.name, self.options.replace(**changes))

    def __getitem__(self, shape: Any) -> Launcher:
        """`kernel[grid, block]` or `kernel[grid, block, shared_bytes]`."""
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 3:
            raise Error(f"kernel[{shape}]: expected kernel[grid, block] or [grid, block, shared_bytes]")
        grid, block = (_shape(of, sizes) for of, sizes in zip(("grid", "block"), shape))
        shared = shape[2] if len(shape) == 3 else 0
        if not isinstance(shared, (int, np.integer)) or shared < 0:
            raise Error(f"{shared!r} bytes of shared memory: expected a number from 0")
        return Launcher(self, grid, block, int(shared))

    def __call__(self, *args: Any) -> Report:
        raise Error(f"{self.name}: expected {self.name}[grid, block](...)")

    def __repr__(self) -> str:
        return f"<warploom.Kernel {self.signature}>"


def _shape(of: str, sizes: Shape) -> list[int]:
    given = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
    is_size = lambda size: isinstance(size, (int, np.integer)) and 0 < size < 1 << 32
    if not 1 <= len(given) <= 3 or not all(is_size(size) for size in given):
        raise Error(f"{of} {sizes!r}: expected one to three numbers from 1")
    return [int(size) for size in (*given, 1, 1)][:3]


@dataclasses.dataclass(frozen=True)
class Launcher:
    """A kernel with the shape of a launch."""

    kernel: Kernel
    grid: list[int]
    block: list[int]
    shared_bytes: int

    def __call__(self, *args: Any) -> Report:
        """Launches the kernel, and changes the arrays among the arguments.

        An array of any strides is copied into a buffer in C order, and back. Numbers have the type
        of the parameter; where the binary has no types, an int is an integer, a float a float.

        Raises Fault if the guest has a fault, and Error if the launch cannot take place.
        """
        kernel = self.kernel
        call = _Call(kernel)
        expected = kernel.arguments
        if len(args) != len(expected):
            raise Error(f"{kernel.signature}: {len(expected)} arguments expected, {len(args)} given")
        for number, (value, argument) in enumerate(zip(args, expected), 1):
            call.add(number, value, argument)
        options = kernel.options._json(shared_bytes=self.shared_bytes)
        text, buffers, surfaces = kernel._native.launch(
            kernel.name,
            self.grid,
            self.block,
            call.args,
            [content(array) for array in call.buffers],
            [(surface._json(), content(surface.array)) for surface in call.surfaces],
            [(index, texture._json()) for index, texture in call.textures],
            options,
        )
        call.store(buffers, surfaces)
        fields = json.loads(text)
        fault = fields.pop("fault")
        fields["findings"] = [Finding(**one) for one in fields["findings"]]
        report = Report(**fields)
        if fault is not None:
            raise Fault(fault, report)
        return report


class _Call:
    """The arguments of a launch in the form that the native part takes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.args: list[Any] = []
        self.buffers: list[np.ndarray] = []
        self.surfaces: list[Surface] = []
        self.textures: list[tuple[int, Texture]] = []

    def add(self, number: int, value: Any, argument: Argument) -> None:
        try:
            self.args.append(self._value(value, argument))
        except Error as problem:
            name = f" ({argument.name})" if argument.name else ""
            raise Error(f"argument {number}{name} of {self.kernel.name}: {problem}") from None

    def _value(self, value: Any, argument: Argument) -> Any:
        from ._module import DeviceArray

        if isinstance(value, DeviceArray):
            return value._argument(self.kernel.module, argument.size)
        if isinstance(value, Surface):
            return ("surface", self._surface(value))
        if isinstance(value, Texture):
            self.textures.append((self._surface(value.surface), value))
            return ("texture", len(self.textures) - 1)
        if isinstance(value, Sampler):
            return value._json()
        if isinstance(value, Local):
            return ("local", value.bytes)
        if isinstance(value, bytes):
            return value
        array = array_of(value)
        if array is None:
            return _number(value, argument)
        if array.dtype.kind == "V" and array.ndim == 0:
            return content(array)
        return ("buffer", self._buffer(array, argument))

    def _surface(self, surface: Surface) -> int:
        for i, other in enumerate(self.surfaces):
            if other is surface or is_same(other.array, surface.array):
                return i
        self.surfaces.append(surface)
        return len(self.surfaces) - 1

    def _buffer(self, array: np.ndarray, argument: Argument) -> int:
        # PTX has no pointers: 64 bits may be one.
        may_point = argument.size == 8 and (argument.type or ".").startswith(".")
        if argument.form != "buffer" and not may_point:
            raise Error(f"an array, the parameter is {_described(argument)}")
        if argument.element is not None and not fits(array, argument.element):
            raise Error(
                f"an array of {array.dtype}, the parameter is {_described(argument)}: "
                f"expected elements of {DTYPES[argument.element]}"
            )
        for i, other in enumerate(self.buffers):
            if is_same(other, array):
                return i
            if overlap(other, array):
                raise Error(
                    "the array has memory in common with another argument: pass equal arrays, or "
                    "a copy"
                )
        self.buffers.append(array)
        return len(self.buffers) - 1

    def store(self, buffers: list[Optional[bytes]], surfaces: list[Optional[bytes]]) -> None:
        """Writes changed content back to the arrays."""
        arrays = [*self.buffers, *(surface.array for surface in self.surfaces)]
        changed = [(a, c) for a, c in zip(arrays, [*buffers, *surfaces]) if c is not None]
        for array, after in changed:
            if array.flags.writeable:
                store(array, after)
        for array, _ in changed:
            if not array.flags.writeable:
                raise Error(
                    f"{self.kernel.name} changed an array of shape {array.shape} that is read-only: "
                    "pass a writable copy"
                )


def _described(argument: Argument) -> str:
    return argument.type or f"{argument.form} ({argument.size} bytes)"


def _number(value: Any, argument: Argument) -> bytes:
    """Returns the bytes of a number."""
    wrong = f"{value!r}, the parameter is {_described(argument)}"
    if isinstance(value, np.generic):
        if value.dtype.itemsize == argument.size and not _is_typed(argument):
            return value.tobytes()
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise Error(f"{wrong}: expected a number, an array, bytes, or one of warploom's types")
    dtype = DTYPES.get(argument.form)
    if not _is_typed(argument):
        floats = {2: "f16", 4: "f32", 8: "f64"}
        integers = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
        name = (floats if isinstance(value, float) else integers).get(argument.size)
        dtype = DTYPES.get(name or "")
    if dtype is None and argument.form == "buffer" and isinstance(value, int):
        dtype = DTYPES["u64" if argument.size == 8 else "u32"]
    if dtype is None:
        raise Error(f"{wrong}: expected {'an array' if argument.form == 'buffer' else 'bytes'}")
    if dtype.kind == "f":
        return np.array(value, dtype).tobytes()
    if isinstance(value, float):
        raise Error(f"{wrong}: expected an integer")
    # A number from -2^(n-1) to 2^n-1 fits into n bits.
    bits = 8 * dtype.itemsize
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise Error(f"{wrong}: the number does not fit")
    return (value & ((1 << bits) - 1)).to_bytes(dtype.itemsize, "little")


def _is_typed(argument: Argument) -> bool:
    """Returns whether the binary says what numbers an argument has. `.b32` does not."""
    return argument.type is not None and not argument.type.startswith(".b")
