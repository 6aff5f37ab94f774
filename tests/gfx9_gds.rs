//! DS instructions on the global data share: m0 selects a part, and nothing beyond it is accessed.

use std::sync::Arc;

use warploom_gfx9::assemble;
use warploom_gfx9::lift::{Initial, InitialVector, Kernel, lift_kernel};
use warploom_interp::Interpreter;
use warploom_ir::verify;
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};

const SHARE: u64 = 0x12_3456_0000;
const BYTES: usize = 1 << 17;
/// The part that m0 selects: 0x100 bytes from 0x40 on.
const FIRST: usize = 0x40;
const SIZE: u32 = 0x100;

/// Returns the share after a program of 64 work-items. Each word of the share was its own number.
/// v0 is the work-item's number.
fn after(lines: &[&str]) -> Vec<u32> {
    let set = format!("s_mov_b32 m0, {:#x}", FIRST << 16 | SIZE as usize);
    let lines: Vec<&str> =
        std::iter::once(&*set).chain(lines.iter().copied()).chain(["s_endpgm"]).collect();
    let code: Vec<u8> = lines
        .iter()
        .flat_map(|line| assemble(line).unwrap_or_else(|e| panic!("{line}: {e}")))
        .collect();
    let initial = Initial {
        vectors: vec![(0, InitialVector::WorkItem(0))],
        data_share: Some(8),
        ..Initial::default()
    };
    let function = lift_kernel(&Kernel { initial, ..Kernel::new("gds", &code) }).unwrap();
    verify::verify(&function).unwrap();
    let function = Arc::new(function);
    let native = warploom_engine::Kernel::new(Arc::clone(&function), warploom_cranelift::backend())
        .program([1; 3], [64, 1, 1], 1)
        .unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(Interpreter::new(function).unwrap()), native];
    let memory = Memory::new(MemoryConfig::default()).unwrap();
    memory.alloc_at(Placement::At(SHARE), BYTES as u64, Access::READ_WRITE).unwrap();
    let words: Vec<u8> = (0..BYTES as u32 / 4).flat_map(u32::to_le_bytes).collect();
    let mut config = LaunchConfig::new([1; 3], [64, 1, 1]);
    config.constants[0] = Some(ConstBank::new(&[0, SHARE].map(u64::to_le_bytes).concat()).unwrap());
    let found = engines.map(|engine| {
        memory.write(SHARE, &words).unwrap();
        let outcome = launch(&memory, &*engine, &config, None).unwrap();
        assert_eq!(outcome.fault, None, "{lines:?}");
        let mut bytes = vec![0; BYTES];
        memory.read(SHARE, &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect::<Vec<u32>>()
    });
    assert!(found[0] == found[1], "{lines:?}: the engines differ");
    let [found, _] = found;
    found
}

/// Returns the words of the share as they were, except the changed words.
fn expected(changed: impl IntoIterator<Item = (usize, u32)>) -> Vec<u32> {
    let mut words: Vec<u32> = (0..BYTES as u32 / 4).collect();
    changed.into_iter().for_each(|(at, word)| words[at] = word);
    words
}

#[test]
fn stores_go_to_the_part_of_m0() {
    // Lane n writes 1000 + n at byte 8 n: half of the lanes write past the end.
    let lines =
        ["v_lshlrev_b32_e32 v1, 3, v0", "v_add_u32_e32 v2, 0x3e8, v0", "ds_write_b32 v1, v2 gds"];
    assert!(
        after(&lines) == expected((0..32).map(|lane| (FIRST / 4 + 2 * lane, 1000 + lane as u32)))
    );
    // An offset moves the last lane inside. A wide access is inside as a whole or not at all.
    let lines = [
        "v_lshlrev_b32_e32 v1, 3, v0",
        "v_mov_b32_e32 v2, 7",
        "v_mov_b32_e32 v3, 9",
        "ds_write_b64 v1, v[2:3] offset:4 gds",
    ];
    let pairs =
        (0..31).flat_map(|lane| [(FIRST / 4 + 2 * lane + 1, 7), (FIRST / 4 + 2 * lane + 2, 9)]);
    assert!(after(&lines) == expected(pairs));
}

#[test]
fn loads_give_0_past_the_end() {
    // Lane n reads byte 8 n, adds 1 and writes byte 4 n.
    let lines = [
        "v_lshlrev_b32_e32 v1, 3, v0",
        "v_lshlrev_b32_e32 v3, 2, v0",
        "ds_read_b32 v2, v1 gds",
        "s_waitcnt lgkmcnt(0)",
        "v_add_u32_e32 v2, 1, v2",
        "ds_write_b32 v3, v2 gds",
    ];
    let word = |lane: usize| if lane < 32 { (FIRST / 4 + 2 * lane) as u32 + 1 } else { 1 };
    assert!(after(&lines) == expected((0..64).map(|lane| (FIRST / 4 + lane, word(lane)))));
}

#[test]
fn atomics() {
    // All lanes add 3 to one word. Each lane finds the earlier lanes' sum and writes it behind the
    // word.
    let lines = [
        "v_mov_b32_e32 v1, 0",
        "v_mov_b32_e32 v2, 3",
        "ds_add_rtn_u32 v4, v1, v2 offset:4 gds",
        "s_waitcnt lgkmcnt(0)",
        "v_lshlrev_b32_e32 v3, 2, v0",
        "ds_write_b32 v3, v4 offset:8 gds",
        // The access past the end does nothing.
        "v_mov_b32_e32 v1, 0x100",
        "ds_add_u32 v1, v2 gds",
    ];
    let first = FIRST / 4;
    let found = (0..62).map(|lane| (first + 2 + lane, first as u32 + 1 + 3 * lane as u32));
    assert!(after(&lines) == expected(found.chain([(first + 1, first as u32 + 1 + 3 * 64)])));
}
