//! Moves the writes of lane registers up to where their values are made, so that a value which is only written need not
//! be kept until the block's end.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use warploom_ir::{Function, Inst, Op, Reg, Value};

/// The instructions of a block in SSA form with its lane registers written as early as may be. A fault that a write now
/// comes before is no obstacle: registers after a fault are not part of the outcome.
pub fn write_early(function: &Function, insts: Vec<Inst>) -> Vec<Inst> {
    // Of each value its definition, and of each register its last use so far, as numbers of instructions from 1.
    let mut defined: SecondaryMap<Value, usize> = SecondaryMap::new();
    let mut touched: FxHashMap<Reg, usize> = FxHashMap::default();
    // Behind which instruction each one goes, counted from 1: itself, but for writes that move up.
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
