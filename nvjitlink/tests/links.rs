//! Links of PTX, and what is refused.

#![allow(non_snake_case, reason = "the names are the C API's")]

use std::ffi::{CStr, c_char};

// The library's functions, by their C names.
use nvjitlink13 as _;

unsafe extern "C" {
    fn nvJitLinkCreate(out: *mut u64, count: u32, options: *const *const c_char) -> u32;
    fn __nvJitLinkAddData_12_9(
        handle: u64,
        kind: u32,
        data: *const u8,
        bytes: usize,
        name: *const c_char,
    ) -> u32;
    fn __nvJitLinkComplete_13_0(handle: u64) -> u32;
    fn nvJitLinkGetLinkedCubinSize(handle: u64, out: *mut usize) -> u32;
    fn nvJitLinkGetLinkedCubin(handle: u64, out: *mut u8) -> u32;
    fn nvJitLinkGetErrorLogSize(handle: u64, out: *mut usize) -> u32;
    fn nvJitLinkGetErrorLog(handle: u64, out: *mut c_char) -> u32;
    fn nvJitLinkDestroy(handle: *mut u64) -> u32;
}

/// Kinds of inputs, and errors.
const PTX: u32 = 2;
const LTO_IR: u32 = 3;
const MISSING_ARCH: u32 = 2;
const INVALID_INPUT: u32 = 3;
const UNRECOGNIZED_INPUT: u32 = 8;
const NULL_INPUT: u32 = 10;
const LTO_NOT_ENABLED: u32 = 18;

fn create(options: &[&CStr]) -> (u32, u64) {
    let (mut handle, options) = (0, options.iter().map(|one| one.as_ptr()).collect::<Vec<_>>());
    // SAFETY: the list has so many texts.
    let answer = unsafe { nvJitLinkCreate(&mut handle, options.len() as u32, options.as_ptr()) };
    (answer, handle)
}

fn add(handle: u64, kind: u32, content: &[u8]) -> u32 {
    // SAFETY: the content has so many bytes.
    unsafe { __nvJitLinkAddData_12_9(handle, kind, content.as_ptr(), content.len(), c"k".as_ptr()) }
}

#[test]
fn ptx_is_handed_on() {
    assert_eq!(create(&[c"-lineinfo"]).0, MISSING_ARCH);
    let (answer, mut handle) = create(&[c"-lineinfo", c"-arch=sm_90a"]);
    assert_eq!(answer, 0);
    // SAFETY: pointers are to variables with room, null where the library must refuse that.
    unsafe {
        assert_eq!(__nvJitLinkComplete_13_0(handle), INVALID_INPUT);
        let mut size = 0;
        assert_eq!(nvJitLinkGetLinkedCubinSize(handle, &mut size), INVALID_INPUT);
        assert_eq!(add(handle, PTX, b""), UNRECOGNIZED_INPUT);
        assert_eq!(add(handle, 99, b"text"), UNRECOGNIZED_INPUT);
        assert_eq!(
            __nvJitLinkAddData_12_9(handle, PTX, std::ptr::null(), 4, std::ptr::null()),
            NULL_INPUT
        );

        assert_eq!(add(handle, LTO_IR, b"BC"), LTO_NOT_ENABLED);
        assert_eq!(nvJitLinkGetErrorLogSize(handle, &mut size), 0);
        let mut log = vec![0; size];
        assert_eq!(nvJitLinkGetErrorLog(handle, log.as_mut_ptr()), 0);
        let log = CStr::from_ptr(log.as_ptr()).to_str().unwrap();
        assert!(log.contains("not LTO-IR"), "{log}");

        let text = b".version 8.0\n.target sm_90\n";
        assert_eq!(add(handle, PTX, text), 0);
        assert_eq!(__nvJitLinkComplete_13_0(handle), 0);
        assert_eq!(nvJitLinkGetLinkedCubinSize(handle, &mut size), 0);
        assert_eq!(size, text.len() + 1);
        let mut linked = vec![1; size];
        assert_eq!(nvJitLinkGetLinkedCubin(handle, linked.as_mut_ptr()), 0);
        assert_eq!(linked, [&text[..], &[0]].concat());

        let gone = handle;
        assert_eq!(nvJitLinkDestroy(&mut handle), 0);
        assert_eq!((handle, nvJitLinkDestroy(&mut handle)), (0, INVALID_INPUT));
        assert_eq!(add(gone, PTX, text), INVALID_INPUT);
        assert_eq!(nvJitLinkDestroy(std::ptr::null_mut()), NULL_INPUT);
    }
}
