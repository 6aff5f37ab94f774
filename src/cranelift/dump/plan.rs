//! The plan of a kernel as text: the steps of each block, and the order that code has for them.

use std::fmt::Write;

use warploom_analysis::Step;
use warploom_engine::{Effort, Program};
use warploom_ir::print::InstOf;
use warploom_ir::{Block, BlockId, Function, Op};

use super::numbers;
use crate::Target;
use crate::lower::{Order, Ordered, lower_region};

/// Returns the steps of every block with their orders, and for loops in memory the reason.
pub fn plan(program: &Program, effort: Effort, target: &Target) -> String {
    let prepared = program.prepared();
    let mut out = String::new();
    for (number, region) in program.regions().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(out, "; region {number}: blocks {:?}", numbers(region));
        let orders = lower_region(prepared, region, effort, target).orders;
        for &id in region {
            let orders: Vec<&Ordered> = orders.iter().filter(|order| order.block == id).collect();
            let steps = &prepared.plans(effort)[id].plan.steps;
            write_block(&mut out, prepared.function(), id, steps, &orders);
        }
    }
    out
}

fn write_block(
    out: &mut String,
    function: &Function,
    id: BlockId,
    steps: &[Step],
    orders: &[&Ordered],
) {
    let block = function.block(id);
    let _ = writeln!(out, "b{}: pc {:#x}, {} instructions", id.0, block.pc, block.cost);
    let text = |inst: usize| InstOf { function, inst: &block.insts[inst] }.to_string();
    for ordered in orders {
        let about = match &ordered.order {
            Order::LoopInMemory(why) => why.inst.map(|inst| format!(": {}", text(inst))),
            _ => None,
        };
        let steps = &ordered.steps;
        let place = match steps.len() {
            0 | 1 => format!("step {}", steps.start),
            _ => format!("steps {} to {}", steps.start, steps.end - 1),
        };
        let _ = writeln!(out, "    {place}: {}{}", ordered.order, about.unwrap_or_default());
    }
    for (number, step) in steps.iter().enumerate() {
        let step = match step {
            Step::Scalar(inst) => format!("scalar: {}", text(*inst)),
            Step::Segment(insts) => segment(block, insts),
            Step::Warp(inst) => format!("whole warp: {}", text(*inst)),
            Step::Interpret(inst) => format!("helper: {}", text(*inst)),
        };
        let _ = writeln!(out, "    {number:>4}  {step}");
    }
}

/// Describes the operations of a segment, which runs chunk by chunk.
fn segment(block: &Block, insts: &[usize]) -> String {
    let count = |is: fn(&Op) -> bool| insts.iter().filter(|&&i| is(&block.insts[i].op)).count();
    let kinds = [
        (count(|op| matches!(op, Op::Load { .. })), "loads"),
        (count(|op| matches!(op, Op::Store { .. })), "stores"),
        (count(|op| matches!(op, Op::Atomic { .. })), "atomics"),
    ];
    let mut text = format!("segment of {} operations", insts.len());
    for (count, kind) in kinds.into_iter().filter(|&(count, _)| count > 0) {
        let _ = write!(text, ", {kind}: {count}");
    }
    text
}
