//! Variables of device code, and errors of launches.

mod support;

use std::ffi::c_void;
use std::ptr::null_mut;

use support::{
    ADD, BUMP, DEVICE_TO_HOST, HOST_TO_DEVICE, Runtime, SYMBOL, address, call, ok, param,
};

const INVALID_CONFIGURATION: i32 = 9;
const INVALID_SYMBOL: i32 = 13;
const NO_KERNEL_IMAGE: i32 = 209;

/// The symbol of a managed variable is the address of its memory, to which the program's pointer
/// leads.
#[test]
fn managed_variables_are_symbols() {
    let r = Runtime::get();
    let binary = r.register_kernels();
    let pointer: &'static mut *mut u32 = Box::leak(Box::new(null_mut()));
    let place = &raw mut *pointer;
    call!(r, __cudaRegisterManagedVar(
        binary => u64, place => *mut *mut u32, 0 => u64, c"shared_word".as_ptr() => *const i8, 0 => i32, 4 => usize, 0 => i32, 0 => i32,
    ));
    call!(r, __cudaInitModule(binary => u64));
    // SAFETY: the runtime has set the pointer to the variable, which the host may access.
    let word = unsafe { *place };
    // SAFETY: as above.
    assert_eq!(unsafe { word.read_volatile() }, 5);
    let (nine, two) = (9_u32, [2_u32, 0, 0, 0]);
    ok!(r, cudaMemcpyToSymbol(word => *mut u32, &nine => *const u32, 4 => usize, 0 => usize, HOST_TO_DEVICE => i32));
    let (mut at, mut bytes) = (null_mut(), 0_usize);
    ok!(r, cudaGetSymbolAddress(&mut at => *mut *mut u32, word => *mut u32));
    ok!(r, cudaGetSymbolSize(&mut bytes => *mut usize, word => *mut u32));
    assert_eq!((at, bytes), (word, 4));
    ok!(r, cudaMemcpyToSymbol(
        address(&SYMBOL) => u64, two.as_ptr() => *const u32, 16 => usize, 0 => usize, HOST_TO_DEVICE => i32,
    ));
    assert_eq!(r.launch(address(&BUMP), 1, &[], 0), 0);
    ok!(r, cudaDeviceSynchronize());
    // SAFETY: as above, and no kernel runs.
    assert_eq!(unsafe { word.read_volatile() }, 11);
    let mut got = 0_u32;
    ok!(r, cudaMemcpyFromSymbol(&mut got => *mut u32, word => *mut u32, 4 => usize, 0 => usize, DEVICE_TO_HOST => i32));
    assert_eq!(got, 11);
    assert_eq!(
        call!(r, cudaGetSymbolSize(&mut bytes => *mut usize, &nine => *const u32)),
        INVALID_SYMBOL
    );
}

fn last_error(r: &Runtime) -> i32 {
    call!(r, cudaGetLastError())
}

#[test]
fn the_error_of_a_launch_is_told_once() {
    let r = Runtime::get();
    r.register_kernels();
    let (words, more) = (r.alloc(64), 7_u32);
    let parameters = [param(&words), param(&more)];
    assert_eq!(r.launch(address(&ADD), 4096, &parameters, 0), INVALID_CONFIGURATION);
    assert_eq!(call!(r, cudaPeekAtLastError()), INVALID_CONFIGURATION);
    assert_eq!([last_error(r), last_error(r)], [INVALID_CONFIGURATION, 0]);
    assert_eq!(r.launch(address(&ADD), 64, &parameters, 0), 0);
    ok!(r, cudaDeviceSynchronize());
    assert_eq!((r.words(words, 1), last_error(r)), (vec![7], 0));
}

/// The program has code for another GPU only.
#[test]
fn missing_code_is_said_at_each_launch() {
    static STUB: u8 = 0;
    let r = Runtime::get();
    const CUBIN: u16 = 2;
    let binary = r.register(CUBIN, 90, b"\x7fELF, or anything else");
    r.register_kernel(binary, address(&STUB), c"kernel");
    // Stubs ask for the kernel once, and launch the result.
    let mut kernel = 0_u64;
    assert_eq!(
        call!(r, __cudaGetKernel(&mut kernel => *mut u64, address(&STUB) => u64)),
        NO_KERNEL_IMAGE
    );
    for _ in 0..2 {
        let launched = call!(r, __cudaLaunchKernel(
            kernel => u64, support::Dim3(1, 1, 1) => support::Dim3, support::Dim3(1, 1, 1) => support::Dim3,
            null_mut() => *mut *mut c_void, 0 => usize, 0 => u64,
        ));
        assert_eq!((launched, last_error(r), last_error(r)), (NO_KERNEL_IMAGE, NO_KERNEL_IMAGE, 0));
    }
    assert_eq!(r.launch(address(&STUB), 1, &[], 0), NO_KERNEL_IMAGE);
    r.alloc(1);
}
