//! Moves the writes of lane registers up to where their values are made. A value that is only
//! written then need not be kept until the block's end.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use warploom_ir::{Function, Inst, Op, Reg, Value};

/// Returns the instructions of a block in SSA form, with lane registers written as early as
/// possible.
///
/// A write may move ahead of an instruction that faults: registers after a fault are not part of
/// the outcome.
pub fn write_early(function: &Function, insts: Vec<Inst>) -> Vec<Inst> {
    // The definition of each value and the last use of each register so far, as numbers of
    // instructions from 1.
    let mut defined: SecondaryMap<Value, usize> = SecondaryMap::new();
    let mut touched: FxHashMap<Reg, usize> = FxHashMap::default();
    // For each instruction, the number of the instruction that it goes behind, from 1: its own
    // number, except for writes that move up.
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(insts.len());
    for (index, inst) in insts.iter().enumerate() {
        let number = index + 1;
        let place = match inst.op {
            Op::RfWrite { reg, value, guard, .. } if function.is_lane(reg) => {
                let values = [Some(value), guard].into_iter().flatten();
                let ready = values.map(|v| defined[v]).max().unwrap_or(0);
                let place = ready.max(touched.get(&reg).copied().unwrap_or(0));
                touched.insert(reg, place);
                place
            }
            Op::RfRead { reg, .. } => {
                touched.insert(reg, number);
                number
            }
            Op::RfGather { bank, first, count, .. } | Op::RfScatter { bank, first, count, .. }
                if function.is_lane(bank.reg(first)) =>
            {
                touched.extend((first..first + count).map(|at| (bank.reg(at), number)));
                number
            }
            _ => number,
        };
        order.push((place, index));
        for result in &inst.results {
            defined[*result] = number;
        }
    }
    let mut slots: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
    order.sort_unstable();
    order
        .into_iter()
        .map(|(_, index)| slots[index].take().expect("each instruction has one place"))
        .collect()
}
