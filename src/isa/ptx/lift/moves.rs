//! Moves and addresses.
//!
//! Source: facts, `ptx.md` 2.6; PTX ISA, *Generic Addressing*.

use smallvec::SmallVec;
use warploom_guest::bits;
use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, Type, Value};

use super::context::{Cx, Insn};
use super::convert::pack;
use super::{Lifted, Unsupported, driver};
use crate::module::{AddressOf, Operand, VariableId};
use crate::types::{Kind, Ty};
use crate::word::Word;

/// The elements of a packed or unpacked value.
type Elements = SmallVec<[Value; 4]>;

/// Returns the type of an element, if `count` elements make up the type.
fn element(ty: Ty, count: usize) -> Result<Ty, Unsupported> {
    Ok(match (ty.bits() as usize).checked_div(count) {
        Some(8) => Ty::B8,
        Some(16) => Ty::B16,
        Some(32) => Ty::B32,
        Some(64) => Ty::B64,
        _ => return Err(Unsupported),
    })
}

pub fn mov(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = insn.form.ty(0);
    let (to, from) = (insn.operand(0), insn.operand(1));
    match (to, from) {
        _ if ty == Ty::Pred => {
            let value = cx.pred(from);
            cx.set_pred(to, value);
        }
        (Operand::Vector(to), Operand::Vector(from)) if insn.form.vector() > 1 => {
            if to.len() != from.len() {
                return Err(Unsupported);
            }
            // Read all before writing the first.
            let values: Elements = from.iter().map(|operand| cx.bits(operand, ty)).collect();
            to.iter().zip(values).for_each(|(operand, value)| cx.set(operand, ty, value));
        }
        (Operand::Vector(to), from) => {
            let part = element(ty, to.len())?;
            let values = unpacked(cx, from, ty, part)?;
            to.iter().zip(values).for_each(|(operand, value)| cx.set(operand, part, value));
        }
        (to, Operand::Vector(from)) => {
            let part = element(ty, from.len())?;
            let values: Elements = from.iter().map(|operand| cx.bits(operand, part)).collect();
            if ty == Ty::B128 {
                let pair = packed128(cx, &values)?;
                cx.set128(to, pair);
            } else {
                let value = packed(cx, &values)?;
                cx.set(to, ty, value);
            }
        }
        _ if ty == Ty::B128 => {
            let value = cx.bits128(from);
            cx.set128(to, value);
        }
        _ => {
            let value = cx.bits(from, ty);
            cx.set(to, ty, value);
        }
    }
    Ok(())
}

/// Packs values next to each other, the lowest first.
fn packed(cx: &mut Cx<'_>, values: &[Value]) -> Result<Value, Unsupported> {
    let ty = values.first().map(|&value| cx.b.ty(value).ty);
    Ok(match (ty, values) {
        (Some(Type::I32), &[low, high]) => cx.b.concat(low, high),
        (Some(Type::I16), &[low, high]) => pack(cx, low, high),
        (Some(Type::I16), &[a, b, c, d]) => {
            let (low, high) = (pack(cx, a, b), pack(cx, c, d));
            cx.b.concat(low, high)
        }
        (Some(Type::I8), _) => {
            let mut word = None;
            for (&value, n) in values.iter().zip(0..) {
                let byte = cx.b.zero_extend(Type::I32, value);
                let placed = if n == 0 { byte } else { bits::shl(cx, byte, 8 * n) };
                word = Some(word.map_or(placed, |word| cx.b.or(word, placed)));
            }
            word.ok_or(Unsupported)?
        }
        _ => return Err(Unsupported),
    })
}

fn packed128(cx: &mut Cx<'_>, values: &[Value]) -> Result<[Value; 2], Unsupported> {
    Ok(match *values {
        [low, high] => [low, high],
        [a, b, c, d] => [cx.b.concat(a, b), cx.b.concat(c, d)],
        _ => return Err(Unsupported),
    })
}

/// Returns the parts of an operand, the lowest first.
fn unpacked(cx: &mut Cx<'_>, operand: &Operand, ty: Ty, part: Ty) -> Result<Elements, Unsupported> {
    if ty == Ty::B128 {
        let pair = cx.bits128(operand);
        return Ok(match part {
            Ty::B64 => pair.into_iter().collect(),
            _ => pair.into_iter().flat_map(|value| words(cx, value)).collect(),
        });
    }
    let value = cx.bits(operand, ty);
    let words: Elements = if ty == Ty::B64 {
        words(cx, value).into_iter().collect()
    } else {
        SmallVec::from_slice(&[value])
    };
    if part == Ty::B32 {
        return Ok(words);
    }
    let mut parts = Elements::new();
    let each = ty.bits().min(32) / part.bits();
    for word in words {
        let word = cx.resize(word, Type::I32, false);
        for n in 0..each {
            let moved = if n == 0 { word } else { bits::shr(cx, word, n * part.bits()) };
            parts.push(cx.resize(moved, super::context::int_type(part.bits()), false));
        }
    }
    Ok(parts)
}

