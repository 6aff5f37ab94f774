//! Asynchronous copies. They are performed where they are issued, which PTX permits.
//!
//! Source: facts, `ptx.md` 2.11.

use warploom_guest::divergence::Mask;
use warploom_ir::{Access, AtomicOp, Extend, IntCc, Space, Type, Value, WideOp};

use super::atomic::{self, Operands};
use super::context::{Cx, Insn};
use super::mbarrier::Object;
use super::memory::{self, AccessTarget, address_of, generic, in_space, place};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::types::{Kind, Ty};
use crate::word::Word;

/// Bytes of a word.
const WORD: u32 = 4;

/// The part of its source that a copy takes. Zeros follow it.
enum Source {
    All,
    /// Nothing in these lanes, all in other lanes.
    Unless(Mask),
    /// The first bytes, a count of type `i32`.
    Bytes(Value),
}

/// Lifts `cp.async`.
pub fn cp_async(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (Some(to), Some(from)) = (address_of(insn.operand(0)), address_of(insn.operand(1))) else {
        return Err(Unsupported);
    };
    let &Operand::Integer(bytes @ (4 | 8 | 16)) = insn.operand(2) else { return Err(Unsupported) };
    let policies = usize::from(insn.form.has(Word::L2CacheHint));
    let rest =
        insn.operands.get(3..insn.operands.len().saturating_sub(policies)).unwrap_or_default();
    let source = match rest {
        [] => Source::All,
        [Operand::Register(register)] if cx.register_type(*register).kind() == Kind::Pred => {
            Source::Unless(cx.pred(&rest[0]))
        }
        [Operand::Not(_)] => Source::Unless(cx.pred(&rest[0])),
        [Operand::Integer(taken)] if *taken >= bytes => Source::All,
        [taken] => Source::Bytes(cx.bits(taken, Ty::U32)),
        _ => return Err(Unsupported),
    };
    let from = in_space(cx, Space::Global, from);
    let AccessTarget::Memory { space, address, offset } = from else { return Err(Unsupported) };
    let words = (bytes as u32 / WORD) as u8;
    let access = cx.b.access(space, Type::I32, words, address, offset);
    let loaded = match source {
        Source::All => cx.b.load_access(access, Extend::None).to_vec(),
        Source::Unless(nothing) => {
            let something = cx.not(nothing);
            guarded_load(cx, access, something)
        }
        Source::Bytes(taken) => load_first(cx, access, taken),
    };
    let AccessTarget::Memory { address, offset, .. } = in_space(cx, Space::Shared, to) else {
        return Err(Unsupported);
    };
    let access = cx.b.access(Space::Shared, Type::I32, words, address, offset);
    cx.b.store_access(access, &loaded);
    Ok(())
}

/// Loads words in the given lanes of the guard; other lanes get 0.
fn guarded_load(cx: &mut Cx<'_>, access: Access, lanes: Mask) -> Vec<Value> {
    let guard = cx.guard();
    let lanes = cx.and(guard, lanes);
    let lanes = cx.mask_value(lanes);
    cx.b.load_access(Access { guard: Some(lanes), ..access }, Extend::None).to_vec()
}

/// Loads the first `taken` bytes of an access of words, a count of each lane. Zeros follow them;
/// the bytes behind them are not read.
fn load_first(cx: &mut Cx<'_>, access: Access, taken: Value) -> Vec<Value> {
    let at_least = |cx: &mut Cx<'_>, bytes: u32| {
        let bytes = cx.word(bytes);
        Mask::Lanes(cx.b.icmp(IntCc::GeU, taken, bytes))
    };
    let all = at_least(cx, access.bytes());
    let mut words = guarded_load(cx, access, all);
    let part = cx.not(all);
    let single = |at: u32| Access {
        count: 1,
        align: WORD as u8,
        offset: access.offset.wrapping_add(at as i32),
        ..access
    };
    for (n, word) in (0..).zip(words.iter_mut()).take(usize::from(access.count) - 1) {
        let reached = at_least(cx, WORD * (n + 1));
        let lanes = cx.and(part, reached);
        let loaded = guarded_load(cx, single(WORD * n), lanes)[0];
        *word = cx.b.or(*word, loaded);
    }
    // The bytes of the word that is taken in part.
    let (three, two) = (cx.word(WORD - 1), cx.word(2));
    let (number, left) = (cx.b.shr_u(taken, two), cx.b.and(taken, three));
    let whole = cx.b.sub(taken, left);
    let whole = cx.resize(whole, Type::I64, false);
    let address = cx.b.add(access.address, whole);
    let mut last = cx.word(0);
    for n in 0..WORD - 1 {
        let limit = cx.word(n);
        let more = Mask::Lanes(cx.b.icmp(IntCc::GtU, left, limit));
        let lanes = cx.and(part, more);
        let byte = Access { ty: Type::I8, align: 1, address, ..single(n) };
        let guard = cx.guard();
        let lanes = cx.and(guard, lanes);
        let lanes = cx.mask_value(lanes);
        let loaded = cx.b.load_access(Access { guard: Some(lanes), ..byte }, Extend::Unsigned)[0];
        let shift = cx.word(8 * n);
        let loaded = cx.b.shl(loaded, shift);
        last = cx.b.or(last, loaded);
    }
    for (n, word) in (0..).zip(words.iter_mut()) {
        let n = cx.word(n);
        let here = Mask::Lanes(cx.b.icmp(IntCc::Eq, number, n));
        let here = cx.and(part, here);
        let with_last = cx.b.or(*word, last);
        *word = cx.select(here, with_last, *word);
    }
    words
}

