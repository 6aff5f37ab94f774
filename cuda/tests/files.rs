//! Programs of several files of device code, which are linked at load time. Their wrappers have
//! version 2, as nvcc writes it for `-rdc=true`.

#[path = "../../tests/support/fat_file.rs"]
mod fat_file;
mod support;

use fat_file::{fat, member};
use support::{Driver, call, ok, param};

/// Output of `nvcc -rdc=true -ptx -arch=sm_80` for `main.cu` and `other.cu`, which are in the same
/// folder.
const MAIN: &[u8] = include_bytes!("../../tests/fixtures/cuda/main.ptx");
const OTHER: &[u8] = include_bytes!("../../tests/fixtures/cuda/other.ptx");
/// A function of NVIDIA's library of device code, which this driver replaces.
const DEVICE_RUNTIME: &[u8] = b".version 6.0\n.target sm_50\n.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) { ret; }
.extern .func nowhere;
.visible .func cudaLaunchDevice() { call nowhere; ret; }
";

const PTX: u16 = 1;
const CUBIN: u16 = 2;
const NO_BINARY_FOR_GPU: u32 = 209;

/// The structure that compiled programs register.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    linked: *const u8,
    files: *const *const u8,
}

fn text(ptx: &[u8], lz4: bool) -> Vec<u8> {
    fat(&[member(PTX, 80, ptx, lz4, "")])
}

/// Loads a program that was linked from files, and asks for its kernel. Returns the answer to the
/// latter, the library and the kernel.
fn load(driver: &Driver, linked: &[u8], files: &[Vec<u8>]) -> (u32, u64, u64) {
    let list: Vec<*const u8> =
        files.iter().map(|file| file.as_ptr()).chain([std::ptr::null()]).collect();
    let wrapper =
        Wrapper { magic: 0x4662_43b1, version: 2, linked: linked.as_ptr(), files: list.as_ptr() };
    let (mut library, mut kernel) = (0_u64, 0_u64);
    ok!(driver, cuLibraryLoadData(
        &mut library => *mut u64, &raw const wrapper => *const Wrapper, 0 => u64, 0 => u64, 0 => u32,
        0 => u64, 0 => u64, 0 => u32,
    ));
    let name = c"_Z3usePi".as_ptr();
    let answer = call!(driver, cuLibraryGetKernel(&mut kernel => *mut u64, library => u64, name => *const i8));
    (answer, library, kernel)
}

/// Checks the kernel, which adds a function, a constant and a function pointer of the other file,
/// and counts.
fn is_right(driver: &Driver, library: u64, kernel: u64) {
    let out = driver.alloc(4 * 64);
    assert_eq!(driver.launch(kernel, 1, 64, 0, &[param(&out)]), 0);
    ok!(driver, cuCtxSynchronize());
    let expected: Vec<u32> = (0..64).map(|i| i * i + 10 * (i % 4 + 1) + 102).collect();
    assert_eq!(driver.words(out, 64), expected);
    let (mut counter, mut bytes) = (0_u64, 0_usize);
    ok!(driver, cuLibraryGetGlobal(
        &mut counter => *mut u64, &mut bytes => *mut usize, library => u64, c"counter".as_ptr() => *const i8,
    ));
    assert_eq!((driver.words(counter, 1), bytes), (vec![64], 4));
    ok!(driver, cuMemFree_v2(out => u64));
    ok!(driver, cuLibraryUnload(library => u64));
}

#[test]
fn files_are_linked_when_a_program_is_loaded() {
    let driver = Driver::get("sm_80");
    let sass = fat(&[member(CUBIN, 80, b"of another GPU", false, "")]);
    let empty = fat(&[]);
    // NVIDIA's linker leaves an empty fat binary if files have only PTX, else SASS for one GPU.
    for linked in [&empty, &sass] {
        let files = [text(MAIN, true), text(OTHER, false), text(DEVICE_RUNTIME, true)];
        let (answer, library, kernel) = load(driver, linked, &files);
        assert_eq!(answer, 0);
        is_right(driver, library, kernel);
    }
    // There is nothing to link.
    assert_eq!(
        load(driver, &sass, &[fat(&[member(CUBIN, 80, b"too", false, "")])]).0,
        NO_BINARY_FOR_GPU
    );
    assert_eq!(load(driver, &empty, &[]).0, NO_BINARY_FOR_GPU);
    // No file has the function.
    assert_ne!(load(driver, &empty, &[text(MAIN, false)]).0, 0);
}
