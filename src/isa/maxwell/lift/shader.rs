//! Graphics programs: inputs from the launch, restrictions of the header, start and end of
//! programs.
//!
//! A lane is a vertex, or a pixel of a quad. In a fragment program `helpers` holds the lanes that
//! are not covered, or killed; they go on until EXIT while their quad has a pixel. An instruction
//! that writes visible memory has the complement of that mask in its guard, as if a helper did not
//! execute it: seeds `nvidia-suatom.txt` ("automatically turned into NOP for that thread") and
//! `nvidia-atom.txt` ("automatically predicated off"); facts, `graphics.md`, section 1.6.

use warploom_guest::divergence::Mask;
use warploom_guest::header::{Flag, Header, Interpolation, TARGETS, attribute};
use warploom_guest::images::driver::BANK;
use warploom_guest::shader::Stage;
use warploom_ir::{self as ir, Access, Extend, IntCc, Space, Special, Type, Value};

use super::context::Cx;
use super::flow::Unsupported;
use crate::arrays::{Array, Arrays, at};
use crate::field::{Field, FloatFormat, IpaMode, MufuOp};
use crate::special::SpecialRegister as Sr;
use crate::{Instruction, Opcode, Reg};

/// A graphics program to lift.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub header: Header,
    /// The arrays that its launches have.
    pub arrays: Arrays,
    /// The number of words of a vertex in the table of primitives.
    pub vertex_words: u16,
    /// The constant bank of the image handles that instructions name by index.
    pub texture_bank: u8,
}

/// A graphics program while its code is lifted.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    pub program: Program,
    /// The mask register of the helper lanes, in a fragment program.
    pub helpers: Option<ir::Reg>,
    /// The mask register of the lanes that the program began with.
    pub begun: ir::Reg,
}

/// The permission that a header gives an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    Executes,
    /// The instruction has no effect.
    Nothing,
    /// The instruction is an error.
    Forbidden,
}

/// Accesses to a lane's own memory, which other lanes do not see.
const OWN_MEMORY: [Opcode; 2] = [Opcode::Ldl, Opcode::Stl];
const LOADS: [Opcode; 3] = [Opcode::Ld, Opcode::Ldg, Opcode::LdgSparse];
/// Instructions that write memory.
const WRITES: [Opcode; 13] = [
    Opcode::St,
    Opcode::Stg,
    Opcode::Red,
    Opcode::Atom,
    Opcode::AtomSafeAdd,
    Opcode::AtomCas,
    Opcode::AtomSparse,
    Opcode::AtomSafeAddSparse,
    Opcode::AtomCasSparse,
    Opcode::Sust,
    Opcode::Sured,
    Opcode::Suatom,
    Opcode::SuatomCas,
];
const SURFACES: [Opcode; 4] = [Opcode::Sust, Opcode::Sured, Opcode::Suatom, Opcode::SuatomCas];
const DOUBLES: [Opcode; 6] =
    [Opcode::Dadd, Opcode::Dmul, Opcode::Dfma, Opcode::Dmnmx, Opcode::Dset, Opcode::Dsetp];

/// Whether helpers do not execute an instruction.
pub fn is_of_pixels(opcode: Opcode) -> bool {
    WRITES.contains(&opcode)
}

/// Returns the permission that a header gives an instruction. Source: facts, `graphics.md`, section
/// 1.1, bits 15, 16, 26 and 27.
pub fn permit(header: &Header, insn: &Instruction) -> Permit {
    let opcode = insn.opcode();
    let writes = WRITES.contains(&opcode);
    let accesses = (writes && !SURFACES.contains(&opcode))
        || LOADS.contains(&opcode)
        || OWN_MEMORY.contains(&opcode);
    if accesses && !header.has(Flag::Memory) || is_of_doubles(insn) && !header.has(Flag::Doubles) {
        return Permit::Nothing;
    }
    let kills = opcode == Opcode::Kil && !header.has(Flag::Kills);
    if kills || writes && !header.has(Flag::Stores) { Permit::Forbidden } else { Permit::Executes }
}

fn is_of_doubles(insn: &Instruction) -> bool {
    let opcode = insn.opcode();
    let has = |field| insn.field(field).is_some();
    DOUBLES.contains(&opcode)
        || has(Field::src_float) && insn.src_float() == FloatFormat::F64
        || has(Field::dst_float) && insn.dst_float() == FloatFormat::F64
        || has(Field::f2f_dst) && insn.f2f_dst() == FloatFormat::F64
        || opcode == Opcode::Mufu && matches!(insn.mufu_op(), MufuOp::Rcp64High | MufuOp::Rsq64High)
}

