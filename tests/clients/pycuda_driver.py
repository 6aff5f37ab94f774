"""PyCUDA against NumPy: its parts that need no nvcc, with a kernel of PTX."""
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda

from checks import check, main

RANDOM = np.random.default_rng(1)

PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .const .f32 factor = 0f40000000;
.global .texref picture;
.visible .entry scale(.param .u64 data, .param .u32 n, .param .f32 more) {
    .reg .pred %p;
    .reg .u32 %i, %n, %b, %t;
    .reg .u64 %d, %o;
    .reg .f32 %v, %f, %m;
    ld.param.u64 %d, [data];
    ld.param.u32 %n, [n];
    ld.param.f32 %m, [more];
    mov.u32 %b, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %b, %t, %i;
    setp.ge.u32 %p, %i, %n;
    @%p bra done;
    mul.wide.u32 %o, %i, 4;
    add.u64 %d, %d, %o;
    ld.global.f32 %v, [%d];
    ld.const.f32 %f, [factor];
    fma.rn.f32 %v, %v, %f, %m;
    st.global.f32 [%d], %v;
done:
    ret;
}
.visible .entry fetch(.param .u64 data) {
    .reg .u32 %x, %y, %w, %i;
    .reg .u64 %d, %o;
    .reg .f32 %a, %b, %c, %e;
    ld.param.u64 %d, [data];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %w, %ntid.x;
    tex.2d.v4.f32.s32 {%a, %b, %c, %e}, [picture, {%x, %y}];
    mad.lo.u32 %i, %y, %w, %x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %d, %d, %o;
    st.global.f32 [%d], %a;
    ret;
}
"""
MODULE = cuda.module_from_buffer(PTX)
SCALE = MODULE.get_function("scale")


def numbers(*shape):
    return RANDOM.random(shape, dtype=np.float32)


@check
def devices_and_attributes():
    assert cuda.Device.count() == 1
    device = cuda.Device(0)
    assert device.get_attribute(cuda.device_attribute.WARP_SIZE) == 32
    assert device.total_memory() > 0 and device.compute_capability() >= (5, 0)
    free, total = cuda.mem_get_info()
    assert 0 < free <= total


@check
def memory_is_copied():
    values = numbers(1000)
    memory = cuda.mem_alloc(values.nbytes)
    cuda.memcpy_htod(memory, values)
    other = cuda.to_device(np.zeros_like(values))
    cuda.memcpy_dtod(other, memory, values.nbytes)
    np.testing.assert_array_equal(cuda.from_device_like(other, values), values)
    cuda.memset_d32(memory, 7, 1000)
    np.testing.assert_array_equal(cuda.from_device(memory, (1000,), np.int32), 7)


@check
def launches():
    values = numbers(1000)
    given = values.copy()
    SCALE(cuda.InOut(given), np.int32(1000), np.float32(1), block=(256, 1, 1), grid=(4, 1))
    np.testing.assert_allclose(given, 2 * values + 1, rtol=1e-6)


@check
def prepared_launches_and_constants():
    values = numbers(500)
    memory = cuda.to_device(values)
    SCALE.prepare("PIf")
    SCALE.prepared_call((2, 1), (256, 1, 1), memory, 500, 0.5)
    address, size = MODULE.get_global("factor")
    assert size == 4
    cuda.memcpy_htod(address, np.float32(3))
    took = SCALE.prepared_timed_call((2, 1), (256, 1, 1), memory, 500, 0.0)
    assert took() > 0
    cuda.memcpy_htod(address, np.float32(2))
    np.testing.assert_allclose(cuda.from_device_like(memory, values), (2 * values + 0.5) * 3, rtol=1e-6)


@check
def attributes_of_functions():
    assert SCALE.shared_size_bytes == 0 and SCALE.local_size_bytes == 0
    assert SCALE.get_attribute(cuda.function_attribute.MAX_THREADS_PER_BLOCK) >= 256


@check
def streams_and_events():
    stream = cuda.Stream()
    host = cuda.pagelocked_empty(5000, np.float32)
    host[:] = numbers(5000)
    before = host.copy()
    memory = cuda.mem_alloc(host.nbytes)
    SCALE.prepare("PIf")
    start, end = cuda.Event(), cuda.Event()
    start.record(stream)
    cuda.memcpy_htod_async(memory, host, stream)
    SCALE.prepared_async_call((20, 1), (256, 1, 1), stream, memory, 5000, 1.0)
    cuda.memcpy_dtoh_async(host, memory, stream)
    end.record(stream)
    end.synchronize()
    assert stream.is_done()
    assert end.time_since(start) >= 0
    np.testing.assert_allclose(host, 2 * before + 1, rtol=1e-6)


@check
def managed_memory():
    values = cuda.managed_empty(300, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    values[:] = 1.5
    SCALE(values, np.int32(300), np.float32(0), block=(300, 1, 1), grid=(1, 1))
    pycuda.autoinit.context.synchronize()
    np.testing.assert_array_equal(values, 3)


@check
def copies_of_rectangles():
    values = numbers(20, 30)
    memory, pitch = cuda.mem_alloc_pitch(30 * 4, 20, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(values)
    copy.set_dst_device(memory)
    copy.dst_pitch, copy.src_pitch, copy.width_in_bytes, copy.height = pitch, 120, 120, 20
    copy(aligned=True)
    back = np.zeros((10, 15), np.float32)
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_host(back)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, 60, 60, 10
    copy.src_x_in_bytes, copy.src_y = 8, 5
    copy(aligned=False)
    np.testing.assert_array_equal(back, values[5:15, 2:17])


@check
def texture_references():
    values = numbers(8, 16)
    reference = MODULE.get_texref("picture")
    cuda.matrix_to_texref(values, reference, order="C")
    found = np.zeros_like(values)
    MODULE.get_function("fetch")(cuda.Out(found), block=(16, 8, 1), grid=(1, 1), texrefs=[reference])
    np.testing.assert_array_equal(found, values)


@check
def errors_have_names():
    try:
        MODULE.get_function("no_such_kernel")
    except cuda.LogicError as error:
        assert "not found" in str(error), error
    else:
        raise AssertionError("it was found")
    try:
        cuda.mem_alloc(1 << 60)
    except cuda.MemoryError:
        pass
    else:
        raise AssertionError("there was so much memory")


if __name__ == "__main__":
    main()
