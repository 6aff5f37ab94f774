//! Calls in streams that capture, or that begin to capture during a call.

#![allow(non_snake_case, reason = "the names are the C API's")]

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

// The library's functions, by their C names.
use cublas12 as _;
use libloading::Library;

unsafe extern "C" {
    fn cublasCreate_v2(out: *mut u64) -> u32;
    fn cublasDestroy_v2(handle: u64) -> u32;
    fn cublasSetStream_v2(handle: u64, stream: u64) -> u32;
    fn cublasSscal_v2(handle: u64, n: i32, alpha: *const f32, x: u64, step: i32) -> u32;
}

/// Tests share the driver, so only one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The driver that cargo has built beside the tests. Once it is loaded, `libcuda.so.1` names it.
struct Driver(Library);

macro_rules! ok {
    ($driver:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {{
        // SAFETY: the function has this type in the driver API.
        let function = unsafe { $driver.0.get::<unsafe extern "C" fn($($ty),*) -> u32>(stringify!($name).as_bytes()) };
        // SAFETY: pointers are to variables of the tests.
        assert_eq!(unsafe { function.expect("it is exported")($($arg),*) }, 0, stringify!($name));
    }};
}

impl Driver {
    fn open() -> Driver {
        let path = std::env::current_exe().unwrap().with_file_name("libcuda.so");
        // SAFETY: at its start the library reads the environment, which nobody changes.
        let driver =
            Driver(unsafe { Library::new(path) }.expect("the library is built with the tests"));
        ok!(driver, cuInit(0 => u32));
        driver.enter();
        driver
    }

    fn enter(&self) {
        let mut context = 0_u64;
        ok!(self, cuDevicePrimaryCtxRetain(&mut context => *mut u64, 0 => i32));
        ok!(self, cuCtxSetCurrent(context => u64));
    }

    fn stream(&self) -> u64 {
        let mut stream = 0_u64;
        ok!(self, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
        stream
    }

    /// Allocates device memory with a number in it.
    fn number(&self, value: f32) -> u64 {
        let mut address = 0_u64;
        ok!(self, cuMemAlloc_v2(&mut address => *mut u64, 4 => usize));
        ok!(self, cuMemcpyHtoD_v2(address => u64, &raw const value => *const f32, 4 => usize));
        address
    }

    fn read(&self, address: u64) -> f32 {
        let mut value = 0.0_f32;
        ok!(self, cuMemcpyDtoH_v2(&raw mut value => *mut f32, address => u64, 4 => usize));
        value
    }

    /// Ends a stream's capture and returns the executable graph.
    fn end_capture(&self, stream: u64) -> u64 {
        let (mut graph, mut exec) = (0_u64, 0_u64);
        ok!(self, cuStreamEndCapture(stream => u64, &mut graph => *mut u64));
        ok!(self, cuGraphInstantiateWithFlags(&mut exec => *mut u64, graph => u64, 0 => u64));
        ok!(self, cuGraphDestroy(graph => u64));
        exec
    }
}

fn handle(stream: u64) -> u64 {
    let mut handle = 0;
    // SAFETY: the pointer leads to a variable.
    assert_eq!(unsafe { cublasCreate_v2(&mut handle) }, 0);
    // SAFETY: the handle and the stream exist.
    assert_eq!(unsafe { cublasSetStream_v2(handle, stream) }, 0);
    handle
}

fn scale(handle: u64, at: u64) -> u32 {
    // SAFETY: the factor is read during the call; the number is device memory.
    unsafe { cublasSscal_v2(handle, 1, &2.0, at, 1) }
}

#[test]
fn what_a_graph_has_captured_is_done_again_and_again() {
    let _alone = ALONE.lock().unwrap();
    let driver = Driver::open();
    let stream = driver.stream();
    let (handle, at) = (handle(stream), driver.number(3.0));
    assert_eq!(scale(handle, at), 0);
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    assert_eq!((scale(handle, at), scale(handle, at)), (0, 0));
    let exec = driver.end_capture(stream);
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.read(at), 6.0);
    for _ in 0..2 {
        ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
    }
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.read(at), 96.0);
    ok!(driver, cuGraphExecDestroy(exec => u64));
    // SAFETY: nobody uses the handle any more.
    assert_eq!(unsafe { cublasDestroy_v2(handle) }, 0);
}

/// The race: a call finds that the stream does not capture, then the capture begins and captures
/// the call's work. All launches of the graph then do this work.
#[test]
fn a_capture_may_begin_during_a_call() {
    let _alone = ALONE.lock().unwrap();
    let driver = Driver::open();
    let stream = driver.stream();
    let (handle, at) = (handle(stream), driver.number(0.0));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                driver.enter();
                while !done.load(SeqCst) {
                    assert_eq!(scale(handle, at), 0);
                }
            });
        }
        for _ in 0..1000 {
            ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
            std::thread::yield_now();
            let exec = driver.end_capture(stream);
            ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
            ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
            ok!(driver, cuGraphExecDestroy(exec => u64));
        }
        done.store(true, SeqCst);
    });
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.read(at), 0.0);
    // SAFETY: nobody uses the handle any more.
    assert_eq!(unsafe { cublasDestroy_v2(handle) }, 0);
}