impl Cx<'_> {
    /// Returns the graphics program.
    ///
    /// # Errors
    /// The code is a compute kernel.
    pub fn shader(&self) -> Result<Shader, Unsupported> {
        self.shader.ok_or(Unsupported)
    }

    /// Returns the graphics program, if it is of this stage.
    ///
    /// # Errors
    /// The code is no program of this stage.
    pub fn shader_of(&self, stage: Stage) -> Result<Shader, Unsupported> {
        self.shader().and_then(|shader| {
            if shader.program.header.stage() == stage { Ok(shader) } else { Err(Unsupported) }
        })
    }

    /// Returns the bank in which instructions find handles of images.
    pub fn handle_bank(&self) -> u8 {
        self.shader.map_or(0, |shader| shader.program.texture_bank)
    }

    /// Whether the launch has an array.
    pub fn has(&self, array: Array) -> bool {
        self.shader.is_some_and(|shader| shader.program.arrays.has(array))
    }

    /// Returns the lane's number in the launch: varying `i64`.
    pub fn lane_number(&mut self) -> Value {
        if let Some(number) = self.number {
            return number;
        }
        let [tid, block, lanes] =
            [Special::Tid(0), Special::Ctaid(0), Special::Ntid(0)].map(|what| self.b.special(what));
        let first = self.b.mul(block, lanes);
        let number = self.b.add(first, tid);
        let number = self.b.zero_extend(Type::I64, number);
        *self.number.insert(number)
    }

    /// Reads the driver's information about the launch.
    pub fn told(&mut self, offset: u32, ty: Type) -> Value {
        self.bank(BANK, offset as i32, ty)
    }

    /// Returns the value of an attribute word without input: 0, 0, 0, 1 for the words of a generic
    /// attribute, else 0.
    pub fn absent(&mut self, word: u16) -> Value {
        let generic = (attribute::GENERIC / 4..attribute::GENERIC_END / 4).contains(&word);
        let value = self.int(if generic && word % 4 == 3 { 1.0_f32.to_bits() } else { 0 });
        self.b.splat(value)
    }

    /// Returns the address of a lane's word in an array, given the lane's number.
    pub fn element(&mut self, array: Value, number: Value) -> Value {
        let shift = self.constant(Type::I64, 2);
        let offset = self.b.shl(number, shift);
        self.b.add(array, offset)
    }

    /// Returns the address of the array that a varying index chooses, counted from `first`.
    pub fn indexed(&mut self, first: Array, index: Value) -> Value {
        let three = self.int(3);
        let offset = self.b.shl(index, three);
        self.b.load(Space::Const(BANK), Type::I64, Extend::None, offset, first.offset() as i32)
    }

    /// Returns the lane's word of an array of inputs; 0 if the launch lacks the array.
    pub fn input(&mut self, array: Array) -> Value {
        if !self.has(array) {
            let zero = self.int(0);
            return self.b.splat(zero);
        }
        let (array, number) = (self.told(array.offset(), Type::I64), self.lane_number());
        let address = self.element(array, number);
        self.b.load(Space::Global, Type::I32, Extend::None, address, 0)
    }

    /// Returns an access to a word at an address, in the executing lanes of `only`.
    pub fn word_at(&mut self, address: Value, only: Mask) -> Access {
        let guard = self.guard();
        let lanes = self.and(guard, only);
        let mut access = self.b.access(Space::Global, Type::I32, 1, address, 0);
        access.guard = match lanes {
            Mask::Always => None,
            some => Some(some.value(&mut self.b)),
        };
        access
    }

    /// Returns the helper lanes; none in a program without pixels.
    fn helpers(&mut self) -> Option<Value> {
        let reg = self.shader.and_then(|shader| shader.helpers)?;
        if self.helpers.is_none() {
            self.helpers = Some(self.b.rf_read(reg));
        }
        self.helpers
    }

    /// Returns the lanes that are pixels; all lanes in a program without pixels.
    pub fn pixels(&mut self) -> Mask {
        match self.helpers() {
            Some(helpers) => self.not(Mask::Lanes(helpers)),
            None => Mask::Always,
        }
    }

    fn set_helpers(&mut self, lanes: Value) {
        if let Some(reg) = self.shader.and_then(|shader| shader.helpers) {
            self.b.rf_write(reg, lanes);
            self.helpers = Some(lanes);
        }
    }

    /// Returns all lanes of the quads that have a lane in the mask.
    fn quads_of(&mut self, lanes: Value) -> Value {
        let mut first = self.b.from_mask(lanes);
        for distance in [1, 2] {
            let distance = self.constant(Type::I64, distance);
            let behind = self.b.shr_u(first, distance);
            first = self.b.or(first, behind);
        }
        let (firsts, quad) = (self.constant(Type::I64, 0x1111_1111), self.constant(Type::I64, 15));
        first = self.b.and(first, firsts);
        let quads = self.b.mul(first, quad);
        self.b.to_mask(quads)
    }

    /// Returns the lanes of quads that have no pixel left: their effects are invisible.
    pub fn quads_without_pixels(&mut self) -> Value {
        let pixels = self.pixels();
        let pixels = pixels.value(&mut self.b);
        let quads = self.quads_of(pixels);
        self.b.not(quads)
    }

    /// Makes lanes helpers.
    pub fn kill(&mut self, lanes: Mask) {
        if let Some(helpers) = self.helpers() {
            let lanes = lanes.value(&mut self.b);
            let more = self.b.or(helpers, lanes);
            self.set_helpers(more);
        }
    }

    /// Starts a program: determines the lanes that take part, and the helpers among them.
    pub fn begin(&mut self, shader: Shader) {
        let (number, lanes) = (self.lane_number(), self.told(at::LANES, Type::I32));
        let lanes = self.b.zero_extend(Type::I64, lanes);
        let inside = self.b.icmp(IntCc::LtU, number, lanes);
        let active = self.active();
        let mut active = self.b.and(active, inside);
        // Without the array, all lanes take part and are pixels.
        let uncovered = if self.has(Array::Covered) {
            let (covered, zero) = (self.input(Array::Covered), self.int(0));
            self.b.icmp(IntCc::Eq, covered, zero)
        } else {
            self.constant(Type::Mask, 0)
        };
        if shader.helpers.is_some() {
            self.set_helpers(uncovered);
        } else {
            let covered = self.b.not(uncovered);
            active = self.b.and(active, covered);
        }
        self.set_active(active);
        self.b.rf_write(shader.begun, active);
    }

    /// Stores the outputs of a fragment program where these lanes exit: facts, `graphics.md`,
    /// section 1.5.
    pub fn end(&mut self, lanes: Mask) {
        let Ok(shader) = self.shader_of(Stage::Fragment) else { return };
        let before = self.b.guard();
        let guard = match lanes {
            Mask::Always => None,
            some => Some(some.value(&mut self.b)),
        };
        self.b.set_guard(guard);
        let header = shader.program.header;
        for (target, first) in header.target_registers() {
            for n in (0..4).filter(|n| header.target(target) >> n & 1 != 0) {
                // Without the flag, target 0's output goes to all targets.
                let targets =
                    if header.has(Flag::Targets) { target..target + 1 } else { 0..TARGETS };
                for target in targets.filter(|_| target == 0 || header.has(Flag::Targets)) {
                    let word = self.varying_reg(Reg(first + n));
                    self.put(Array::Target(target, n), word);
                }
            }
        }
        let mask = header.sample_mask_register();
        if header.writes_sample_mask() {
            let word = self.varying_reg(Reg(mask));
            self.put(Array::SampleMask, word);
        }
        if header.writes_depth() {
            let word = self.varying_reg(Reg(mask + 1));
            self.put(Array::Depth, word);
        }
        // Nothing reads the outputs of helpers, so storing these needs no mask that depends on
        // memory.
        let (pixels, one, zero) = (self.pixels(), self.int(1), self.int(0));
        let written = self.select(pixels, one, zero);
        let written = self.b.splat(written);
        self.put(Array::Written, written);
        self.b.set_guard(before);
    }

    /// Stores the lane's word of an output, if the launch wants it.
    fn put(&mut self, array: Array, word: Value) {
        if self.has(array) {
            let (array, number) = (self.told(array.offset(), Type::I64), self.lane_number());
            let address = self.element(array, number);
            self.b.store(Space::Global, Type::I32, address, 0, word);
        }
    }
}

