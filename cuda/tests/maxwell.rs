//! The driver API as on a GPU of sm_52: cubins, and the answers of calls.

mod support;

use std::ffi::{CString, c_void};
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use support::{Driver, call, ok, param};

/// Errors, by their numbers in the documentation of `CUresult`.
const INVALID_VALUE: u32 = 1;
const INVALID_CONTEXT: u32 = 201;
const NO_BINARY: u32 = 209;
const INVALID_PTX: u32 = 218;
const INVALID_IMAGE: u32 = 200;
const INVALID_HANDLE: u32 = 400;
const NOT_FOUND: u32 = 500;
const NOT_READY: u32 = 600;
const ALREADY_REGISTERED: u32 = 712;
const NOT_REGISTERED: u32 = 713;
const NOT_PERMITTED: u32 = 800;
const NOT_SUPPORTED: u32 = 801;

/// A kernel with `out[i] = in[i] + add` for `n` elements, and a kernel that reads address 16.
const ADD: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .global .u32 counter = 7;
.visible .const .u32 scale = 3;
.visible .entry add(.param .u64 to, .param .u64 from, .param .u32 more, .param .u32 n) {
    .reg .u64 %a, %b, %o;
    .reg .u32 %i, %n, %v, %m, %t, %c;
    .reg .pred %p;
    ld.param.u32 %n, [n];
    mov.u32 %i, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mov.u32 %v, %tid.x;
    mad.lo.u32 %i, %i, %t, %v;
    setp.ge.u32 %p, %i, %n;
    @%p exit;
    ld.param.u64 %a, [to];
    ld.param.u64 %b, [from];
    ld.param.u32 %m, [more];
    mul.wide.u32 %o, %i, 4;
    add.u64 %a, %a, %o;
    add.u64 %b, %b, %o;
    ld.global.u32 %v, [%b];
    add.u32 %v, %v, %m;
    st.global.u32 [%a], %v;
    exit;
}
.visible .entry scaled(.param .u64 to) {
    .reg .u64 %a;
    .reg .u32 %v, %w;
    ld.param.u64 %a, [to];
    ld.const.u32 %v, [scale];
    ld.global.u32 %w, [counter];
    mul.lo.u32 %v, %v, %w;
    st.global.u32 [%a], %v;
    exit;
}
.visible .entry fault() {
    .reg .u64 %a;
    .reg .u32 %v;
    mov.u64 %a, 16;
    ld.global.u32 %v, [%a];
    st.global.u32 [%a], %v;
    exit;
}
";

/// Tests run one at a time: they share the process's contexts and memory.
static ONE: Mutex<()> = Mutex::new(());

