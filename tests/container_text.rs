//! Programs as text, in assembly and IR: reading them, running them by the command, and error
//! messages.

use std::path::Path;
use std::process::{Command, Output};

use arbitrary::Unstructured;
use warploom_container::{Error, Isa};
use warploom_testing::check::Subject;
use warploom_testing::code::{self, Code};
use warploom_testing::{Case, gfx9, maxwell};

const TWICE: &str = "// Doubles words.
.target sm_50
.kernel twice
.param 4
.param 8
.shared 64
.local 16
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, c[0x0][0x140], PT
    @P0 BRA .Lend // not all
    SHL R2, R0, 0x2
    IADD R2.CC, R2, c[0x0][0x148]
    IADD.X R3, RZ, c[0x0][0x14c]
    LDG.E R4, [R2]
    IADD R4, R4, R4
    STG.E [R2], R4
.Lend:
    EXIT
";

const TWICE_MANIFEST: &str = r#"
kernel.binary = "twice.s"
launch = { grid = [1, 1, 1], block = [8, 1, 1] }
arg = [{ i32 = 5 }, { buffer = "x" }]
buffer.x = { dtype = "u32", values = [1, 2, 3, 4, 5, 6, 7, 8] }
"#;

fn warploom(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warploom"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_kernel_in_assembly() {
    let module = warploom_container::modules(TWICE.as_bytes()).unwrap().remove(0);
    assert_eq!(module.isa, Isa::Maxwell { sm: 50 });
    let (_, kernel) = module.kernels().next().unwrap();
    assert_eq!(
        (kernel.name.as_str(), kernel.shared_bytes, kernel.stack_bytes),
        ("twice", 64, Some(16))
    );
    let params: Vec<_> = kernel.params.iter().map(|param| (param.offset, param.size)).collect();
    assert_eq!(params, [(0, 4), (8, 8)]);

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("twice.s"), TWICE).unwrap();
    std::fs::write(folder.path().join("twice.toml"), TWICE_MANIFEST).unwrap();
    let output = warploom(&["run", "twice.toml", "--engine", "both", "--out", "."], folder.path());
    assert!(
        output.status.success() && text(&output).contains("both engines agree"),
        "{}",
        text(&output)
    );
    let array =
        warploom_replay::npy::read(&std::fs::read(folder.path().join("x.npy")).unwrap()[..])
            .unwrap();
    let words: Vec<u32> =
        array.bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    assert_eq!(words, [2, 4, 6, 8, 10, 6, 7, 8]);
    // Branches lead to the labels.
    let listing = text(&warploom(&["disasm", "twice.s"], folder.path()));
    assert!(listing.contains("@P0 BRA `(.L_x_0)") && listing.contains(".L_x_0:"), "{listing}");
}

