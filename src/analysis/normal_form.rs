//! The normal form of functions after analysis, which back ends rely on.

use rustc_hash::FxHashSet;
use warploom_ir::{Block, Function, Inst, Op, Reg, Window};

/// Checks that a function has the normal form:
///
/// 1. Only operations on byte regions have windows.
/// 2. A masked operation ignores the active mask, and has its execution mask as guard. Operations of
///    the warp as a whole have none: scalar accesses, and writes of uniform and mask registers.
/// 3. A block reads a register at most once, before it writes the register, which it does at most
///    once. Registers of banks that the block also addresses by number are the exception.
///
/// # Errors
/// The first operation that breaks a rule, in words.
pub fn verify_normal_form(function: &Function) -> Result<(), String> {
    for block in &function.blocks {
        let by_number: FxHashSet<_> = block.insts.iter().filter_map(bank_by_number).collect();
        let (mut read, mut written) = (FxHashSet::default(), FxHashSet::default());
        for inst in &block.insts {
            let wrong = |rule: &str| Err(format!("{}: pc {:#x}: {:?}: {rule}", function.name, inst.pc, inst.op));
            if inst.window != Window::all(function.lanes) && !has_window(&inst.op) {
                return wrong("it has a window");
            }
            if is_masked(function, block, inst) && !matches!(inst.op.masking(), Some((Some(_), true))) {
                return wrong("its execution mask is not its guard");
            }
            match inst.op {
                Op::RfRead { reg, .. } | Op::RfWrite { reg, .. } if by_number.contains(&reg.bank) => {}
                Op::RfRead { reg, part } if written.contains(&reg) || !read.insert((reg, part as u8)) => {
                    return wrong("the register is read once more, or after it is written");
                }
                Op::RfWrite { reg, .. } if !written.insert(reg) => return wrong("the register is written once more"),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether an operation keeps a window: of a region, the window says which lane has element 0.
pub(crate) fn has_window(op: &Op) -> bool {
    matches!(op, Op::RegionRead { uniform: false, .. } | Op::RegionWrite { .. })
}

/// The bank of registers that an operation finds by number.
fn bank_by_number(inst: &Inst) -> Option<warploom_ir::BankId> {
    match inst.op {
        Op::RfGather { bank, .. } | Op::RfScatter { bank, .. } => Some(bank),
        _ => None,
    }
}

/// Whether an operation acts on lanes under a mask.
fn is_masked(function: &Function, block: &Block, inst: &Inst) -> bool {
    let is_lane = |reg: Reg| function.is_lane(reg);
    match inst.op {
        Op::RfWrite { reg, .. } => is_lane(reg),
        Op::RfScatter { bank, first, .. } => is_lane(bank.reg(first)),
        _ => match inst.op.access() {
            Some(access) => !block.ty(access.address).is_uniform(),
            None => inst.op.traits().masked,
        },
    }
}
