//! Fences.
//!
//! Source: facts, `ptx.md` 2.8.

use super::Lifted;
use super::context::{Cx, Insn};
use crate::word::Word;

/// Lifts `membar`, `fence`, and fences between proxies: one kind serves all. Warps of a block share
/// a host thread, which sees its own actions in order, and a cluster has one block.
pub fn fence(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    match insn.form.one_of(&[Word::Cta, Word::Cluster]) {
        Some(_) => cx.b.observe_fence(),
        None => cx.b.fence(),
    }
    Ok(())
}