/// Proves that a kernel can call a function of the driver by its name, as the disassembler prints
/// it.
#[test]
fn a_kernel_that_prints() {
    let call =
        "MOV R6, RZ\nMOV R7, RZ\nMOV R4, c[0x0][0x148]\nMOV R5, c[0x0][0x14c]\nJCAL `(vprintf)\n";
    // A call without a format prints nothing.
    let nothing = "MOV R4, RZ\nMOV R5, RZ\nJCAL `(vprintf)\n";
    let source = TWICE.replace(".Lend:\n", &format!("{call}{nothing}{call}.Lend:\n"));
    let module = warploom_container::modules(source.as_bytes()).unwrap().remove(0);
    let undefined: Vec<_> =
        module.symbols.iter().filter(|symbol| symbol.section.is_none()).collect();
    assert_eq!((undefined.len(), undefined[0].name.as_str()), (1, "vprintf"));

    // The kernel doubles the format before it prints the format.
    let half = u32::from_le_bytes(*b"b%%\n") / 2;
    let manifest =
        TWICE_MANIFEST.replace("1, 2, 3, 4, 5, 6, 7, 8", &format!("{half}, 0, 0, 0, 0, 0, 0, 0"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("twice.s"), source).unwrap();
    std::fs::write(folder.path().join("twice.toml"), manifest).unwrap();
    let output = warploom(&["run", "twice.toml", "--engine", "both"], folder.path());
    let text = text(&output);
    assert!(output.status.success() && text.contains("both engines agree"), "{text}");
    assert_eq!(text.lines().filter(|&line| line == "b%").count(), 10, "{text}");
}

#[test]
fn mistakes_are_told_by_line() {
    for (from, to, message) in [
        (
            "IADD R4, R4, R4",
            "IADD R4, R4",
            "line 15: `IADD R4, R4`: no encoding in the table prints this: an operand is missing, or these do not go together",
        ),
        (".Lend:", ".Lnd:", "line 10: there is no label `.Lend`"),
        ("    EXIT", ".Lend:\n    EXIT", "line 18: label `.Lend` stands for two places"),
        (".param 4", ".param", "line 4: ``: expected 1 to 65536 bytes"),
        (".param 4", ".param 65536", "line 4: expected at most 65216 bytes of parameters"),
        (
            ".shared 64",
            ".share 64",
            "line 6: `.share`: expected .kernel, .param, .shared, .local, .stage or a label",
        ),
        ("BRA .Lend", "JCAL `(f", "line 10: expected `(NAME) in `@P0 JCAL `(f`"),
        (
            "BRA .Lend",
            "BRA `(f)",
            "line 10: `@P0 BRA `(f)`: only JCAL and JMP reach a function by its name",
        ),
        (
            "sm_50",
            "sm_90",
            "line 2: `.target sm_90`: expected .target with sm_50, sm_75, sm_80, sm_86, sm_89 or gfx900",
        ),
    ] {
        let error =
            warploom_container::modules(TWICE.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(matches!(error, Error::Text { .. }), "{error}");
        assert_eq!(error.to_string(), message);
    }
    let gfx9 = warploom_container::modules(b".target gfx900\ns_endpgm").unwrap_err().to_string();
    assert!(gfx9.contains("gfx9-raw"), "{gfx9}");
    let ir = warploom_container::modules(b"function \"f\" lanes 32 nan 0 0 0 {").unwrap_err();
    assert!(matches!(ir, Error::Ir { .. }), "{ir}");
}

#[test]
fn gfx9_labels_go_both_ways() {
    let source = ".target gfx900\n.La:\ns_branch .Lb\ns_mov_b32 s0, 0x12345678\n.Lb:\ns_cbranch_scc0 .La\ns_endpgm";
    let code = warploom_container::text::stream(source.as_bytes()).unwrap();
    let words: Vec<u32> = code.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    assert_eq!(words, [0xbf82_0002, 0xbe80_00ff, 0x1234_5678, 0xbf84_fffc, 0xbf81_0000]);
    // Bytes that are no text stay unchanged.
    assert_eq!(warploom_container::text::stream(&code).unwrap(), code);
}

/// Proves that the command runs the reproducers that a fuzzer would write.
#[test]
fn reproducers_run() {
    let bytes: Vec<u8> = (0..900_u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect();
    let folder = tempfile::tempdir().unwrap();
    let cases: [Case; 2] = [maxwell::kernel, gfx9::kernel]
        .map(|kernel| kernel(&mut Unstructured::new(&bytes)).unwrap());
    let codes = [code::Isa::Maxwell, code::Isa::Gfx9]
        .map(|isa| Code::smart(isa, &mut Unstructured::new(&bytes)).unwrap());
    let reproducers =
        cases.iter().map(Subject::reproducer).chain(codes.iter().map(Subject::reproducer));
    for (number, reproducer) in reproducers.enumerate() {
        let path = reproducer
            .expect("a reproducer")
            .write(folder.path(), &format!("case{number}"))
            .unwrap();
        let output = warploom(&["run", path.to_str().unwrap(), "--engine", "both"], folder.path());
        let text = text(&output);
        assert!(text.contains("both engines agree"), "{number}: {text}");
    }
}

/// Runs a plain stream of GFX9 instructions on a block of `lanes` lanes. v0 has the lane's number,
/// s[4:5] the address of an array with a word for each lane.
///
/// Returns the command's output, the words, and the folder of the run.
fn run_gfx9(
    program: &str,
    lanes: u32,
    arguments: &[&str],
) -> (Output, Vec<u32>, tempfile::TempDir) {
    let manifest = format!(
        r#"
kernel = {{ binary = "program.s", format = "gfx9-raw" }}
launch = {{ grid = [1, 1, 1], block = [{lanes}, 1, 1], instruction_limit = 2000000 }}
raw = {{ vgprs = 4, sgpr = [{{ first = 4, buffer = "x" }}], vgpr = [{{ first = 0, builtin = "thread_id_x" }}] }}
buffer.x = {{ dtype = "u32", zeros = {} }}
"#,
        4 * lanes
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("program.s"), program).unwrap();
    std::fs::write(folder.path().join("program.toml"), manifest).unwrap();
    let output =
        warploom(&[&["run", "program.toml", "--out", "."], arguments].concat(), folder.path());
    assert!(output.status.success(), "{}", text(&output));
    let array =
        warploom_replay::npy::read(&std::fs::read(folder.path().join("x.npy")).unwrap()[..])
            .unwrap();
    let words = array.bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    (output, words, folder)
}

/// Proves that many functions in several regions of the JIT can be called once each; they return by
/// indirect jumps.
#[test]
fn many_functions_are_called() {
    const FUNCTIONS: usize = 400;
    let calls: String = (0..FUNCTIONS).map(|n| format!("s_call_b64 s[30:31], .Lf{n}\n")).collect();
    let functions: String = (0..FUNCTIONS)
        .map(|n| format!(".Lf{n}:\nv_add_u32_e32 v1, {}, v1\ns_setpc_b64 s[30:31]\n", n % 60))
        .collect();
    let start = ".target gfx900\nv_mov_b32_e32 v1, v0\nv_lshlrev_b32_e32 v2, 2, v0\n";
    let end = "global_store_dword v2, v1, s[4:5]\ns_endpgm\n";
    let program = [start, &calls, end, &functions].concat();
    for effort in ["quick", "full"] {
        let (output, words, _) = run_gfx9(&program, 64, &["--engine", "both", "--effort", effort]);
        let text = text(&output);
        assert!(text.contains("both engines agree"), "{text}");
        let sum = (0..FUNCTIONS as u32).map(|n| n % 60).sum::<u32>();
        assert!(words.into_iter().eq((0..64).map(|lane| lane + sum)), "{effort}");
    }
}

/// Proves that functions whose addresses only running code knows are found one by one, while warps
/// wait at barriers in the functions found before. Code that runs long there is translated.
#[test]
fn functions_are_found_while_warps_wait() {
    // The code asks for the address after `where_*` and calls it. The address of `b` is lower, and
    // `a` calls `b`.
    let program = "
.target gfx900
    v_mov_b32_e32 v1, v0
    v_lshlrev_b32_e32 v2, 2, v0
    s_call_b64 s[24:25], .Lwhere_a
    s_add_u32 s20, s20, 4
    s_addc_u32 s21, s21, 0
    s_swappc_b64 s[30:31], s[20:21]
    global_store_dword v2, v1, s[4:5]
    s_endpgm
.Lwhere_b:
    s_getpc_b64 s[20:21]
    s_setpc_b64 s[24:25]
    v_add_u32_e32 v1, 9, v1
    s_barrier
    s_mov_b32 s38, 0x10000
.Lloop:
    v_add_u32_e32 v1, 3, v1
    s_sub_u32 s38, s38, 1
    s_cmp_lg_u32 s38, 0
    s_cbranch_scc1 .Lloop
    s_call_b64 s[36:37], .Lleaf
    v_lshlrev_b32_e32 v1, 1, v1
    s_setpc_b64 s[34:35]
.Lleaf:
    v_add_u32_e32 v1, 11, v1
    s_setpc_b64 s[36:37]
.Lwhere_a:
    s_getpc_b64 s[20:21]
    s_setpc_b64 s[24:25]
    v_add_u32_e32 v1, 7, v1
    s_barrier
    v_xor_b32_e32 v1, 5, v1
    s_call_b64 s[24:25], .Lwhere_b
    s_add_u32 s20, s20, 4
    s_addc_u32 s21, s21, 0
    s_swappc_b64 s[34:35], s[20:21]
    s_barrier
    v_add_u32_e32 v1, 3, v1
    s_setpc_b64 s[30:31]
";
    for engine in ["jit", "interp", "both"] {
        let (_, words, folder) =
            run_gfx9(program, 256, &["--engine", engine, "--report", "report.json"]);
        assert!(
            words
                .into_iter()
                .eq((0..256).map(|lane| (((lane + 7) ^ 5) + 9 + 0x30000 + 11) * 2 + 3)),
            "{engine}"
        );
        if engine == "jit" {
            let report: serde_json::Value =
                serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap())
                    .unwrap();
            let count = |name: &str| report[name].as_u64().unwrap();
            assert!(count("interp_instructions") < count("instructions") / 8, "{report}");
        }
    }
}

/// Proves that the target of a jump to a computed address keeps the rounding mode, here upward. The
/// target is known before the launch, so it is lifted in this mode, too.
#[test]
fn far_jumps_keep_the_mode() {
    let program = "
.target gfx900
    v_lshlrev_b32_e32 v2, 2, v0
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
    s_getpc_b64 s[20:21]
    s_add_u32 s20, s20, 16
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
    s_endpgm
    v_mov_b32_e32 v1, 0x3f800001
    v_add_f32_e32 v1, 1.0, v1
    global_store_dword v2, v1, s[4:5]
    s_endpgm
";
    let (_, words, _) = run_gfx9(program, 64, &["--engine", "both"]);
    // 2 plus half of its last place, rounded up.
    assert!(words.iter().all(|&word| word == 0x4000_0001));
}

/// Proves a far jump whose address an overlapping instruction computes. The outer instruction was
/// explored first.
#[test]
fn far_jumps_of_instructions_that_overlap() {
    let program = "
.target gfx900
    v_lshlrev_b32_e32 v2, 2, v0
    s_cmp_eq_u32 s4, s4
    s_cbranch_scc1 1
    v_mov_b32_e32 v1, 0xbe941c00 // s_getpc_b64 s[20:21]
    s_add_u32 s20, s20, 16
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
    s_endpgm
    v_mov_b32_e32 v1, 7
    global_store_dword v2, v1, s[4:5]
    s_endpgm
";
    let (_, words, _) = run_gfx9(program, 64, &["--engine", "both"]);
    assert!(words.iter().all(|&word| word == 7));
}

const TWICE_ON_TURING: &str = "// Doubles words, and prints a text.
.target sm_80
.kernel twice
.param 4
.param 8
.param 8
.shared 64
.local 16
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, c[0x0][0x160], PT
    @P0 BRA .Lend // not all
    MOV R2, 0x4
    IMAD.WIDE R2, R0, R2, c[0x0][0x168]
    LDG.E R4, [R2.64]
    IADD3 R4, R4, R4, RZ
    STG.E [R2.64], R4
    MOV R4, c[0x0][0x170]
    MOV R5, c[0x0][0x174]
    MOV R6, RZ
    MOV R7, RZ
    MOV R20, .Lend
    MOV R21, RZ
    CALL.ABS.NOINC `(vprintf)
.Lend:
    EXIT
";

/// Proves that text for each GPU runs, and that a listing of the code is text for the same code.
#[test]
fn turing_kernels_in_assembly() {
    let text_bytes: Vec<u32> = b"text\n\0\0\0".chunks(4).map(word).collect();
    let manifest = format!(
        "kernel.binary = \"twice.s\"\nlaunch = {{ grid = [1, 1, 1], block = [8, 1, 1] }}
arg = [{{ i32 = 5 }}, {{ buffer = \"x\" }}, {{ buffer = \"f\" }}]
buffer.x = {{ dtype = \"u32\", values = [1, 2, 3, 4, 5, 6, 7, 8] }}
buffer.f = {{ dtype = \"u32\", values = {text_bytes:?} }}\n"
    );
    for (gpu, sm) in [("sm_75", 75), ("sm_80", 80), ("sm_86", 86), ("sm_89", 89)] {
        let mut source = TWICE_ON_TURING.replace("sm_80", gpu);
        if sm == 75 {
            for (from, to) in [("LDG.E", "LDG.E.SYS"), ("STG.E", "STG.E.SYS"), ("[R2.64]", "[R2]")]
            {
                source = source.replace(from, to);
            }
        }
        let module = warploom_container::modules(source.as_bytes()).unwrap().remove(0);
        assert_eq!(module.isa, Isa::Turing { sm });
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("twice.toml"), &manifest).unwrap();
        std::fs::write(folder.path().join("twice.s"), &source).unwrap();
        let output =
            warploom(&["run", "twice.toml", "--engine", "both", "--out", "."], folder.path());
        let found = text(&output);
        assert!(output.status.success() && found.contains("both engines agree"), "{gpu}: {found}");
        assert_eq!(found.lines().filter(|&line| line == "text").count(), 5, "{gpu}: {found}");
        let array = std::fs::read(folder.path().join("x.npy")).unwrap();
        let words = warploom_replay::npy::read(&array[..]).unwrap().bytes;
        let words: Vec<u32> = words.chunks(4).map(word).collect();
        assert_eq!(words, [2, 4, 6, 8, 10, 6, 7, 8], "{gpu}");
        let listing = String::from_utf8(warploom(&["disasm", "twice.s"], folder.path()).stdout);
        let listing = format!(".target {gpu}\n{}", listing.unwrap());
        let again = warploom_container::modules(listing.as_bytes());
        let again = again.unwrap_or_else(|error| panic!("{gpu}: {error}\n{listing}")).remove(0);
        assert_eq!(again.sections[0].data, module.sections[0].data, "{gpu}");
    }
    for (from, to, message) in [
        (
            "STG.E [R2.64]",
            "STG.E [R2.32]",
            "line 16: `STG.E [R2.32], R4`: no encoding in the table prints this: `[R2.32], R4` cannot follow `STG.E`",
        ),
        (
            "CALL.ABS.NOINC",
            "CALL.REL.NOINC",
            "line 23: `CALL.REL.NOINC `(vprintf)`: only CALL.ABS.NOINC and JMP reach a function by its name",
        ),
    ] {
        let error = warploom_container::modules(TWICE_ON_TURING.replacen(from, to, 1).as_bytes());
        assert_eq!(error.unwrap_err().to_string(), message);
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}
