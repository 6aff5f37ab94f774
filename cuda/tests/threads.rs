//! Many threads, random calls and child processes.

mod support;

use std::ffi::c_void;

use support::{ADD, Driver, call, ok, param};

const NOT_INITIALIZED: u32 = 3;

/// A generator of reproducible numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

#[test]
fn a_stream_has_gone_on_when_its_event_has_come() {
    let driver = Driver::get("sm_52");
    let (_, add) = driver.load(ADD.as_bytes(), "add");
    let at = driver.alloc(128);
    let (mut stream, mut event) = (0_u64, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    ok!(driver, cuEventCreate(&mut event => *mut u64, 0 => u32));
    for _ in 0..500 {
        assert_eq!(driver.launch(add, 1, 32, stream, &[param(&at), param(&1_u32)]), 0);
        ok!(driver, cuEventRecord(event => u64, stream => u64));
        ok!(driver, cuEventSynchronize(event => u64));
        ok!(driver, cuStreamQuery(stream => u64));
    }
}

#[test]
fn threads_work_at_the_same_time() {
    Driver::get("sm_52");
    let shared = Driver::get("sm_52").alloc(128);
    ok!(Driver::get("sm_52"), cuMemsetD32_v2(shared => u64, 0 => u32, 32 => usize));
    ok!(Driver::get("sm_52"), cuCtxSynchronize());
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            scope.spawn(move || {
                let driver = Driver::get("sm_52");
                let (module, function) = driver.load(ADD.as_bytes(), "add");
                let mut stream = 0_u64;
                ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
                for round in 0..50_u32 {
                    let own = driver.alloc(128);
                    ok!(driver, cuMemsetD32Async(own => u64, round => u32, 32 => usize, stream => u64));
                    let more = thread + 1;
                    for at in [own, shared, own] {
                        assert_eq!(driver.launch(function, 1, 32, stream, &[param(&at), param(&more)]), 0);
                    }
                    let mut found = [0_u32; 32];
                    ok!(driver, cuMemcpyDtoHAsync_v2(found.as_mut_ptr() => *mut u32, own => u64, 128 => usize, stream => u64));
                    ok!(driver, cuStreamSynchronize(stream => u64));
                    assert_eq!(found, [round + 2 * more; 32]);
                    ok!(driver, cuMemFree_v2(own => u64));
                }
                ok!(driver, cuStreamDestroy_v2(stream => u64));
                ok!(driver, cuModuleUnload(module => u64));
            });
        }
    });
    assert_eq!(Driver::get("sm_52").words(shared, 32), [50 * (1..=8).sum::<u32>(); 32]);
}

#[test]
fn random_calls_have_answers() {
    let driver = Driver::get("sm_52");
    // In a separate context, streams left capturing disturb no other test.
    let mut context = 0_u64;
    ok!(driver, cuCtxCreate_v2(&mut context => *mut u64, 0 => u32, 0 => i32));
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    // Handles and addresses that calls have returned, valid or not, and invalid numbers.
    let mut known: Vec<u64> = vec![0, 1, 2, 3, 4096, u64::MAX, u64::MAX - 15, function];
    let mut buffer = vec![0_u8; 4096];
    let at = buffer.as_mut_ptr();
    let (mut succeeded, mut refused) = (0, 0);
    for _ in 0..100_000 {
        let handle = known[numbers.below(known.len())];
        let other = known[numbers.below(known.len())];
        let bytes = [0, 1, 4, 100, 4096, 1 << 20][numbers.below(6)];
        let small = numbers.below(5) as u32;
        let mut out = 0_u64;
        let to = &raw mut out;
        let more = 1_u32;
        let params = [param(&handle), param(&more)];
        let answer = match numbers.below(30) {
            0 if known.len() < 300 => call!(driver, cuMemAlloc_v2(to => *mut u64, bytes => usize)),
            1 if known.len() < 300 => call!(driver, cuStreamCreate(to => *mut u64, small => u32)),
            2 if known.len() < 300 => call!(driver, cuEventCreate(to => *mut u64, small => u32)),
            3 if known.len() < 300 => call!(driver, cuGraphCreate(to => *mut u64, 0 => u32)),
            4 if known.len() < 300 => {
                call!(driver, cuMemHostAlloc(to => *mut u64, bytes.min(4096) => usize, small => u32))
            }
            5 => call!(driver, cuMemFree_v2(handle => u64)),
            6 => call!(driver, cuStreamDestroy_v2(handle => u64)),
            7 => call!(driver, cuEventDestroy_v2(handle => u64)),
            8 => call!(driver, cuGraphDestroy(handle => u64)),
            9 => call!(driver, cuMemFreeHost(handle => u64)),
            10 => call!(driver, cuEventRecord(handle => u64, other => u64)),
            11 => call!(driver, cuStreamWaitEvent(handle => u64, other => u64, small => u32)),
            12 => call!(driver, cuStreamSynchronize(handle => u64)),
            13 => call!(driver, cuEventSynchronize(handle => u64)),
            14 => call!(driver, cuEventQuery(handle => u64)),
            15 => {
                call!(driver, cuMemcpyHtoD_v2(handle => u64, at => *mut u8, bytes.min(4096) => usize))
            }
            16 => {
                call!(driver, cuMemcpyDtoHAsync_v2(at => *mut u8, handle => u64, bytes.min(4096) => usize, other => u64))
            }
            17 => {
                call!(driver, cuMemcpyDtoDAsync_v2(handle => u64, other => u64, bytes => usize, 0 => u64))
            }
            18 => {
                call!(driver, cuMemsetD32Async(handle => u64, small => u32, bytes / 4 => usize, other => u64))
            }
            19 => {
                call!(driver, cuGraphAddEmptyNode(to => *mut u64, handle => u64, &raw const other => *const u64, small as usize % 2 => usize))
            }
            20 => {
                call!(driver, cuGraphInstantiateWithFlags(to => *mut u64, handle => u64, u64::from(small) => u64))
            }
            21 => call!(driver, cuGraphLaunch(handle => u64, other => u64)),
            22 => call!(driver, cuGraphExecDestroy(handle => u64)),
            23 => call!(driver, cuPointerGetAttribute(at => *mut u8, small => u32, handle => u64)),
            24 => call!(driver, cuFuncGetAttribute(at => *mut u8, small => u32, handle => u64)),
            25 => call!(driver, cuStreamBeginCapture_v2(handle => u64, small => u32)),
            26 => call!(driver, cuStreamEndCapture(handle => u64, to => *mut u64)),
            27 => call!(driver, cuModuleUnload(handle => u64)),
            28 => call!(driver, cuGraphDestroyNode(handle => u64)),
            // Launch only if there is memory: a fault would end the context.
            _ if call!(driver, cuPointerGetAttribute(at => *mut u8, 12 => u32, handle => u64))
                == 0
                && u64::from_le_bytes(*buffer.first_chunk().unwrap()) >= 128 =>
            {
                call!(driver, cuLaunchKernel(function => u64, 1 => u32, 1 => u32, 1 => u32, 32 => u32, 1 => u32, 1 => u32,
                    0 => u32, other => u64, params.as_ptr() => *const *const c_void, std::ptr::null() => *const c_void))
            }
            _ => call!(driver, cuCtxGetCurrent(to => *mut u64)),
        };
        if answer == 0 {
            succeeded += 1;
            if out != 0 && known.len() < 400 {
                known.push(out);
            }
        } else {
            refused += 1;
        }
        assert!(answer < 1000, "{answer}");
    }
    ok!(driver, cuCtxDestroy_v2(context => u64));
    assert!(
        succeeded > 1000 && refused > 1000,
        "{succeeded} calls succeeded, {refused} were refused"
    );
}

