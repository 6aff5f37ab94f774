//! Batches of copies, managed memory, pools, arrays and textures, contexts, libraries.

mod support;

use support::{HOST_TO_DEVICE, KERNELS, Runtime, call, ok};

const INVALID_VALUE: i32 = 1;

#[test]
fn copies_come_in_batches() {
    let r = Runtime::get();
    let (a, b, stream) = (r.alloc(4), r.alloc(4), r.stream());
    let (first, second) = ([1_u32, 2, 3, 4], [5_u32, 6, 7, 8]);
    let (to, from) = ([a, b, b + 8], [first.as_ptr() as u64, second.as_ptr() as u64, a]);
    // `cudaMemcpyAttributes`: in the stream's order, no hints.
    let (sizes, attributes, start) = ([16_usize, 16, 8], [1_u32, 0, 0, 0, 0, 0], 0_usize);
    ok!(r, cudaMemcpyBatchAsync(
        to.as_ptr() => *const u64, from.as_ptr() => *const u64, sizes.as_ptr() => *const usize, 3 => usize,
        attributes.as_ptr() => *const u32, &start => *const usize, 1 => usize, stream => u64,
    ));
    ok!(r, cudaStreamSynchronize(stream => u64));
    assert_eq!((r.words(a, 4), r.words(b, 4)), (vec![1, 2, 3, 4], vec![5, 6, 1, 2]));
    ok!(r, cudaMemcpyWithAttributesAsync(
        a => u64, b => u64, 8 => usize, attributes.as_ptr() => *const u32, stream => u64,
    ));
    ok!(r, cudaStreamSynchronize(stream => u64));
    assert_eq!(r.words(a, 4), [5, 6, 3, 4]);
    // Batches refuse the legacy default stream.
    let legacy = call!(r, cudaMemcpyBatchAsync(
        to.as_ptr() => *const u64, from.as_ptr() => *const u64, sizes.as_ptr() => *const usize, 3 => usize,
        attributes.as_ptr() => *const u32, &start => *const usize, 1 => usize, 0 => u64,
    ));
    assert_eq!(legacy, INVALID_VALUE);
}

#[test]
fn managed_ranges_are_moved() {
    let r = Runtime::get();
    let (mut pointer, stream) = (0_u64, r.stream());
    const GLOBAL: u32 = 1;
    ok!(r, cudaMallocManaged(&mut pointer => *mut u64, 4096 => usize, GLOBAL => u32));
    // `cudaMemLocation`: device 0.
    let (place, bytes, start) = (1_u64, 4096_usize, 0_usize);
    ok!(r, cudaMemPrefetchAsync_ptsz(pointer => u64, bytes => usize, place => u64, 0 => u32, 0 => u64));
    const LAST_PREFETCH: i32 = 4;
    let last = |expected: i32| {
        let mut found = 9;
        ok!(r, cudaMemRangeGetAttribute(
            &mut found => *mut i32, 4 => usize, LAST_PREFETCH => i32, pointer => u64, bytes => usize,
        ));
        assert_eq!(found, expected);
    };
    last(0);
    let flags = call!(r, cudaMemPrefetchAsync(
        pointer => u64, bytes => usize, place => u64, 1 => u32, stream => u64,
    ));
    assert_eq!(flags, INVALID_VALUE, "there are no flags yet");
    const PREFERRED: i32 = 3;
    ok!(r, cudaMemAdvise(pointer => u64, bytes => usize, PREFERRED => i32, place => u64));
    let host = 2_u64;
    ok!(r, cudaMemPrefetchBatchAsync(
        &pointer => *const u64, &bytes => *const usize, 1 => usize, &host => *const u64, &start => *const usize, 1 => usize,
        0 => u64, stream => u64,
    ));
    last(-1);
    ok!(r, cudaMemDiscardBatchAsync(
        &pointer => *const u64, &bytes => *const usize, 1 => usize, 0 => u64, stream => u64,
    ));
    ok!(r, cudaFree(pointer => u64));
}

#[test]
fn places_have_pools() {
    let r = Runtime::get();
    // `cudaMemLocation`: device 0; pinned memory.
    let (place, mut pool, mut of_device) = (1_u64, 0_u64, 0_u64);
    ok!(r, cudaMemGetDefaultMemPool(&mut pool => *mut u64, &place => *const u64, 1 => i32));
    ok!(r, cudaDeviceGetDefaultMemPool(&mut of_device => *mut u64, 0 => i32));
    assert_eq!(pool, of_device);
    ok!(r, cudaMemSetMemPool(&place => *const u64, 1 => i32, pool => u64));
    ok!(r, cudaMemGetMemPool(&mut of_device => *mut u64, &place => *const u64, 1 => i32));
    assert_eq!(pool, of_device);
}

/// `cudaChannelFormatDesc`: one unsigned number of 8 bits.
const BYTES: [i32; 5] = [8, 0, 0, 0, 1];

