//! Graphics programs: attributes of primitives, and exports.
//!
//! Sources: "Vega" Instruction Set Architecture, "Parameter interpolation" and "Export"; facts,
//! `graphics.md`, section 2. Hardware keeps attributes in LDS. Here lanes find the attributes of
//! their primitive in rows, one word for each lane, and M0 is not read. Exports are stores to rows.

use std::collections::BTreeMap;

use warploom_guest::LiftError;
use warploom_guest::shader::{Parameter, emitted};
use warploom_ir::{Access, Extend, IntCc, Space, Special, Type, Value};

use super::context::Cx;
use super::entry::BANK;
use super::program::Program;
use super::{Flow, Kernel, Lifted, Unsupported, convert};
use crate::{Encoding, Export, Instruction, Operand};

/// Where a shader finds its data in memory.
///
/// The number of a row is the offset in the constant bank of the row's address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shader {
    /// True if the shader exports colours, not positions.
    pub fragment: bool,
    /// Bytes from one warp slot's rows to the next slot's rows. 0: rows belong to the launch.
    pub slot_bytes: u32,
    /// A row that is not 0 in lanes that start active.
    pub covered: Option<u32>,
    /// A row that gets 1 in lanes that an export keeps.
    pub written: Option<u32>,
    /// The number of a primitive's attributes, and the places of the words that are interpolated.
    pub attributes: u32,
    pub parameters: BTreeMap<Parameter, WordSource>,
    /// A row for each target's number and component. An export without a row here goes nowhere.
    pub exports: BTreeMap<(u8, u8), u32>,
    /// Where the messages of a geometry program go.
    pub emitted: Option<Emitted>,
}

/// Where a geometry program's messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// A row for each vertex, with bits of [`emitted`].
    pub rows: u32,
    /// Bytes from one row to the next.
    pub stride: u32,
    /// The most vertices that a lane may emit. There is one row more.
    pub most: u32,
    /// A row with the number of the next vertex.
    pub next: u32,
}

/// Where a word of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordSource {
    /// In the bank, equal in all lanes.
    Word(u32),
    /// In a row.
    Row(u32),
}

/// Numbers of export targets.
mod target {
    pub const DEPTH: u8 = 8;
    pub const NULL: u8 = 9;
    pub const POSITIONS: std::ops::Range<u8> = 12..16;
    pub const FIRST_PARAMETER: u8 = 32;
}

impl Cx<'_> {
    /// Returns the address of the lane's word in a row of the launch. Blocks are in a line.
    pub(super) fn row(&mut self, offset: u32) -> Value {
        let [block, width, lane] = [Special::Ctaid(0), Special::Ntid(0), Special::Tid(0)]
            .map(|special| self.b.special(special));
        let first = self.b.mul(block, width);
        let index = self.b.add(first, lane);
        let index = self.b.zero_extend(Type::I64, index);
        let bytes = self.shl(index, 2);
        let base = self.b.load_const(BANK, offset, Type::I64);
        self.b.add(base, bytes)
    }

    /// Returns the lane's word in a row that the program is given.
    pub(super) fn given(&mut self, offset: u32) -> Value {
        let Some(first) = self.in_slot(offset) else { return self.row_word(offset) };
        let lane = self.b.lane_id();
        let lane = self.b.zero_extend(Type::I64, lane);
        let bytes = self.shl(lane, 2);
        let address = self.b.add(first, bytes);
        self.word_of_all_lanes(address)
    }

    /// Returns the start of the row of the warp's slot, or `None` if rows belong to the launch.
    fn in_slot(&mut self, offset: u32) -> Option<Value> {
        let stride = self.shader.map(|shader| shader.slot_bytes).filter(|&bytes| bytes > 0)?;
        let (slot, base) =
            (self.b.special(Special::WarpSlot), self.b.load_const(BANK, offset, Type::I64));
        let (slot, stride) = (self.b.zero_extend(Type::I64, slot), self.long(stride.into()));
        let distance = self.b.mul(slot, stride);
        Some(self.b.add(base, distance))
    }

    /// Returns the lane's word in a row of the launch.
    pub(super) fn row_word(&mut self, offset: u32) -> Value {
        let address = self.row(offset);
        self.word_of_all_lanes(address)
    }

    fn word_of_all_lanes(&mut self, address: Value) -> Value {
        let access = self.of_all_lanes(address);
        self.b.load_access(access, Extend::None)[0]
    }

    /// Writes the active lanes' words of a row.
    ///
    /// Inactive lanes get their old words again: a row's words belong to this wave alone, and
    /// stores of all lanes are short.
    fn set_row_word(&mut self, offset: u32, value: Value) {
        let address = self.row(offset);
        let access = self.of_all_lanes(address);
        let (before, exec) = (self.b.load_access(access, Extend::None)[0], self.exec());
        let value = self.b.select(exec, value, before);
        self.b.store_access(access, &[value]);
    }

    /// Returns an access to a word of each lane, active or not.
    fn of_all_lanes(&self, address: Value) -> Access {
        Access {
            guard: None,
            nomask: true,
            ..self.b.access(Space::Global, Type::I32, 1, address, 0)
        }
    }

    /// Returns the word for this warp. Blocks are in a line.
    pub(super) fn warp_word(&mut self, offset: u32) -> Value {
        if let Some(address) = self.in_slot(offset) {
            return self.b.load(Space::Global, Type::I32, Extend::None, address, 0);
        }
        let [block, width, warp] = [Special::Ctaid(0), Special::Ntid(0), Special::WarpId]
            .map(|special| self.b.special(special));
        let warps = self.shr(width, 6);
        let first = self.b.mul(block, warps);
        let number = self.b.add(first, warp);
        let number = self.b.zero_extend(Type::I64, number);
        let bytes = self.shl(number, 2);
        let base = self.b.load_const(BANK, offset, Type::I64);
        let address = self.b.add(base, bytes);
        self.b.load(Space::Global, Type::I32, Extend::None, address, 0)
    }
}

