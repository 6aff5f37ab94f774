//! Captured launches, and their replay.

use std::path::{Path, PathBuf};

use warploom::EngineKind;
use warploom_replay::{Launch, Session, compare};

use super::{Driver, ok};

/// A kernel that follows a pointer in memory to numbers, adds a variable of its module, counts
/// launches in another variable, and prints.
pub const NESTED: &str = r#"
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

/// Launches [`NESTED`] twice with little memory, and once with 5,000,000 bytes.
pub fn launch_nested(driver: &Driver, launch: impl Fn(u64, &[u8; 16]) -> u32) {
    let (_, function) = driver.load(NESTED.as_bytes(), "nested");
    let numbers = driver.alloc(4 * 64);
    driver.upload(numbers + 32, &[7; 4 * 32]);
    let structure = driver.alloc(8);
    driver.upload(structure, &(numbers + 32).to_le_bytes());
    let mut all = [0_u8; 16];
    all[..8].copy_from_slice(&structure.to_le_bytes());
    all[8..12].copy_from_slice(&3_u32.to_le_bytes());
    for _ in 0..2 {
        assert_eq!(launch(function, &all), 0);
    }
    let large = driver.alloc(5_000_000);
    driver.upload(structure, &large.to_le_bytes());
    assert_eq!(launch(function, &all), 0);
    ok!(driver, cuCtxSynchronize());
}

/// Returns the manifests in a folder.
pub fn captured(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut manifests: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    manifests.sort();
    manifests
}

/// Replays a manifest. Returns the number of its buffers and variables that change, and its output.
pub fn replay(path: &Path) -> (usize, Vec<u8>) {
    let launch = Launch::read(path).unwrap_or_else(|error| panic!("{error}"));
    let run = |engine| {
        let session =
            Session::new(&launch).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
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
            let comparison =
                compare(&session.variable(i).unwrap(), &expect.array, expect.tolerance);
            assert_eq!(comparison.mismatches, 0, "{} on {engine}: {}", path.display(), symbol.name);
            changed += 1;
        }
        if let Some(expect) = &launch.printf.expect {
            assert_eq!(*expect, outcome.printed.text, "{}", path.display());
        }
        (changed, outcome.printed.text)
    };
    let [a, b] = [EngineKind::Interp, EngineKind::Jit].map(run);
    assert_eq!(a, b);
    a
}