#[test]
fn a_forked_child_has_no_driver() {
    let driver = Driver::get("sm_52");
    // SAFETY: the child only calls the library and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut count = 0_i32;
        let answer = call!(driver, cuDeviceGetCount(&mut count => *mut i32));
        let again = call!(driver, cuInit(0 => u32));
        let failed = answer != NOT_INITIALIZED || again != NOT_INITIALIZED;
        // SAFETY: the call ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(failed.into()) };
    }
    let mut status = 0;
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    let mut count = 0_i32;
    ok!(driver, cuDeviceGetCount(&mut count => *mut i32));
}

/// The variable that tells a child process of this test its case.
const CHILD: &str = "WARPLOOM_TEST_CHILD";

/// A child's exit code, which proves that it reached its end.
const DONE: i32 = 7;

/// Makes a stream busy, so that a thread of the library works for a while.
fn busy(driver: &Driver) {
    driver.enter();
    let (_, function) = driver.load(ADD.as_bytes(), "add");
    let (at, more, mut stream) = (driver.alloc(1 << 20), 1_u32, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    for _ in 0..200 {
        ok!(driver, cuMemsetD32Async(at => u64, 3 => u32, 1 << 18 => usize, stream => u64));
        assert_eq!(driver.launch(function, 500, 128, stream, &[param(&at), param(&more)]), 0);
    }
}

/// Runs the child processes of [`processes_end_whatever_the_library_does`].
#[test]
fn child() {
    let Ok(how) = std::env::var(CHILD) else { return };
    let driver = Driver::open();
    busy(&driver);
    match how.as_str() {
        "exit" => {}
        "exit in another thread" => {
            let thread = std::thread::spawn(|| std::process::exit(DONE));
            let _ = thread.join();
        }
        "close" => {
            driver.close();
            // The library's threads are still working.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let again = Driver::open();
            again.enter();
            let at = again.alloc(128);
            ok!(again, cuMemsetD32_v2(at => u64, 9 => u32, 32 => usize));
            assert_eq!(again.words(at, 32), [9; 32]);
        }
        other => panic!("{other}"),
    }
    std::process::exit(DONE);
}

#[test]
fn processes_end_whatever_the_library_does() {
    for how in ["exit", "exit in another thread", "close"] {
        let test = std::env::current_exe().unwrap();
        let child = std::process::Command::new(test)
            .args(["--exact", "child"])
            .env(CHILD, how)
            .output()
            .unwrap();
        assert_eq!(
            child.status.code(),
            Some(DONE),
            "{how}: {}",
            String::from_utf8_lossy(&child.stderr)
        );
    }
}
