//! Loads, stores, fences.
//!
//! Cache hints have no effect. Descriptors of memory are those of the driver: a plain address
//! space.

use warploom_guest::divergence::Mask;
use warploom_guest::images::formatted::Elements;
use warploom_ir::{Access, Extend, IntCc, Space, Type, Value, Values, observe};
use warploom_sass::lift::Cx;
use warploom_sass::lift::context::BANKS;
use warploom_sass::{Address, Location, Role};

use super::flow::{Flow, Lifted, Unsupported};
use super::moves::WINDOW_BYTES;
use super::operand::{set, set_nth, set_pred, wants};
use crate::driver::word;
use crate::field::{CacheOp, ConstMode, FenceScope, Field, MemSize, QuerySpace};
use crate::{Instruction, Opcode};

/// Returns the elements that an access moves.
pub fn elements(size: MemSize) -> Result<Elements, Unsupported> {
    Ok(match size {
        MemSize::U8 => Elements::U8,
        MemSize::S8 => Elements::S8,
        MemSize::U16 => Elements::U16,
        MemSize::S16 => Elements::S16,
        MemSize::B32 => Elements::words(1),
        MemSize::B64 => Elements::words(2),
        MemSize::B128 => Elements::words(4),
        MemSize::Reserved => return Err(Unsupported),
    })
}

/// Returns a memory operand: its registers in each lane, and its offset.
///
/// # Errors
/// The encoding has no memory operand.
pub fn address(
    cx: &mut Cx<'_>,
    i: &Instruction,
    space: Space,
) -> Result<(Value, i32), Unsupported> {
    let operand = i.address().ok_or(Unsupported)?;
    Ok(address_of(cx, operand, i.extended(), space))
}

/// Returns the address of an operand. In global memory the register has 64 bits with `.E`, unless
/// the operand says that it has 32; the uniform register has 64 bits, unless it is a descriptor.
fn address_of(cx: &mut Cx<'_>, operand: Address, extended: bool, space: Space) -> (Value, i32) {
    let wide = matches!(space, Space::Generic | Space::Global);
    let base = match (wide, operand.wide.unwrap_or(extended) && extended) {
        (true, true) => cx.reg_pair(operand.base),
        (true, false) => {
            let low = cx.reg(operand.base);
            cx.b.zero_extend(Type::I64, low)
        }
        (false, _) => {
            let base = cx.reg(operand.base);
            if operand.shift == 0 { base } else { cx.shl(base, operand.shift.into()) }
        }
    };
    let uniform = operand.uniform.filter(|_| operand.descriptor.is_none());
    let address = match uniform.filter(|uniform| !uniform.is_zero()) {
        None => base,
        Some(uniform) => {
            let uniform = match (wide, extended) {
                (true, true) => cx.uniform_pair(uniform),
                (true, false) => {
                    let low = cx.uniform(uniform);
                    cx.b.zero_extend(Type::I64, low)
                }
                (false, _) => cx.uniform(uniform),
            };
            if operand.base.is_zero() { uniform } else { cx.b.add(base, uniform) }
        }
    };
    // A uniform address would make a single access for the whole warp.
    (cx.b.splat(address), operand.offset)
}

/// Returns an access under the instruction's guard, aligned to its size.
fn access(
    cx: &mut Cx<'_>,
    i: &Instruction,
    space: Space,
    what: Elements,
) -> Result<Access, Unsupported> {
    let (address, offset) = address(cx, i, space)?;
    Ok(cx.b.access(space, what.ty, what.count, address, offset))
}

fn load(cx: &mut Cx<'_>, i: &Instruction, space: Space, what: Elements) -> Lifted {
    if wants(i, Role::Pd) {
        return Err(Unsupported);
    }
    let access = access(cx, i, space, what)?;
    let values = cx.b.load_access(access, what.extend);
    for (n, &value) in (0..).zip(&values) {
        set_nth(cx, i, n, value);
    }
    Ok(Flow::Next)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, space: Space) -> Lifted {
    let what = elements(i.mem_size())?;
    let access = access(cx, i, space, what)?;
    let first = i.b().reg().ok_or(Unsupported)?;
    let values: Vec<Value> = (0..what.count)
        .map(|n| {
            let register = cx.after(first, n);
            cx.reg(register)
        })
        .collect();
    cx.b.store_access(access, &values);
    Ok(Flow::Next)
}

