"""Surfaces, textures and samplers: arguments that are images."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _native
from ._arrays import DTYPES, array_of
from ._native import Error

#: The formats of arrays whose element type and number of components have one usual format.
_USUAL = {"f2": "16_float", "f4": "32_float"}
_COMPONENTS = {1: "r", 2: "rg", 4: "rgba"}


class Surface:
    """An image that a kernel reads and writes, with an array as its texels.

    The array has the axes [depth or layer,] [row,] column, and a last axis for components if the
    format has more than one. `format` is a name such as `r32_float` or `rgba8_unorm`; without it,
    integers are taken for `uint` or `sint`, floats for `float`. `dim` is `1d`, `2d`, `3d`,
    `1d_array`, `2d_array`, `cube`, `cube_array` or `1d_buffer`; without it, the number of axes
    tells 1d, 2d or 3d. `layout` is `pitch` or `block_linear`. After a launch the array has the new
    texels.
    """

    def __init__(
        self,
        array: Any,
        format: Optional[str] = None,
        *,
        dim: Optional[str] = None,
        layout: str = "pitch",
        levels: int = 1,
    ) -> None:
        texels = array_of(array)
        if texels is None:
            raise Error(f"a surface of {type(array).__name__}: expected an array")
        self.array = texels
        self.format = _usual_format(texels) if format is None else format
        found = _native.elements(self.format)
        if found is None:
            raise Error(f"format `{self.format}`: expected a name such as r32_float or rgba8_unorm")
        element, components = found
        if texels.dtype != DTYPES[element]:
            raise Error(
                f"a surface of {self.format} has elements of {DTYPES[element]}: "
                f"the array has {texels.dtype}"
            )
        axes = texels.shape
        if components > 1:
            if not axes or axes[-1] != components:
                raise Error(
                    f"a surface of {self.format} has {components} components: expected a last axis "
                    f"of {components}, the array has the shape {texels.shape}"
                )
            axes = axes[:-1]
        if not 1 <= len(axes) <= 3 or 0 in axes:
            raise Error(f"a surface of shape {texels.shape}: expected one to three axes, no empty one")
        if levels != 1:
            raise Error("a surface of several levels: expected a manifest for warploom.replay")
        self.dim = f"{len(axes)}d" if dim is None else dim
        size = [*reversed(axes)]
        # The layers of an array of one-dimensional images are the third size.
        if self.dim == "1d_array" and len(size) == 2:
            size = [size[0], 1, size[1]]
        self.layout = layout
        self.size = size

    def _json(self) -> str:
        return json.dumps(
            {"dim": self.dim, "size": self.size, "format": self.format, "layout": self.layout}
        )


def _usual_format(array: np.ndarray) -> str:
    kind, bits = array.dtype.kind, 8 * array.dtype.itemsize
    number = {"f": "float", "u": "uint", "i": "sint"}.get(kind)
    if number is None or bits > 32:
        raise Error(f"an array of {array.dtype}: name the format of the surface")
    components = array.shape[-1] if array.ndim == 3 and array.shape[-1] in (2, 4) else 1
    return f"{_COMPONENTS[components]}{bits}_{number}"


@dataclasses.dataclass(frozen=True)
class Texture:
    """An image that a kernel for NVIDIA GPUs samples.

    `image` is a Surface or an array. `filter` is `nearest` or `linear`. `address` is
    `clamp_to_edge`, `clamp_to_border`, `repeat` or `mirrored_repeat`, or one of these for each
    axis. With `normalized`, coordinates range from 0 to 1. `compare` is a condition such as `less`,
    `border` the colour beyond the edges.
    """

    image: Any
    filter: str = "nearest"
    address: Union[str, Sequence[str]] = "clamp_to_edge"
    normalized: bool = False
    compare: Optional[str] = None
    border: Sequence[float] = (0.0, 0.0, 0.0, 0.0)

    @property
    def surface(self) -> Surface:
        return self.image if isinstance(self.image, Surface) else Surface(self.image)

    def _json(self) -> str:
        address = self.address if isinstance(self.address, str) else list(self.address)
        table = {
            "surface": "",
            "filter": self.filter,
            "address": address,
            "normalized": self.normalized,
            "border": list(self.border),
        }
        if self.compare is not None:
            table["compare"] = self.compare
        return json.dumps(table)


@dataclasses.dataclass(frozen=True)
class Sampler:
    """A sampler, for kernels of AMD and Intel GPUs that take one as an argument."""

    filter: str = "nearest"
    address: str = "clamp_to_edge"
    normalized: bool = False

    def _json(self) -> str:
        return json.dumps(dataclasses.asdict(self))
