//! Walking the blocks: entry, budget, terminators, chaining.

use std::collections::HashMap;

use warploom_ir::{Barrier, BarrierCounts, Block, BlockId, LaneEvent, Reg, Terminator};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::{BarrierKind, ExitCode, WarpContext};

use super::Interpreter;
use super::exec::Executor;
use super::values::with_values;

/// The continuation at the end of a block.
enum Next {
    Block(BlockId),
    /// This warp is done.
    Done,
    Leave(ExitCode),
}

/// See [`Interpreter::run_while`].
pub fn run_while(
    engine: &Interpreter,
    context: &mut WarpContext,
    mut stays: impl FnMut(BlockId, u64) -> bool,
) -> Option<ExitCode> {
    with_values(|values| {
        let mut executor = Executor::new(&engine.function, &engine.layout, context, values);
        let mut at = BlockId(executor.context.resume);
        let mut joins = Joins::default();
        loop {
            if at.0 == 0 {
                executor.reset_registers();
                joins = Joins::of_fresh_warp();
            }
            match run_block(engine, &mut executor, at, &mut joins) {
                Next::Leave(code) => return Some(code),
                Next::Done if !executor.context.chain() => return Some(ExitCode::Done),
                Next::Done => at = BlockId(0),
                // The entry is no jump target, so that only jumps to this block or an earlier block
                // go backward.
                Next::Block(target) if target <= at => {
                    let left = executor.context.back_edges.saturating_sub(1);
                    executor.context.back_edges = left;
                    if left == 0 {
                        executor.context.resume = target.0;
                        return Some(ExitCode::Yield);
                    }
                    at = target;
                }
                Next::Block(target) => at = target,
            }
            if !stays(at, executor.context.instructions) {
                executor.context.resume = at.0;
                return None;
            }
        }
    })
}

fn run_block<'a>(
    engine: &'a Interpreter,
    executor: &mut Executor<'a, '_>,
    at: BlockId,
    joins: &mut Joins,
) -> Next {
    let block = engine.function.block(at);
    joins.enter(executor, at, block);
    if let Err(code) = count(executor, block) {
        return Next::Leave(code);
    }
    executor.enter(block);
    for inst in &block.insts {
        if let Err(code) = executor.execute(inst) {
            return Next::Leave(code);
        }
    }
    joins.leave(executor, at);
    terminate(engine, executor, at)
}

/// Checks the promise of [`Block::join`], in debug builds only.
#[derive(Default)]
struct Joins {
    /// The lanes that were active at an end of each block. `None` if the warp has come from an
    /// earlier call.
    ends: Option<HashMap<BlockId, u64>>,
}

impl Joins {
    fn of_fresh_warp() -> Joins {
        Joins { ends: cfg!(debug_assertions).then(HashMap::new) }
    }

    fn enter(&self, executor: &mut Executor<'_, '_>, at: BlockId, block: &Block) {
        if let (Some(ends), Some(join)) = (&self.ends, block.join) {
            let strangers = executor.active() & !ends.get(&join).copied().unwrap_or(0);
            let name = &executor.function.name;
            assert!(
                strangers == 0,
                "`{name}`: b{} joins b{}, where lanes {strangers:#x} were not active",
                at.0,
                join.0
            );
        }
    }

    fn leave(&mut self, executor: &mut Executor<'_, '_>, at: BlockId) {
        if let Some(ends) = &mut self.ends {
            *ends.entry(at).or_default() |= executor.active();
        }
    }
}

/// Counts the entry into a block against the budget.
fn count(executor: &mut Executor<'_, '_>, block: &Block) -> Result<(), ExitCode> {
    let active = executor.active();
    let context = &mut *executor.context;
    let cost = u64::from(block.cost);
    let instructions = context.instructions.saturating_add(cost);
    if instructions > context.instruction_limit {
        return Err(context.set_fault(FaultKind::BudgetExceeded, 0, block.pc, 0));
    }
    context.instructions = instructions;
    context.lane_instructions += cost * u64::from(active.count_ones());
    context.interp_instructions += cost;
    Ok(())
}

