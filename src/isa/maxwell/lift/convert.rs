//! Conversions between number formats.
//!
//! Source: facts, `maxwell-semantics.md` 3.

use crate::ir::{Type, Value};
use crate::isa::maxwell::field::{FloatFormat, IntFormat};
use crate::isa::maxwell::{Instruction, Part, Source};

use super::cc;
use super::context::Cx;
use super::float::round;
use super::flow::{Flow, Lifted, Unsupported};

/// Width in bits, and whether it is signed.
fn int_shape(format: IntFormat) -> (u32, bool) {
    match format {
        IntFormat::U8 => (8, false),
        IntFormat::U16 => (16, false),
        IntFormat::U32 => (32, false),
        IntFormat::U64 => (64, false),
        IntFormat::S8 => (8, true),
        IntFormat::S16 => (16, true),
        IntFormat::S32 => (32, true),
        IntFormat::S64 => (64, true),
    }
}

/// An integer source: part of a register by its type, extended to 32 bits or a 64-bit pair; then absolute value and negation.
fn int_source(cx: &mut Cx<'_>, source: Source, format: IntFormat) -> Value {
    let (bits, signed) = int_shape(format);
    let mut value = if bits == 64 {
        cx.wide(source)
    } else {
        let word = cx.raw(source);
        let first = match source.part {
            Part::Whole => 0,
            Part::Half(half) => u32::from(half) * 16,
            Part::Byte(byte) => u32::from(byte) * 8,
        };
        // A half that begins at byte 3 ends with the word.
        let bits = bits.min(32 - first);
        if bits == 32 { word } else { cx.bit_range(word, first, bits, signed) }
    };
    if source.abs {
        value = cx.b.abs(value);
    }
    if source.neg {
        value = cx.b.neg(value);
    }
    value
}

fn float_type(format: FloatFormat) -> Result<Type, Unsupported> {
    match format {
        FloatFormat::F16 => Ok(Type::F16),
        FloatFormat::F32 => Ok(Type::F32),
        FloatFormat::F64 => Ok(Type::F64),
        FloatFormat::Reserved => Err(Unsupported),
    }
}

/// Writes a float to D: an F16 zero-extended, an F64 to a pair.
fn set_float(cx: &mut Cx<'_>, i: &Instruction, value: Value) {
    match cx.b.ty(value).ty {
        Type::F64 => cx.set_pair(i.d(), value),
        Type::F16 => {
            let bits = cx.cast(Type::I16, value);
            let bits = cx.b.zero_extend(Type::I32, bits);
            cx.set(i.d(), bits);
        }
        _ => cx.set(i.d(), value),
    }
}

/// Integer to float.
pub fn i2f(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let to = float_type(i.dst_float())?;
    let source = int_source(cx, i.b(), i.src_int());
    let signed = int_shape(i.src_int()).1;
    let result = cx.b.int_to_float(to, signed, round(i.rounding()), source);
    cc::write_float(cx, i, result);
    set_float(cx, i, result);
    Ok(Flow::Next)
}
