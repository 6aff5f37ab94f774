//! Host functions in streams and graphs, and the ownership of their data.

mod support;

use std::ffi::c_void;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use support::{Driver, call, ok};

const INVALID_VALUE: u32 = 1;
const CAPTURE_UNSUPPORTED: u32 = 900;
const CAPTURE_INVALIDATED: u32 = 901;

/// The numbers of uses and releases of the data.
#[derive(Default)]
struct Data {
    runs: AtomicU32,
    releases: AtomicU32,
}

impl Data {
    fn pointer(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    fn counts(&self) -> (u32, u32) {
        (self.runs.load(SeqCst), self.releases.load(SeqCst))
    }
}

type HostFn = unsafe extern "C" fn(*mut c_void);
type Callback = unsafe extern "C" fn(u64, u32, *mut c_void);

unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: tests keep the data.
    unsafe { &*data.cast::<Data>() }.runs.fetch_add(1, SeqCst);
}

unsafe extern "C" fn release(data: *mut c_void) {
    // SAFETY: tests keep the data.
    unsafe { &*data.cast::<Data>() }.releases.fetch_add(1, SeqCst);
}

unsafe extern "C" fn called_back(_: u64, _: u32, data: *mut c_void) {
    // SAFETY: tests keep the data.
    unsafe { &*data.cast::<Data>() }.runs.fetch_add(1, SeqCst);
}

unsafe extern "C" fn sleep(_: *mut c_void) {
    std::thread::sleep(Duration::from_millis(100));
}

fn stream(driver: &Driver) -> u64 {
    let mut stream = 0;
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    stream
}

fn submit(driver: &Driver, stream: u64, data: &Data) -> u32 {
    call!(driver, warploomLaunchHostFunc(
        stream => u64, run as HostFn => HostFn, data.pointer() => *mut c_void, release as HostFn => HostFn,
    ))
}

#[test]
fn data_is_given_back_once_when_nothing_can_use_it() {
    let driver = Driver::get("sm_52");
    let stream = stream(driver);
    let data = Data::default();
    assert_eq!(submit(driver, stream, &data), 0);
    ok!(driver, cuStreamSynchronize(stream => u64));
    // The stream's thread may still hold the work after the stream has moved on.
    while data.counts() != (1, 1) {
        std::thread::yield_now();
    }

    let (data, mut graph, mut exec) = (Data::default(), 0_u64, 0_u64);
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    assert_eq!(submit(driver, stream, &data), 0);
    ok!(driver, cuStreamEndCapture(stream => u64, &mut graph => *mut u64));
    ok!(driver, cuGraphInstantiateWithFlags(&mut exec => *mut u64, graph => u64, 0 => u64));
    ok!(driver, cuGraphDestroy(graph => u64));
    for _ in 0..3 {
        ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
    }
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(data.counts(), (3, 0));
    ok!(driver, cuGraphExecDestroy(exec => u64));
    while data.counts() != (3, 1) {
        std::thread::yield_now();
    }

    // The caller keeps the data of a call that fails.
    let data = Data::default();
    assert_ne!(submit(driver, 0xdead_0000, &data), 0);
    let nothing = call!(driver, warploomLaunchHostFunc(
        stream => u64, None => Option<HostFn>, data.pointer() => *mut c_void, release as HostFn => HostFn,
    ));
    assert_eq!((nothing, data.counts()), (INVALID_VALUE, (0, 0)));
    ok!(driver, cuStreamDestroy_v2(stream => u64));
}

/// "Additionally, this function is not supported with cuStreamBeginCapture" (driver API,
/// `cuStreamAddCallback`).
#[test]
fn graphs_take_no_callbacks() {
    let driver = Driver::get("sm_52");
    let (stream, data, mut graph) = (stream(driver), Data::default(), 0_u64);
    let callback = || {
        call!(driver, cuStreamAddCallback(
            stream => u64, called_back as Callback => Callback, data.pointer() => *mut c_void, 0 => u32,
        ))
    };
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    assert_eq!(callback(), CAPTURE_UNSUPPORTED);
    let ended = call!(driver, cuStreamEndCapture(stream => u64, &mut graph => *mut u64));
    assert_eq!((ended, data.counts().0), (CAPTURE_INVALIDATED, 0));
    assert_eq!(callback(), 0);
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(data.counts().0, 1);
    ok!(driver, cuStreamDestroy_v2(stream => u64));
}

/// Work of another context uses the memory. The call waits for that work before it returns.
#[test]
fn memory_is_unregistered_behind_the_work_of_all_contexts() {
    let driver = Driver::get("sm_52");
    // The memory begins within a page and ends within a page.
    let mut memory = vec![0_u8; 300_000];
    let own = &mut memory[13..200_013];
    let (at, bytes) = (own.as_mut_ptr(), own.len());
    ok!(driver, cuMemHostRegister_v2(at => *mut u8, bytes => usize, 1 => u32));
    let source = driver.alloc(bytes);
    let content: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect();
    driver.upload(source, &content);

    let mut other = 0_u64;
    ok!(driver, cuCtxCreate_v2(&mut other => *mut u64, 0 => u32, 0 => i32));
    let stream = stream(driver);
    ok!(driver, cuLaunchHostFunc(stream => u64, sleep as HostFn => HostFn, std::ptr::null_mut() => *mut c_void));
    ok!(driver, cuMemcpyDtoHAsync_v2(at => *mut u8, source => u64, bytes => usize, stream => u64));
    driver.enter();
    ok!(driver, cuMemHostUnregister(at => *mut u8));
    // SAFETY: nobody has the memory any more.
    assert!(unsafe { std::slice::from_raw_parts(at, bytes) } == content, "the copy came before");
    ok!(driver, cuCtxDestroy_v2(other => u64));
    assert!(memory[..13].iter().chain(&memory[200_013..]).all(|&byte| byte == 0));
}

#[test]
fn registered_memory_is_filled_and_copied_to_the_byte() {
    let driver = Driver::get("sm_52");
    let mut memory = vec![0_u32; 50_000];
    let own = &mut memory[1..40_001];
    let (at, bytes) = (own.as_mut_ptr().expose_provenance() as u64, size_of_val(own));
    ok!(driver, cuMemHostRegister_v2(at => u64, bytes => usize, 1 => u32));
    ok!(driver, cuMemsetD32_v2(at => u64, 0x0403_0201 => u32, 40_000 => usize));
    let copy = driver.alloc(bytes);
    ok!(driver, cuMemcpyHtoD_v2(copy => u64, at => u64, bytes => usize));
    ok!(driver, cuMemsetD8_v2(at => u64, 9 => u8, 7 => usize));
    // An overlapping copy within the memory.
    ok!(driver, cuMemcpy(at + 4 => u64, at => u64, 100_000 => usize));
    // A fill that goes beyond the memory is refused.
    assert_eq!(call!(driver, cuMemsetD8_v2(at => u64, 9 => u8, bytes + 1 => usize)), INVALID_VALUE);
    ok!(driver, cuMemHostUnregister(at => u64));
    assert_eq!(driver.words(copy, 40_000), [0x0403_0201; 40_000]);
    let mut expected = [vec![0], vec![0x0403_0201_u32; 40_000], vec![0; 9_999]].concat();
    (expected[1], expected[2]) = (0x0909_0909, 0x0909_0909);
    expected[3] = 0x0409_0909;
    assert_eq!(memory, expected);
}
