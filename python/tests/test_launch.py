"""Launches of kernels with arrays."""

import ctypes
import array as stdlib_array

import numpy as np
import pytest

import warploom

SAXPY = """
.version 7.0
.target sm_50
.address_size 64
.global .align 4 .u32 launches;
.const .align 4 .f32 scale = 0f3F800000;
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 .ptr .global x, .param .u64 .ptr .global y)
{
    .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<5>; .reg .pred %p;
    ld.param.u32 %r0, [n];
    ld.param.f32 %f0, [a];
    ld.param.u64 %rd0, [x];
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    setp.ge.u32 %p, %r1, %r0;
    @%p ret;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd0, %rd0, %rd2;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.f32 %f1, [%rd0];
    ld.global.f32 %f2, [%rd1];
    ld.const.f32 %f3, [scale];
    mul.f32 %f1, %f1, %f3;
    fma.rn.f32 %f1, %f1, %f0, %f2;
    st.global.f32 [%rd1], %f1;
    setp.ne.u32 %p, %r1, 0;
    @%p ret;
    atom.global.add.u32 %r4, [launches], 1;
    ret;
}
"""


@pytest.fixture(params=["jit", "interp"])
def module(request):
    return warploom.load(SAXPY.encode(), engine=request.param)


def run(module, x, y, n=None):
    n = x.size if n is None else n
    return module.kernels["saxpy"][-(-n // 64), 64](n, 2.5, x, y)


def test_arrays_change_in_place(module):
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, np.float32)
    report = run(module, x, y)
    assert np.array_equal(y, 2.5 * x + 1)
    assert report.kernel == "saxpy" and report.blocks_done == 16 and report.lane_instructions > 1000


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: a.reshape(10, 100).T,
        lambda a: np.asfortranarray(a.reshape(10, 100)),
        lambda a: a.reshape(10, 100)[2:7, 3:90:5],
    ],
)
def test_arrays_have_any_strides(module, view):
    x = np.arange(1000, dtype=np.float32)
    whole = np.ones(1000, np.float32)
    y = view(whole)
    expected = 2.5 * view(x) + 1
    run(module, view(x), y)
    assert np.array_equal(y, expected)
    if y.base is whole:
        assert (whole == 1).sum() == 1000 - (expected != 1).sum()


def test_one_array_can_be_two_arguments(module):
    x = np.arange(100, dtype=np.float32)
    expected = 3.5 * x
    run(module, x, x)
    assert np.array_equal(x, expected)


def test_overlapping_arrays_are_refused(module):
    x = np.arange(100, dtype=np.float32)
    with pytest.raises(warploom.Error, match="argument 4 .y. of saxpy: .* memory in common"):
        run(module, x[:50], x[10:60])
    run(module, x[::2], x[1::2])  # These have no element in common.


def test_other_buffers(module):
    x = stdlib_array.array("f", range(10))
    y = (ctypes.c_float * 10)(*[1] * 10)
    run(module, x, y, 10)
    assert list(y) == [2.5 * i + 1 for i in range(10)]
    z = bytearray(40)
    module.kernels["saxpy"][1, 32](10, 1.0, x, np.frombuffer(z, np.float32))
    assert np.frombuffer(z, np.float32)[9] == 9


class Exporter:
    """An array of another library, which has DLPack only."""

    def __init__(self, array, device=None):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


@pytest.mark.skipif(not hasattr(np.ndarray, "__dlpack__"), reason="NumPy before 1.23")
def test_dlpack(module):
    x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
    run(module, Exporter(x), Exporter(y), 10)
    assert np.array_equal(y, 2.5 * x + 1)
    with pytest.raises(warploom.Error, match=r"argument 3.*on a device .kind 2 of DLPack.*tensor.cpu"):
        run(module, Exporter(x, (2, 0)), y, 10)


def test_read_only_arrays_are_inputs(module):
    x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
    x.flags.writeable = False
    run(module, x, y)
    y.flags.writeable = False
    with pytest.raises(warploom.Error, match="saxpy changed an array of shape .10,. that is read-only"):
        run(module, x, y)
    assert y[1] == 3.5


@pytest.mark.parametrize(
    "args, message",
    [
        ((1, 2.5, np.zeros(1, np.float32)), "4 arguments expected, 3 given"),
        ((1.5, 2.5, None, None), r"argument 1 \(n\) of saxpy: 1.5, the parameter is .u32: expected an integer"),
        ((1 << 32, 2.5, None, None), "4294967296, the parameter is .u32: the number does not fit"),
        ((1, "a", None, None), "'a', the parameter is .f32: expected a number"),
        ((1, 2.5, None, None), r"argument 3 \(x\) of saxpy: None, the parameter is .u64"),
        ((np.zeros(4), 2.5, None, None), "argument 1 .* an array, the parameter is .u32"),
        ((1, 2.5, np.array([None]), None), "expected numbers, not Python objects"),
        ((1, 2.5, np.zeros(1, ">f4"), None), "expected little-endian elements"),
        ((1, 2.5, b"abc", np.zeros(1, np.float32)), "argument 3 of kernel `saxpy` has 3 bytes"),
    ],
)
def test_wrong_arguments(module, args, message):
    with pytest.raises(warploom.Error, match=message):
        module.kernels["saxpy"][1, 32](*args)


