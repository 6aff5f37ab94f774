//! Plain GFX9 instruction streams from manifests, on both engines.

use std::path::Path;

use warploom::EngineKind;
use warploom_replay::{Launch, Session, compare};
use warploom_runtime::memory::Page;

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// A program for `out[lane of the grid]` = s2, s3, v1, v2. The out buffer's address is in s[0:1]
/// and the block's number in s5. v0 has the lane's number in its block of 100 lanes.
const REGISTERS: [u32; 11] = [
    0x9206_ff05, // s_mul_i32 s6, s5, 1600
    0x0000_0640,
    0x2410_0084, // v_lshlrev_b32 v8, 4, v0
    0x6810_1006, // v_add_u32 v8, s6, v8
    0x7e08_0202, // v_mov_b32 v4, s2
    0x7e0a_0203, // v_mov_b32 v5, s3
    0x7e0c_0301, // v_mov_b32 v6, v1
    0x7e0e_0302, // v_mov_b32 v7, v2
    0xdc7c_8000, // global_store_dwordx4 v8, v[4:7], s[0:1]
    0x0000_0408,
    0xbf81_0000, // s_endpgm
];

/// Returns a manifest of [`REGISTERS`] behind a word that is no instruction, with three blocks of
/// 10 x 10 lanes.
fn registers(text: &str) -> Launch {
    let folder = tempfile::tempdir().unwrap();
    let code: Vec<u8> =
        [u32::MAX].iter().chain(&REGISTERS).flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(folder.path().join("s.bin"), code).unwrap();
    let lanes: Vec<u32> = (0..100).collect();
    let manifest = format!(
        r#"
[kernel]
binary = "s.bin"
format = "gfx9-raw"
[launch]
grid = [3, 1, 1]
block = [10, 10, 1]
[buffer.out]
zeros = 4800
[raw]
entry = 4
vgprs = 12
scratch_bytes = 20
[[raw.sgpr]]
first = 0
buffer = "out"
[[raw.sgpr]]
first = 5
builtin = "workgroup_id_x"
[[raw.vgpr]]
first = 0
values = {lanes:?}
{text}"#
    );
    let path = folder.path().join("m.toml");
    std::fs::write(&path, manifest).unwrap();
    Launch::read(&path).unwrap()
}

/// Returns the four words of each lane of the grid; both engines must agree.
fn stored(launch: &Launch) -> Vec<[u32; 4]> {
    let run = |engine| {
        let session = Session::new(launch).unwrap();
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        assert_eq!(outcome.fault, None, "{engine}");
        let bytes = session.buffer(0).unwrap();
        let words: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        words.as_chunks::<4>().0.to_vec()
    };
    let [interp, jit] = ENGINES.map(run);
    assert_eq!(interp, jit);
    interp
}

#[test]
fn the_examples_give_what_is_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gfx9/raw");
    let mut examples: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    examples.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    assert_eq!(examples.len(), 5);
    for path in examples {
        let label = path.display();
        let launch = Launch::read(&path).unwrap();
        let counts = ENGINES.map(|engine| {
            let session = Session::new(&launch).unwrap();
            assert_eq!(session.kernel().unwrap().name(), path.file_stem().unwrap());
            // The second launch starts from the same memory.
            for _ in 0..2 {
                session.reset().unwrap();
                let outcome = session.launch(&session.options(engine, 1), None).unwrap();
                assert_eq!(outcome.fault, None, "{label}, {engine}");
            }
            for (i, buffer) in launch.buffers.iter().enumerate() {
                assert_eq!(
                    session.has_changed(i).unwrap(),
                    buffer.expect.is_some(),
                    "{label}: {}",
                    buffer.name
                );
                let Some(expect) = &buffer.expect else { continue };
                let got = session.buffer(i).unwrap();
                let comparison = compare(&got, &expect.array, expect.tolerance);
                assert_eq!(comparison.mismatches, 0, "{label}, {engine}: {comparison}");
            }
            session.launch(&session.options(engine, 1), None).unwrap().counts.lane_instructions
        });
        assert_eq!(counts[0], counts[1], "{label}");
    }
}

