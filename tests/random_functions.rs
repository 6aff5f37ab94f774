//! Random functions on both engines: memory, counts and faults must be equal.

use std::sync::Arc;

use arbitrary::Unstructured;
use warploom::analysis::LaunchClass;
use warploom::generate;
use warploom::interp::Interpreter;
use warploom::ir::Function;
use warploom::jit::Program;
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, Outcome, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig};

/// Block shapes that fall into different launch classes.
const SHAPES: [[u32; 3]; 5] = [[32, 1, 1], [48, 1, 1], [64, 2, 1], [8, 5, 1], [5, 3, 2]];

fn run(engine: &dyn Engine, block: [u32; 3]) -> (Outcome, Vec<u8>) {
    let memory = Memory::new(MemoryConfig::default()).unwrap();
    let lanes = block.iter().product::<u32>();
    let warps = lanes.div_ceil(engine.lanes());
    let bytes = u64::from(generate::GLOBAL_BYTES) + u64::from(warps * generate::DUMP_BYTES);
    let work = memory.alloc(bytes, 65536).unwrap();
    let content: Vec<u8> = (0..bytes).map(|i| (i * 37 + i / 251) as u8).collect();
    memory.write(work, &content).unwrap();
    let dump = work + u64::from(generate::GLOBAL_BYTES);
    let bank = [work.to_le_bytes(), dump.to_le_bytes()].concat();
    let mut config = LaunchConfig::new([2, 1, 1], block);
    config.shared_bytes = generate::SHARED_BYTES;
    config.instruction_limit = Some(300);
    config.back_edges = 7;
    config.constants[0] = Some(ConstBank::new(&bank).unwrap());
    let outcome = launch(&memory, engine, &config, None).unwrap();
    let mut content = vec![0; bytes as usize];
    memory.read(work, &mut content).unwrap();
    let _ = Access::READ_WRITE;
    (outcome, content)
}

fn check(seed: u64, function: Arc<Function>) {
    for (i, &block) in SHAPES.iter().enumerate() {
        if (seed as usize + i) % 3 != 0 {
            continue;
        }
        let launch = LaunchClass::of(block, function.lanes.into());
        let interp = Interpreter::new(function.clone()).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{function}"));
        let program =
            Program::new(&function, launch, seed % 2 == 0).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{function}"));
        let optimized = Interpreter::new(Arc::new(program.function().clone())).unwrap();
        let (want, expected) = run(&interp, block);
        for (name, engine) in [("optimized", &optimized as &dyn Engine), ("jit", &program)] {
            let (got, found) = run(engine, block);
            let at = expected.iter().zip(&found).position(|(a, b)| a != b);
            assert!(
                want.fault == got.fault
                    && (want.counts.instructions, want.counts.lane_instructions)
                        == (got.counts.instructions, got.counts.lane_instructions)
                    && at.is_none(),
                "seed {seed}, {name}, block {block:?} ({launch:?}): first difference at {at:x?}: {:x?} for {:x?}\nwant {want:?}\ngot {got:?}\n{function}\n{}",
                at.map(|at| &found[at & !7..][..8]),
                at.map(|at| &expected[at & !7..][..8]),
                program.function(),
            );
        }
    }
}

#[test]
fn engines_agree() {
    let count = std::env::var("WARPLOOM_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let first = std::env::var("WARPLOOM_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in first..first + count {
        let mut state: u64 = seed * 2 + 1;
        let bytes: Vec<u8> = (0..3000)
            .map(|_| {
                // SplitMix64.
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (z >> 56) as u8
            })
            .collect();
        let function = generate::function(&mut Unstructured::new(&bytes)).unwrap();
        check(seed, Arc::new(function));
    }
}
