//! GFX9 code that other people's programs rely on, with right results that warploom did not make;
//! and messages and reports for code that warploom does not execute. `fixtures/gfx9/cases` has the
//! programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use warploom::EngineKind;
use warploom_gfx9::{assemble, assemble_for, decode};
use warploom_guest::chip::Chip;
use warploom_replay::{Launch, Session, compare};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gfx9/cases").join(name)
}

fn runs_as_expected(name: &str) {
    let launch = Launch::read(&case(name).join("m.toml")).unwrap();
    for (engine, threads) in
        [EngineKind::Interp, EngineKind::Jit].into_iter().flat_map(|e| [(e, 1), (e, 2)])
    {
        let session = Session::new(&launch).unwrap();
        let outcome = session.launch(&session.options(engine, threads), None).unwrap();
        assert_eq!(outcome.fault, None, "{engine}, {threads} threads");
        for (i, buffer) in launch.buffers.iter().enumerate() {
            let expect = buffer.expect.as_ref().expect("a buffer that is compared");
            let comparison = compare(&session.buffer(i).unwrap(), &expect.array, expect.tolerance);
            assert_eq!(
                comparison.mismatches, 0,
                "{engine}, {threads} threads, {}: {comparison}",
                buffer.name
            );
        }
    }
}

#[test]
fn lds_direct() {
    runs_as_expected("lds_direct");
}

#[test]
fn buffer_format_invalid() {
    runs_as_expected("buffer_format_invalid");
}

#[test]
fn cmp_i64_literal() {
    runs_as_expected("cmp_i64_literal");
}

fn warploom(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    command.env_remove("WARPLOOM_ENGINE").env_remove("WARPLOOM_LOG").args(args).output().unwrap()
}

/// Launches one wave of assembly for a GPU. Returns the exit code, the message and the report.
fn run_for(
    target: &str,
    code: &str,
    engine: &str,
    threads: &str,
) -> (i32, String, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.s"), format!(".target {target}\n{code}\ns_endpgm\n"))
        .unwrap();
    let manifest = folder.path().join("m.toml");
    let text = "[kernel]\nbinary = \"k.s\"\nformat = \"gfx9-raw\"\n[launch]\ngrid = [1, 1, 1]\nblock = [64, 1, 1]\n[raw]\nvgprs = 8\nlds_bytes = 64\n";
    std::fs::write(&manifest, text).unwrap();
    let report = folder.path().join("r.json");
    let paths = [&manifest, &report].map(|path| path.to_str().unwrap());
    let ran = warploom(&[
        "run",
        paths[0],
        "--engine",
        engine,
        "--threads",
        threads,
        "--report",
        paths[1],
    ]);
    let report = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    (ran.status.code().unwrap(), String::from_utf8(ran.stderr).unwrap(), report)
}

fn run(code: &str, engine: &str, threads: &str) -> (i32, String, serde_json::Value) {
    run_for("gfx900", code, engine, threads)
}

/// The message names an instruction that is not executed with its text, and the report gives it a
/// class beside the executed classes.
#[test]
fn what_is_not_executed_is_reported() {
    for text in [
        "v_mov_b32_e32 v1, src_pops_exiting_wave_id",
        "v_mov_b32_e32 v1, src_shared_base",
        "v_mov_b32_e32 v1, ttmp2",
    ] {
        for (engine, threads) in [("interp", "1"), ("interp", "2"), ("jit", "1"), ("jit", "2")] {
            let (code, message, report) =
                run(&format!("v_mov_b32_e32 v0, 1\n{text}"), engine, threads);
            assert_eq!(code, 2, "{text}: {message}");
            assert!(message.contains(text), "{message}");
            assert_eq!(report["faults"][0]["instruction"], text);
            let mut classes: Vec<_> = report["fidelity"].as_array().unwrap().iter().collect();
            classes.sort_by_key(|entry| entry["class"].as_str().unwrap().to_owned());
            let found: Vec<_> = classes
                .iter()
                .map(|e| [&e["instruction"], &e["class"]].map(|v| v.as_str().unwrap()))
                .collect();
            assert_eq!(
                found,
                [["v_mov_b32_e32", "exact"], ["v_mov_b32_e32", "unimplemented"]],
                "{text}"
            );
        }
    }
}

/// A type that m0 cannot have is a fault; memory that a block does not have reads 0.
#[test]
fn lds_direct_types() {
    let direct = |m0: u32| {
        format!(
            "s_mov_b32 m0, {m0:#x}\nv_mov_b32_e32 v1, src_lds_direct\nv_readfirstlane_b32 s0, v1"
        )
    };
    for (engine, threads) in [("interp", "1"), ("jit", "1"), ("jit", "2")] {
        for ty in [3, 6, 7] {
            let (code, message, _) = run(&direct(ty << 16), engine, threads);
            assert_eq!(code, 2, "{message}");
            assert!(message.contains("v_mov_b32_e32 v1, src_lds_direct"), "{message}");
        }
        for ty in [0, 1, 2, 4, 5] {
            let (code, message, _) = run(&direct(ty << 16 | 0xfffc), engine, threads);
            assert_eq!(code, 0, "{message}");
        }
    }
}

