"""cuda-python: bindings and core, over the driver library."""
import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

from checks import check, main

SOURCE = r"""
extern "C" __global__ void scale(float *x, float by, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
__device__ int counter;
extern "C" __global__ void count() { atomicAdd(&counter, 1); }
"""


def ok(answer):
    error, *rest = answer
    assert int(error) == 0, error
    return rest[0] if len(rest) == 1 else tuple(rest)


def device():
    device = Device()
    device.set_current()
    return device


def compiled(kind):
    arch = "".join(map(str, device().compute_capability))
    return Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{arch}")).compile(kind)


def run_scale(kind):
    kernel = compiled(kind).get_kernel("scale")
    n = 1000
    pointer = ok(driver.cuMemAlloc(4 * n))
    x = np.arange(n, dtype=np.float32)
    ok(driver.cuMemcpyHtoD(pointer, x.ctypes.data, x.nbytes))
    stream = device().create_stream()
    launch(stream, LaunchConfig(grid=4, block=256), kernel, int(pointer), np.float32(3), np.uint64(n))
    stream.sync()
    y = np.empty_like(x)
    ok(driver.cuMemcpyDtoH(y.ctypes.data, pointer, y.nbytes))
    ok(driver.cuMemFree(pointer))
    np.testing.assert_array_equal(y, 3 * x)


@check
def core_with_ptx():
    run_scale("ptx")


@check
def core_with_cubin():
    run_scale("cubin")


@check
def module_variables():
    image = compiled("ptx").code
    module = ok(driver.cuModuleLoadData(image))
    function = ok(driver.cuModuleGetFunction(module, b"count"))
    address, size = ok(driver.cuModuleGetGlobal(module, b"counter"))
    assert size == 4
    ok(driver.cuLaunchKernel(function, 7, 1, 1, 33, 1, 1, 0, 0, 0, 0))
    value = np.zeros(1, np.int32)
    ok(driver.cuMemcpyDtoH(value.ctypes.data, address, 4))
    assert value[0] == 7 * 33
    assert int(driver.cuModuleGetFunction(module, b"no_such")[0]) == int(driver.CUresult.CUDA_ERROR_NOT_FOUND)
    ok(driver.cuModuleUnload(module))


@check
def events_and_streams():
    stream = device().create_stream()
    events = [ok(driver.cuEventCreate(0)) for _ in range(2)]
    handle = driver.CUstream(int(stream.handle))
    ok(driver.cuEventRecord(events[0], handle))
    ok(driver.cuEventRecord(events[1], handle))
    ok(driver.cuEventSynchronize(events[1]))
    assert ok(driver.cuEventElapsedTime(*events)) >= 0


@check
def memory():
    free, total = ok(driver.cuMemGetInfo())
    pointer = ok(driver.cuMemAlloc(64 << 20))
    assert ok(driver.cuMemGetInfo())[0] <= free - (64 << 20)
    base, size = ok(driver.cuMemGetAddressRange(int(pointer) + 1000))
    assert int(base) == int(pointer) and size >= 64 << 20
    ok(driver.cuMemsetD32(pointer, 0x01020304, 1000))
    word = np.zeros(1000, np.uint32)
    ok(driver.cuMemcpyDtoH(word.ctypes.data, pointer, 4000))
    assert (word == 0x01020304).all()
    ok(driver.cuMemFree(pointer))
    assert ok(driver.cuMemGetInfo())[0] >= free - (1 << 20) and free <= total


@check
def device_attributes():
    properties = device().properties
    assert properties.warp_size == 32 and properties.max_threads_per_block == 1024
    assert device().compute_capability == (properties.compute_capability_major, properties.compute_capability_minor)


if __name__ == "__main__":
    main()