impl Program {
    /// Builds a program of which only the header is known.
    pub fn of_header(header: Header) -> Program {
        Program { header, arrays: Arrays::ALL, vertex_words: 0, texture_bank: 0 }
    }

    /// Returns the manifest key of an input that an instruction reads and the launch lacks. None:
    /// the launch has all inputs. A word without input may belong to an attribute with other words
    /// given: then it is 0, or 1.0 as the fourth.
    pub fn missing(&self, insn: &Instruction) -> Option<&'static str> {
        let address = match insn.opcode() {
            Opcode::Ipa if insn.bits(38, 1) == 0 => insn.number() as u16,
            Opcode::Ald => {
                insn.address().filter(|operand| operand.base.is_zero())?.offset as u16 & 0x3ff
            }
            _ => return None,
        };
        let word = address / 4;
        // Bit 31: the patch's words. Bit 32: outputs, which include the coordinates of a
        // tessellation evaluation program.
        match (insn.opcode(), insn.bits(31, 2), self.header.stage()) {
            (Opcode::Ald, 1, Stage::TessEval) => {
                let given = (word & !3..=word | 3).any(|word| self.arrays.has(Array::Patch(word)));
                return (!given)
                    .then_some("[primitives] has no `patch` with a word of this address");
            }
            (Opcode::Ald, 2, Stage::TessEval) => {
                return match (address, self.arrays.has(Array::Attribute(word))) {
                    (attribute::TESSELLATION, false) => Some("[vertices] has no `tess_u`"),
                    (attribute::TESSELLATION_V, false) => Some("[vertices] has no `tess_v`"),
                    _ => None,
                };
            }
            (Opcode::Ald, 1.., _) => return None,
            _ => {}
        }
        let generic = (attribute::GENERIC..attribute::GENERIC_END).contains(&address);
        let in_table = self.arrays.has(Array::Table)
            && (attribute::GENERIC / 4..attribute::GENERIC / 4 + self.vertex_words).contains(&word);
        let constant = insn.opcode() == Opcode::Ipa
            && (insn.ipa_mode() == IpaMode::Constant
                || self.header.input(address) == Interpolation::Constant);
        let given = |word: u16| self.arrays.has(Array::Attribute(word));
        if given(word) || constant && in_table || generic && (word & !3..=word | 3).any(given) {
            return None;
        }
        match (self.header.stage(), address) {
            // There is only one layer and one viewport.
            (_, 0x60..0x70) => None,
            (Stage::Fragment, 0x70) => Some("[pixels] has no `x`"),
            (Stage::Fragment, 0x74) => Some("[pixels] has no `y`"),
            (Stage::Fragment, 0x78) => Some("[pixels] has no `z`"),
            (Stage::Fragment, 0x7c) => Some("[pixels] has no `inverse_w`"),
            (Stage::Fragment, attribute::FRONT) => Some("[pixels] has no `front`"),
            (Stage::Fragment, _) if in_table => Some(
                "the header does not say that it is interpolated: expected a map of inputs that has this word",
            ),
            (Stage::Fragment, _) => {
                Some("[pixels] has no word of this address: expected `vertices` or an `attribute`")
            }
            (Stage::TessEval, _) => {
                Some("[primitives] has no `attribute` with a word of this address")
            }
            _ => Some("[vertices] has no `attribute` with a word of this address"),
        }
    }
}

