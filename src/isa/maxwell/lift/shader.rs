//! Graphics programs: where their lanes find what the launch gives them, what their header forbids, how they begin and end.
//!
//! A lane is a vertex, or a pixel of a quad. In a fragment program `helpers` holds the lanes that are not covered, or killed;
//! they go on until EXIT while their quad has a pixel. What writes memory that others see has that mask in its guard, so that it is as if a
//! helper did not execute it: seeds `nvidia-suatom.txt` ("automatically turned into NOP for that thread") and `nvidia-atom.txt`
//! ("automatically predicated off"); facts, `graphics.md`, section 1.6.

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
    /// What its launches have.
    pub arrays: Arrays,
    /// Words of a vertex in the table of primitives.
    pub vertex_words: u16,
    /// The constant bank in which instructions find the handles that they have the index of.
    pub texture_bank: u8,
}

/// A graphics program as its code is lifted.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    pub program: Program,
    /// Mask register with the lanes that are helpers, in a fragment program.
    pub helpers: Option<ir::Reg>,
    /// Mask register with the lanes that the program began with.
    pub begun: ir::Reg,
}

/// What a header makes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    Executes,
    /// It does nothing.
    Nothing,
    /// It is an error.
    Forbidden,
}

/// The lanes' memory, of which others see nothing.
const OWN_MEMORY: [Opcode; 2] = [Opcode::Ldl, Opcode::Stl];
const LOADS: [Opcode; 3] = [Opcode::Ld, Opcode::Ldg, Opcode::LdgSparse];
/// What writes memory.
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

/// Whether helpers do not execute it.
pub fn is_of_pixels(opcode: Opcode) -> bool {
    WRITES.contains(&opcode)
}

/// Facts, `graphics.md`, section 1.1, bits 15, 16, 26 and 27.
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
    /// The graphics program, if it is one.
    ///
    /// # Errors
    /// It is a compute kernel.
    pub fn shader(&self) -> Result<Shader, Unsupported> {
        self.banks.shader.ok_or(Unsupported)
    }

    /// A program of this stage.
    ///
    /// # Errors
    /// It is none.
    pub fn shader_of(&self, stage: Stage) -> Result<Shader, Unsupported> {
        self.shader().and_then(|shader| {
            if shader.program.header.stage() == stage { Ok(shader) } else { Err(Unsupported) }
        })
    }

    /// The bank in which instructions find handles of images.
    pub fn handle_bank(&self) -> u8 {
        self.banks.shader.map_or(0, |shader| shader.program.texture_bank)
    }

    /// Whether the launch has an array.
    pub fn has(&self, array: Array) -> bool {
        self.banks.shader.is_some_and(|shader| shader.program.arrays.has(array))
    }

    /// The lane's number in the launch: varying `i64`.
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

    /// What the driver says of the launch.
    pub fn told(&mut self, offset: u32, ty: Type) -> Value {
        self.bank(BANK, offset as i32, ty)
    }

    /// What a word of attributes is that nobody gave: 0, 0, 0, 1 of a generic one.
    pub fn absent(&mut self, word: u16) -> Value {
        let generic = (attribute::GENERIC / 4..attribute::GENERIC_END / 4).contains(&word);
        let value = self.int(if generic && word % 4 == 3 { 1.0_f32.to_bits() } else { 0 });
        self.b.splat(value)
    }

    /// The address of the word of the lane with this number in an array.
    pub fn element(&mut self, array: Value, number: Value) -> Value {
        let shift = self.constant(Type::I64, 2);
        let offset = self.b.shl(number, shift);
        self.b.add(array, offset)
    }

    /// The address of an array that an index, varying, chooses among those from `first` on.
    pub fn indexed(&mut self, first: Array, index: Value) -> Value {
        let three = self.int(3);
        let offset = self.b.shl(index, three);
        self.b.load(Space::Const(BANK), Type::I64, Extend::None, offset, first.offset() as i32)
    }

    /// The lane's word of an array of inputs; 0 if the launch has none.
    pub fn input(&mut self, array: Array) -> Value {
        if !self.has(array) {
            let zero = self.int(0);
            return self.b.splat(zero);
        }
        let (array, number) = (self.told(array.offset(), Type::I64), self.lane_number());
        let address = self.element(array, number);
        self.b.load(Space::Global, Type::I32, Extend::None, address, 0)
    }

    /// An access to a word at an address in the lanes of `only` that execute.
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

    /// The lanes that are helpers; none in a program without pixels.
    fn helpers(&mut self) -> Option<Value> {
        let reg = self.banks.shader.and_then(|shader| shader.helpers)?;
        Some(*self.helpers.get_or_insert_with(|| self.b.rf_read(reg)))
    }

    /// The lanes that are pixels; all in a program that has none.
    pub fn pixels(&mut self) -> Mask {
        match self.helpers() {
            Some(helpers) => self.not(Mask::Lanes(helpers)),
            None => Mask::Always,
        }
    }

    fn set_helpers(&mut self, lanes: Value) {
        if let Some(reg) = self.banks.shader.and_then(|shader| shader.helpers) {
            self.b.rf_write(reg, lanes);
            self.helpers = Some(lanes);
        }
    }

    /// All lanes of the quads of which one is in the mask.
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

    /// The lanes of quads that have no pixel left: nobody sees what they do.
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

    /// The start of a program: the lanes that take part, and which of them are helpers.
    pub fn begin(&mut self, shader: Shader) {
        let (number, lanes) = (self.lane_number(), self.told(at::LANES, Type::I32));
        let lanes = self.b.zero_extend(Type::I64, lanes);
        let inside = self.b.icmp(IntCc::LtU, number, lanes);
        let active = self.active();
        let mut active = self.b.and(active, inside);
        // Without the array all take part, and are pixels.
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

    /// What a fragment program leaves where these lanes exit: facts, `graphics.md`, section 1.5.
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
                // Without the flag target 0 is that of all.
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
        // What helpers leave is not looked at: their words need no mask that memory decides about.
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
    /// Of a program of which only the header is known.
    pub fn of_header(header: Header) -> Program {
        Program { header, arrays: Arrays::ALL, vertex_words: 0, texture_bank: 0 }
    }

    /// What an instruction reads that the launch does not have, as the manifest's keys; none if it has all. Of a word that is not given the
    /// others of its attribute may be: then it is 0, or 1.0 as the fourth.
    pub fn missing(&self, insn: &Instruction) -> Option<&'static str> {
        let address = match insn.opcode() {
            Opcode::Ipa if insn.bits(38, 1) == 0 => insn.number() as u16,
            Opcode::Ald => {
                insn.address().filter(|operand| operand.base.is_zero())?.offset as u16 & 0x3ff
            }
            _ => return None,
        };
        let word = address / 4;
        // Bit 31: the patch's words; bit 32: outputs, among which a tessellation evaluation program has its coordinates.
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
            // Of layers and viewports there is one.
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

/// The registers that a program's end reads: 0 to this, exclusive.
pub fn registers(header: &Header) -> u32 {
    let targets = u32::from(header.sample_mask_register());
    match (header.writes_depth(), header.writes_sample_mask()) {
        (true, _) => targets + 2,
        (false, true) => targets + 1,
        (false, false) => targets,
    }
}

/// Special registers that only graphics programs have. Facts, `graphics.md`, section 1.8.
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
        // The lane's is the first primitive, and byte 2 says how many vertices each has.
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
