//! Loads and stores.
//!
//! Source: facts, `maxwell-semantics.md` 8. Cache hints have no effect.

pub use warploom_guest::images::formatted::Elements;
use warploom_ir::{Access, Space, Type, Value as IrValue};
use warploom_sass::lift::memory::load_to;

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::driver::BANKS;
use crate::field::{ConstMode, Field, MemSize, StoreSize};

impl From<MemSize> for Elements {
    fn from(size: MemSize) -> Elements {
        match size {
            MemSize::U8 => Elements::U8,
            MemSize::S8 => Elements::S8,
            MemSize::U16 => Elements::U16,
            MemSize::S16 => Elements::S16,
            MemSize::B32 => Elements::words(1),
            MemSize::B64 => Elements::words(2),
            MemSize::B128 | MemSize::U128 => Elements::words(4),
        }
    }
}

pub fn store_size(size: StoreSize) -> Result<Elements, Unsupported> {
    Ok(match size {
        StoreSize::U8 => Elements::U8,
        StoreSize::S8 => Elements::S8,
        StoreSize::U16 => Elements::U16,
        StoreSize::S16 => Elements::S16,
        StoreSize::B32 => Elements::words(1),
        StoreSize::B64 => Elements::words(2),
        StoreSize::B128 => Elements::words(4),
        StoreSize::Reserved => return Err(Unsupported),
    })
}

/// Returns the memory operand: the value of its register in each lane, and its offset.
///
/// # Errors
/// The encoding has no memory operand.
pub fn address(
    cx: &mut Cx<'_>,
    i: &Instruction,
    space: Space,
) -> Result<(IrValue, i32), Unsupported> {
    let operand = i.address().ok_or(Unsupported)?;
    let wide = matches!(space, Space::Generic | Space::Global);
    let base = match (wide, i.extended()) {
        (true, true) => cx.reg_pair(operand.base),
        (true, false) => {
            let low = cx.reg(operand.base);
            cx.b.zero_extend(Type::I64, low)
        }
        (false, _) => cx.reg(operand.base),
    };
    // A uniform address would make a single access for the whole warp.
    Ok((cx.b.splat(base), operand.offset))
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
    let access = access(cx, i, space, what)?;
    load_to(cx, (i.d(), i.pd()), access, what);
    Ok(Flow::Next)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, space: Space, what: Elements) -> Lifted {
    let access = access(cx, i, space, what)?;
    let values: Vec<IrValue> = (0..what.count)
        .map(|n| {
            let register = cx.after(i.d(), n);
            cx.reg(register)
        })
        .collect();
    cx.b.store_access(access, &values);
    Ok(Flow::Next)
}

pub fn ldg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, Space::Global, i.mem_size().into())
}

pub fn stg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Global, store_size(i.store_size())?)
}

/// Lifts LD: generic load. The predicate that LEA.HI made for the address is not needed, as the
/// address is complete.
pub fn ld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, Space::Generic, i.mem_size().into())
}

pub fn st(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Generic, store_size(i.store_size())?)
}

pub fn lds(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    // With `.U` the size has other names.
    let size = if i.field(Field::shared_size).is_some() { i.shared_size() } else { i.store_size() };
    load(cx, i, Space::Shared, store_size(size)?)
}

pub fn sts(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Shared, store_size(i.store_size())?)
}

pub fn ldl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, Space::Local, store_size(i.store_size())?)
}

pub fn stl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Local, store_size(i.store_size())?)
}

/// Lifts LDC: load from a constant bank at Ra + offset.
pub fn ldc(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let what = match i.const_size() {
        StoreSize::B128 => return Err(Unsupported),
        size => store_size(size)?,
    };
    if i.const_mode() != ConstMode::Plain {
        return Err(Unsupported);
    }
    let bank = i.bank().filter(|&bank| bank < BANKS).ok_or(Unsupported)?;
    let access = access(cx, i, Space::Const(bank), what)?;
    load_to(cx, (i.d(), i.pd()), access, what);
    Ok(Flow::Next)
}
