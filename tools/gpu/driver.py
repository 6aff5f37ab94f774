"""A thin layer over CUDA's driver: what the jobs beside it need of a GPU. Needs numpy and cuda-bindings."""
import math

import numpy as np
from cuda.bindings import driver as cu

FORMATS = {("uint", 8): cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8, ("uint", 16): cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT16,
           ("uint", 32): cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32, ("sint", 8): cu.CUarray_format.CU_AD_FORMAT_SIGNED_INT8,
           ("sint", 16): cu.CUarray_format.CU_AD_FORMAT_SIGNED_INT16, ("sint", 32): cu.CUarray_format.CU_AD_FORMAT_SIGNED_INT32,
           ("float", 16): cu.CUarray_format.CU_AD_FORMAT_HALF, ("float", 32): cu.CUarray_format.CU_AD_FORMAT_FLOAT}
ADDRESS = {"wrap": cu.CUaddress_mode.CU_TR_ADDRESS_MODE_WRAP, "clamp_to_edge": cu.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP,
           "mirror": cu.CUaddress_mode.CU_TR_ADDRESS_MODE_MIRROR, "border": cu.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER}
FILTER = {"point": cu.CUfilter_mode.CU_TR_FILTER_MODE_POINT, "linear": cu.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR}
READ_AS_INTEGER, NORMALIZED, SRGB, SEAMLESS = 0x01, 0x02, 0x10, 0x40
LAYERED, SURFACE, CUBE = 0x01, 0x02, 0x04


class Failed(Exception):
    """An error of the driver, by its name."""


def ask(result):
    """What a call of the driver gives, without its status."""
    status, *values = result
    if status != cu.CUresult.CUDA_SUCCESS:
        raise Failed(status.name)
    return values[0] if len(values) == 1 else values or None


def start():
    """The first GPU; a description of it."""
    ask(cu.cuInit(0))
    device = ask(cu.cuDeviceGet(0))
    ask(cu.cuCtxSetCurrent(ask(cu.cuDevicePrimaryCtxRetain(device))))
    name = ask(cu.cuDeviceGetName(100, device)).split(b"\0")[0].decode()
    return f"{name}, driver {ask(cu.cuDriverGetVersion())}"


def load(text):
    """A module of PTX or of a cubin."""
    return ask(cu.cuModuleLoadData(text if isinstance(text, bytes) else text.encode() + b"\0"))


def upload(array):
    data = np.ascontiguousarray(array)
    address = ask(cu.cuMemAlloc(max(data.nbytes, 16)))
    ask(cu.cuMemcpyHtoD(address, data.ctypes.data, data.nbytes))
    return address


def download(address, dtype, count):
    data = np.empty(count, dtype)
    ask(cu.cuMemcpyDtoH(data.ctypes.data, address, data.nbytes))
    return data


def free(address):
    ask(cu.cuMemFree(address))


def launch(module, name, grid, block, *words):
    """Runs a kernel whose parameters are numbers of 64 bits, and waits."""
    import ctypes
    kernel = ask(cu.cuModuleGetFunction(module, name.encode()))
    values = tuple(int(word) for word in words)
    ask(cu.cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, 0, (values, (ctypes.c_uint64,) * len(values)), 0))
    ask(cu.cuCtxSynchronize())


def _copy(array, size, bytes_per_texel, data, out):
    copy = cu.CUDA_MEMCPY3D()
    width, height, depth = size
    host, other = ("dst", "src") if out else ("src", "dst")
    setattr(copy, other + "MemoryType", cu.CUmemorytype.CU_MEMORYTYPE_ARRAY)
    setattr(copy, other + "Array", array)
    setattr(copy, host + "MemoryType", cu.CUmemorytype.CU_MEMORYTYPE_HOST)
    setattr(copy, host + "Host", data.ctypes.data)
    setattr(copy, host + "Pitch", width * bytes_per_texel)
    setattr(copy, host + "Height", height)
    copy.WidthInBytes, copy.Height, copy.Depth = width * bytes_per_texel, height, depth
    ask(cu.cuMemcpy3D(copy))