/// Lifts a load whose predicate Ps, if it is false, makes the result 0.
fn load_if(cx: &mut Cx<'_>, i: &Instruction, space: Space) -> Lifted {
    if !i.ps().is_true() {
        return Err(Unsupported);
    }
    load(cx, i, space, load_elements(i)?)
}

/// Returns the elements of LD and LDG, which on sm_75 have a further size of 128 bits.
fn load_elements(i: &Instruction) -> Result<Elements, Unsupported> {
    match i.field(Field::old_load_size) {
        Some(_) if i.old_load_size() == MemSize::Reserved => Ok(Elements::words(4)),
        Some(_) => elements(i.old_load_size()),
        None => elements(i.mem_size()),
    }
}

pub fn ldg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load_if(cx, i, Space::Global)
}

pub fn stg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Global)
}

pub fn ld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load_if(cx, i, Space::Generic)
}

pub fn st(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Generic)
}

pub fn lds(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, Space::Shared, elements(i.shared_size())?)
}

pub fn sts(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Shared)
}

pub fn ldl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, Space::Local, elements(i.mem_size())?)
}

pub fn stl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Local)
}

/// Lifts LDC: load from a constant bank at Ra + offset.
pub fn ldc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.const_mode() != ConstMode::Plain {
        return Err(Unsupported);
    }
    load_constant(cx, i)
}

/// Loads from constant memory at a register or uniform register plus an offset.
pub fn load_constant(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let bank = i.row.operands().find_map(|slot| match slot.location {
        Location::ConstMemory { bank, descriptor: None, .. } => Some(bank),
        _ => None,
    });
    let bank = i.bits(bank.ok_or(Unsupported)?, 5) as u8;
    let size = i.const_size();
    if bank >= BANKS || size == MemSize::B128 {
        return Err(Unsupported);
    }
    load(cx, i, Space::Const(bank), elements(size)?)
}

/// Clears the bytes of a word of a copy that are among the last `zeros` bytes; the word begins at
/// byte `at` of all bytes.
fn first_bytes(cx: &mut Cx<'_>, word: Value, at: u32, all: u32, zeros: Value) -> Value {
    let left = cx.int(all - at);
    let kept = cx.b.sub(left, zeros);
    let (none, four, one) = (cx.int(0), cx.int(4), cx.int(1));
    let kept = cx.b.max_s(kept, none);
    let kept = cx.b.min_s(kept, four);
    let bits = cx.shl(kept, 3);
    let beyond = cx.b.shl(one, bits);
    let mask = cx.b.sub(beyond, one);
    cx.b.and(word, mask)
}