@pytest.mark.parametrize(
    "shape, message",
    [
        ((1,), "expected kernel.grid, block."),
        ((0, 32), "grid 0: expected one to three numbers from 1"),
        ((1, (1, 2, 3, 4)), "block .1, 2, 3, 4.: expected one to three"),
        ((1, 1.5), "block 1.5"),
        ((1, 32, -1), "-1 bytes of shared memory"),
    ],
)
def test_wrong_shapes(module, shape, message):
    with pytest.raises(warploom.Error, match=message):
        module.kernels["saxpy"][shape]


def test_types_of_c_are_checked():
    # A name of C++ has the types of the parameters.
    ptx = SAXPY.replace("saxpy", "_Z5saxpyjfPKfPf")
    kernel = warploom.load(ptx.encode()).kernels["_Z5saxpyjfPKfPf"]
    assert [a.form for a in kernel.arguments] == ["u32", "f32", "buffer", "buffer"]
    with pytest.raises(warploom.Error, match="an array of float64, the parameter is float const.: expected elements of float32"):
        kernel[1, 32](1, 2.5, np.zeros(1), np.zeros(1, np.float32))
    with pytest.raises(warploom.Error, match="an array, the parameter is unsigned int"):
        kernel[1, 32](np.zeros(1, np.uint32), 2.5, np.zeros(1, np.float32), np.zeros(1, np.float32))
    y = np.zeros(4, np.float32)
    kernel[1, 32](4, 2, np.ones(4, np.float32).view(np.uint8), y)
    assert y.tolist() == [2, 2, 2, 2]


def test_numbers_of_cubins_have_the_type_of_the_value(examples):
    m = warploom.load(examples / "saxpy" / "saxpy.sm_50.cubin")
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    m.kernels["saxpy"][1, 32](8, 2.5, x, y)
    assert y[7] == 2.5
    m.kernels["saxpy"][1, 32](np.uint32(8), np.float32(0.5), x, y)
    assert y[7] == 3


def test_faults_have_fields(module):
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(warploom.Fault) as caught:
        module.kernels["saxpy"][1, 64](64, 2.5, 0, y)
    fault = caught.value
    assert isinstance(fault, warploom.Error)
    assert (fault.kind, fault.address, fault.lane) == ("address out of range", 0, 0)
    assert fault.block == (0, 0, 0) and "ld.global.f32" in fault.instruction
    assert fault.report.blocks_done == 0 and str(fault) == fault.message


def test_limits():
    loop = ".version 7.0\n.target sm_50\n.entry loop()\n{\nL:\n    bra L;\n}\n"
    kernel = warploom.load(loop.encode()).kernels["loop"]
    with pytest.raises(warploom.Fault, match="instruction budget exceeded"):
        kernel.with_options(instruction_limit=10_000)[1, 32]()
    with pytest.raises(warploom.Fault):
        kernel.with_options(time_limit=0.2, engine="interp")[1, 32]()
    for options, message in [
        ({"engine": "fast"}, "engine|variant"),
        ({"engine": "both"}, "replay takes both"),
        ({"threads": 0}, "0 threads: expected 1 to 1024"),
        ({"effort": "much"}, "effort `much`: expected one of"),
        ({"time_limit": -1}, "time limit -1"),
        ({"time_limit": "long"}, "options"),
    ]:
        with pytest.raises(warploom.Error, match=message):
            kernel.with_options(**options)[1, 32]()
    with pytest.raises(warploom.Error, match="no option `thread`"):
        kernel.with_options(thread=1)


def test_variables(module):
    assert set(module.variables) == {"launches", "scale"}
    scale = module.variables["scale"]
    assert (scale.size, scale.constant) == (4, True)
    assert scale.get(np.float32).tolist() == [1.0]
    scale.set([2.0], np.float32)
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    run(module, x, y)
    run(module, x, y)
    assert y[0] == 10
    assert module.variables["launches"].get(np.uint32)[0] == 2
    module.reset()
    assert module.variables["launches"].get(np.uint32)[0] == 0
    with pytest.raises(warploom.Error, match="8 bytes for variable `scale`, which has 4"):
        scale.set(np.zeros(2, np.float32))
    with pytest.raises(warploom.Error, match="did you mean `scale`"):
        module.variables["scales"]


