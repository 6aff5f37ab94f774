//! Waits that GFX9 code lacks: compiled kernels lack none, and the check reports small programs
//! that lack some.

use std::path::{Path, PathBuf};

use warploom::Program;
use warploom_gfx9::assemble;
use warploom_gfx9::check::waitcnt;
use warploom_gfx9::lift::Kernel;
use warploom_runtime::memory::MemoryConfig;

fn binaries(at: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            binaries(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "hsaco") {
            found.push(path);
        }
    }
}

#[test]
fn compiled_kernels_wait() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["tests/fixtures/gfx9/corpus", "examples/gfx9"] {
        binaries(&root.join(folder), &mut paths);
    }
    let (mut kernels, mut reports) = (0, Vec::new());
    for path in paths {
        for module in warploom_container::modules(&std::fs::read(&path).unwrap()).unwrap() {
            let program = Program::new(module, MemoryConfig::default()).unwrap();
            for (_, function) in program.module().kernels() {
                let found = program.kernel(&function.name).unwrap().check_waits().unwrap();
                reports.extend(found.into_iter().map(|line| format!("{}: {line}", path.display())));
                kernels += 1;
            }
        }
    }
    // Assembly in one kernel goes backwards on purpose.
    let (negative, early): (Vec<_>, Vec<_>) =
        reports.into_iter().partition(|line| line.contains("negative offset"));
    assert!(early.is_empty(), "{}", early.join("\n"));
    assert!(negative.len() == 1 && negative[0].contains("k15_smem"), "{negative:?}");
    assert!(kernels > 20, "{kernels}");
}

/// Returns the hazards of a program: the line, its register, and the line that it should have
/// waited for.
fn hazards(lines: &[&str]) -> Vec<(usize, String, usize)> {
    let (mut code, mut starts) = (Vec::new(), Vec::new());
    for line in lines.iter().chain(&["s_endpgm"]) {
        starts.push(code.len() as u64);
        code.extend(assemble(line).unwrap());
    }
    let found = waitcnt(&Kernel::new("waits", &code));
    let line = |pc| starts.iter().position(|&start| start == pc).unwrap();
    found.unwrap().into_iter().map(|h| (line(h.pc), h.register, line(h.pending_pc))).collect()
}

#[track_caller]
fn check(lines: &[&str], expected: &[(usize, &str, usize)]) {
    let found = hazards(lines);
    let found: Vec<_> =
        found.iter().map(|(at, register, pending)| (*at, register.as_str(), *pending)).collect();
    assert_eq!(found, expected, "{lines:#?}");
}

const LOAD: &str = "s_load_dwordx2 s[8:9], s[0:1], 0x0";
const USE: &str = "s_mov_b32 s20, s9";

#[test]
fn scalar_loads() {
    check(&[LOAD, USE], &[(1, "s9", 0)]);
    check(&[LOAD, "s_waitcnt lgkmcnt(0)", USE], &[]);
    // Loads return in any order: another outstanding load may be this one.
    check(&[LOAD, "s_load_dword s12, s[0:1], 0x8", "s_waitcnt lgkmcnt(1)", USE], &[(3, "s9", 0)]);
    check(&[LOAD, "s_waitcnt vmcnt(0)", USE], &[(2, "s9", 0)]);
    // An instruction or a further load overwrites the result; the load's address may be
    // overwritten.
    check(&[LOAD, "s_mov_b32 s8, 0"], &[(1, "s8", 0)]);
    check(&[LOAD, "s_load_dword s8, s[2:3], 0x0"], &[(1, "s8", 0)]);
    check(&[LOAD, "s_mov_b32 s0, 0"], &[]);
    // The result is an address, an offset, a vector operand and a condition.
    check(&[LOAD, "s_load_dword s12, s[8:9], 0x0"], &[(1, "s8", 0)]);
    check(&["s_load_dword s9, s[0:1], 0x0", "s_load_dword s12, s[2:3], s9"], &[(1, "s9", 0)]);
    check(&[LOAD, "v_mov_b32_e32 v1, s8"], &[(1, "s8", 0)]);
    check(&["s_load_dwordx2 vcc, s[0:1], 0x0", "s_cbranch_vccz 0", "s_nop 0"], &[(1, "vcc_lo", 0)]);
    check(&["s_memtime s[8:9]", USE], &[(1, "s9", 0)]);
}

#[test]
fn scalar_stores_and_atomics() {
    let store = "s_store_dwordx2 s[8:9], s[0:1], 0x0";
    check(&[store, "s_mov_b32 s9, 0"], &[(1, "s9", 0)]);
    check(&[store, "s_mov_b32 s1, 0"], &[(1, "s1", 0)]);
    check(&[store, USE, "s_waitcnt lgkmcnt(0)", "s_mov_b32 s9, 0"], &[]);
    check(&["s_atomic_add s9, s[0:1], 0x0", USE], &[]);
    check(&["s_atomic_add s9, s[0:1], 0x0 glc", USE], &[(1, "s9", 0)]);
}

#[test]
fn vector_memory_and_lds() {
    let load = |n: u32| format!("global_load_dword v{n}, v[0:1], off");
    let (first, second) = (load(8), load(9));
    let add = "v_add_u32_e32 v10, v8, v8";
    check(&[&first, add], &[(1, "v8", 0)]);
    check(&[&first, &second, "s_waitcnt vmcnt(1)", add], &[]);
    check(&[&first, &second, "s_waitcnt vmcnt(1)", "v_mov_b32_e32 v1, v9"], &[(3, "v9", 1)]);
    // Stores count, and read their data at once. Results that come in order may be overwritten in
    // order.
    check(
        &[
            &first,
            "global_store_dword v[0:1], v2, off",
            "s_waitcnt vmcnt(1)",
            add,
            "v_mov_b32_e32 v2, 0",
        ],
        &[],
    );
    check(&[&first, &first], &[]);
    check(&[&first, "v_mov_b32_e32 v8, 0"], &[(1, "v8", 0)]);
    check(&["ds_read_b32 v8, v0", "ds_read_b32 v9, v0", "s_waitcnt lgkmcnt(1)", add], &[]);
    check(&["ds_read_b32 v8, v0", "s_waitcnt vmcnt(0)", add], &[(2, "v8", 0)]);
    check(&["flat_load_dword v8, v[0:1]", "s_waitcnt vmcnt(0)", add], &[(2, "v8", 0)]);
    check(&["flat_load_dword v8, v[0:1]", "s_waitcnt vmcnt(0) lgkmcnt(0)", add], &[]);
}

#[test]
fn paths() {
    // Around a loop, the use precedes the load, and the load overwrites its earlier result.
    check(&[USE, LOAD, "s_cbranch_scc1 65532"], &[(0, "s9", 1), (1, "s8", 1)]);
    // One of two paths has no wait.
    check(&[LOAD, "s_cbranch_scc1 1", "s_waitcnt lgkmcnt(0)", USE], &[(3, "s9", 0)]);
    check(&["s_cbranch_scc1 3", LOAD, "s_waitcnt lgkmcnt(0)", USE], &[]);
}
