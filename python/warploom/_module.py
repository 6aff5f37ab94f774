"""Binaries in memory: modules, their kernels and variables, and arrays that stay there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Iterator, Optional, Union

import numpy as np

from . import _native
from ._arrays import array_of, content
from ._kernel import Kernel
from ._native import Error
from ._results import Options


def load(
    source: Union[str, os.PathLike[str], bytes, bytearray, memoryview],
    *,
    arch: Optional[str] = None,
    options: Optional[Options] = None,
    **changes: Any,
) -> Module:
    """Loads a GPU binary: a file's path, or its content as bytes.

    It takes PTX, cubins, fat binaries and programs with fat binaries, AMD's code objects and Intel's
    zebins and vISA. `arch`, such as `sm_80`, selects among code for several GPUs. Options of
    launches follow: `load(path, engine="interp", time_limit=10)`.

    Raises Error if the file cannot be read.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        name, binary = "the binary", bytes(source)
    else:
        name = os.fspath(source)
        try:
            with open(name, "rb") as file:
                binary = file.read()
        except OSError as problem:
            raise Error(f"{name}: {problem.strerror}") from None
    try:
        modules, unreadable = _native.load(binary, arch)
    except Error as problem:
        raise Error(f"{name}: {problem}") from None
    return Module(modules, unreadable, name, (options or Options()).replace(**changes))


class Module:
    """A binary in memory.

    `isa` names its instruction sets, `unreadable` has the reasons why a part cannot be read.
    """

    def __init__(self, native: list[Any], unreadable: list[str], name: str, options: Options) -> None:
        self.name = name
        self.options = options
        self.isa = ", ".join(dict.fromkeys(module.isa for module in native))
        kernels = (f"kernel {k}: {why}" for module in native for k, why in module.unreadable)
        self.unreadable = [*unreadable, *kernels]
        self._native = native
        self.kernels = Kernels(self)
        self.variables = Variables(self)

    def array(self, values: Any) -> DeviceArray:
        """Copies an array into the module's memory, where it stays for several launches."""
        array = array_of(values)
        if array is None:
            array = array_of(np.asarray(values))
        assert array is not None
        made = self.empty(array.shape, array.dtype)
        made.set(array)
        return made

    def empty(self, shape: Any, dtype: Any = np.float32) -> DeviceArray:
        """Makes an array of zeros in the module's memory."""
        if len(self._native) != 1:
            raise Error(
                f"{self.name}: it has {len(self._native)} modules, each with memory of its own: "
                "pass arrays to launches, or load with arch="
            )
        return DeviceArray(self, self._native[0], shape, dtype)

    def disassemble(self, function: Optional[str] = None, *, hex: bool = False) -> str:
        """Returns the code as the vendor's disassembler prints it; `hex` adds encodings."""
        texts, problem = [], Error(f"{self.name}: it has no code")
        for module in self._native:
            try:
                texts.append(module.disassemble(function, hex))
            except Error as found:
                problem = found
        if not texts:
            raise problem
        return "\n\n".join(texts)

    def reset(self) -> None:
        """Gives variables the values that they have after loading."""
        for module in self._native:
            module.reset()

    def __repr__(self) -> str:
        return f"<warploom.Module {self.name}: {self.isa}, {len(self.kernels)} kernels>"


class _Named(Mapping):
    """Things of a module by name."""

    what = ""

    def __init__(self, found: dict[str, Any], owner: str) -> None:
        self._found = found
        self._owner = owner

    def __getitem__(self, name: str) -> Any:
        try:
            return self._found[name]
        except KeyError:
            import difflib

            near = difflib.get_close_matches(str(name), self._found, 1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            names = ", ".join([*self._found][:10]) or "none"
            raise Error(f"{self._owner}: no {self.what} `{name}`{hint}: it has {names}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} {self.what}s: {', '.join(self)}>"


class Kernels(_Named):
    """The kernels of a module by name."""

    what = "kernel"

    def __init__(self, module: Module) -> None:
        found: dict[str, Kernel] = {}
        for native in module._native:
            for name in native.kernels:
                found.setdefault(name, Kernel(module, native, name, module.options))
        super().__init__(found, module.name)


class Variables(_Named):
    """The `__device__` and `__constant__` variables of a module by name."""

    what = "variable"

    def __init__(self, module: Module) -> None:
        found: dict[str, Variable] = {}
        for native in module._native:
            for name, size, constant in native.variables:
                found.setdefault(name, Variable(native, name, size, constant))
        super().__init__(found, module.name)


class Variable:
    """A variable: its size in bytes, and whether it is constant for device code."""

    def __init__(self, native: Any, name: str, size: int, constant: bool) -> None:
        self.name = name
        self.size = size
        self.constant = constant
        self._native = native

    def get(self, dtype: Any = np.uint8) -> np.ndarray:
        """Returns a copy of the content."""
        dtype = np.dtype(dtype)
        if dtype.itemsize == 0 or self.size % dtype.itemsize:
            raise Error(f"variable {self.name}: its {self.size} bytes are no elements of {dtype}")
        return np.frombuffer(self._native.read_variable(self.name), dtype).copy()

    def set(self, values: Any, dtype: Any = None) -> None:
        """Sets the content from its start; the rest of it stays unchanged."""
        self._native.write_variable(self.name, content(np.asarray(values, dtype)))


class DeviceArray:
    """An array in the memory of a module.

    Launches use it in place: `set` and `get` copy. It is freed when Python forgets it.
    """

    def __init__(self, module: Module, native: Any, shape: Any, dtype: Any) -> None:
        self.module = module
        self.dtype = np.dtype(dtype)
        axes = shape if isinstance(shape, (tuple, list)) else (shape,)
        if not all(isinstance(axis, (int, np.integer)) and axis >= 0 for axis in axes):
            raise Error(f"shape {shape!r}: expected numbers from 0")
        self.shape = tuple(int(axis) for axis in axes)
        self.nbytes = self.dtype.itemsize
        for axis in self.shape:
            self.nbytes *= axis
        if self.nbytes >= 1 << 47:
            raise Error(f"an array of shape {self.shape}: {self.nbytes} bytes are too many")
        self._native = native
        self._address: Optional[int] = native.alloc(self.nbytes)

    def set(self, values: Any) -> None:
        array = np.asarray(values)
        if array.dtype != self.dtype or array.shape != self.shape:
            raise Error(
                f"{array.dtype} of shape {array.shape}: the array in memory has {self.dtype} of "
                f"shape {self.shape}"
            )
        self._native.write(self.address, content(array))

    def get(self) -> np.ndarray:
        """Returns a copy of the content."""
        bytes_ = self._native.read(self.address, self.nbytes)
        return np.frombuffer(bytes_, self.dtype).reshape(self.shape).copy()

    @property
    def address(self) -> int:
        """The guest address."""
        if self._address is None:
            raise Error("the array was freed")
        return self._address

    def free(self) -> None:
        """Frees the memory. Later uses of the array are errors."""
        if self._address is not None:
            address, self._address = self._address, None
            self._native.free(address)

    def _argument(self, module: Module, size: int) -> bytes:
        if module is not self.module:
            raise Error(f"an array in the memory of {self.module.name}: expected one of {module.name}")
        if size not in (4, 8):
            raise Error(f"an array, the parameter has {size} bytes")
        return self.address.to_bytes(size, "little")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.get() if dtype is None else self.get().astype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<warploom.DeviceArray {self.shape} {self.dtype}>"

    def __del__(self) -> None:
        if getattr(self, "_address", None) is not None:
            self.free()
