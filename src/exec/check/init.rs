//! Reads of bytes of shared memory that the block has not written.
//!
//! Each byte has a word in global memory: the number of the block that has written it, from 1 on.

use warploom_ir::{Access, BinaryOp, Extend, IntCc, Op, Value};

use super::AccessKind;
use super::emit::Emitter;
use super::shared::{Cells, Found};

/// The bytes of the word of one byte.
pub const CELL_BYTES: u64 = 8;

/// Appends the check of an access to shared memory, which stores to the record at an address.
pub fn check(
    emit: &mut Emitter<'_>,
    (access, kind): (&Access, AccessKind),
    record: u64,
    cells: Cells,
) {
    let Some(found) = cells.find(emit, access) else { return };
    let Found { address, guard, number, .. } = found;
    let own = emit.with(BinaryOp::Add, number, 1);
    let own = emit.varying(own);
    let mut unwritten: Option<Value> = None;
    for words in found.words(access, CELL_BYTES) {
        if kind != AccessKind::Store {
            let load = Op::Load { access: words, extend: Extend::None, sparse: false };
            for writer in emit.pushed(load) {
                let is_other = emit.compare(IntCc::Ne, writer, own);
                unwritten = Some(match unwritten {
                    None => is_other,
                    Some(earlier) => emit.or(earlier, is_other),
                });
            }
        }
        if kind != AccessKind::Load {
            let values = vec![own; words.count.into()];
            emit.pushed(Op::Store { access: words, values, sparse: false });
        }
    }
    if let Some(unwritten) = unwritten {
        let bad = emit.and(unwritten, guard);
        let none = emit.splat(0);
        emit.report(record, bad, address, none);
    }
}