/// Addresses in descriptors have 48 bits, and the top bit is repeated.
#[test]
fn buffers_may_lie_at_the_upper_end() {
    for name in ["census", "nearest", "scale", "texels", "transpose"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/gfx9/raw/{name}.toml"));
        let mut launch = Launch::read(&path).unwrap();
        for (i, buffer) in launch.buffers.iter_mut().enumerate() {
            buffer.address.get_or_insert(0xffff_9000_0000_0000 + (i as u64) * 0x10_0000);
        }
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            assert_eq!(outcome.fault, None, "{name}, {engine}");
            for (i, buffer) in launch.buffers.iter().enumerate() {
                let Some(expect) = &buffer.expect else { continue };
                let comparison =
                    compare(&session.buffer(i).unwrap(), &expect.array, expect.tolerance);
                assert_eq!(comparison.mismatches, 0, "{name}, {engine}: {comparison}");
            }
        }
    }
}

#[test]
fn registers_hold_what_the_manifest_says() {
    let names: Vec<u32> = (0..100).map(|lane| 1000 + 7 * lane).collect();
    let launch = registers(&format!(
        r#"
[[raw.sgpr]]
first = 2
values = [5, 4294967294]
[[raw.vgpr]]
first = 1
values = {names:?}
[[raw.vgpr]]
first = 2
builtin = "thread_id_y"
"#
    ));
    for (lane, words) in stored(&launch).into_iter().enumerate() {
        let lane = lane as u32 % 100;
        assert_eq!(words, [5, u32::MAX - 1, names[lane as usize], lane / 10], "lane {lane}");
    }
}

#[test]
fn registers_of_waves_and_constants() {
    let launch = registers(
        r#"
[[raw.sgpr]]
first = 2
builtin = "scratch_wave_offset"
[[raw.sgpr]]
first = 3
builtin = "workgroup_info"
[[raw.vgpr]]
first = 1
f64 = 1.5
"#,
    );
    for (lane, words) in stored(&launch).into_iter().enumerate() {
        let first = lane % 100 < 64;
        // 20 bytes round up to 32, for 64 lanes. Waves that do not run at the same time may share
        // scratch.
        assert!([0, 32 * 64].contains(&words[0]), "lane {lane}: {}", words[0]);
        assert_eq!(words[1], if first { 1 << 31 | 2 } else { 2 }, "lane {lane}");
        assert_eq!(words[2..], [0, 0x3ff8_0000], "lane {lane}");
    }
}

#[test]
fn buffers_lie_where_they_should() {
    let launch = registers(
        r#"
[buffer.table]
values = [1, 2, 3, 4, 5, 6]
dtype = "u32"
address = "0xffff800000010000"
parts = [{ at = 4, buffer = "near" }, { at = 8, buffer_descriptor = { buffer = "table" } }]
[buffer.near]
zeros = 70000
address = "0x200000000"
"#,
    );
    let session = Session::new(&launch).unwrap();
    let position =
        |name: &str| launch.buffers.iter().position(|buffer| buffer.name == name).unwrap();
    let (table, memory) = (position("table"), session.program().memory());
    assert_eq!(memory.range_of(0xffff_8000_0001_0000), Some((0xffff_8000_0001_0000, 1 << 16)));
    assert_eq!(memory.range_of(0x2_0000_0000), Some((0x2_0000_0000, 2 << 16)));
    let expected = [1_u32, 0, 0x1_0000, 0x8000, 24, 0x0002_7fac];
    for _ in 0..2 {
        let bytes = session.buffer(table).unwrap();
        assert_eq!(bytes, expected.map(u32::to_le_bytes).as_flattened());
        assert!(!session.has_changed(table).unwrap());
        memory.write(0xffff_8000_0001_0000 + 4, &[1]).unwrap();
        assert!(session.has_changed(table).unwrap());
        session.reset().unwrap();
    }
    assert!(matches!(memory.page(0xffff_8000_0002_0000), Page::Unmapped));
}

#[test]
fn buffers_that_cannot_lie_there() {
    let message = |text: &str| Session::new(&registers(text)).map(|_| ()).unwrap_err().to_string();
    let overlap = message(
        "[buffer.a]\nzeros = 70000\naddress = 0x300000000\n[buffer.b]\nzeros = 4\naddress = 0x300010000\n",
    );
    assert!(overlap.contains("buffer `b`") && overlap.contains("0x300010000"), "{overlap}");
    let null = message("[buffer.a]\nzeros = 4\naddress = 0\n");
    assert!(null.contains("buffer `a`"), "{null}");
}

