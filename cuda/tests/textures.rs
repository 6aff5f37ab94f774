//! Texture objects and the work that uses them.

mod support;

use std::ffi::c_void;
use std::time::Duration;

use support::{Driver, ok, param};

const KERNEL: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 texture, .param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [out];
    mov.u32 %r5, 2;
    tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];
    st.global.u32 [%rd2], %r1;
    ret;
}
\0";

type HostFn = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" fn sleep(_: *mut c_void) {
    std::thread::sleep(Duration::from_millis(200));
}

/// Creates a texture of words that are read as integers.
fn texture(driver: &Driver, words: u64, count: u64) -> u64 {
    // `CUDA_RESOURCE_DESC`: linear memory of 32-bit unsigned numbers, one channel.
    // `CUDA_TEXTURE_DESC`: read as integers.
    let (mut resource, mut reading) = ([0_u64; 18], [0_u32; 26]);
    (resource[0], resource[1], resource[2], resource[3]) = (2, words, 3 | 1 << 32, 4 * count);
    reading[4] = 1;
    let mut handle = 0_u64;
    ok!(driver, cuTexObjectCreate(
        &mut handle => *mut u64, resource.as_ptr() => *const u64, reading.as_ptr() => *const u32, 0 => u64,
    ));
    handle
}

/// Programs destroy a texture as soon as they have submitted the kernel that reads it.
#[test]
fn a_texture_lasts_until_work_that_came_before_is_done() {
    let driver = Driver::get("sm_80");
    let (_, read) = driver.load(KERNEL.as_bytes(), "read");
    let (words, out) = (driver.alloc(16), driver.alloc(4));
    driver.upload(words, &[0, 0, 0, 0, 1, 0, 0, 0, 77, 0, 0, 0, 3, 0, 0, 0]);
    let mut stream = 0_u64;
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    let handle = texture(driver, words, 4);
    ok!(driver, cuLaunchHostFunc(stream => u64, sleep as HostFn => HostFn, 0 => u64));
    assert_eq!(driver.launch(read, 1, 1, stream, &[param(&handle), param(&out)]), 0);
    ok!(driver, cuTexObjectDestroy(handle => u64));
    // No other texture gets its index meanwhile.
    let other = texture(driver, out, 1);
    assert_ne!(other, handle);
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(driver.words(out, 1), [77]);
    ok!(driver, cuTexObjectDestroy(other => u64));
    // Without pending work, a texture is gone at once.
    let last = texture(driver, words, 4);
    assert_eq!(last, handle);
    ok!(driver, cuTexObjectDestroy(last => u64));
}
