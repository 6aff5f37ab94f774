//! Launches with toy engines: closures over the context.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::*;
use crate::fault::FaultKind;
use crate::memory::{Memory, Residency};
use crate::rounds;
use crate::warp::{BarrierKind, ExitCode, WarpContext};

struct Toy<F> {
    lanes: u32,
    run: F,
}

impl<F: Fn(&mut WarpContext) -> ExitCode + Sync> Engine for Toy<F> {
    fn lanes(&self) -> u32 {
        self.lanes
    }

    fn register_file_bytes(&self) -> usize {
        256
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        (self.run)(context)
    }

    fn block_pc(&self, block: u32) -> u64 {
        u64::from(block) * 0x100
    }
}

/// An engine that runs `step` for each warp and chains when it is done.
fn chained(
    lanes: u32,
    step: impl Fn(&mut WarpContext) -> ExitCode + Sync,
) -> Toy<impl Fn(&mut WarpContext) -> ExitCode + Sync> {
    Toy {
        lanes,
        run: move |context: &mut WarpContext| loop {
            let code = step(context);
            if code != ExitCode::Done || !context.chain() {
                return code;
            }
        },
    }
}

fn run(engine: &dyn Engine, config: &LaunchConfig) -> Outcome {
    launch(&Memory::default(), engine, config, None).unwrap()
}

fn wait(
    context: &mut WarpContext,
    kind: BarrierKind,
    barrier: u32,
    threads: u32,
    resume: u32,
) -> ExitCode {
    context.barrier_kind = kind as u32;
    context.barrier_id = barrier;
    context.barrier_threads = threads;
    context.resume = resume;
    ExitCode::Barrier
}

fn linear(config: &LaunchConfig, ctaid: [u32; 3]) -> u64 {
    let [x, y, z] = ctaid.map(u64::from);
    x + u64::from(config.grid[0]) * (y + u64::from(config.grid[1]) * z)
}

/// Returns the lowest byte of the register file, as a counter.
fn counter<'c>(context: &'c mut WarpContext<'_>) -> &'c mut u8 {
    &mut context.registers()[0]
}

/// Counts in the first registers, so that no state comes back.
fn tick(context: &mut WarpContext) {
    let cell = context.registers().first_chunk_mut().unwrap();
    *cell = (u64::from_le_bytes(*cell).wrapping_add(1)).to_le_bytes();
}

mod barriers;
mod blocks;
mod faults;
mod lanes;
mod step;
mod threads;
mod turns;
