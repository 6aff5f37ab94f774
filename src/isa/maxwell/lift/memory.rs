//! Loads and stores.
//!
//! Source: facts, `maxwell-semantics.md` 8. Cache hints have no effect.

use crate::ir::{Access, Extend, Space, Type, Value};
use crate::isa::maxwell::field::{MemSize, StoreSize};
use crate::isa::maxwell::{Instruction, Reg};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};

/// What is moved: elements of a type, and how one becomes 32 bits.
#[derive(Clone, Copy)]
pub struct Elements {
    ty: Type,
    count: u8,
    extend: Extend,
}

const fn elements(ty: Type, count: u8, extend: Extend) -> Elements {
    Elements { ty, count, extend }
}

pub fn load_size(size: MemSize) -> Elements {
    match size {
        MemSize::U8 => elements(Type::I8, 1, Extend::Unsigned),
        MemSize::S8 => elements(Type::I8, 1, Extend::Signed),
        MemSize::U16 => elements(Type::I16, 1, Extend::Unsigned),
        MemSize::S16 => elements(Type::I16, 1, Extend::Signed),
        MemSize::B32 => elements(Type::I32, 1, Extend::None),
        MemSize::B64 => elements(Type::I32, 2, Extend::None),
        MemSize::B128 | MemSize::U128 => elements(Type::I32, 4, Extend::None),
    }
}

fn store_size(size: StoreSize) -> Result<Elements, Unsupported> {
    Ok(match size {
        StoreSize::U8 | StoreSize::S8 => elements(Type::I8, 1, Extend::None),
        StoreSize::U16 | StoreSize::S16 => elements(Type::I16, 1, Extend::None),
        StoreSize::B32 => elements(Type::I32, 1, Extend::None),
        StoreSize::B64 => elements(Type::I32, 2, Extend::None),
        StoreSize::B128 => elements(Type::I32, 4, Extend::None),
        StoreSize::Reserved => return Err(Unsupported),
    })
}

/// The memory operand's register part, in each lane; its offset.
///
/// # Errors
/// The encoding has no memory operand.
pub fn address(cx: &mut Cx<'_>, i: &Instruction, space: Space) -> Result<(Value, i32), Unsupported> {
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
    // A uniform address would make the access one for the whole warp.
    Ok((cx.b.splat(base), operand.offset))
}

/// An access under the instruction's guard, aligned to all its bytes.
fn access(cx: &mut Cx<'_>, i: &Instruction, space: Space, what: Elements) -> Result<Access, Unsupported> {
    let (address, offset) = address(cx, i, space)?;
    Ok(cx.b.access(space, what.ty, what.count, address, offset))
}

pub fn load(cx: &mut Cx<'_>, i: &Instruction, space: Space, what: Elements) -> Lifted {
    let access = access(cx, i, space, what)?;
    let values = cx.b.load_access(access, what.extend);
    for (n, &value) in values.iter().enumerate() {
        cx.set(i.d().plus(n as u8), value);
    }
    Ok(Flow::Next)
}

fn store(cx: &mut Cx<'_>, i: &Instruction, space: Space, what: Elements) -> Lifted {
    let access = access(cx, i, space, what)?;
    let data: Reg = i.d();
    let values: Vec<Value> = (0..what.count).map(|n| cx.reg(data.plus(n))).collect();
    cx.b.store_access(access, &values);
    Ok(Flow::Next)
}

pub fn ldg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    load(cx, i, Space::Global, load_size(i.mem_size()))
}

pub fn stg(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    store(cx, i, Space::Global, store_size(i.store_size())?)
}