/// Emits a shader's start besides its registers: lanes that are not covered become inactive.
pub(super) fn set_up(cx: &mut Cx<'_>, shader: &Shader) {
    if let Some(covered) = shader.covered {
        let (covered, zero) = (cx.given(covered), cx.int(0));
        let lanes = cx.b.icmp(IntCc::Ne, covered, zero);
        cx.set_exec(lanes);
    }
}

/// Returns P0, P1 - P0 or P2 - P0 of the attribute's component.
fn bits(cx: &mut Cx<'_>, i: &Instruction, word: u8) -> Result<Value, Unsupported> {
    let interp = i.interp();
    let parameter = Parameter { attribute: interp.attribute, component: interp.channel, word };
    Ok(match cx.shader.and_then(|shader| shader.parameters.get(&parameter)).ok_or(Unsupported)? {
        WordSource::Word(offset) => cx.b.load_const(BANK, *offset, Type::I32),
        WordSource::Row(offset) => cx.given(*offset),
    })
}

/// Returns the parameter's word as a float.
fn word(cx: &mut Cx<'_>, i: &Instruction, word: u8) -> Result<Value, Unsupported> {
    let value = bits(cx, i, word)?;
    Ok(cx.cast(Type::F32, value))
}

/// Returns the half that the instruction chooses in the parameter's word, as an `f32`.
fn half(cx: &mut Cx<'_>, i: &Instruction, word: u8) -> Result<Value, Unsupported> {
    let value = bits(cx, i, word)?;
    let value = if i.interp().high { cx.shr(value, 16) } else { value };
    let value = cx.b.trunc(Type::I16, value);
    let value = cx.cast(Type::F16, value);
    Ok(convert::widened(cx, value))
}

/// Returns the words that an instruction interpolates with.
pub fn parameters(i: &Instruction) -> impl Iterator<Item = Parameter> + use<> {
    let interp = i.interp();
    let words = match i.row().mnemonic {
        "v_interp_p1_f32" | "v_interp_p1ll_f16" => vec![0, 1],
        "v_interp_p1lv_f16" => vec![1],
        "v_interp_p2_f32" | "v_interp_p2_f16" | "v_interp_p2_legacy_f16" => vec![2],
        "v_interp_mov_f32" => Vec::from_iter(moved(interp.parameter)),
        _ => vec![],
    };
    words.into_iter().map(move |word| Parameter {
        attribute: interp.attribute,
        component: interp.channel,
        word,
    })
}

/// Returns the word that an operand of `v_interp_mov_f32` names.
fn moved(parameter: u16) -> Option<u8> {
    match parameter {
        0 => Some(1),
        1 => Some(2),
        2 => Some(0),
        _ => None,
    }
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p1_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (p0, p10) = (word(cx, i, 0)?, word(cx, i, 1)?);
    let weight = cx.f32(i, 0);
    let value = cx.mad(p10, weight, p0);
    cx.set_float(i, value)
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p2_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let p20 = word(cx, i, 2)?;
    let Operand::Vector(number) = i.dst() else { return Err(Unsupported) };
    let (weight, before) = (cx.f32(i, 0), cx.vector(number));
    let before = cx.cast(Type::F32, before);
    let value = cx.mad(p20, weight, before);
    cx.set_float(i, value)
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p1ll_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (p0, p10) = (half(cx, i, 0)?, half(cx, i, 1)?);
    let weight = cx.f32(i, 0);
    let value = cx.mad(p10, weight, p0);
    cx.set_float(i, value)
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p1lv_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let p10 = half(cx, i, 1)?;
    let (weight, p0) = (cx.f32(i, 0), cx.f16_of(i, 1, i.interp().high));
    let p0 = convert::widened(cx, p0);
    let value = cx.mad(p10, weight, p0);
    cx.set_float(i, value)
}