/// Lifts `cp.async.mbarrier.arrive`: the thread arrives when its copies are done. Without `.noinc`
/// the barrier also expects one more arrival, so that nothing changes.
pub fn mbarrier_arrive(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let address = address_of(insn.operand(0)).ok_or(Unsupported)?;
    if insn.form.has(Word::NoInc) {
        let place = place(cx, insn.form, address);
        let (one, none) = (cx.constant(Type::I64, 1), cx.constant(Type::I64, 0));
        Object::new(place)?.arrive(cx, one, none, false);
    }
    Ok(())
}

/// Operands of a bulk copy: generic addresses, bytes, and the barrier that is notified.
struct Bulk {
    to: Value,
    from: Value,
    /// `i64`
    bytes: Value,
    barrier: Option<Object>,
    /// Whether the destination is in global memory.
    to_global: bool,
}

impl Bulk {
    fn new(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Result<Bulk, Unsupported> {
        // The opcode names the spaces, the destination's first.
        let mut spaces = insn.form.row.opcode.split('.').filter_map(|word| match word {
            "global" => Some(Space::Global),
            "shared::cta" | "shared::cluster" => Some(Space::Shared),
            _ => None,
        });
        let (Some(to_space), Some(from_space)) = (spaces.next(), spaces.next()) else {
            return Err(Unsupported);
        };
        let (Some(to), Some(from)) = (address_of(insn.operand(0)), address_of(insn.operand(1)))
        else {
            return Err(Unsupported);
        };
        if insn.form.has(Word::CpMask) {
            return Err(Unsupported);
        }
        let barrier = match insn.form.has(Word::CompleteTxBytes) {
            true => {
                let address = address_of(insn.operand(3)).ok_or(Unsupported)?;
                let place = in_space(cx, Space::Shared, address);
                Some(Object::new(place)?)
            }
            false => None,
        };
        let (to, from) = (in_space(cx, to_space, to), in_space(cx, from_space, from));
        let (to, from) =
            (generic(cx, to).ok_or(Unsupported)?, generic(cx, from).ok_or(Unsupported)?);
        let bytes = cx.bits(insn.operand(2), Ty::U32);
        let bytes = cx.resize(bytes, Type::I64, false);
        Ok(Bulk { to, from, bytes, barrier, to_global: to_space == Space::Global })
    }

    fn perform(&self, cx: &mut Cx<'_>, op: WideOp) -> Lifted {
        cx.b.wide(op, &[self.to, self.from, self.bytes]);
        if let Some(barrier) = self.barrier {
            barrier.complete(cx, self.bytes);
        }
        Ok(())
    }
}

/// Lifts `cp.async.bulk`.
pub fn bulk(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let bulk = Bulk::new(cx, insn)?;
    bulk.perform(cx, WideOp::Copy)
}

/// Lifts `cp.reduce.async.bulk`.
pub fn bulk_reduce(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let kind = atomic::kind(insn.form, insn.form.ty(0)).ok_or(Unsupported)?;
    if kind.op.has_compare() {
        return Err(Unsupported);
    }
    let bulk = Bulk::new(cx, insn)?;
    let op = if kind.flushes && bulk.to_global { AtomicOp::FAdd { flush: true } } else { kind.op };
    bulk.perform(cx, WideOp::Reduce { op, ty: kind.cell })
}

/// Lifts `st.async`: a store that notifies a named barrier of its bytes.
pub fn st_async(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let barrier = told(cx, insn)?;
    memory::store(cx, insn.form, insn.operand(0), insn.operand(1))?;
    tell(cx, insn, barrier);
    Ok(())
}

/// Lifts `red.async`: a reduction that notifies a named barrier of its bytes.
pub fn red_async(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let barrier = told(cx, insn)?;
    let operands =
        Operands { old: None, address: insn.operand(0), value: insn.operand(1), compare: None };
    atomic::atomic(cx, insn.form, &operands)?;
    tell(cx, insn, barrier);
    Ok(())
}

/// Returns the barrier that an instruction notifies of its bytes.
fn told(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Result<Option<Object>, Unsupported> {
    if !insn.form.has(Word::CompleteTxBytes) {
        return Ok(None);
    }
    let address = address_of(insn.operand(2)).ok_or(Unsupported)?;
    let place = place(cx, insn.form, address);
    Object::new(place).map(Some)
}

fn tell(cx: &mut Cx<'_>, insn: &Insn<'_>, barrier: Option<Object>) {
    if let Some(barrier) = barrier {
        let bytes = u64::from(insn.form.ty(0).bytes()) * insn.form.vector() as u64;
        let bytes = cx.constant(Type::I64, bytes);
        barrier.complete(cx, bytes);
    }
}