fn driver() -> (&'static Driver, std::sync::MutexGuard<'static, ()>) {
    (Driver::get("sm_52"), ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn examples_give_what_is_expected() {
    let (driver, _one) = driver();
    let mut compared = 0;
    for (file, launch) in support::examples(".") {
        // The code is for another GPU.
        if launch.binary_path.to_string_lossy().contains("sm_53") {
            continue;
        }
        eprintln!("{}", file.display());
        compared += u32::from(support::run(driver, &launch));
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn modules_have_functions_and_variables() {
    let (driver, _one) = driver();
    let (module, function) = driver.load(ADD.as_bytes(), "scaled");
    let out = driver.alloc(4);
    let run = || {
        assert_eq!(driver.launch(function, 1, 1, 0, &[param(&out)]), 0);
        driver.words(out, 1)[0]
    };
    assert_eq!(run(), 21);
    let variable = |name: &str, value: u32| {
        let (mut address, mut size, name) = (0_u64, 0_usize, CString::new(name).unwrap());
        ok!(driver, cuModuleGetGlobal_v2(&mut address => *mut u64, &mut size => *mut usize, module => u64, name.as_ptr() => *const i8));
        assert_eq!(size, 4);
        driver.upload(address, &value.to_le_bytes());
        assert_eq!(driver.words(address, 1), [value]);
    };
    variable("scale", 10);
    variable("counter", 5);
    assert_eq!(run(), 50);
    let name = CString::new("nothing").unwrap();
    let mut other = 0_u64;
    assert_eq!(
        call!(driver, cuModuleGetFunction(&mut other => *mut u64, module => u64, name.as_ptr() => *const i8)),
        NOT_FOUND
    );
    ok!(driver, cuModuleUnload(module => u64));
    assert_eq!(call!(driver, cuModuleUnload(module => u64)), INVALID_HANDLE);
    assert_eq!(driver.launch(function, 1, 1, 0, &[param(&out)]), INVALID_HANDLE);
}

#[test]
fn images_that_cannot_be_loaded_say_why() {
    let (driver, _one) = driver();
    let load = |image: &str| {
        let (image, mut log) = (CString::new(image).unwrap(), vec![0_u8; 1000]);
        let options = [5_u32, 6];
        let mut values = [log.as_mut_ptr() as u64, 1000];
        let mut module = 0_u64;
        let answer = call!(driver, cuModuleLoadDataEx(&mut module => *mut u64, image.as_ptr() => *const i8,
            2 => u32, options.as_ptr() => *const u32, values.as_mut_ptr() => *mut u64));
        log.truncate((values[1] as usize).saturating_sub(1));
        (answer, String::from_utf8(log).unwrap())
    };
    let newer = ADD.replace("sm_50", "sm_70");
    assert_eq!(load(&newer).0, NO_BINARY);
    let (answer, log) = load(&ADD.replace("mul.wide.u32", "mul.wild.u32"));
    assert_eq!(answer, INVALID_PTX);
    assert!(log.contains("21:5: `mul` does not take `.wild`"), "{log}");
    assert_eq!(load("").0, INVALID_IMAGE);
    assert_eq!(load("\u{1}nothing").0, INVALID_IMAGE);
    assert_eq!(load(ADD), (0, String::new()));
}

#[test]
fn launches_are_checked() {
    let (driver, _one) = driver();
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    let (data, more, n) = (driver.alloc(400), 1_u32, 100_u32);
    let params = [param(&data), param(&data), param(&more), param(&n)];
    for (grid, block, shared) in [
        ([0, 1, 1], [1, 1, 1], 0),
        ([1, 1, 1], [0, 1, 1], 0),
        ([1, 65536, 1], [1, 1, 1], 0),
        ([1, 1, 1], [1025, 1, 1], 0),
        ([1, 1, 1], [32, 33, 1], 0),
        ([1, 1, 1], [1, 1, 65], 0),
        ([1, 1, 1], [1, 1, 1], 49153),
    ] {
        assert_eq!(
            driver.launch_in(function, grid, block, shared, 0, &params),
            INVALID_VALUE,
            "{grid:?} {block:?}"
        );
    }
    let null = std::ptr::null::<c_void>();
    let none = call!(driver, cuLaunchKernel(function => u64, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32, 1 => u32,
        0 => u32, 0 => u64, null => *const c_void, null => *const c_void));
    assert_eq!(none, INVALID_VALUE);
    // A launch with the parameters in a buffer.
    let block = [
        data.to_le_bytes(),
        data.to_le_bytes(),
        (u64::from(more) | u64::from(n) << 32).to_le_bytes(),
    ]
    .concat();
    let size = block.len();
    let extra = [1, block.as_ptr() as u64, 2, &raw const size as u64, 0];
    driver.upload(data, &bytes(&[5; 100]));
    ok!(driver, cuLaunchKernel(function => u64, 4 => u32, 1 => u32, 1 => u32, 32 => u32, 1 => u32, 1 => u32,
        0 => u32, 0 => u64, null => *const c_void, extra.as_ptr() => *const u64));
    assert_eq!(driver.words(data, 100), [6; 100]);
    let (mut offset, mut bytes) = (0_usize, 0_usize);
    ok!(driver, cuFuncGetParamInfo(function => u64, 3 => usize, &mut offset => *mut usize, &mut bytes => *mut usize));
    assert_eq!((offset, bytes), (20, 4));
    let past = call!(driver, cuFuncGetParamInfo(function => u64, 4 => usize, &mut offset => *mut usize, &mut bytes => *mut usize));
    assert_eq!(past, INVALID_VALUE);
}

#[test]
fn memory_is_found_by_its_addresses() {
    let (driver, _one) = driver();
    let (mut free, mut total) = ([0_usize; 3], 0_usize);
    let mut info = |i: usize| ok!(driver, cuMemGetInfo_v2(&mut free[i] => *mut usize, &mut total => *mut usize));
    info(0);
    let address = driver.alloc(1 << 20);
    info(1);
    assert_eq!(address % 256, 0);
    let (mut base, mut size) = (0_u64, 0_usize);
    ok!(driver, cuMemGetAddressRange_v2(&mut base => *mut u64, &mut size => *mut usize, address + 1000 => u64));
    assert_eq!((base, size), (address, 1 << 20));
    let attribute = |address: u64, number: u32| {
        let mut value = 0_u64;
        let answer = call!(driver, cuPointerGetAttribute(&mut value => *mut u64, number => u32, address => u64));
        (answer, value)
    };
    assert_eq!(attribute(address, 2), (0, 2));
    assert_eq!(attribute(address + 16, 3), (0, address + 16));
    assert_eq!(attribute(address, 9999).0, INVALID_VALUE);
    let local = 5_u32;
    assert_eq!(attribute(&raw const local as u64, 3).0, INVALID_VALUE);
    assert_eq!(call!(driver, cuMemFree_v2(address + 256 => u64)), INVALID_VALUE);
    // The copy goes past the end.
    let past = call!(driver, cuMemcpyHtoD_v2(address + (1 << 20) - 2 => u64, &raw const local => *const u32, 4 => usize));
    assert_eq!(past, INVALID_VALUE);
    ok!(driver, cuMemFree_v2(address => u64));
    assert_eq!(call!(driver, cuMemFree_v2(address => u64)), INVALID_VALUE);
    info(2);
    assert!(free[1] < free[0] && free[2] == free[0], "{free:?} of {total}");
    let mut out = 0_u64;
    assert_eq!(call!(driver, cuMemAlloc_v2(&mut out => *mut u64, 0 => usize)), INVALID_VALUE);
    assert_eq!(call!(driver, cuMemAlloc_v2(&mut out => *mut u64, 1 << 50 => usize)), 2);
}

#[test]
fn kernels_use_memory_of_the_program_to_the_byte() {
    let (driver, _one) = driver();
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    // Larger than several pages of 64 KiB, and aligned to no page.
    let mut memory = vec![1_u32; 100_003];
    let (at, n) = (memory[1..].as_mut_ptr() as u64, 100_000_u32);
    let register = |at: u64, bytes: usize| call!(driver, cuMemHostRegister_v2(at => u64, bytes => usize, 0 => u32));
    assert_eq!(register(at, 4 * n as usize), 0);
    assert_eq!(register(at + 400, 4), ALREADY_REGISTERED);
    let more = 41_u32;
    assert_eq!(
        driver.launch(
            function,
            n.div_ceil(256),
            256,
            0,
            &[param(&at), param(&at), param(&more), param(&n)]
        ),
        0
    );
    ok!(driver, cuCtxSynchronize());
    ok!(driver, cuMemHostUnregister(at => u64));
    assert_eq!(call!(driver, cuMemHostUnregister(at => u64)), NOT_REGISTERED);
    assert_eq!(memory[0], 1);
    assert!(memory[1..=100_000].iter().all(|&word| word == 42));
    assert_eq!(memory[100_001..], [1, 1]);
}

/// Progress of streams, visible to the host.
static SEEN: AtomicU32 = AtomicU32::new(0);
static GATE: AtomicU32 = AtomicU32::new(0);

extern "C" fn wait_at_gate(_: *mut c_void) {
    while GATE.load(SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let driver = Driver::loaded();
    let mut count = 0;
    // The driver refuses calls here.
    SEEN.store(call!(driver, cuDeviceGetCount(&mut count => *mut i32)), SeqCst);
}

#[test]
fn streams_keep_their_order() {
    let (driver, _one) = driver();
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    let (mut stream, mut other) = (0_u64, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    ok!(driver, cuStreamCreate(&mut other => *mut u64, 1 => u32));
    let mut events = [0_u64; 2];
    events.iter_mut().for_each(|event| ok!(driver, cuEventCreate(event => *mut u64, 0 => u32)));
    let (data, more, n) = (driver.alloc(400), 1_u32, 100_u32);
    ok!(driver, cuMemsetD32_v2(data => u64, 0 => u32, 100 => usize));
    // The streams are not in order with the default stream, so wait for it.
    ok!(driver, cuCtxSynchronize());
    let params = [param(&data), param(&data), param(&more), param(&n)];
    GATE.store(0, SeqCst);
    ok!(driver, cuEventRecord(events[0] => u64, stream => u64));
    ok!(driver, cuLaunchHostFunc(stream => u64, wait_at_gate => extern "C" fn(*mut c_void), std::ptr::null_mut() => *mut c_void));
    for _ in 0..50 {
        assert_eq!(driver.launch(function, 4, 32, stream, &params), 0);
    }
    ok!(driver, cuEventRecord(events[1] => u64, stream => u64));
    ok!(driver, cuStreamWaitEvent(other => u64, events[1] => u64, 0 => u32));
    assert_eq!(driver.launch(function, 4, 32, other, &params), 0);
    // All work waits behind the gate.
    assert_eq!(call!(driver, cuStreamQuery(stream => u64)), NOT_READY);
    assert_eq!(call!(driver, cuStreamQuery(other => u64)), NOT_READY);
    assert_eq!(call!(driver, cuEventQuery(events[1] => u64)), NOT_READY);
    GATE.store(1, SeqCst);
    ok!(driver, cuStreamSynchronize(other => u64));
    ok!(driver, cuEventSynchronize(events[1] => u64));
    ok!(driver, cuStreamQuery(stream => u64));
    assert_eq!(driver.words(data, 100), [51; 100]);
    assert_eq!(SEEN.load(SeqCst), NOT_PERMITTED);
    let mut milliseconds = 0_f32;
    ok!(driver, cuEventElapsedTime(&mut milliseconds => *mut f32, events[0] => u64, events[1] => u64));
    assert!(milliseconds > 0.0);
    ok!(driver, cuStreamDestroy_v2(stream => u64));
    ok!(driver, cuStreamDestroy_v2(other => u64));
    assert_eq!(call!(driver, cuStreamQuery(stream => u64)), INVALID_HANDLE);
}

#[test]
fn streams_wait_for_values_of_the_host() {
    let (driver, _one) = driver();
    let (mut stream, mut pinned) = (0_u64, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    ok!(driver, cuMemHostAlloc(&mut pinned => *mut u64, 64 => usize, 0 => u32));
    let cell = std::ptr::with_exposed_provenance::<AtomicU32>(pinned as usize);
    // SAFETY: the driver's memory at that address exists until it is freed below.
    let cells = unsafe { std::slice::from_raw_parts(cell, 2) };
    ok!(driver, cuStreamWaitValue32_v2(stream => u64, pinned => u64, 3 => u32, 1 => u32));
    ok!(driver, cuStreamWriteValue32_v2(stream => u64, pinned + 4 => u64, 9 => u32, 0 => u32));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(cells[1].load(SeqCst), 0);
    cells[0].store(3, SeqCst);
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(cells[1].load(SeqCst), 9);
    ok!(driver, cuStreamDestroy_v2(stream => u64));
    ok!(driver, cuMemFreeHost(pinned => u64));
}

#[test]
fn what_a_stream_captures_is_launched_as_a_graph() {
    let (driver, _one) = driver();
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    let (mut stream, mut graph, mut exec) = (0_u64, 0_u64, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    let (data, n, mut more) = (driver.alloc(400), 100_u32, 2_u32);
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    ok!(driver, cuMemsetD32Async(data => u64, 5 => u32, 100 => usize, stream => u64));
    assert_eq!(
        driver.launch(
            function,
            4,
            32,
            stream,
            &[param(&data), param(&data), param(&more), param(&n)]
        ),
        0
    );
    ok!(driver, cuStreamEndCapture(stream => u64, &mut graph => *mut u64));
    // Nothing has run yet, and the captured parameters keep their values.
    more = 100;
    let mut nodes = ([0_u64; 4], 4_usize);
    ok!(driver, cuGraphGetNodes(graph => u64, nodes.0.as_mut_ptr() => *mut u64, &mut nodes.1 => *mut usize));
    assert_eq!(nodes.1, 2);
    ok!(driver, cuGraphInstantiateWithFlags(&mut exec => *mut u64, graph => u64, 0 => u64));
    for _ in 0..3 {
        ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
    }
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.words(data, 100), [7; 100]);
    // Change a parameter in the executable graph.
    let params = [param(&data), param(&data), param(&more), param(&n)];
    let mut node = [0_u64; 7];
    node[0] = function;
    node[1..5].copy_from_slice(&[4 | 1 << 32, 1 | 32 << 32, 1 | 1 << 32, 0]);
    node[5] = params.as_ptr() as u64;
    ok!(driver, cuGraphExecKernelNodeSetParams(exec => u64, nodes.0[1] => u64, node.as_ptr() => *const u64));
    ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.words(data, 100), [105; 100]);
    ok!(driver, cuGraphExecDestroy(exec => u64));
    ok!(driver, cuGraphDestroy(graph => u64));
    ok!(driver, cuStreamDestroy_v2(stream => u64));
}

/// Nodes of the destroyed stream stay in the capture that it has joined, and must come before the
/// end.
#[test]
fn a_stream_may_go_before_the_capture_ends() {
    let (driver, _one) = driver();
    let data = driver.alloc(16);
    for joined in [true, false] {
        let ([mut first, mut second, mut event], mut graph) = ([0_u64; 3], 0_u64);
        ok!(driver, cuStreamCreate(&mut first => *mut u64, 1 => u32));
        ok!(driver, cuStreamCreate(&mut second => *mut u64, 1 => u32));
        ok!(driver, cuEventCreate(&mut event => *mut u64, 2 => u32));
        ok!(driver, cuStreamBeginCapture_v2(first => u64, 0 => u32));
        ok!(driver, cuEventRecord(event => u64, first => u64));
        ok!(driver, cuStreamWaitEvent(second => u64, event => u64, 0 => u32));
        ok!(driver, cuMemsetD32Async(data => u64, 5 => u32, 4 => usize, second => u64));
        if joined {
            ok!(driver, cuEventRecord(event => u64, second => u64));
            ok!(driver, cuStreamWaitEvent(first => u64, event => u64, 0 => u32));
        }
        ok!(driver, cuStreamDestroy_v2(second => u64));
        ok!(driver, cuMemsetD32Async(data => u64, 6 => u32, 1 => usize, first => u64));
        let ended = call!(driver, cuStreamEndCapture(first => u64, &mut graph => *mut u64));
        const UNJOINED: u32 = 904;
        assert_eq!(ended, if joined { 0 } else { UNJOINED });
        if joined {
            let mut exec = 0_u64;
            ok!(driver, cuGraphInstantiateWithFlags(&mut exec => *mut u64, graph => u64, 0 => u64));
            ok!(driver, cuGraphLaunch(exec => u64, first => u64));
            ok!(driver, cuStreamSynchronize(first => u64));
            assert_eq!(driver.words(data, 4), [6, 5, 5, 5]);
            ok!(driver, cuGraphExecDestroy(exec => u64));
            ok!(driver, cuGraphDestroy(graph => u64));
        }
        ok!(driver, cuEventDestroy_v2(event => u64));
        ok!(driver, cuStreamDestroy_v2(first => u64));
    }
}

#[test]
fn a_fault_ends_its_context() {
    let (driver, _one) = driver();
    let mut context = 0_u64;
    ok!(driver, cuCtxCreate_v2(&mut context => *mut u64, 0 => u32, 0 => i32));
    let (_, function) = driver.load(ADD.as_bytes(), "fault");
    assert_eq!(driver.launch(function, 1, 1, 0, &[]), 0);
    const ILLEGAL_ADDRESS: u32 = 700;
    assert_eq!(call!(driver, cuCtxSynchronize()), ILLEGAL_ADDRESS);
    let mut address = 0_u64;
    assert_eq!(call!(driver, cuMemAlloc_v2(&mut address => *mut u64, 4 => usize)), ILLEGAL_ADDRESS);
    ok!(driver, cuCtxDestroy_v2(context => u64));
    // The primary context is current again, and has no error.
    ok!(driver, cuCtxSynchronize());
    assert_eq!(call!(driver, cuCtxSetCurrent(context => u64)), INVALID_CONTEXT);
}

#[test]
fn addresses_of_functions_depend_on_versions() {
    let (driver, _one) = driver();
    let resolve = |name: &str, version: i32, flags: u64| {
        let (mut function, mut status, name) = (0_u64, -1, CString::new(name).unwrap());
        let answer = call!(driver, cuGetProcAddress_v2(name.as_ptr() => *const i8, &mut function => *mut u64,
            version => i32, flags => u64, &mut status => *mut i32));
        (answer, function, status)
    };
    let address = |name: &str| driver.function::<unsafe extern "C" fn()>(name) as usize as u64;
    assert_eq!(resolve("cuMemAlloc", 12000, 0), (0, address("cuMemAlloc_v2"), 0));
    assert_eq!(resolve("cuMemAlloc", 2000, 0), (0, address("cuMemAlloc"), 0));
    assert_eq!(resolve("cuGetProcAddress", 11030, 0), (0, address("cuGetProcAddress"), 0));
    assert_eq!(resolve("cuGetProcAddress", 12000, 0), (0, address("cuGetProcAddress_v2"), 0));
    assert_eq!(resolve("cuLaunchKernel", 12000, 2), (0, address("cuLaunchKernel_ptsz"), 0));
    assert_eq!(resolve("cuMemcpyHtoD", 12000, 2), (0, address("cuMemcpyHtoD_v2_ptds"), 0));
    assert_eq!(resolve("cuLaunchKernelEx", 11000, 0), (NOT_FOUND, 0, 2));
    assert_eq!(resolve("cuNothing", 12000, 0), (NOT_FOUND, 0, 1));
    assert_eq!(resolve("", 0, 0).0, NOT_FOUND);
    assert_eq!(
        call!(driver, cuIpcGetMemHandle(std::ptr::null_mut() => *mut u8, 0 => u64)),
        NOT_SUPPORTED
    );
}

/// A kernel that reads a texture at each lane's coordinates, and writes the value plus 1 to a
/// surface.
const SAMPLE: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .entry sample(.param .u64 texture, .param .u64 surface, .param .u64 to, .param .f32 offset) {
    .reg .u64 %t, %s, %a, %o;
    .reg .u32 %x, %y, %b;
    .reg .f32 %u, %v, %w, %r, %g, %l, %h;
    ld.param.u64 %t, [texture];
    ld.param.u64 %s, [surface];
    ld.param.u64 %a, [to];
    ld.param.f32 %w, [offset];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    cvt.rn.f32.u32 %u, %x;
    cvt.rn.f32.u32 %v, %y;
    add.f32 %u, %u, %w;
    add.f32 %v, %v, 0f3F000000;
    tex.2d.v4.f32.f32 {%r, %g, %l, %h}, [%t, {%u, %v}];
    mad.lo.u32 %b, %y, 4, %x;
    mul.wide.u32 %o, %b, 4;
    add.u64 %a, %a, %o;
    st.global.f32 [%a], %r;
    add.f32 %r, %r, 0f3F800000;
    shl.b32 %x, %x, 2;
    sust.b.2d.b32.trap [%s, {%x, %y}], {%r};
    exit;
}
";

/// Copies between packed rows of the program's memory and an array, by `CUDA_MEMCPY2D`.
fn copy_array(driver: &Driver, array: u64, host: *const f32, to_array: bool) {
    const HOST: u64 = 1;
    const ARRAY: u64 = 3;
    let memory = [0, 0, HOST, host as u64, 0, 0, 16];
    let texels = [0, 0, ARRAY, 0, 0, array, 0];
    let (from, to) = if to_array { (memory, texels) } else { (texels, memory) };
    let copy = [&from[..], &to[..], &[16, 4]].concat();
    ok!(driver, cuMemcpy2D_v2(copy.as_ptr() => *const u64));
}

#[test]
fn textures_and_surfaces_are_of_arrays() {
    let (driver, _one) = driver();
    let (_, function) = driver.load(SAMPLE.as_bytes(), "sample");
    const FLOAT: u64 = 0x20;
    let description = [4_u64, 4, FLOAT | 1 << 32];
    let mut arrays = [0_u64; 2];
    arrays
        .iter_mut()
        .for_each(|array| ok!(driver, cuArrayCreate_v2(array => *mut u64, description.as_ptr() => *const u64)));
    let texels: Vec<f32> = (0..16_u8).map(f32::from).collect();
    copy_array(driver, arrays[0], texels.as_ptr(), true);
    let resource = |array: u64| {
        let mut words = [0_u64; 18];
        words[1] = array;
        words
    };
    let (mut texture, mut surface) = (0_u64, 0_u64);
    // Clamped, linear, with coordinates in texels.
    let mut reading = [0_u32; 26];
    reading[..4].copy_from_slice(&[1, 1, 1, 1]);
    ok!(driver, cuTexObjectCreate(&mut texture => *mut u64, resource(arrays[0]).as_ptr() => *const u64,
        reading.as_ptr() => *const u32, std::ptr::null() => *const u64));
    ok!(driver, cuSurfObjectCreate(&mut surface => *mut u64, resource(arrays[1]).as_ptr() => *const u64));
    let to = driver.alloc(64);
    let sample = |offset: f32| {
        let params = [param(&texture), param(&surface), param(&to), param(&offset)];
        assert_eq!(driver.launch_in(function, [1; 3], [4, 4, 1], 0, 0, &params), 0);
        driver.words(to, 16).into_iter().map(f32::from_bits).collect::<Vec<f32>>()
    };
    assert_eq!(sample(0.5), texels);
    // Each texel is halfway to the next; at the edge, it is the last texel.
    let half: Vec<f32> =
        (0..16_u8).map(|i| f32::from(i) + if i % 4 == 3 { 0.0 } else { 0.5 }).collect();
    assert_eq!(sample(1.0), half);
    let mut written = [0_f32; 16];
    copy_array(driver, arrays[1], written.as_mut_ptr(), false);
    assert_eq!(written.to_vec(), half.iter().map(|texel| texel + 1.0).collect::<Vec<f32>>());
    ok!(driver, cuTexObjectDestroy(texture => u64));
    assert_eq!(call!(driver, cuTexObjectDestroy(texture => u64)), INVALID_VALUE);
    ok!(driver, cuSurfObjectDestroy(surface => u64));
    arrays.iter().for_each(|&array| ok!(driver, cuArrayDestroy(array => u64)));
}
