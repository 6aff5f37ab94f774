//! A program unloads a library and then its own image, while a graph still launches a kernel of it.

mod support;

use support::captures::{captured, replay};
use support::{Driver, ok, param};

const SAXPY: &[u8] = include_bytes!("../../examples/saxpy/saxpy.sm_50.cubin");

#[test]
fn nobody_reads_an_image_after_it_is_unloaded() {
    let folder = tempfile::tempdir().unwrap();
    // SAFETY: this is the only test of the process, and the library reads the environment later, at
    // its start.
    unsafe { std::env::set_var("WARPLOOM_CAPTURE", folder.path()) };
    let driver = Driver::get("sm_50");
    // SAFETY: the host chooses the address.
    let image = unsafe {
        let (read_write, private) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        libc::mmap(std::ptr::null_mut(), SAXPY.len(), read_write, private, -1, 0)
    };
    assert_ne!(image, libc::MAP_FAILED);
    // SAFETY: the mapping has this length.
    unsafe { image.cast::<u8>().copy_from_nonoverlapping(SAXPY.as_ptr(), SAXPY.len()) };

    // `CU_LIBRARY_BINARY_IS_PRESERVED`.
    let (option, value) = (1_u32, 1_usize);
    let (mut library, mut kernel) = (0_u64, 0_u64);
    ok!(driver, cuLibraryLoadData(
        &mut library => *mut u64, image => *mut libc::c_void, 0 => u64, 0 => u64, 0 => u32,
        &raw const option => *const u32, &raw const value => *const usize, 1 => u32,
    ));
    ok!(driver, cuLibraryGetKernel(&mut kernel => *mut u64, library => u64, c"saxpy".as_ptr() => *const i8));

    let (x, y, mut stream) = (driver.alloc(128), driver.alloc(128), 0_u64);
    let ones = 1.0_f32.to_bits();
    ok!(driver, cuMemsetD32_v2(x => u64, ones => u32, 32 => usize));
    ok!(driver, cuMemsetD32_v2(y => u64, ones => u32, 32 => usize));
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    let (mut graph, mut exec) = (0_u64, 0_u64);
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    let params = [param(&32_i32), param(&2.5_f32), param(&x), param(&y)];
    assert_eq!(driver.launch(kernel, 1, 32, stream, &params), 0);
    ok!(driver, cuStreamEndCapture(stream => u64, &mut graph => *mut u64));
    ok!(driver, cuGraphInstantiateWithFlags(&mut exec => *mut u64, graph => u64, 0 => u64));

    ok!(driver, cuLibraryUnload(library => u64));
    // SAFETY: the library does not use the image any more.
    assert_eq!(unsafe { libc::munmap(image, SAXPY.len()) }, 0);
    ok!(driver, cuGraphLaunch(exec => u64, stream => u64));
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.words(y, 32), [3.5_f32.to_bits(); 32]);
    let manifests = captured(folder.path());
    assert_eq!(manifests.len(), 1);
    assert_eq!(replay(&manifests[0]).0, 1, "y");
}
