//! The normal form of a function after analysis. Back ends rely on it.

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_ir::{BankId, Block, Function, Inst, Op, Reg, Window};

/// The uses of a register by a block so far.
#[derive(Clone, Copy, Default)]
struct Used {
    read: bool,
    written: bool,
}

/// Checks that a function has the normal form:
///
/// 1. Only accesses to byte regions have windows. All other operations work on all lanes of a warp.
/// 2. A masked operation ignores the active mask: it has `nomask`, and its guard is its execution
///    mask. A write of a lane register without a guard writes all lanes. Scalar accesses, and writes
///    of uniform and mask registers, have no execution mask.
/// 3. A block reads a register at most once, and before it writes the register. It writes a lane
///    register at most once. Banks whose registers the block finds by number are exempt.
///
/// # Errors
/// The first operation that breaks a rule, in words.
pub fn verify_normal_form(function: &Function) -> Result<(), String> {
    for block in &function.blocks {
        let by_number: FxHashSet<_> = block.insts.iter().filter_map(bank_by_number).collect();
        let mut used: FxHashMap<Reg, Used> = FxHashMap::default();
        for inst in &block.insts {
            verify_inst(function, block, inst, &by_number, &mut used).map_err(|rule| {
                format!("{}: pc {:#x}: {:?}: {rule}", function.name, inst.pc, inst.op)
            })?;
        }
    }
    Ok(())
}

fn verify_inst(
    function: &Function,
    block: &Block,
    inst: &Inst,
    by_number: &FxHashSet<BankId>,
    used: &mut FxHashMap<Reg, Used>,
) -> Result<(), &'static str> {
    if inst.window != Window::all(function.lanes) && !has_window(&inst.op) {
        return Err("the operation has a window");
    }
    if is_masked(function, block, inst) {
        let is_register = matches!(inst.op, Op::RfWrite { .. });
        match inst.op.masking() {
            Some((Some(_), true)) => {}
            Some((None, true)) if is_register => {}
            _ => return Err("the guard is not the execution mask"),
        }
    }
    match inst.op {
        Op::RfRead { reg, .. } | Op::RfWrite { reg, .. } if by_number.contains(&reg.bank) => {}
        Op::RfRead { reg, .. } => {
            let used = used.entry(reg).or_default();
            if used.written {
                return Err("the block has written the register before");
            }
            if std::mem::replace(&mut used.read, true) {
                return Err("the block has read the register before");
            }
        }
        Op::RfWrite { reg, .. } => {
            let used = used.entry(reg).or_default();
            if std::mem::replace(&mut used.written, true) && function.is_lane(reg) {
                return Err("the block has written the lane register before");
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether an operation keeps a window: the window of a region tells which lane has element 0.
fn has_window(op: &Op) -> bool {
    matches!(op, Op::RegionRead { uniform: false, .. } | Op::RegionWrite { .. })
}

/// The bank whose registers an operation finds by number.
fn bank_by_number(inst: &Inst) -> Option<BankId> {
    match inst.op {
        Op::RfGather { bank, .. } | Op::RfScatter { bank, .. } => Some(bank),
        _ => None,
    }
}

/// Whether an operation acts on lanes under a mask.
fn is_masked(function: &Function, block: &Block, inst: &Inst) -> bool {
    match inst.op {
        Op::RfWrite { reg, .. } => function.is_lane(reg),
        Op::RfScatter { bank, first, .. } => function.is_lane(bank.reg(first)),
        _ => match inst.op.access() {
            Some(access) => !block.ty(access.address).is_uniform(),
            None => inst.op.traits().masked,
        },
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::parse;

    use super::*;

    const HEAD: &str = "\
function \"f\" lanes 8 nan 0 0 0 {
bank r: lane i32 x 4
bank m: mask x 1
active m[0]
b0:
";

    fn verify(body: &str) -> Result<(), String> {
        let text = format!("{HEAD}{body}\n  exit\n}}\n");
        verify_normal_form(&parse::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    #[test]
    fn each_rule_is_checked() {
        let broken = [
            ("  v0 = rf.read r[0] lanes 2+4", "window"),
            ("  v0 = lane.id\n  rf.write r[0], v0", "execution mask"),
            ("  v0 = rf.read r[0]\n  v1 = rf.read r[0]", "read the register before"),
            (
                "  v0 = lane.id\n  rf.write r[0], v0 nomask\n  v1 = rf.read r[0]",
                "written the register before",
            ),
            (
                "  v0 = lane.id\n  rf.write r[0], v0 nomask\n  rf.write r[0], v0 nomask",
                "lane register before",
            ),
        ];
        for (body, expected) in broken {
            let error = verify(body).unwrap_err();
            assert!(error.contains(expected), "{body}\n{error}");
        }
    }

    #[test]
    fn the_normal_form_is_accepted() {
        let body = "  v0 = rf.read r[0]\n  v1 = rf.read m[0]\n  v2 = lane.id\n  v3 = add v0, v2\n  \
                    rf.write r[0], v3 guard v1 nomask\n  rf.write r[1], v3 nomask";
        assert_eq!(verify(body), Ok(()));
    }
}