#[test]
fn textures_show_what_they_are_of() {
    let r = Runtime::get();
    let (mut array, mut width) = (0_u64, 0_usize);
    ok!(r, cudaDeviceGetTexture1DLinearMaxWidth(&mut width => *mut usize, BYTES.as_ptr() => *const i32, 0 => i32));
    assert!(width >= 1 << 27);
    ok!(r, cudaMallocArray(&mut array => *mut u64, BYTES.as_ptr() => *const i32, 32 => usize, 4 => usize, 0 => u32));
    let row = [7_u8; 32];
    ok!(r, cudaMemcpy2DToArray(
        array => u64, 0 => usize, 0 => usize, row.as_ptr() => *const u8, 32 => usize, 32 => usize, 1 => usize, HOST_TO_DEVICE => i32,
    ));
    // `cudaArrayMemoryRequirements`: bytes, alignment.
    let mut requirements = [0_u64; 4];
    ok!(r, cudaArrayGetMemoryRequirements(requirements.as_mut_ptr() => *mut u64, array => u64, 0 => i32));
    assert!(requirements[0] >= 32 * 4 && requirements[1].is_power_of_two());
    let mut none = 0_u64;
    assert_ne!(call!(r, cudaArrayGetSparseProperties(&mut none => *mut u64, array => u64)), 0);
    // `cudaResourceDesc`, `cudaTextureDesc`, and a `cudaResourceViewDesc` with elements of bytes.
    let (mut resource, texture, mut view, mut object) =
        ([0_u64; 18], [0_u32; 18], [0_u64; 14], 0_u64);
    resource[1] = array;
    (view[0], view[1], view[2]) = (1, 32, 4);
    ok!(r, cudaCreateTextureObject(
        &mut object => *mut u64, resource.as_ptr() => *const u64, texture.as_ptr() => *const u32, view.as_ptr() => *const u64,
    ));
    let mut shown = [9_u64; 14];
    ok!(r, cudaGetTextureObjectResourceViewDesc(shown.as_mut_ptr() => *mut u64, object => u64));
    assert_eq!(shown, view);
    ok!(r, cudaDestroyTextureObject(object => u64));
}

#[test]
fn contexts_are_those_of_devices() {
    let r = Runtime::get();
    let (mut context, mut device, mut id, mut stream, mut event) = (0_u64, 9, 0_u64, 0_u64, 0_u64);
    ok!(r, cudaDeviceGetExecutionCtx(&mut context => *mut u64, 0 => i32));
    ok!(r, cudaExecutionCtxGetDevice(&mut device => *mut i32, context => u64));
    ok!(r, cudaExecutionCtxGetId(context => u64, &mut id => *mut u64));
    assert!(device == 0 && id != 0);
    ok!(r, cudaExecutionCtxStreamCreate(&mut stream => *mut u64, context => u64, 1 => u32, 0 => i32));
    ok!(r, cudaEventCreate(&mut event => *mut u64));
    ok!(r, cudaExecutionCtxRecordEvent(context => u64, event => u64));
    ok!(r, cudaExecutionCtxWaitEvent(context => u64, event => u64));
    ok!(r, cudaExecutionCtxSynchronize(context => u64));
    ok!(r, cudaEventQuery(event => u64));
    assert_eq!(call!(r, cudaExecutionCtxSynchronize(0 => u64)), INVALID_VALUE);
    ok!(r, cudaStreamDestroy(stream => u64));
}

#[test]
fn programs_load_libraries() {
    let r = Runtime::get();
    let (mut library, mut kernel, mut count, mut function) = (0_u64, 0_u64, 0_usize, 0_u64);
    let code = [KERNELS.as_bytes(), &[0]].concat();
    ok!(r, cudaLibraryLoadData(
        &mut library => *mut u64, code.as_ptr() => *const u8, 0 => u64, 0 => u64, 0 => u32, 0 => u64, 0 => u64, 0 => u32,
    ));
    ok!(r, cudaLibraryGetKernel(&mut kernel => *mut u64, library => u64, c"add".as_ptr() => *const i8));
    ok!(r, cudaFuncGetParamCount(kernel => u64, &mut count => *mut usize));
    assert_eq!(count, 2);
    const NOT_FOUND: i32 = 500;
    let unified = call!(r, cudaLibraryGetUnifiedFunction(
        &mut function => *mut u64, library => u64, c"add".as_ptr() => *const i8,
    ));
    assert_eq!(unified, NOT_FOUND);
    ok!(r, cudaLibraryUnload(library => u64));
}

#[test]
fn host_functions_say_how_streams_wait() {
    let r = Runtime::get();
    unsafe extern "C" fn nothing(_: u64) {}
    let stream = r.stream();
    let launch = |mode: u32| {
        call!(r, cudaLaunchHostFunc_v2(
            stream => u64, nothing => unsafe extern "C" fn(u64), 0 => u64, mode => u32,
        ))
    };
    assert_eq!((launch(0), launch(1), launch(2)), (0, 0, INVALID_VALUE));
    ok!(r, cudaStreamSynchronize(stream => u64));
}

#[test]
fn devices_say_which_atomics_the_host_has() {
    let r = Runtime::get();
    let (operations, mut capabilities) = ([0_i32, 1], [9_u32; 2]);
    ok!(r, cudaDeviceGetHostAtomicCapabilities(
        capabilities.as_mut_ptr() => *mut u32, operations.as_ptr() => *const i32, 2 => u32, 0 => i32,
    ));
    assert_ne!(capabilities, [9, 9]);
}
