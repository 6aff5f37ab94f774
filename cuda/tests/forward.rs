//! The library in front of another driver, which is a copy of it: programs get the other driver's
//! results, and launches are captured.

mod support;

use std::ffi::{CStr, c_char, c_void};

use support::captures::{captured, launch_nested, replay};
use support::{Driver, call, ok, param};

/// Returns the function that `cuGetProcAddress` finds for a name.
fn address(driver: &Driver, name: &CStr) -> *const c_void {
    let mut address = std::ptr::null();
    ok!(driver, cuGetProcAddress_v2(
        name.as_ptr() => *const c_char, &mut address => *mut *const c_void, 12000 => i32, 0 => u64, std::ptr::null_mut() => *mut i32,
    ));
    address
}

type LaunchKernel = unsafe extern "C" fn(
    u64,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u64,
    *const *const c_void,
    *const c_void,
) -> u32;

#[test]
fn launches_of_the_driver_behind_are_captured_and_replay() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("real.so");
    std::fs::copy(support::path(), &copy).unwrap();
    let captures = folder.path().join("captures");
    std::fs::create_dir(&captures).unwrap();
    for (name, value) in [
        ("WARPLOOM_REAL_CUDA", copy.to_str().unwrap()),
        ("WARPLOOM_CAPTURE", captures.to_str().unwrap()),
        ("WARPLOOM_CAPTURE_MAX_BYTES", "4000000"),
    ] {
        // SAFETY: this is the only test of the process, and the library reads the environment
        // later, when it is loaded.
        unsafe { std::env::set_var(name, value) };
    }
    let driver = Driver::get("sm_52");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("/real.so"), "it is loaded");

    // Watched functions are watched however a program finds them. The rest are the other driver's
    // own.
    let exported: LaunchKernel = driver.function("cuLaunchKernel");
    let own: unsafe extern "C" fn(u64) -> u32 = driver.function("cuStreamSynchronize");
    let found = address(driver, c"cuLaunchKernel");
    // SAFETY: this is the function of this name.
    let found: LaunchKernel = unsafe { std::mem::transmute(found) };
    assert_ne!(
        address(driver, c"cuStreamSynchronize"),
        own as *const c_void,
        "it is not the forwarding library's"
    );
    let of = |launch: LaunchKernel| {
        move |function, all: &[u8; 16]| {
            let params = [param(all)];
            // SAFETY: the types are those of the API.
            unsafe { launch(function, 1, 1, 1, 32, 1, 1, 0, 0, params.as_ptr(), std::ptr::null()) }
        }
    };
    launch_nested(driver, of(exported));
    launch_nested(driver, of(found));

    let manifests = captured(&captures);
    assert_eq!(manifests.len(), 4, "{manifests:?}");
    for manifest in &manifests {
        let text = std::fs::read_to_string(manifest).unwrap();
        assert!(text.contains("launches"), "the module's variable is in {text}");
        assert_eq!(replay(manifest).0, 2, "numbers, and the variable that counts");
    }

    // A launch that is only recorded into a graph is not captured.
    let (_, function) = driver.load(support::captures::NESTED.as_bytes(), "nested");
    let (mut stream, mut graph) = (0_u64, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 0 => u32));
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    assert_eq!(driver.launch(function, 1, 32, stream, &[param(&[0_u8; 16])]), 0);
    ok!(driver, cuStreamEndCapture(stream => u64, &mut graph => *mut u64));
    assert_eq!(captured(&captures).len(), 4);
    assert_eq!(call!(driver, cuGraphDestroy(graph => u64)), 0);
}