/// Returns the number of registers that a program's end reads: 0 to this, exclusive.
pub fn registers(header: &Header) -> u32 {
    let targets = u32::from(header.sample_mask_register());
    match (header.writes_depth(), header.writes_sample_mask()) {
        (true, _) => targets + 2,
        (false, true) => targets + 1,
        (false, false) => targets,
    }
}

/// Reads a special register that only graphics programs have. Source: facts, `graphics.md`, section
/// 1.8.
pub fn special(cx: &mut Cx<'_>, register: Sr) -> Result<Value, Unsupported> {
    let shader = cx.shader()?;
    Ok(match register {
        Sr::THREAD_KILL => {
            cx.shader_of(Stage::Fragment)?;
            let (pixels, zero, ones) = (cx.pixels(), cx.int(0), cx.int(u32::MAX));
            cx.select(pixels, zero, ones)
        }
        Sr::INVOCATION_ID
            if matches!(shader.program.header.stage(), Stage::TessControl | Stage::Geometry) =>
        {
            cx.input(Array::Invocation)
        }
        Sr::INVOCATION_ID | Sr::AFFINITY => cx.int(0),
        // The lane's primitive is the first, and byte 2 is the number of vertices of a primitive.
        Sr::INVOCATION_INFO => {
            let vertices = cx.told(at::VERTICES, Type::I32);
            cx.shl(vertices, 16)
        }
        Sr::PRIM_TYPE => {
            let vertices = cx.told(at::VERTICES, Type::I32);
            cx.shl(vertices, 8)
        }
        Sr::Y_DIRECTION | Sr::WSCALEFACTOR_XY | Sr::WSCALEFACTOR_Z => cx.int(1.0_f32.to_bits()),
        _ => return Err(Unsupported),
    })
}
