//! What is known of lane registers when a block is entered: that the lanes which are active then hold evenly spaced
//! values. A dataflow analysis forwards over the function, from "all alike" at the entry.
//!
//! A fact is about the active lanes. It holds on as long as the active mask only shrinks. Where lanes come back
//! ([`Block::join`](crate::ir::Block::join)) the facts at the end of the block that pushed them hold again, for the
//! registers that nothing on the way writes.

use std::collections::{BTreeMap, BTreeSet};

use super::class::{Classes, LaunchClass};
use super::editor::Masks;
use super::flow::Flow;
use super::registers;
use crate::ir::{Block, Function, Op, Reg, Value};

/// Registers whose active lanes are evenly spaced, with the distance from lane to lane in the register's type.
pub type Facts = BTreeMap<Reg, i64>;

/// The facts at the entry of every block. A block that is not reached has none.
pub fn facts(function: &Function, flow: &Flow, launch: LaunchClass) -> Vec<Facts> {
    // Of each block, the joins of what it pushed, with the registers that may be written on the way.
    let mut joins: Vec<Vec<(usize, BTreeSet<Reg>)>> = vec![Vec::new(); function.blocks.len()];
    for join in &flow.joins {
        let written = registers_written(function, &join.on_the_way);
        joins[join.pusher].push((join.block, written));
    }
    // None: not reached so far.
    let mut entry: Vec<Option<Facts>> = vec![None; function.blocks.len()];
    let lanes = registers(function).filter(|&reg| function.is_lane(reg));
    entry[0] = Some(lanes.map(|reg| (reg, 0)).collect());
    let mut pending: BTreeSet<usize> = BTreeSet::from([0]);
    while let Some(index) = pending.pop_first() {
        let known = entry[index].clone().expect("a pending block has been reached");
        let end = at_end(function, &function.blocks[index], &known, launch);
        for &to in &flow.successors[index] {
            // A join takes the facts of its pusher; none if what runs on the way is not known.
            let facts = match function.blocks[to].join {
                None => end.clone(),
                Some(_) if flow.join(to).is_none() => Facts::new(),
                Some(_) => continue,
            };
            if meet(&mut entry[to], facts) {
                pending.insert(to);
            }
        }
        for (join, written) in &joins[index] {
            let kept = end.iter().filter(|(reg, _)| !written.contains(reg)).map(|(&reg, &step)| (reg, step));
            if meet(&mut entry[*join], kept.collect()) {
                pending.insert(*join);
            }
        }
    }
    entry.into_iter().map(Option::unwrap_or_default).collect()
}

/// Keeps what both say. True if that is less than before.
fn meet(known: &mut Option<Facts>, other: Facts) -> bool {
    let Some(known) = known else {
        *known = Some(other);
        return true;
    };
    let before = known.len();
    known.retain(|reg, step| other.get(reg) == Some(step));
    known.len() < before
}

/// The facts at the end of a block.
fn at_end(function: &Function, block: &Block, known: &Facts, launch: LaunchClass) -> Facts {
    let classes = Classes::with_facts(function, block, launch, known, &|_| true);
    let defs = block.defs();
    let masks = Masks::of(&block.insts, &defs);
    let mut active: Option<Value> = None;
    let mut shrinks = true;
    for inst in &block.insts {
        match inst.op {
            Op::RfRead { reg, .. } if reg == function.active && active.is_none() => active = Some(inst.results[0]),
            Op::RfWrite { reg, value, .. } if reg == function.active => {
                shrinks &= active.is_some_and(|before| masks.is_subset(value, before));
                active = Some(value);
            }
            _ => {}
        }
    }
    if !shrinks {
        return Facts::new();
    }
    let mut facts = known.clone();
    for inst in &block.insts {
        match inst.op {
            Op::RfWrite { reg, value, guard, .. } => {
                let whole = inst.window.count == function.lanes
                    && guard.is_none_or(|guard| active.is_some_and(|active| masks.is_subset(active, guard)));
                match classes.get(value).affine() {
                    Some((step, true)) if whole && !block.ty(value).is_uniform() => facts.insert(reg, step),
                    _ => facts.remove(&reg),
                };
            }
            _ => written_registers(&inst.op, |reg| {
                facts.remove(&reg);
            }),
        }
    }
    facts
}

fn registers_written(function: &Function, blocks: &[usize]) -> BTreeSet<Reg> {
    let mut written = BTreeSet::new();
    for &block in blocks {
        for inst in &function.blocks[block].insts {
            written_registers(&inst.op, |reg| {
                written.insert(reg);
            });
        }
    }
    written
}

pub(super) fn written_registers(op: &Op, mut each: impl FnMut(Reg)) {
    match *op {
        Op::RfWrite { reg, .. } | Op::RegionWrite { reg, .. } => each(reg),
        Op::RfScatter { bank, first, count, .. } => (first..first + count).for_each(|index| each(bank.reg(index))),
        _ => {}
    }
}
