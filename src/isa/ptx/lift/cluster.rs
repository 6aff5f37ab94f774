//! Clusters of one block.
//!
//! Source: facts, `ptx.md` 2.15.

use warploom_ir::Type;

use super::context::{Cx, Insn};
use super::{Lifted, Unsupported, driver};
use crate::module::{AddressOf, Operand};
use crate::types::{StateSpace, Ty};
use crate::word::Word;

/// Lifts `mapa`: an address in the shared memory of a block of the cluster, which is this block.
pub fn mapa(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (ty, source) = (insn.form.ty(0), insn.operand(1));
    if !matches!(ty, Ty::U32 | Ty::U64) {
        return Err(Unsupported);
    }
    let mut address = cx.bits(source, ty);
    if let &Operand::Symbol(AddressOf::Variable(id), _) = source {
        if cx.module.variable(id).space != StateSpace::Shared {
            return Err(Unsupported);
        }
        if !insn.form.has(Word::SharedCluster) {
            let window = cx.driver(driver::SHARED_WINDOW, Type::I64);
            let window = cx.resize(window, cx.b.ty(address).ty, false);
            address = cx.b.add(window, address);
        }
    }
    cx.set(insn.operand(0), ty, address);
    Ok(())
}

/// Lifts `getctarank`: a cluster has one block, of rank 0.
pub fn getctarank(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let rank = cx.word(0);
    cx.set(insn.operand(0), Ty::U32, rank);
    Ok(())
}
