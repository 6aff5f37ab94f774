//! A chain of blocks in the code of other guests. Block `c` waits for the word of block `c + 1`,
//! and stores that word plus 1.

use std::sync::Arc;

use warploom_gfx9::lift::{Initial, InitialScalar};
use warploom_interp::Interpreter;
use warploom_ir::{Function, verify};
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::Memory;

use crate::support::WORKERS;

const BLOCKS: u32 = 6;

/// Runs a chain whose code finds the buffer's address at this offset of constant bank 0.
fn check(function: Function, lanes: u32, pointer: usize) {
    verify::verify(&function).unwrap();
    let function = Arc::new(function);
    let expected: Vec<u32> = (1..=BLOCKS).rev().collect();
    for workers in WORKERS {
        let grid = [BLOCKS, 1, 1];
        let native =
            warploom_engine::Kernel::new(Arc::clone(&function), warploom_cranelift::backend())
                .program(grid, [lanes, 1, 1], workers)
                .unwrap();
        let interpreter = Arc::new(Interpreter::new(Arc::clone(&function)).unwrap());
        let engines: [Arc<dyn Engine>; 2] = [interpreter, native];
        let waited = engines.map(|engine| {
            let memory = Memory::default();
            let buffer = memory.alloc(256, 256).unwrap();
            let mut bank = vec![0; pointer];
            bank.extend(buffer.to_le_bytes());
            let mut config = LaunchConfig::new(grid, [lanes, 1, 1]);
            config.threads = workers;
            config.constants[0] = Some(ConstBank::new(&bank).unwrap());
            let outcome = launch(&memory, &*engine, &config, None).unwrap();
            assert_eq!((outcome.blocks_done, outcome.fault), (u64::from(BLOCKS), None));
            let mut bytes = [0; 4 * BLOCKS as usize];
            memory.read(buffer, &mut bytes).unwrap();
            let found: Vec<u32> =
                bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
            assert_eq!(found, expected);
            outcome.spun
        });
        // A single worker begins with the first block, which waits.
        assert!(workers > 1 || waited == [true; 2]);
    }
}

#[test]
fn maxwell_blocks_wait() {
    // Three instructions in 32 bytes, behind a control word.
    let pc = |number: usize| 32 * (number / 3) + 8 * (number % 3 + 1);
    let lines = [
        "S2R R0, SR_CTAID.X".to_string(),
        "SHL R2, R0, 0x2".into(),
        "IADD R4.CC, R2, c[0x0][0x140]".into(),
        "IADD.X R5, RZ, c[0x0][0x144]".into(),
        "MOV R6, RZ".into(),
        format!("ISETP.EQ.AND P0, PT, R0, {:#x}, PT", BLOCKS - 1),
        format!("@P0 BRA {:#x}", pc(10)),
        "LDG.E R6, [R4+0x4]".into(),
        "ISETP.EQ.AND P1, PT, R6, RZ, PT".into(),
        format!("@P1 BRA {:#x}", pc(7)),
        "IADD32I R6, R6, 0x1".into(),
        "STG.E [R4], R6".into(),
        "EXIT".into(),
    ];
    let word = |(number, line): (usize, &String)| {
        warploom_maxwell::assemble(line, pc(number) as u64)
            .unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    let words: Vec<u64> = lines.iter().enumerate().map(word).collect();
    let code: Vec<u8> = words
        .chunks(3)
        .flat_map(|bundle| std::iter::once(&0).chain(bundle))
        .flat_map(|word| word.to_le_bytes())
        .collect();
    check(
        warploom_maxwell::lift::lift_kernel(&warploom_maxwell::lift::Kernel::new(
            "chain", &code, 8,
        ))
        .unwrap(),
        32,
        0x140,
    );
}

#[test]
fn gfx9_workgroups_wait() {
    let last = format!("s_cmp_eq_u32 s2, {}", BLOCKS - 1);
    let lines = [
        "s_lshl_b32 s3, s2, 2",
        "v_mov_b32_e32 v0, s3",
        "s_mov_b32 s4, 0",
        &last,
        // Branch to the addition.
        "s_cbranch_scc1 6",
        "global_load_dword v1, v0, s[0:1] offset:4 glc",
        "s_waitcnt vmcnt(0)",
        "v_readfirstlane_b32 s4, v1",
        "s_cmp_eq_u32 s4, 0",
        // Branch to the load.
        "s_cbranch_scc1 65530",
        "s_add_u32 s4, s4, 1",
        "v_mov_b32_e32 v1, s4",
        "global_store_dword v0, v1, s[0:1]",
        "s_endpgm",
    ];
    let assemble = |line: &&str| {
        warploom_gfx9::assemble(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    let code: Vec<u8> = lines.iter().flat_map(assemble).collect();
    let scalars = vec![
        (0, InitialScalar::Constant(8)),
        (1, InitialScalar::Constant(12)),
        (2, InitialScalar::Workgroup(0)),
    ];
    let initial = Initial { scalars, ..Initial::default() };
    let kernel =
        warploom_gfx9::lift::Kernel { initial, ..warploom_gfx9::lift::Kernel::new("chain", &code) };
    check(warploom_gfx9::lift::lift_kernel(&kernel).unwrap(), 64, 8);
}