def test_arrays_in_memory(module):
    x = module.array(np.arange(100, dtype=np.float32))
    y = module.empty(100)
    for _ in range(3):
        module.kernels["saxpy"][2, 64](100, 1.0, x, y)
    assert np.array_equal(y.get(), 3 * np.arange(100, dtype=np.float32))
    assert np.asarray(y)[1] == 3 and len(y) == 100 and y.shape == (100,)
    with pytest.raises(warploom.Error, match="float64 of shape .100,.*has float32"):
        y.set(np.zeros(100))
    other = warploom.load(SAXPY.encode())
    with pytest.raises(warploom.Error, match="an array in the memory of"):
        other.kernels["saxpy"][1, 32](1, 1.0, x, y)
    y.free()
    with pytest.raises(warploom.Error, match="the array was freed"):
        module.kernels["saxpy"][1, 32](1, 1.0, x, y)


def test_memory_is_freed():
    module = warploom.load(SAXPY.encode())
    x, y = np.ones(1 << 20, np.float32), np.zeros(1 << 20, np.float32)
    for _ in range(300):
        module.empty(1 << 20)
        run(module, x, y)
    with open("/proc/self/statm") as file:
        assert int(file.read().split()[1]) * 4096 < 2 << 30


def test_threads_launch_together(module):
    from concurrent.futures import ThreadPoolExecutor

    def one(i):
        x, y = np.full(1000, i, np.float32), np.zeros(1000, np.float32)
        run(module, x, y)
        return (y == 2.5 * i).all()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(one, range(32)))


def test_disassembly(examples):
    m = warploom.load(examples / "saxpy" / "saxpy.sm_50.cubin")
    assert "FFMA" in m.disassemble("saxpy") and "FFMA" in m.disassemble()
    assert len(m.disassemble(hex=True)) > len(m.disassemble())
    with pytest.raises(warploom.Error, match="no function `saxpi` .did you mean `saxpy`"):
        m.disassemble("saxpi")
    assert "saxpy(" in m.kernels["saxpy"].signature and "sm_50" in m.isa


def test_wrong_binaries(tmp_path):
    with pytest.raises(warploom.Error, match="no.ptx: No such file"):
        warploom.load(tmp_path / "no.ptx")
    text = tmp_path / "k.cu"
    text.write_text("__global__ void k() {}\n")
    with pytest.raises(warploom.Error, match="k.cu: .*source"):
        warploom.load(text)
    with pytest.raises(warploom.Error, match="the binary: 3:11: found `{`"):
        warploom.load(b".version 7.0\n.target sm_50\n.entry k( { }\n")
    with pytest.raises(warploom.Error, match="sm_1000|GPU"):
        warploom.load(SAXPY.encode(), arch="sm_1000")
    with pytest.raises(warploom.Error, match="no kernel `saxpi` .did you mean `saxpy`"):
        warploom.load(SAXPY.encode()).kernels["saxpi"]


def test_a_printing_kernel(examples):
    r = warploom.replay(next((examples / "printf").glob("*.toml")))
    assert r.ok and r.printed


def test_a_check_of_memory(module, examples):
    checked = module.kernels["saxpy"].with_options(check=["memory"])
    x, y = np.ones(64, np.float32), np.zeros(61, np.float32)
    report = checked[1, 64](64, 2.5, x, y)
    assert y.tolist() == [2.5] * 61
    load, store = report.findings
    assert (load.action, store.action, store.allocation) == ("load", "store", "argument 4")
    assert (store.offset, store.allocation_bytes, store.lane, store.count) == (244, 244, 29, 3)
    assert "st.global.f32" in store.instruction and "line" in str(store)
    assert not checked[1, 64](61, 2.5, x, y).findings
    # Arrays that stay in memory, too.
    short = module.array(np.ones(60, np.float32))
    load, *_ = checked[1, 64](64, 2.5, short, module.array(x)).findings
    assert load.allocation.startswith("array at") and load.count == 4
    with pytest.raises(warploom.Error, match="check .*memmory.*expected some of memory, race, init"):
        module.kernels["saxpy"].with_options(check=["memmory"])[1, 32](1, 1.0, x, y)


def test_a_check_of_races(examples):
    text = (examples / "ptx" / "reduce").glob("*.ptx")
    source = next(text).read_text().replace("bar.sync", "// bar.sync")
    m = warploom.load(source.encode(), check=["race"])
    name = next(iter(m.kernels))
    manifest = warploom.replay(next((examples / "ptx" / "reduce").glob("reduce.toml")), check=["race"])
    assert manifest.ok and not manifest.findings
    arguments = [np.ones(4096, np.float32) if a.form == "buffer" else 4096 for a in m.kernels[name].arguments]
    report = m.kernels[name][2, 256](*arguments)
    race = report.findings[0]
    assert race.check == "race" and race.other_action in ("load", "store") and race.other_instruction
    assert race.allocation is None and "without an order between them" in str(race)
