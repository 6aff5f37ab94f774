//! Loops of guest code that rounds in a direction. The JIT leaves no instruction to the
//! interpreter, and a long loop calls no more helpers than a short loop.

use std::path::Path;
use std::process::Command;

const MAXWELL: &str = ".target sm_50
.kernel k
.param 4
.param 8
    S2R R0, SR_TID.X
    MOV R4, RZ
    I2F.F32.S32 R8, R0
    MOV32I R11, 0x3e99999a
    FADD R9, R8, R11
    MOV32I R11, 0x3f333333
    FMUL R10, R8, R11
    F2F.F64.F32 R12, R9
    F2F.F64.F32 R14, R10
    F2F.F64.F32 R16, R8
    MOV R5, R0
.Lloop:
    CODE
    LOP.XOR R5, R5, R20
    IADD R4, R4, 0x1
    ISETP.NE.AND P0, PT, R4, c[0x0][0x140], PT
    @P0 BRA .Lloop
    SHL R6, R0, 0x2
    IADD R6.CC, R6, c[0x0][0x148]
    IADD.X R7, RZ, c[0x0][0x14c]
    STG.E [R6], R5
    EXIT
";

const GFX9: &str = ".target gfx900
    v_lshlrev_b32_e32 v2, 2, v0
    v_cvt_f32_u32_e32 v8, v0
    v_add_f32_e32 v9, 0x3e99999a, v8
    v_mul_f32_e32 v10, 0x3f333333, v8
    v_cvt_f64_f32_e32 v[12:13], v9
    v_cvt_f64_f32_e32 v[14:15], v10
    v_cvt_f64_f32_e32 v[16:17], v8
    v_mov_b32_e32 v5, v0
    s_mov_b32 s8, 0
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), ROUNDING
.Lloop:
    CODE
    v_xor_b32_e32 v5, v5, v20
    s_add_u32 s8, s8, 1
    s_cmp_lg_u32 s8, s6
    s_cbranch_scc1 .Lloop
    global_store_dword v2, v5, s[4:5]
    s_endpgm
";

/// Checks that the engines agree on a program with this number of rounds. Returns the JIT's counts
/// of interpreted instructions and of helper calls.
fn counts(source: &str, manifest: &str, rounds: u32) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("k.s", source);
    write("k.toml", &manifest.replace("ROUNDS", &rounds.to_string()));
    run(folder.path(), &["--engine", "both"]);
    run(folder.path(), &["--engine", "jit", "--effort", "full", "--report", "report.json"]);
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    (count("interp_instructions"), count("helper_calls"))
}

fn run(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
    command.env("WARPLOOM_CACHE", "off");
    let output =
        command.args(["run", "k.toml"]).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn assert_native(code: &str, source: &str, manifest: &str) {
    let (interpreted, few) = counts(source, manifest, 20);
    assert_eq!(interpreted, 0, "{code}: instructions were interpreted");
    let (interpreted, many) = counts(source, manifest, 2000);
    assert_eq!(interpreted, 0, "{code}: instructions were interpreted");
    assert_eq!(few, many, "{code}: rounds call helpers");
}

#[test]
fn maxwell() {
    let codes = [
        "I2F.F32.U32.RP R20, R5",
        "I2F.F32.S32.RM R20, R5",
        "I2F.F32.S64.RZ R20, R12",
        "I2F.F64.U64.RP R20, R12",
        "I2F.F16.S32.RZ R20, R5",
        "FFMA.RZ R20, R9, R10, R8",
        "FFMA.FTZ.RM R20, R9, R10, R8",
        "FADD.RM R20, R9, R10",
        "FADD.FTZ.RP R20, R9, -R10",
        "FMUL.RZ R20, R9, R10",
        "DADD.RP R20, R12, R14",
        "DMUL.RZ R20, R12, R14",
        "DFMA.RM R20, R12, R14, R16",
        "F2F.F32.F64.RZ R20, R12",
        "F2F.F16.F64 R20, R12",
        "F2F.F16.F64.RP R20, R12",
        "F2F.F16.F32.RM R20, R9",
        "F2F.F32.F32.CEIL R20, R9",
        "F2F.F64.F64.FLOOR R20, R12",
        "F2I.S16.F32 R20, R9",
        "F2I.U16.F32.TRUNC R20, R9",
        "F2I.S16.F64.FLOOR R20, R12",
        "F2I.S32.F32.CEIL R20, R9",
        "F2I.U64.F32.TRUNC R20, R9",
    ];
    let manifest = r#"
kernel.binary = "k.s"
launch = { grid = [2, 1, 1], block = [64, 1, 1] }
arg = [{ i32 = ROUNDS }, { buffer = "x" }]
buffer.x = { dtype = "u32", zeros = 256 }
"#;
    for code in codes {
        assert_native(code, &MAXWELL.replace("CODE", code), manifest);
    }
}

#[test]
fn gfx9() {
    let codes = [
        "v_add_f32_e32 v20, v9, v10",
        "v_sub_f32_e32 v20, v9, v10",
        "v_mul_f32_e32 v20, v9, v10",
        "v_fma_f32 v20, v9, v10, v8",
        "v_mac_f32_e32 v20, v9, v10",
        "v_add_f64 v[20:21], v[12:13], v[14:15]",
        "v_mul_f64 v[20:21], v[12:13], v[14:15]",
        "v_fma_f64 v[20:21], v[12:13], v[14:15], v[16:17]",
        "v_add_f16_e32 v20, v9, v10",
        "v_fma_f16 v20, v9, v10, v8",
        "v_cvt_f32_u32_e32 v20, v5",
        "v_cvt_f32_i32_e32 v20, v5",
        "v_cvt_f32_f64_e32 v20, v[12:13]",
        "v_cvt_f16_f32_e32 v20, v9",
        "v_cvt_f16_u16_e32 v20, v5",
        "v_rndne_f32_e32 v20, v9",
        "v_ceil_f64_e32 v[20:21], v[12:13]",
        "v_cvt_i16_f16_e32 v20, v9",
        "v_cvt_pkrtz_f16_f32 v20, v9, v10",
        "v_pk_add_f16 v20, v9, v10",
    ];
    // Both rounding fields are equal: up, down, toward zero.
    for (mode, codes) in [("5", &codes[..]), ("10", &codes[..]), ("15", &codes[..])] {
        for code in codes {
            let manifest = r#"
kernel = { binary = "k.s", format = "gfx9-raw" }
launch = { grid = [2, 1, 1], block = [64, 1, 1] }
raw = { vgprs = 32, sgpr = [{ first = 4, buffer = "x" }, { first = 6, u32 = ROUNDS }], vgpr = [{ first = 0, builtin = "thread_id_x" }] }
buffer.x = { dtype = "u32", zeros = 256 }
"#;
            let source = GFX9.replace("CODE", code).replace("ROUNDING", mode);
            assert_native(&format!("{code} in mode {mode}"), &source, manifest);
        }
    }
}
