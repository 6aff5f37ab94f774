//! What programs of the graphics pipeline have besides: attributes of primitives, and exports.
//!
//! Sources: "Vega" Instruction Set Architecture, "Parameter interpolation" and "Export"; facts, `graphics.md`, section 2. Hardware has attributes in LDS; here they
//! are found by the lane's primitive, and M0 is not read. Exports are stores to rows, one word for each lane.

use std::collections::BTreeMap;

use crate::ir::{Access, CellKind, Extend, FunctionBuilder, IntCc, Reg, Space, Special, Type, Value};
use crate::isa::LiftError;
use crate::isa::gfx9::{Encoding, Export, Instruction, Operand};

use super::context::Cx;
use super::entry::BANK;
use super::program::Program;
use super::{Flow, Kernel, Lifted, Unsupported};

/// What a shader finds in memory. Numbers are offsets in the constant bank, of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shader {
    /// It exports colours, not positions.
    pub fragment: bool,
    /// A row: not 0 in lanes that begin as active.
    pub covered: Option<u32>,
    /// A row: 1 where an export keeps the lane.
    pub written: Option<u32>,
    /// What primitives have, if anything.
    pub attributes: Option<Attributes>,
    /// A row for each target's number and component; what is not here goes nowhere.
    pub exports: BTreeMap<(u8, u8), u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    pub count: u32,
    /// A row: bytes from the table's start to the lane's primitive.
    pub primitive: u32,
    /// `[primitive][attribute][component]` of P0, P1 - P0, P2 - P0.
    pub table: u32,
}

/// Words of a component, and of an attribute's four.
const WORDS: u32 = 3;
const COMPONENTS: u32 = 4;

/// Numbers of targets.
mod target {
    pub const DEPTH: u8 = 8;
    pub const NULL: u8 = 9;
    pub const POSITIONS: std::ops::Range<u8> = 12..16;
    pub const FIRST_PARAMETER: u8 = 32;
}

/// The register that keeps where the lane's primitive is in the table.
pub(super) fn primitive(function: &mut FunctionBuilder, shader: Option<&Shader>) -> Option<Reg> {
    shader?.attributes?;
    Some(function.bank("primitive", CellKind::Lane(Type::I32), 1).reg(0))
}

impl Cx<'_> {
    /// The address of the lane's word in a row. Blocks are in a line.
    pub(super) fn row(&mut self, offset: u32) -> Value {
        let [block, width, lane] =
            [Special::Ctaid(0), Special::Ntid(0), Special::Tid(0)].map(|special| self.b.special(special));
        let first = self.b.mul(block, width);
        let index = self.b.add(first, lane);
        let index = self.b.zero_extend(Type::I64, index);
        let bytes = self.shl(index, 2);
        let base = self.b.load_const(BANK, offset, Type::I64);
        self.b.add(base, bytes)
    }

    /// The lane's word in a row.
    pub(super) fn row_word(&mut self, offset: u32) -> Value {
        let address = self.row(offset);
        self.b.load(Space::Global, Type::I32, Extend::None, address, 0)
    }

    /// The word for this warp, of blocks in a line that are one warp each.
    pub(super) fn warp_word(&mut self, offset: u32) -> Value {
        let block = self.b.special(Special::Ctaid(0));
        let block = self.b.zero_extend(Type::I64, block);
        let bytes = self.shl(block, 2);
        let base = self.b.load_const(BANK, offset, Type::I64);
        let address = self.b.add(base, bytes);
        self.b.load(Space::Global, Type::I32, Extend::None, address, 0)
    }
}

/// Emits what a shader begins with besides its registers. Lanes that are not covered are off.
pub(super) fn set_up(cx: &mut Cx<'_>, shader: &Shader) {
    if let (Some(attributes), Some(register)) = (shader.attributes, cx.banks.primitive) {
        let place = cx.row_word(attributes.primitive);
        cx.b.rf_write(register, place);
    }
    if let Some(covered) = shader.covered {
        let (covered, zero) = (cx.row_word(covered), cx.int(0));
        let lanes = cx.b.icmp(IntCc::Ne, covered, zero);
        cx.set_exec(lanes);
    }
}