fn terminate(engine: &Interpreter, executor: &mut Executor<'_, '_>, at: BlockId) -> Next {
    let (values, block) = (&*executor.values, engine.function.block(at));
    match block.term {
        Terminator::Jump(target) => Next::Block(target),
        Terminator::Branch { cond, then, otherwise } => {
            Next::Block(if values.uniform(cond) != 0 { then } else { otherwise })
        }
        Terminator::Switch { value, ref cases, default } => {
            let value = values.uniform(value);
            let case = cases.iter().find(|(case, _)| *case == value);
            Next::Block(case.map_or(default, |(_, target)| *target))
        }
        Terminator::Indirect { pc } => {
            let pc = values.uniform(pc);
            match engine.indirect_target(pc) {
                Some(target) => Next::Block(target),
                None => {
                    executor.context.indirect_pc = pc;
                    Next::Leave(ExitCode::UnknownPc)
                }
            }
        }
        Terminator::Dispatch { ref places, from, otherwise } => {
            let from = from.map_or(0, |from| values.uniform(from) as usize);
            Next::Block(dispatch(executor, places, from).unwrap_or(otherwise))
        }
        Terminator::Lanes { event, resume } => {
            let kind = match event {
                LaneEvent::Exit => BarrierKind::Exit,
                LaneEvent::Wait => BarrierKind::Wait,
                LaneEvent::Poll => BarrierKind::Poll,
            };
            executor.context.barrier_mask = executor.active();
            let context = &mut *executor.context;
            (context.barrier_kind, context.barrier_counts) =
                (kind as u32, BarrierCounts::Lanes as u32);
            context.resume = resume.0;
            Next::Leave(ExitCode::Barrier)
        }
        Terminator::Barrier { barrier, resume } => {
            arrive(executor, barrier);
            executor.context.resume = resume.0;
            Next::Leave(ExitCode::Barrier)
        }
        Terminator::Service { service, lanes, resume } => {
            let lanes = values.uniform(lanes);
            let context = &mut *executor.context;
            (context.service, context.service_lanes, context.resume) =
                (service as u32, lanes, resume.0);
            Next::Leave(ExitCode::Service)
        }
        Terminator::Exit => Next::Done,
        Terminator::Trap { kind, pc } => {
            let lane = executor.least_active();
            Next::Leave(executor.context.set_fault(FaultKind::from(kind), lane, pc, 0))
        }
        Terminator::Deadlock { .. } => {
            executor.context.resume = at.0;
            Next::Leave(executor.context.set_fault(FaultKind::Deadlock, 0, block.pc, 0))
        }
    }
}

/// Activates the lanes of the first place with lanes, searching cyclically from place `from` on.
/// Returns its block, if there is one.
fn dispatch(
    executor: &mut Executor<'_, '_>,
    places: &[(Reg, BlockId)],
    from: usize,
) -> Option<BlockId> {
    let (before, after) = places.split_at_checked(from).unwrap_or((&[], places));
    let (reg, block) =
        after.iter().chain(before).copied().find(|&(reg, _)| executor.mask(reg) != 0)?;
    let lanes = executor.mask(reg);
    executor.set_mask(executor.function.active, lanes);
    executor.set_mask(reg, 0);
    Some(block)
}

fn arrive(executor: &mut Executor<'_, '_>, barrier: Barrier) {
    let Barrier { kind, counts, id, threads, predicate } = barrier;
    let active = executor.active();
    let values = &*executor.values;
    let context = &mut *executor.context;
    (context.barrier_kind, context.barrier_counts) =
        (BarrierKind::from(kind) as u32, counts as u32);
    context.barrier_id = values.uniform(id) as u32;
    context.barrier_threads = threads.map_or(0, |threads| values.uniform(threads) as u32);
    if let Some(predicate) = predicate {
        context.barrier_predicate = values.uniform(predicate);
    }
    if predicate.is_some() || counts == BarrierCounts::Lanes {
        context.barrier_mask = active;
    }
}
