//! Captured launches (`WARPLOOM_CAPTURE`) replay to equal results, on both engines.

mod support;

use support::captures::{captured, launch_nested, replay};
use support::{Driver, ok, param};

/// A kernel that copies a row of a texture to a surface.
const IMAGES: &str = "
.version 6.0
.target sm_50
.address_size 64
.visible .entry images(.param .u64 from, .param .u64 to) {
    .reg .u64 %f, %t;
    .reg .u32 %x, %y, %a, %b, %c, %d;
    ld.param.u64 %f, [from];
    ld.param.u64 %t, [to];
    mov.u32 %x, %tid.x;
    mov.u32 %y, 0;
    tex.2d.v4.u32.s32 {%a, %b, %c, %d}, [%f, {%x, %y}];
    shl.b32 %b, %x, 2;
    sust.b.2d.b32.trap [%t, {%b, %y}], {%a};
    exit;
}
";

/// A kernel that copies a row of a texture that the module names.
const REFERENCE: &str = "
.version 6.0
.target sm_50
.address_size 64
.global .texref sky;
.visible .entry reference(.param .u64 to) {
    .reg .u64 %t, %o;
    .reg .u32 %x, %y, %a, %b, %c, %d;
    ld.param.u64 %t, [to];
    mov.u32 %x, %tid.x;
    mov.u32 %y, 0;
    tex.2d.v4.u32.s32 {%a, %b, %c, %d}, [sky, {%x, %y}];
    mul.wide.u32 %o, %x, 4;
    add.u64 %t, %t, %o;
    st.global.u32 [%t], %a;
    exit;
}
";

/// Returns an array of 32 numbers, and its resource description.
fn array(driver: &Driver) -> (u64, [u64; 18]) {
    let (mut array, description) = (0, [32_u64, 1, 3 | 1 << 32]);
    ok!(driver, cuArrayCreate_v2(&mut array => *mut u64, description.as_ptr() => *const u64));
    let mut resource = [0; 18];
    resource[1] = array;
    (array, resource)
}

/// Launches a kernel that reads a texture and writes a surface.
fn launch_with_images(driver: &Driver) {
    let (_, function) = driver.load(IMAGES.as_bytes(), "images");
    let ((from, source), (to, target)) = (array(driver), array(driver));
    let numbers: Vec<u32> = (0..32).map(|i| i * i + 1).collect();
    ok!(driver, cuMemcpyHtoA_v2(from => u64, 0 => usize, numbers.as_ptr() => *const u32, 128 => usize));
    // Clamped, and read as integers.
    let mut reading = [0_u32; 26];
    (reading[0], reading[1], reading[2], reading[4]) = (1, 1, 1, 1);
    let (mut texture, mut surface) = (0_u64, 0_u64);
    ok!(driver, cuTexObjectCreate(&mut texture => *mut u64, source.as_ptr() => *const u64, reading.as_ptr() => *const u32, 0 => u64));
    ok!(driver, cuSurfObjectCreate(&mut surface => *mut u64, target.as_ptr() => *const u64));
    assert_eq!(driver.launch(function, 1, 32, 0, &[param(&texture), param(&surface)]), 0);
    let mut found = [0_u32; 32];
    ok!(driver, cuMemcpyAtoH_v2(found.as_mut_ptr() => *mut u32, to => u64, 0 => usize, 128 => usize));
    assert_eq!(found[..], numbers);
}

/// Launches a kernel that reads a texture by a reference.
fn launch_with_reference(driver: &Driver) {
    let (module, function) = driver.load(REFERENCE.as_bytes(), "reference");
    let (from, _) = array(driver);
    let numbers: Vec<u32> = (0..32).map(|i| i * i + 7).collect();
    ok!(driver, cuMemcpyHtoA_v2(from => u64, 0 => usize, numbers.as_ptr() => *const u32, 128 => usize));
    let mut reference = 0_u64;
    ok!(driver, cuModuleGetTexRef(&mut reference => *mut u64, module => u64, c"sky".as_ptr() => *const i8));
    ok!(driver, cuTexRefSetArray(reference => u64, from => u64, 1 => u32));
    ok!(driver, cuTexRefSetFlags(reference => u64, 1 => u32));
    let to = driver.alloc(128);
    assert_eq!(driver.launch(function, 1, 32, 0, &[param(&to)]), 0);
    assert_eq!(driver.words(to, 32), numbers);
}

#[test]
fn captured_launches_replay_to_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in [
        ("WARPLOOM_CAPTURE", folder.path().to_str().unwrap()),
        ("WARPLOOM_CAPTURE_MAX_BYTES", "4000000"),
    ] {
        // SAFETY: this is the only test of the process, and the library reads the environment
        // later, at its start.
        unsafe { std::env::set_var(name, value) };
    }
    let driver = Driver::get("sm_52");
    // The last launch is too large to be written.
    launch_nested(driver, |function, all| driver.launch(function, 1, 32, 0, &[param(all)]));

    let manifests = captured(folder.path());
    assert_eq!(manifests.len(), 2, "{manifests:?}");
    for manifest in &manifests {
        let (changed, printed) = replay(manifest);
        assert_eq!(changed, 2, "numbers, and the variable that counts");
        assert_eq!(printed, b"done!\n");
    }

    launch_with_images(driver);
    let with_images = captured(folder.path());
    let images: Vec<_> =
        with_images.iter().filter(|manifest| !manifests.contains(manifest)).collect();
    assert_eq!(images.len(), 1);
    assert_eq!(replay(images[0]).0, 1, "the surface's memory");
    launch_with_reference(driver);
    let with_reference = captured(folder.path());
    let reference: Vec<_> =
        with_reference.iter().filter(|manifest| !with_images.contains(manifest)).collect();
    assert_eq!(reference.len(), 1);
    assert_eq!(replay(reference[0]).0, 1, "what it wrote");
    let manifests = with_reference;

    let examples = support::examples(".");
    let mut ran = 0;
    for (_, launch) in examples
        .iter()
        .filter(|(path, _)| path.ends_with("saxpy.toml") || path.ends_with("histogram.toml"))
    {
        ran += usize::from(support::run(driver, launch));
    }
    assert!(ran > 0, "examples were launched");
    let with_examples = captured(folder.path());
    assert_eq!(with_examples.len(), manifests.len() + ran);
    for manifest in with_examples.iter().filter(|manifest| !manifests.contains(manifest)) {
        let (changed, _) = replay(manifest);
        assert!(changed > 0, "{}", manifest.display());
    }
}