/// Consecutive words of the attribute's component, from the number `first` on.
fn words<const N: usize>(cx: &mut Cx<'_>, i: &Instruction, first: u32) -> Result<[Value; N], Unsupported> {
    let attributes = cx.shader.and_then(|shader| shader.attributes).ok_or(Unsupported)?;
    let register = cx.banks.primitive.ok_or(Unsupported)?;
    let interp = i.interp();
    let place = cx.b.rf_read(register);
    let place = cx.b.zero_extend(Type::I64, place);
    let table = cx.b.load_const(BANK, attributes.table, Type::I64);
    let address = cx.b.add(table, place);
    let component = u32::from(interp.attribute) * COMPONENTS + u32::from(interp.channel);
    let access = cx.b.access(Space::Global, Type::I32, N as u8, address, (4 * (component * WORDS + first)) as i32);
    let access = Access { align: 4, ..access };
    let loaded = cx.b.load_access(access, Extend::None);
    Ok(std::array::from_fn(|n| cx.cast(Type::F32, loaded[n])))
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p1_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [p0, p10] = words(cx, i, 0)?;
    let weight = cx.f32(i, 0);
    let value = cx.mad(p10, weight, p0);
    cx.set_float(i, value)
}

/// Approximate: product and sum are rounded; whether hardware fuses them is not known.
pub fn v_interp_p2_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [p20] = words(cx, i, 2)?;
    let Operand::Vector(number) = i.dst() else { return Err(Unsupported) };
    let (weight, before) = (cx.f32(i, 0), cx.vector(number));
    let before = cx.cast(Type::F32, before);
    let value = cx.mad(p20, weight, before);
    cx.set_float(i, value)
}

pub fn v_interp_mov_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let word = match i.interp().parameter {
        0 => 1,
        1 => 2,
        2 => 0,
        _ => return Err(Unsupported),
    };
    let [value] = words(cx, i, word)?;
    // Without modifiers the bits are moved as they are: they may be those of an integer.
    if i.encoding() == Encoding::Vintrp
        && let Operand::Vector(number) = i.dst()
    {
        cx.set_vector(number, value);
        return Ok(Flow::Next);
    }
    cx.set_float(i, value)
}

/// A target that programs of the stage have.
fn is_target(shader: &Shader, export: &Export) -> bool {
    match export.target {
        target::NULL => true,
        0..=target::DEPTH => shader.fragment,
        number => !shader.fragment && (target::POSITIONS.contains(&number) || number >= target::FIRST_PARAMETER),
    }
}

pub fn exp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let shader = cx.shader.ok_or(Unsupported)?;
    let export = i.export();
    if !is_target(shader, &export) {
        return Err(Unsupported);
    }
    for component in 0..4 {
        // Packed, two sources have four components: words x and z are theirs.
        let (from, second) = (component, component + 1);
        let source = match export.sources {
            sources if !export.compressed => sources[component],
            sources if component % 2 == 0 => sources[from].or(sources[second]),
            _ => None,
        };
        if let (Some(number), Some(&row)) = (source, shader.exports.get(&(export.target, component as u8))) {
            let (value, address) = (cx.vector(number), cx.row(row));
            cx.b.store(Space::Global, Type::I32, address, 0, value);
        }
    }
    if let Some(written) = shader.written.filter(|_| export.done || export.valid_mask) {
        let (one, address) = (cx.int(1), cx.row(written));
        let one = cx.b.splat(one);
        cx.b.store(Space::Global, Type::I32, address, 0, one);
    }
    Ok(Flow::Next)
}

/// Whether all that a program reads of primitives is there. What it does not reach does not count.
pub(super) fn check(kernel: &Kernel<'_>, program: &Program) -> Result<(), LiftError> {
    let Some(shader) = &kernel.initial.shader else { return Ok(()) };
    let steps = program.blocks.values().flat_map(|block| &block.steps);
    for (pc, step) in steps {
        let Some(insn) = step.insn.filter(|insn| insn.row().mnemonic.starts_with("v_interp_")) else { continue };
        let count = shader.attributes.map_or(0, |attributes| attributes.count);
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