/// Lifts LDGSTS: a copy from global to shared memory, which happens at once. If the predicate is
/// false, zeros are stored. With `.ZFILL` the address is that of the aligned bytes plus the number
/// of bytes at their end that become zeros.
pub fn ldgsts(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let what = elements(i.mem_size())?;
    if what.extend != Extend::None {
        return Err(Unsupported);
    }
    let (to, from) = (i.address_in(Role::M), i.address_in(Role::G));
    let (to, from) = (to.ok_or(Unsupported)?, from.ok_or(Unsupported)?);
    let (mut address, mut offset) = address_of(cx, from, true, Space::Global);
    let mut zeros = None;
    if i.zfill() {
        let whole = cx.constant(Type::I64, offset as u64);
        let low = cx.constant(Type::I64, u64::from(what.bytes()) - 1);
        let sum = cx.b.add(address, whole);
        let excess = cx.b.and(sum, low);
        address = cx.b.sub(sum, excess);
        offset = 0;
        zeros = Some(cx.b.trunc(Type::I32, excess));
    }
    let (guard, wanted) = (cx.guard(), cx.pred(i.ps()));
    let lanes = cx.and(guard, wanted);
    cx.set_guard(lanes);
    let mut values = if lanes == Mask::Never {
        Values::default()
    } else {
        let access = cx.b.access(Space::Global, what.ty, what.count, address, offset);
        cx.b.load_access(access, Extend::None)
    };
    cx.set_guard(guard);
    let zero = cx.int(0);
    if values.is_empty() {
        values.extend((0..what.count).map(|_| zero));
    }
    let values: Vec<Value> = (0..)
        .zip(&values)
        .map(|(n, &value)| {
            let value = cx.select(wanted, value, zero);
            zeros.map_or(value, |zeros| first_bytes(cx, value, 4 * n, what.bytes(), zeros))
        })
        .collect();
    let (address, offset) = address_of(cx, to, false, Space::Shared);
    let access = cx.b.access(Space::Shared, what.ty, what.count, address, offset);
    cx.b.store_access(access, &values);
    Ok(Flow::Next)
}

/// Lifts MEMBAR. The warps of a block share a host thread, which sees its own effects in order.
pub fn membar(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    match i.fence_scope() {
        FenceScope::Reserved => return Err(Unsupported),
        FenceScope::Cta => cx.b.observe_fence(),
        _ => cx.b.fence(),
    }
    Ok(Flow::Next)
}

/// Lifts CCTL. Caches have no effect here; code that acquires empties one.
pub fn cctl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.cache_op() == CacheOp::IvAll {
        let active = cx.active();
        cx.b.observe(observe::ACQUIRE, &[active]);
    }
    Ok(Flow::Next)
}

/// Returns the lanes whose address is in a window, and the distance from the window's base.
pub fn in_window(cx: &mut Cx<'_>, (address, offset): (Value, i32), window: u32) -> (Mask, Value) {
    let offset = cx.constant(Type::I64, offset as u64);
    let address = cx.b.add(address, offset);
    let base = cx.b.load_const(0, window, Type::I64);
    let distance = cx.b.sub(address, base);
    let bytes = cx.constant(Type::I64, WINDOW_BYTES.into());
    (Mask::Lanes(cx.b.icmp(IntCc::LtU, distance, bytes)), distance)
}

/// Lifts QSPC: whether an address lies in an address space; D is the address in it.
pub fn qspc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let place = address(cx, i, Space::Generic)?;
    let (is_shared, in_shared) = in_window(cx, place, word::SHARED_WINDOW);
    let (is_local, in_local) = in_window(cx, place, word::LOCAL_WINDOW);
    let (is_there, place) = match i.query_space() {
        QuerySpace::Shared => (is_shared, in_shared),
        QuerySpace::Local => (is_local, in_local),
        QuerySpace::Global => {
            let elsewhere = cx.or(is_shared, is_local);
            (cx.not(elsewhere), place.0)
        }
        QuerySpace::Reserved => return Err(Unsupported),
    };
    let place = cx.b.trunc(Type::I32, place);
    set_pred(cx, i, Role::Pd, is_there);
    set(cx, i, place);
    Ok(Flow::Next)
}

/// Whether a loop with the instruction may wait for other lanes to act.
pub fn may_wait(i: &Instruction) -> bool {
    match i.opcode() {
        Opcode::Atom
        | Opcode::AtomCas
        | Opcode::Atomg
        | Opcode::AtomgCas
        | Opcode::Atoms
        | Opcode::AtomsCas => !i.d().is_zero(),
        Opcode::Nanosleep | Opcode::Yield => true,
        Opcode::Ld | Opcode::Ldg => {
            let strong = |text: &str| text.contains(".STRONG") || text.contains(".MMIO");
            strong(&i.mnemonic())
        }
        _ => false,
    }
}

/// Whether an instruction arrives at a barrier in memory.
pub fn arrives(i: &Instruction) -> bool {
    matches!(i.opcode(), Opcode::AtomsArrive | Opcode::Arrives)
}