/// Returns the command's output and its complaints.
fn warploom(args: &[&str]) -> (String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    let output = command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_shows_streams() {
    let scale = "examples/gfx9/raw/scale.bin";
    let (listing, _) = warploom(&["disasm", "--isa", "gfx9", scale]);
    assert!(
        listing.starts_with("000000  v_lshl_add_u32 v0, s5, 6, v0\n000008  s_mov_b64"),
        "{listing}"
    );
    assert!(listing.trim_end().ends_with("s_endpgm") && !listing.contains("illegal"), "{listing}");
    let (words, _) = warploom(&["disasm", "--isa", "gfx9", "--hex", scale]);
    assert!(
        words.starts_with("000000  v_lshl_add_u32 v0, s5, 6, v0  // d1fd0000 04010c05\n"),
        "{words}"
    );

    let folder = tempfile::tempdir().unwrap();
    let strange = folder.path().join("s.bin");
    std::fs::write(&strange, [0xff, 0xff, 0xff, 0xff, 0, 0, 0x81, 0xbf, 1]).unwrap();
    let (listing, _) = warploom(&["disasm", "--isa", "gfx9", strange.to_str().unwrap()]);
    let expected =
        ["000000  illegal word 0xffffffff", "000004  s_endpgm", "000008  1 bytes that are no word"];
    assert_eq!(listing.lines().collect::<Vec<_>>(), expected);

    let (blocks, _) = warploom(&["dump", "examples/gfx9/raw/scale.toml", "--stage", "blocks"]);
    assert!(blocks.contains("buffer_load_dword v1, v0, s[8:11], 0 offen"), "{blocks}");
    for command in
        [&["inspect", scale][..], &["disasm", scale], &["dump", scale, "scale", "--stage", "ir"]]
    {
        let (_, message) = warploom(command);
        assert!(
            message.contains("not a GPU binary") && message.contains("--isa gfx9"),
            "{message}"
        );
    }
    let (_, message) = warploom(&["disasm", "--isa", "maxwell", scale]);
    assert!(message.contains("--hex-lines"), "{message}");
}

/// `[kernel] arch` selects the GPU: some GPUs round once for a word that all GPUs share.
#[test]
fn the_processor_can_be_chosen() {
    // LLVM encodes the words as: v_mov_b32 v1, 1 + 2^-12; v_mov_b32 v2, -(1 + 2^-11); v_fma_mix_f32
    // v3, v1, v1, v2, which gfx900 calls v_mad_mix_f32; v_mov_b32 v4, 0; global_store_dword v4, v3,
    // s[0:1]; s_endpgm.
    const WORDS: [u32; 10] = [
        0x7e02_02ff,
        0x3f80_0800,
        0x7e04_02ff,
        0xbf80_1000,
        0xd3a0_0003,
        0x040a_0301,
        0x7e08_0280,
        0xdc70_8000,
        0x0000_0304,
        0xbf81_0000,
    ];
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("s.bin"),
        WORDS.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>(),
    )
    .unwrap();
    let launch = |arch: &str| {
        let manifest = format!(
            r#"
[kernel]
binary = "s.bin"
format = "gfx9-raw"
{arch}
[launch]
grid = [1, 1, 1]
block = [64, 1, 1]
[raw]
vgprs = 8
[[raw.sgpr]]
first = 0
buffer = "out"
[buffer.out]
zeros = 4
"#
        );
        let path = folder.path().join("m.toml");
        std::fs::write(&path, manifest).unwrap();
        Launch::read(&path).unwrap()
    };
    // The square is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11.
    let fused = 2_f32.powi(-24);
    for (arch, expected) in [
        ("", 0.0),
        ("arch = \"gfx900\"", 0.0),
        ("arch = \"gfx904:xnack-\"", fused),
        ("arch = \"gfx906\"", fused),
    ] {
        let launch = launch(arch);
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            assert_eq!(session.launch(&session.options(engine, 1), None).unwrap().fault, None);
            let stored = f32::from_le_bytes(session.buffer(0).unwrap().try_into().unwrap());
            assert_eq!(stored, expected, "{arch} ({engine})");
        }
    }
    let message = Session::new(&launch("arch = \"sm_50\"")).map(drop).unwrap_err().to_string();
    assert!(
        message.contains(
            "no code for sm_50 that warploom runs: the file holds a plain stream of GFX9"
        ),
        "{message}"
    );
}