fn words(cx: &mut Cx<'_>, value: Value) -> [Value; 2] {
    [cx.b.trunc(Type::I32, value), cx.b.high_half(value)]
}

/// A window of the generic address space.
#[derive(Clone, Copy, PartialEq)]
enum Window {
    Global,
    Shared,
    Local,
    Const,
    Param,
}

impl Window {
    fn of(insn: &Insn<'_>) -> Result<Window, Unsupported> {
        use Word::{Const, Global, Local, Param, ParamEntry, Shared, SharedCluster, SharedCta};
        let space = insn.form.one_of(&[
            Global,
            Shared,
            SharedCta,
            SharedCluster,
            Local,
            Const,
            Param,
            ParamEntry,
        ]);
        Ok(match space.ok_or(Unsupported)? {
            Global => Window::Global,
            Local => Window::Local,
            Const => Window::Const,
            Param | ParamEntry => Window::Param,
            _ => Window::Shared,
        })
    }

    /// Returns the address of its first byte, uniform. Global addresses are generic already.
    fn base(self, cx: &mut Cx<'_>) -> Option<Value> {
        let at = match self {
            Window::Global => return None,
            Window::Shared => driver::SHARED_WINDOW,
            Window::Local => driver::LOCAL_WINDOW,
            Window::Const => driver::CONSTANT_COPY,
            Window::Param => driver::PARAM_COPY,
        };
        Some(cx.driver(at, Type::I64))
    }

    /// Returns its size in bytes, uniform.
    fn bytes(self, cx: &mut Cx<'_>) -> Value {
        let at = match self {
            Window::Const => driver::CONSTANT_BYTES,
            Window::Param => driver::PARAM_BYTES,
            _ => return cx.constant(Type::I64, warploom_runtime::window::WINDOW_BYTES),
        };
        let bytes = cx.driver(at, Type::I32);
        cx.b.zero_extend(Type::I64, bytes)
    }

    /// Returns the lanes whose generic address is in it. Const memory is not part of global memory;
    /// parameters are.
    fn holds(self, cx: &mut Cx<'_>, address: Value) -> Mask {
        let Some(base) = self.base(cx) else {
            let others = [Window::Shared, Window::Local, Window::Const]
                .map(|window| window.holds(cx, address));
            let elsewhere = others.into_iter().fold(Mask::Never, |all, one| cx.or(all, one));
            return cx.not(elsewhere);
        };
        let bytes = self.bytes(cx);
        let offset = cx.b.sub(address, base);
        Mask::Lanes(cx.b.icmp(IntCc::LtU, offset, bytes))
    }
}

/// Lifts `cvta`: an address of a space as a generic address; with `.to` a generic address as an
/// address of the space.
pub fn cvta(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let window = Window::of(insn)?;
    let address = cx.bits(insn.operand(1), Ty::B64);
    let result = match window.base(cx) {
        None => address,
        Some(base) if insn.form.has(Word::To) => cx.b.sub(address, base),
        Some(base) => cx.b.add(address, base),
    };
    cx.set(insn.operand(0), insn.form.ty(0), result);
    Ok(())
}

pub fn isspacep(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let window = Window::of(insn)?;
    let address = cx.bits(insn.operand(1), Ty::B64);
    let result = window.holds(cx, address);
    cx.set_pred(insn.operand(0), result);
    Ok(())
}

/// Lifts `istypep`: whether an address is that of a `.texref`, `.samplerref` or `.surfref`.
pub fn istypep(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = insn.form.ty(0);
    if ty.kind() != Kind::Opaque {
        return Err(Unsupported);
    }
    let address = cx.bits(insn.operand(1), Ty::B64);
    let mut result = Mask::Never;
    for (variable, id) in cx.module.variables.iter().zip(0..) {
        if variable.ty == ty {
            let at = cx.symbol(AddressOf::Variable(VariableId(id)));
            let is_this = Mask::Lanes(cx.b.icmp(IntCc::Eq, address, at));
            result = cx.or(result, is_this);
        }
    }
    cx.set_pred(insn.operand(0), result);
    Ok(())
}
