//! Hardware registers: `s_getreg` and `s_setreg`.
//!
//! Source: "Vega" Instruction Set Architecture, "Hardware registers", and Mesa's register
//! descriptions for their fields. A field that is unknown here is not executed, so that it does not
//! read as 0.

use warploom_ir::{Special, Value};

use super::context::Cx;
use super::{Flow, Lifted, Unsupported, apertures, mode};
use crate::{Instruction, Operand};

const MODE: u32 = 1;
const STATUS: u32 = 2;
const TRAPSTS: u32 = 3;
const HW_ID: u32 = 4;
const GPR_ALLOC: u32 = 5;
const LDS_ALLOC: u32 = 6;
const IB_STS: u32 = 7;
const SH_MEM_BASES: u32 = 15;

/// The known fields of STATUS.
///
/// Bits: SCC; user mode, without a trap handler; EXECZ, VCCZ; in a workgroup, at no barrier,
/// neither halted nor trapped; valid, without a memory error. The priorities are not kept.
const KNOWN_STATUS: u32 = 1 | 3 << 5 | 0x3f << 9 | 3 << 16;
/// A field that an immediate of 16 bits names.
struct Field {
    register: u32,
    lo: u32,
    width: u32,
}

impl Field {
    fn of(i: &Instruction) -> Field {
        let bits = u32::from(i.simm16() as u16);
        let lo = bits >> 6 & 31;
        Field { register: bits & 63, lo, width: ((bits >> 11) + 1).min(32 - lo) }
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.width) << self.lo
    }
}

pub fn s_getreg_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let field = Field::of(i);
    let (value, known) = match field.register {
        MODE => (cx.int(cx.mode.bits()), u32::MAX),
        STATUS => (status(cx), KNOWN_STATUS),
        // The first slot of the first SIMD, as if waves ran one after the other. No wave ever waits
        // for anything.
        HW_ID | IB_STS => (cx.int(0), u32::MAX),
        GPR_ALLOC => {
            // Vector registers in units of four, less one, from bit 8; scalar registers in units of
            // 16 from bit 24.
            let vectors = cx.vectors.div_ceil(4) - 1;
            (cx.int(vectors << 8 | 6 << 24), u32::MAX)
        }
        LDS_ALLOC => {
            // The size in units of 128 words, from bit 12.
            let bytes = cx.b.special(Special::SharedBytes);
            let rounded = cx.int(511);
            let bytes = cx.b.add(bytes, rounded);
            let units = cx.shr(bytes, 9);
            (cx.shl(units, 12), u32::MAX)
        }
        SH_MEM_BASES => {
            let upper = |base: u64| (base >> 48) as u32;
            (cx.int(upper(apertures::PRIVATE) | upper(apertures::SHARED) << 16), u32::MAX)
        }
        // TRAPSTS: the float exceptions that have occurred are not kept.
        _ => return Err(Unsupported),
    };
    if field.mask() & !known != 0 {
        return Err(Unsupported);
    }
    let value = cx.shr(value, field.lo);
    let value = cx.low_bits(value, field.width, false);
    cx.set_s32(i, value);
    Ok(Flow::Next)
}

/// Returns the known fields of STATUS: SCC, EXECZ, VCCZ; in a workgroup, valid.
fn status(cx: &mut Cx<'_>) -> Value {
    let (scc, execz, vccz) =
        (cx.scalar(Operand::Scc), cx.scalar(Operand::Execz), cx.scalar(Operand::Vccz));
    let (execz, vccz) = (cx.shl(execz, 9), cx.shl(vccz, 10));
    let fixed = cx.int(1 << 11 | 1 << 16);
    let flags = cx.b.or(execz, vccz);
    let flags = cx.b.or(flags, scc);
    cx.b.or(flags, fixed)
}

/// Returns the mode in which code goes on after a field is written.
///
/// `value` is `None` if the value is not known when the code is lifted.
fn set_register(cx: &mut Cx<'_>, i: &Instruction, value: Option<u32>) -> Lifted {
    let field = Field::of(i);
    match field.register {
        MODE => {}
        // STATUS cannot be written, and no field of TRAPSTS can be read.
        STATUS | TRAPSTS => return Ok(Flow::Next),
        _ => return Err(Unsupported),
    }
    let value = value.ok_or(Unsupported)? << field.lo & field.mask();
    // Exceptions, skipping of vector instructions, and the greatest number in place of infinity
    // cannot be switched on.
    let others = field.mask() & !mode::KEPT;
    if (value ^ cx.mode.bits()) & others != 0 {
        return Err(Unsupported);
    }
    let mode = cx.mode.with_field(field.lo, field.width, value >> field.lo);
    Ok(if mode == cx.mode { Flow::Next } else { Flow::SetMode(mode) })
}

pub fn s_setreg_imm32_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let Operand::Literal(value) = i.src(0).operand else { return Err(Unsupported) };
    set_register(cx, i, Some(value))
}

/// Refuses writes of MODE: the value must be known when the code is lifted.
pub fn s_setreg_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    set_register(cx, i, None)
}
