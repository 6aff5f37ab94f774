//! Functions for programs with a default stream per thread (`_ptsz`, `_ptds`).

mod support;

use std::ffi::c_void;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;

use support::{ADD, DEVICE_TO_HOST, Dim3, HOST_TO_DEVICE, Runtime, SYMBOL, address, ok, param};

const PER_THREAD: u64 = 2;

unsafe extern "C" fn hold(gate: *mut c_void) {
    // SAFETY: the test passes the address of its gate.
    while !unsafe { &*gate.cast::<AtomicBool>() }.load(SeqCst) {
        std::thread::yield_now();
    }
}

/// Launches `add` with 64 lanes in the thread's own default stream.
fn add(r: &Runtime, words: u64, more: u32) {
    let parameters = [param(&words), param(&more)];
    ok!(r, cudaLaunchKernel_ptsz(
        address(&ADD) => u64, Dim3(1, 1, 1) => Dim3, Dim3(64, 1, 1) => Dim3, parameters.as_ptr() => *const *const c_void,
        0 => usize, 0 => u64,
    ));
}

fn read(r: &Runtime, words: u64) -> u32 {
    let mut word = 0;
    ok!(r, cudaMemcpy_ptds(&mut word => *mut u32, words => u64, 4 => usize, DEVICE_TO_HOST => i32));
    word
}

/// While a function of the host blocks one thread's default stream, another thread's stream goes
/// on: its launches, copies, symbols, graphs and events.
#[test]
fn each_thread_has_a_default_stream() {
    let r = Runtime::get();
    r.register_kernels();
    let (words, held) = (r.alloc(64), r.alloc(64));
    let gate = AtomicBool::new(false);
    let (holds, is_held) = channel();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            ok!(r, cudaLaunchHostFunc_ptsz(
                0 => u64, hold => unsafe extern "C" fn(*mut c_void), &raw const gate => *const AtomicBool,
            ));
            add(r, held, 100);
            holds.send(()).unwrap();
            ok!(r, cudaStreamSynchronize_ptsz(0 => u64));
            read(r, held)
        });
        is_held.recv().unwrap();
        add(r, words, 1);
        assert_eq!(read(r, words), 1);

        let (values, mut back) = ([3_u32, 4], [0_u32; 2]);
        let symbol = address(&SYMBOL);
        ok!(r, cudaMemcpyToSymbol_ptds(
            symbol => u64, values.as_ptr() => *const u32, 8 => usize, 4 => usize, HOST_TO_DEVICE => i32,
        ));
        ok!(r, cudaMemcpyFromSymbolAsync_ptsz(
            back.as_mut_ptr() => *mut u32, symbol => u64, 8 => usize, 4 => usize, DEVICE_TO_HOST => i32, 0 => u64,
        ));
        ok!(r, cudaStreamSynchronize_ptsz(0 => u64));
        assert_eq!(back, values);

        let (mut graph, mut event) = (0_u64, 0_u64);
        const THREAD_LOCAL: i32 = 1;
        ok!(r, cudaStreamBeginCapture_ptsz(0 => u64, THREAD_LOCAL => i32));
        add(r, words, 20);
        ok!(r, cudaStreamEndCapture_ptsz(0 => u64, &mut graph => *mut u64));
        let (mut exec, mut how) = (0_u64, [0_u64; 4]);
        ok!(r, cudaGraphInstantiateWithParams_ptsz(
            &mut exec => *mut u64, graph => u64, how.as_mut_ptr() => *mut u64,
        ));
        ok!(r, cudaGraphLaunch_ptsz(exec => u64, 0 => u64));
        ok!(r, cudaEventCreate(&mut event => *mut u64));
        ok!(r, cudaEventRecord_ptsz(event => u64, 0 => u64));
        ok!(r, cudaEventSynchronize(event => u64));
        assert_eq!(read(r, words), 21);

        // `cudaLaunchConfig_t`: grid, block, shared memory, stream, attributes.
        let (more, config) = (300_u32, [1 | 1 << 32, 1 | 64 << 32, 1 | 1 << 32, 0_u64, 0, 0, 0]);
        let parameters = [param(&words), param(&more)];
        ok!(r, cudaLaunchKernelExC_ptsz(
            config.as_ptr() => *const u64, address(&ADD) => u64, parameters.as_ptr() => *const *const c_void,
        ));
        assert_eq!(read(r, words), 321);
        gate.store(true, SeqCst);
        assert_eq!(other.join().unwrap(), 100);
    });
}

#[test]
fn functions_of_streams_name_the_threads_own() {
    let r = Runtime::get();
    let (mut own, mut named, mut legacy) = (0_u64, 0_u64, 0_u64);
    ok!(r, cudaStreamGetId_ptsz(0 => u64, &mut own => *mut u64));
    ok!(r, cudaStreamGetId(PER_THREAD => u64, &mut named => *mut u64));
    ok!(r, cudaStreamGetId(0 => u64, &mut legacy => *mut u64));
    assert!(own == named && own != legacy);
    // `cudaLaunchAttributePriority` of streams, and its value.
    let (mut value, mut device) = ([7_u64; 8], 9);
    const PRIORITY: i32 = 8;
    ok!(r, cudaStreamGetAttribute_ptsz(0 => u64, PRIORITY => i32, value.as_mut_ptr() => *mut u64));
    ok!(r, cudaStreamCopyAttributes_ptsz(0 => u64, 0 => u64));
    ok!(r, cudaStreamGetDevice_ptsz(0 => u64, &mut device => *mut i32));
    assert_eq!((value[0] as i32, device), (0, 0));
}

/// The runtime finds functions of the driver by name, for both kinds of default streams.
#[test]
fn entry_points_are_of_the_programs_kind() {
    let r = Runtime::get();
    let (mut plain, mut own, mut ending) = (0_u64, 0_u64, 9);
    let (name, none) = (c"cuMemcpyAsync".as_ptr(), c"cuNothing".as_ptr());
    ok!(r, cudaGetDriverEntryPointByVersion(
        name => *const i8, &mut plain => *mut u64, 12000 => u32, 0 => u64, &mut ending => *mut i32,
    ));
    ok!(r, cudaGetDriverEntryPointByVersion_ptsz(
        name => *const i8, &mut own => *mut u64, 12000 => u32, 0 => u64, &mut ending => *mut i32,
    ));
    assert!(plain != 0 && own != 0 && plain != own && ending == 0);
    ok!(r, cudaGetDriverEntryPointByVersion_ptsz(
        none => *const i8, &mut own => *mut u64, 12000 => u32, 0 => u64, &mut ending => *mut i32,
    ));
    assert_eq!((own, ending), (0, 1));
}