/// Returns the exit code and the listing of k.hsaco with some bytes replaced.
fn listing(changes: &[(&[u8], &[u8])], mach: u8, more: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(case("disasm/k.hsaco")).unwrap();
    // The field EF_AMDGPU_MACH of `e_flags`.
    bytes[0x30] = mach;
    for (from, to) in changes {
        let places: Vec<_> =
            (0..=bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
        assert!(!places.is_empty(), "{from:?}");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    let path = folder.path().join("k.hsaco");
    std::fs::write(&path, bytes).unwrap();
    let ran = warploom(&[&["disasm", path.to_str().unwrap()], more].concat());
    (
        ran.status.code(),
        String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap(),
    )
}

const GFX906: u8 = 0x2f;

/// Returns the addresses and texts as `llvm-objdump` prints them.
fn expected() -> String {
    let text = std::fs::read_to_string(case("disasm/expected.txt")).unwrap();
    text.lines().map(|line| format!("00{line}\n")).collect()
}

#[test]
fn all_code_is_listed() {
    assert_eq!(listing(&[], GFX906, &[]), (Some(0), format!("k:\n{}", expected())));
    // A function ends where its symbol says.
    let function: String = expected().lines().take(4).map(|line| format!("{line}\n")).collect();
    assert_eq!(listing(&[], GFX906, &["k"]), (Some(0), format!("k:\n{function}")));
    // The kernel's descriptor has another name, and its function symbol has another type.
    let hidden: &[(&[u8], &[u8])] = &[(b"k.kd\0", b"k.kx\0"), (&[0x12, 3], &[0x10, 3])];
    assert_eq!(listing(hidden, GFX906, &[]), (Some(0), expected()));
    let (code, message) = listing(hidden, GFX906, &["k"]);
    assert!(code == Some(3) && message.contains("no function `k`"), "{message}");
}

/// Names depend on the GPU: gfx900, 902, 904, 906, 909 and 90c.
#[test]
fn names_are_those_of_the_gpu() {
    for (mach, fused) in
        [(0x2c, false), (0x2d, false), (0x2e, true), (0x2f, true), (0x31, false), (0x32, false)]
    {
        let expected =
            if fused { expected() } else { expected().replace("v_fma_mix", "v_mad_mix") };
        assert_eq!(listing(&[], mach, &[]), (Some(0), format!("k:\n{expected}")), "{mach:#x}");
    }
}

/// Text is assembled and executed as the GPU does it. With e = 2^-23, (1 + e) * (1 + e) - (1 + 2 e)
/// is 2^-46 if it is rounded once.
#[test]
fn mixed_precision_is_that_of_the_target() {
    let code = |name: &str, result: &str| {
        format!(
            "v_mov_b32_e32 v1, 0x3f800001\nv_mov_b32_e32 v2, 0xbf800002\n{name} v3, v1, v1, v2\n\
             v_cmp_ne_u32_e32 vcc, {result}, v3\ns_cbranch_vccz .LEND\ns_trap 2\n.LEND:"
        )
    };
    let [mad, fma] = [("v_mad_mix_f32", "0"), ("v_fma_mix_f32", "0x28800000")]
        .map(|(name, bits)| code(name, bits));
    for (target, code) in [("gfx900", &mad), ("gfx90c", &mad), ("gfx904", &fma), ("gfx906", &fma)] {
        for engine in ["interp", "jit"] {
            let (ending, message, report) = run_for(target, code, engine, "1");
            assert_eq!(ending, 0, "{target}: {message}");
            let name = code.lines().nth(2).unwrap().split(' ').next().unwrap();
            assert!(
                report["fidelity"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|entry| entry["instruction"] == name),
                "{report}"
            );
        }
    }
}

/// GPUs have the instructions that LLVM's assembler and disassembler give them.
#[test]
fn instructions_of_the_gpus() {
    let all = [Chip::Any, Chip::Gfx900, Chip::Gfx904, Chip::Gfx906, Chip::Generic];
    let cases: [(&str, &[Chip]); 7] = [
        ("v_add_f32_e32 v0, v1, v2", &all),
        ("v_fmac_f32_e32 v0, v1, v2", &[Chip::Any, Chip::Gfx906]),
        ("v_xnor_b32_e64 v0, v1, v2", &[Chip::Any, Chip::Gfx906]),
        ("v_dot2_f32_f16 v0, v1, v2, v3", &[Chip::Any, Chip::Gfx906]),
        ("v_dot8_u32_u4 v0, v1, v2, v3", &[Chip::Any, Chip::Gfx906]),
        ("v_mad_mixlo_f16 v0, v1, v2, v3", &[Chip::Any, Chip::Gfx900]),
        ("v_fma_mixhi_f16 v0, v1, v2, v3", &[Chip::Gfx904, Chip::Gfx906]),
    ];
    for (text, wanted) in cases {
        for chip in all {
            let bytes = assemble_for(text, chip);
            assert_eq!(bytes.is_ok(), wanted.contains(&chip), "{text}, {chip:?}");
            if let Ok(bytes) = bytes {
                let instruction = decode(chip, &bytes).expect("an instruction");
                assert_eq!(chip.named(instruction.text(0)), text, "{chip:?}");
            }
        }
    }
    let words = assemble("v_mad_mix_f32 v0, v1, v2, v3").unwrap();
    assert_eq!(all.map(|chip| decode(chip, &words).is_some()), [true, true, true, true, false]);
}
