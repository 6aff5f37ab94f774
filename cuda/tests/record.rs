//! Launches that are captured (`WARPLOOM_CAPTURE`) replay to the same results, on both engines.

mod support;

use std::path::{Path, PathBuf};

use support::{Driver, ok, param};
use warploom::capture::{Launch, compare};
use warploom::exec::{EngineKind, Session};

/// Follows a pointer in memory to numbers, adds a module's variable, counts launches in another, and prints.
const NESTED: &str = r#"
.version 6.0
.target sm_50
.address_size 64
.visible .global .u32 launches;
.visible .const .u32 more = 5;
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[8] = {100, 111, 110, 101, 33, 10, 0};
.visible .entry nested(.param .align 8 .b8 all[16]) {
    .reg .u64 %s, %t, %p, %o;
    .reg .u32 %i, %v, %m, %l;
    .reg .pred %first;
    ld.param.u64 %s, [all];
    ld.param.u32 %m, [all + 8];
    ld.global.u64 %t, [%s];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %p, %t, %o;
    ld.global.u32 %v, [%p];
    mad.lo.u32 %v, %v, %m, %i;
    ld.const.u32 %m, [more];
    add.u32 %v, %v, %m;
    st.global.u32 [%p], %v;
    setp.ne.u32 %first, %i, 0;
    @%first bra done;
    ld.global.u32 %l, [launches];
    add.u32 %l, %l, 1;
    st.global.u32 [launches], %l;
    {
        .param .b64 format;
        .param .b64 values;
        .param .b32 r;
        cvta.global.u64 %p, text;
        st.param.b64 [format], %p;
        st.param.b64 [values], 0;
        call (r), vprintf, (format, values);
    }
done:
    ret;
}
"#;

/// Copies a row of a texture to a surface.
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

/// An array of 32 numbers, and what describes it as a resource.
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

fn captured(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut manifests: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")).collect();
    manifests.sort();
    manifests
}

/// Replays a manifest. Returns how many of its buffers and variables change, and what it prints.
fn replay(path: &Path) -> (usize, Vec<u8>) {
    let launch = Launch::read(path).unwrap_or_else(|error| panic!("{error}"));
    let run = |engine| {
        let session = Session::new(&launch).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        assert!(outcome.fault.is_none(), "{}: {:?}", path.display(), outcome.fault);
        let mut changed = 0;
        for (i, buffer) in launch.buffers.iter().enumerate() {
            let expect = buffer.expect.as_ref().expect("all are compared");
            let comparison = compare(&session.buffer(i).unwrap(), &expect.array, expect.tolerance);
            assert_eq!(comparison.mismatches, 0, "{} on {engine}: {}", path.display(), buffer.name);
            changed += usize::from(session.has_changed(i).unwrap());
        }
        for (i, symbol) in launch.symbols.iter().enumerate() {
            let Some(expect) = &symbol.expect else { continue };
            let comparison = compare(&session.variable(i).unwrap(), &expect.array, expect.tolerance);
            assert_eq!(comparison.mismatches, 0, "{} on {engine}: {}", path.display(), symbol.name);
            changed += 1;
        }
        assert_eq!(launch.printf.expect.clone().unwrap_or_default(), outcome.printed.text, "{}", path.display());
        (changed, outcome.printed.text)
    };
    let [a, b] = [EngineKind::Interp, EngineKind::Jit].map(run);
    assert_eq!(a, b);
    a
}

#[test]
fn captured_launches_replay_to_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in
        [("WARPLOOM_CAPTURE", folder.path().to_str().unwrap()), ("WARPLOOM_CAPTURE_MAX_BYTES", "4000000")]
    {
        // SAFETY: this is the only test of the process, and the library reads the environment later, at its start.
        unsafe { std::env::set_var(name, value) };
    }
    let driver = Driver::get("sm_52");
    let (_, function) = driver.load(NESTED.as_bytes(), "nested");
    let numbers = driver.alloc(4 * 64);
    driver.upload(numbers + 32, &[7; 4 * 32]);
    let structure = driver.alloc(8);
    driver.upload(structure, &(numbers + 32).to_le_bytes());
    let mut all = [0_u8; 16];
    all[..8].copy_from_slice(&structure.to_le_bytes());
    all[8..12].copy_from_slice(&3_u32.to_le_bytes());
    for _ in 0..2 {
        assert_eq!(driver.launch(function, 1, 32, 0, &[param(&all)]), 0);
    }
    // Too large to be written.
    let large = driver.alloc(5_000_000);
    driver.upload(structure, &large.to_le_bytes());
    assert_eq!(driver.launch(function, 1, 32, 0, &[param(&all)]), 0);
    ok!(driver, cuCtxSynchronize());

    let manifests = captured(folder.path());
    assert_eq!(manifests.len(), 2, "{manifests:?}");
    for manifest in &manifests {
        let (changed, printed) = replay(manifest);
        assert_eq!(changed, 2, "numbers, and the variable that counts");
        assert_eq!(printed, b"done!\n");
    }

    launch_with_images(driver);
    let with_images = captured(folder.path());
    let images: Vec<_> = with_images.iter().filter(|manifest| !manifests.contains(manifest)).collect();
    assert_eq!(images.len(), 1);
    assert_eq!(replay(images[0]).0, 1, "the surface's memory");
    let manifests = with_images;

    let examples = support::examples(".");
    let mut ran = 0;
    for (_, launch) in
        examples.iter().filter(|(path, _)| path.ends_with("saxpy.toml") || path.ends_with("histogram.toml"))
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