/// Returns the result of the last step, rounded to a half.
fn p2_f16(cx: &mut Cx<'_>, i: &Instruction) -> Result<Value, Unsupported> {
    let p20 = half(cx, i, 2)?;
    let (weight, before) = (cx.f32(i, 0), cx.f32(i, 1));
    let (value, round) = (cx.mad(p20, weight, before), cx.mode.attrs(Type::F16).round);
    let value = convert::halved(cx, round, value);
    Ok(cx.float_result(i, value))
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p2_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let Operand::Vector(number) = i.dst() else { return Err(Unsupported) };
    let value = p2_f16(cx, i)?;
    let value = cx.cast(Type::I16, value);
    let (value, before) = (cx.b.zero_extend(Type::I32, value), cx.vector(number));
    // The other half of the register stays.
    let before = cx.and_bits(before, 0xffff_0000);
    let value = cx.b.or(value, before);
    cx.set_vector(number, value);
    Ok(Flow::Next)
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p2_legacy_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = p2_f16(cx, i)?;
    let value = cx.cast(Type::I16, value);
    let value = cx.b.zero_extend(Type::I32, value);
    cx.set_half_word(i, value);
    Ok(Flow::Next)
}

pub fn v_interp_mov_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = word(cx, i, moved(i.interp().parameter).ok_or(Unsupported)?)?;
    // Without modifiers the bits are moved unchanged: they may be the bits of an integer.
    if i.encoding() == Encoding::Vintrp
        && let Operand::Vector(number) = i.dst()
    {
        cx.set_vector(number, value);
        return Ok(Flow::Next);
    }
    cx.set_float(i, value)
}

/// Returns whether programs of the stage have this target.
fn is_target(shader: &Shader, export: &Export) -> bool {
    match export.target {
        target::NULL => true,
        0..=target::DEPTH => shader.fragment,
        number => {
            !shader.fragment
                && (target::POSITIONS.contains(&number) || number >= target::FIRST_PARAMETER)
        }
    }
}

pub fn exp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let shader = cx.shader.ok_or(Unsupported)?;
    let export = i.export();
    if !is_target(shader, &export) {
        return Err(Unsupported);
    }
    for component in 0..4 {
        // If packed, two sources have four components, in words x and z.
        let (from, second) = (component, component + 1);
        let source = match export.sources {
            sources if !export.compressed => sources[component],
            sources if component % 2 == 0 => sources[from].or(sources[second]),
            _ => None,
        };
        if let (Some(number), Some(&row)) =
            (source, shader.exports.get(&(export.target, component as u8)))
        {
            let value = cx.vector(number);
            cx.set_row_word(row, value);
        }
    }
    if let Some(written) = shader.written.filter(|_| export.done || export.valid_mask) {
        let one = cx.int(1);
        cx.set_row_word(written, one);
    }
    Ok(Flow::Next)
}

/// Emits a geometry program's message: emits a vertex, ends a strip, or both.
///
/// After the most vertices, nothing more is emitted.
pub(super) fn message(cx: &mut Cx<'_>, operation: u16, stream: u32) {
    const CUT: u16 = 1;
    const EMIT: u16 = 2;
    let Some(of) = cx.shader.and_then(|shader| shader.emitted) else { return };
    let (mut next, most) = (cx.row_word(of.next), cx.int(of.most));
    if operation & EMIT != 0 {
        let inside = cx.b.icmp(IntCc::LtU, next, most);
        mark(cx, of, next, emitted::VERTEX | stream << emitted::STREAM_SHIFT, inside);
        let one = cx.int(1);
        let after = cx.b.add(next, one);
        next = cx.b.select(inside, after, next);
        cx.set_row_word(of.next, next);
    }
    if operation & CUT != 0 {
        // The end of the last strip has a row behind the last vertex.
        let inside = cx.b.icmp(IntCc::LeU, next, most);
        mark(cx, of, next, emitted::CUT, inside);
    }
}

/// Sets bits in the row of a vertex, in active lanes of `lanes`.
fn mark(cx: &mut Cx<'_>, of: Emitted, vertex: Value, bits: u32, lanes: Value) {
    let (first, vertex, stride) =
        (cx.row(of.rows), cx.b.zero_extend(Type::I64, vertex), cx.long(of.stride.into()));
    let distance = cx.b.mul(vertex, stride);
    let address = cx.b.add(first, distance);
    let access =
        Access { guard: Some(lanes), ..cx.b.access(Space::Global, Type::I32, 1, address, 0) };
    let (before, bits) = (cx.b.load_access(access, Extend::None)[0], cx.int(bits));
    let after = cx.b.or(before, bits);
    cx.b.store_access(access, &[after]);
}

/// Checks that every attribute that the program's reachable code reads is given.
pub(super) fn check(kernel: &Kernel<'_>, program: &Program) -> Result<(), LiftError> {
    let Some(shader) = &kernel.initial.shader else { return Ok(()) };
    let steps = program.blocks.values().flat_map(|block| &block.steps);
    for (pc, step) in steps {
        let Some(insn) = step.insn.filter(|insn| insn.row().mnemonic.starts_with("v_interp_"))
        else {
            continue;
        };
        let count = shader.attributes;
        if u32::from(insn.interp().attribute) >= count {
            return Err(LiftError::NotGiven {
                kernel: kernel.name.into(),
                pc: *pc,
                text: kernel.chip.named(insn.text(*pc)),
                problem: format!("[pixels] has parameters of {count} attributes"),
            });
        }
    }
    Ok(())
}
