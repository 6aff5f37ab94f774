//! Fences.
//!
//! Source: facts, `ptx.md` 2.8.

use super::Lifted;
use super::context::{Cx, Insn};
use crate::word::Word;

/// `membar`, `fence`, fences between proxies: one for all. The warps of a block share a host thread, which sees what it did in order,
/// and a cluster is one block.
pub fn fence(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    if insn.form.one_of(&[Word::Cta, Word::Cluster]).is_none() {
        cx.b.fence();
    }
    Ok(())
}