class Image:
    """Texels on the GPU, in one of its layouts.

    kind: buffer, pitch, 1d, 2d, 3d, cube; size: of level 0, (w, h, d); layers: of arrays (of cubes whole cubes);
    data: for each level the texels in rows, then slices, then layers and faces, as bytes.
    """

    def __init__(self, kind, size, number, width, channels, data, array=False, layers=1, surface=False):
        self.kind, self.size, self.number, self.width, self.channels = kind, size, number, width, channels
        self.format, self.bytes = FORMATS[number, width], channels * width // 8
        self.array, self.layers, self.levels, self.layered = array, layers, len(data), array
        self.sizes = [tuple(max(n >> level, 1) for n in size) for level in range(len(data))]
        self.memory = self.array_handle = self.mipmapped = None
        if kind in ("buffer", "pitch"):
            self._linear(data[0])
            return
        descriptor = cu.CUDA_ARRAY3D_DESCRIPTOR()
        w, h, d = size
        planes = self._planes()
        descriptor.Width, descriptor.Height = w, 0 if kind == "1d" else h
        descriptor.Depth = d if kind == "3d" else planes if array or kind == "cube" else 0
        descriptor.Format, descriptor.NumChannels = self.format, channels
        descriptor.Flags = (LAYERED if array else 0) | (CUBE if kind == "cube" else 0) | (SURFACE if surface else 0)
        if self.levels > 1:
            self.mipmapped = ask(cu.cuMipmappedArrayCreate(descriptor, self.levels))
            arrays = [ask(cu.cuMipmappedArrayGetLevel(self.mipmapped, level)) for level in range(self.levels)]
        else:
            self.array_handle = ask(cu.cuArray3DCreate(descriptor))
            arrays = [self.array_handle]
        for array_handle, texels, (w, h, d) in zip(arrays, data, self.sizes):
            texels = np.frombuffer(texels, np.uint8)
            _copy(array_handle, (w, h, d if kind == "3d" else planes), self.bytes, texels, False)

    def _linear(self, texels):
        w, h, _ = self.size
        self.pitch = -(-w * self.bytes // 512) * 512
        rows = np.zeros((h, self.pitch), np.uint8)
        rows[:, :w * self.bytes] = np.frombuffer(texels, np.uint8).reshape(h, -1)
        self.memory = upload(rows)

    def _planes(self):
        """Of what is no volume."""
        return self.layers * (6 if self.kind == "cube" else 1)

    def _whole(self):
        """Size of level 0 with all that lies behind each other."""
        return (*self.size[:2], self.size[2] if self.kind == "3d" else self._planes())

    def read(self):
        """The texels of level 0, as they were given."""
        texels = np.zeros(math.prod(self._whole()) * self.bytes, np.uint8)
        _copy(self.array_handle, self._whole(), self.bytes, texels, True)
        return texels.tobytes()

    def write(self, data):
        _copy(self.array_handle, self._whole(), self.bytes, np.frombuffer(data, np.uint8), False)

    def resource(self):
        resource = cu.CUDA_RESOURCE_DESC()
        if self.kind == "buffer":
            resource.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
            linear = resource.res.linear
            linear.devPtr, linear.format, linear.numChannels = self.memory, self.format, self.channels
            linear.sizeInBytes = self.size[0] * self.bytes
        elif self.kind == "pitch":
            resource.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
            pitch = resource.res.pitch2D
            pitch.devPtr, pitch.format, pitch.numChannels = self.memory, self.format, self.channels
            pitch.width, pitch.height, pitch.pitchInBytes = self.size[0], self.size[1], self.pitch
        elif self.mipmapped is not None:
            resource.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
            resource.res.mipmap.hMipmappedArray = self.mipmapped
        else:
            resource.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
            resource.res.array.hArray = self.array_handle
        return resource

    def surface(self):
        return ask(cu.cuSurfObjectCreate(self.resource()))

    def texture(self, wrap, filter, mip, normalized, integers, srgb=False, seamless=False, bias=0.0, min_lod=0.0, max_lod=0.0,
                border=(0.0,) * 4, view=None):
        """A texture object; view: first and last level."""
        t = cu.CUDA_TEXTURE_DESC()
        t.addressMode = [ADDRESS[mode] for mode in wrap]
        t.filterMode = FILTER[filter]
        t.mipmapFilterMode = FILTER["point" if mip == "none" else mip]
        t.flags = ((NORMALIZED if normalized else 0) | (READ_AS_INTEGER if integers else 0) | (SRGB if srgb else 0)
                   | (SEAMLESS if seamless else 0))
        t.mipmapLevelBias, t.minMipmapLevelClamp, t.maxMipmapLevelClamp = bias, min_lod, max_lod
        t.borderColor = list(border)
        views = None
        if view is not None:
            views = cu.CUDA_RESOURCE_VIEW_DESC()
            names = {1: "1X", 2: "2X", 4: "4X"}
            number = {"uint": "UINT", "sint": "SINT", "float": "FLOAT"}[self.number]
            views.format = getattr(cu.CUresourceViewFormat, f"CU_RES_VIEW_FORMAT_{number}_{names[self.channels]}{self.width}")
            views.width, views.height, views.depth = self.size[0], 0 if self.kind == "1d" else self.size[1], 0
            if self.kind == "3d":
                views.depth = self.size[2]
            views.firstMipmapLevel, views.lastMipmapLevel = view
            views.firstLayer, views.lastLayer = 0, max(self._planes() - 1, 0)
        return ask(cu.cuTexObjectCreate(self.resource(), t, views))

    def free(self):
        if self.memory is not None:
            free(self.memory)
        if self.mipmapped is not None:
            ask(cu.cuMipmappedArrayDestroy(self.mipmapped))
        if self.array_handle is not None:
            ask(cu.cuArrayDestroy(self.array_handle))


def drop_texture(texture):
    ask(cu.cuTexObjectDestroy(texture))


def drop_surface(surface):
    ask(cu.cuSurfObjectDestroy(surface))
