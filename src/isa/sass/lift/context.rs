//! [`Cx`], the state that lift functions work with: operands as values, and destinations.

use rustc_hash::FxHashMap;
use warploom_guest::bits::{self, Emit};
use warploom_guest::divergence::Mask;
use warploom_guest::images::{self, Lifter};
use warploom_ir::image::Shape;
use warploom_ir::{Access, BankId, BlockBuilder, Extend, Space, Special, Type, Value};

use super::flag_file::{FlagBanks, FlagFile};
use super::flags::{Flag, Flags};
use crate::{Guest, Instruction, Part, Pred, Reg, Source, Uniform, Value as Operand};

/// The register banks of the function under construction.
#[derive(Clone, Copy, Debug)]
pub struct Banks {
    /// `Lane(I32)`
    pub registers: BankId,
    /// Uniform registers, `Lane(I32)`: each lane sees the values of its own path. Absent in a guest
    /// without them.
    pub uniform: Option<BankId>,
    /// Registers of convergence, `Lane(I32)`, if anything reads them.
    pub convergence: Option<BankId>,
    pub flags: FlagBanks,
}

/// The number of constant banks that instructions can name. [`images::driver`] describes the
/// driver's further bank.
pub const BANKS: u8 = 18;

/// The constant bank that the compiler fills, for its own code only.
pub const COMPILED: u8 = 2;

/// The predicate that is always true; writes to it are dropped.
pub const PT: u8 = 7;

/// Images whose handles are known words of constant bank 0, by byte offset in that bank, in the
/// order of their records.
pub type KnownImages<'a> = &'a [(u32, Shape)];

/// The flags and registers that an instruction used, as its lift function used them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Flags that the instruction reads.
    pub reads: Flags,
    /// Flags that the instruction writes in every active lane.
    pub kills: Flags,
    /// The instruction names registers 0 to this, exclusive.
    pub registers: u32,
    /// The instruction names uniform registers 0 to this, exclusive.
    pub uniform: u32,
}

/// The registers and predicates that an instruction reads and writes, by number: registers, uniform
/// registers, then flags.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    reads: Places,
    writes: Places,
}

/// A set of numbers of registers and flags.
#[derive(Clone, Debug, Default)]
struct Places([u64; 6]);

impl Places {
    fn insert(&mut self, place: u16) {
        self.0[usize::from(place / 64)] |= 1 << (place % 64);
    }

    fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..64 * self.0.len() as u16)
            .filter(|&place| self.0[usize::from(place / 64)] >> (place % 64) & 1 != 0)
    }
}

impl Touched {
    const UNIFORM: u16 = 256;
    const FLAGS: u16 = 320;

    pub fn reads(&self) -> impl Iterator<Item = u16> + '_ {
        self.reads.iter()
    }

    pub fn writes(&self) -> impl Iterator<Item = u16> + '_ {
        self.writes.iter()
    }

    /// Whether a number is of a register, uniform or not.
    pub fn is_register(place: u16) -> bool {
        place < Touched::FLAGS
    }

    /// Whether a number is of a register that is not uniform.
    pub fn is_general(place: u16) -> bool {
        place < Touched::UNIFORM
    }

    /// Returns the number of an instruction's guard, if it has one.
    pub fn guard(guard: Pred) -> Option<u16> {
        let flag = match guard {
            Pred { index: PT, .. } => return None,
            Pred { index, uniform: true, .. } => Flag::uniform(index),
            Pred { index, .. } => Flag::predicate(index),
        };
        Some(Touched::FLAGS + flag.index() as u16)
    }

    /// Returns the name of a register or a predicate.
    pub fn name(place: u16) -> String {
        if Touched::is_general(place) {
            return format!("R{place}");
        }
        if Touched::is_register(place) {
            return format!("UR{}", place - Touched::UNIFORM);
        }
        let (number, count) = (place - Touched::FLAGS, Flag::PREDICATES as u16);
        if number < count { format!("P{number}") } else { format!("UP{}", number - count) }
    }
}

/// The state of one block while its instructions are lifted.
///
/// A lift function reads operands, makes values and writes destinations. The builder applies the
/// guard to register writes and memory operations, and [`Cx::set_flag`] to flags. A lift function
/// must check that it supports the instruction's modifiers before it writes anything.
pub struct Cx<'a> {
    pub b: BlockBuilder<'a>,
    pub pc: u64,
    /// The instruction's guard. Never `Mask::Never`: such an instruction is not lifted.
    guard: Mask,
    /// Flags that lanes that execute this instruction read later.
    pub live: Flags,
    pub usage: Usage,
    /// The registers that lift functions read and write, if someone asks.
    pub touched: Option<Box<Touched>>,
    pub images: KnownImages<'a>,
    /// The content of the bank that belongs to the code.
    pub compiled: &'a [u8],
    /// The offset of the block's size in bank 0, if the driver fills the bank.
    pub ntid: Option<u32>,
    /// The instruction names a register or a bank that does not exist.
    refused: bool,
    pub banks: Banks,
    flags: FlagFile,
    active: Option<Value>,
    constants: FxHashMap<(Type, u64), Value>,
    loads: FxHashMap<(u8, u32, Type), Value>,
    /// Words of image records by address, place and guard. Nothing writes to the records.
    records: images::Records,
    nots: FxHashMap<Value, Value>,
    /// The executing lanes, by active lanes and guard.
    executing: FxHashMap<(Value, Value), Value>,
}

impl<'a> Emit<'a> for Cx<'a> {
    fn builder(&mut self) -> &mut BlockBuilder<'a> {
        &mut self.b
    }

    fn constant_of(&mut self, ty: Type, bits: u64) -> Value {
        self.constant(ty, bits)
    }
}

impl<'a> Cx<'a> {
    /// Starts a block. `kept` are the flags that matter in inactive lanes, see [`FlagFile`].
    pub fn new(b: BlockBuilder<'a>, banks: Banks, kept: Flags) -> Self {
        Cx {
            pc: b.pc(),
            b,
            guard: Mask::Always,
            live: Flags::ALL,
            usage: Usage::default(),
            touched: None,
            images: &[],
            compiled: &[],
            ntid: None,
            refused: false,
            banks,
            flags: FlagFile::new(banks.flags, kept),
            active: None,
            constants: FxHashMap::default(),
            loads: FxHashMap::default(),
            records: FxHashMap::default(),
            nots: FxHashMap::default(),
            executing: FxHashMap::default(),
        }
    }

    /// Starts an instruction. Its guard is in force on return.
    pub fn start<G: Guest>(&mut self, insn: &Instruction<G>, pc: u64, live: Flags) {
        (self.pc, self.live) = (pc, live);
        self.b.set_pc(pc);
        self.guard = Mask::Always;
        self.guard = match self.pred(insn.guard()) {
            // Only this block knows that the guard is false, as the block set it: no lane executes
            // the code.
            Mask::Never => Mask::Lanes(self.constant(Type::Mask, 0)),
            guard => guard,
        };
        self.set_guard(self.guard);
    }

    /// Changes the lanes that execute the instruction.
    pub fn set_guard(&mut self, guard: Mask) {
        self.guard = guard;
        let guard = match guard {
            Mask::Lanes(lanes) => Some(lanes),
            Mask::Always | Mask::Never => None,
        };
        self.b.set_guard(guard);
    }

    /// Whether all registers and banks that the instruction names exist.
    pub fn has_operands(&self) -> bool {
        !self.refused
    }

    pub fn guard(&self) -> Mask {
        self.guard
    }

    /// Returns the mask of active lanes.
    pub fn active(&mut self) -> Value {
        *self.active.get_or_insert_with(|| self.b.read_active())
    }

    /// Narrows the active mask to `active` for the rest of this block.
    pub fn set_active(&mut self, active: Value) {
        self.b.write_active(active);
        self.now_active(active);
    }

    /// Tells which lanes the code before has made active.
    pub fn now_active(&mut self, active: Value) {
        self.active = Some(active);
        // Words loaded for the previous lanes are missing in other lanes.
        self.records.clear();
    }

    /// Returns the lanes that execute this instruction.
    pub fn executing(&mut self) -> Value {
        let active = self.active();
        let Mask::Lanes(guard) = self.guard else { return active };
        *self.executing.entry((active, guard)).or_insert_with(|| self.b.and(active, guard))
    }

    /// Writes back flags that are live after the block.
    pub fn flush(&mut self, live: Flags) {
        let active = self.active();
        self.flags.flush(live, active, &mut self.b);
    }

    /// Merges pending writes of flags, as lanes come back that were not active at the writes.
    pub fn settle(&mut self) {
        self.flags.settle(&mut self.b);
    }

    /// Returns the words of image records that the block has loaded.
    pub fn records(&mut self) -> &mut images::Records {
        &mut self.records
    }

    // Constants and masks.

    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.bit_mask();
        *self.constants.entry((ty, bits)).or_insert_with(|| self.b.iconst(ty, bits))
    }

    /// Returns 0 of a value's type.
    pub fn zero_like(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        self.constant(ty, 0)
    }

    /// Returns an `i32` constant.
    pub fn int(&mut self, bits: u32) -> Value {
        self.constant(Type::I32, bits.into())
    }

    pub fn not(&mut self, mask: Mask) -> Mask {
        match mask {
            Mask::Lanes(lanes) => {
                Mask::Lanes(*self.nots.entry(lanes).or_insert_with(|| self.b.not(lanes)))
            }
            known => known.not(&mut self.b),
        }
    }

    pub fn and(&mut self, x: Mask, y: Mask) -> Mask {
        x.and(y, &mut self.b)
    }

    pub fn or(&mut self, x: Mask, y: Mask) -> Mask {
        x.or(y, &mut self.b)
    }

    pub fn xor(&mut self, x: Mask, y: Mask) -> Mask {
        x.xor(y, &mut self.b)
    }

    /// Selects between values lane by lane; `mask` may be known.
    pub fn select(&mut self, mask: Mask, a: Value, b: Value) -> Value {
        match mask {
            Mask::Always => a,
            Mask::Never => b,
            Mask::Lanes(mask) => self.b.select(mask, a, b),
        }
    }

    // Flags.

    pub fn flag(&mut self, flag: Flag) -> Mask {
        self.read(Touched::FLAGS + flag.index() as u16);
        self.usage.reads.insert(flag);
        self.flags.read(flag, self.guard, &mut self.b)
    }

    /// Whether the flag is read later. If not, [`Cx::set_flag`] drops the value, which need not be
    /// computed.
    pub fn wants(&self, flag: Flag) -> bool {
        self.live.contains(flag)
    }

    pub fn set_flag(&mut self, flag: Flag, value: Mask) {
        self.written(Touched::FLAGS + flag.index() as u16);
        if self.guard == Mask::Always {
            self.usage.kills.insert(flag);
        }
        if self.wants(flag) {
            let lanes =
                if self.flags.keeps(flag) { Mask::Lanes(self.executing()) } else { self.guard };
            self.flags.write(flag, value, self.guard, lanes, &mut self.b);
        }
    }

    /// Returns a source predicate in the executing lanes.
    pub fn pred(&mut self, pred: Pred) -> Mask {
        let mask = match pred {
            Pred { index: PT, .. } => Mask::Always,
            Pred { index, uniform: true, .. } => self.flag(Flag::uniform(index)),
            Pred { index, .. } => self.flag(Flag::predicate(index)),
        };
        if pred.not { self.not(mask) } else { mask }
    }

    /// Writes P`index`; a write to PT (7) is dropped.
    pub fn set_pred(&mut self, index: u8, value: Mask) {
        if index != PT {
            self.set_flag(Flag::predicate(index), value);
        }
    }

    // Registers.

    /// Reads a uniform register as `i32`; it is the constant 0 for URZ.
    pub fn uniform(&mut self, uniform: Uniform) -> Value {
        if !uniform.is_zero() {
            self.read(Touched::UNIFORM + u16::from(uniform.0));
        }
        match self.uniform_cell(uniform) {
            Some(cell) => self.b.rf_read(cell),
            None => self.int(0),
        }
    }

    fn uniform_cell(&mut self, uniform: Uniform) -> Option<warploom_ir::Reg> {
        let bank = self.banks.uniform.filter(|_| !uniform.is_zero())?;
        self.usage.uniform = self.usage.uniform.max(u32::from(uniform.0) + 1);
        Some(bank.reg(uniform.0.into()))
    }

    /// Reads a pair of uniform registers as `i64`.
    pub fn uniform_pair(&mut self, uniform: Uniform) -> Value {
        if uniform.is_zero() {
            return self.constant(Type::I64, 0);
        }
        let next = self.uniform_after(uniform, 1);
        let (lo, hi) = (self.uniform(uniform), self.uniform(next));
        self.b.concat(lo, hi)
    }

    /// Returns the `n`th register behind a uniform register. Past UR62 there is none: then the
    /// instruction is not executed.
    pub fn uniform_after(&mut self, uniform: Uniform, n: u8) -> Uniform {
        self.refused |= !uniform.is_zero() && n >= Uniform::ZERO.0 - uniform.0;
        Uniform((uniform.0 + n).min(Uniform::ZERO.0))
    }

    /// Writes a 32-bit value of any type to a uniform register.
    pub fn set_uniform(&mut self, uniform: Uniform, value: Value) {
        if !uniform.is_zero() {
            self.written(Touched::UNIFORM + u16::from(uniform.0));
        }
        if let Some(cell) = self.uniform_cell(uniform) {
            let value = self.cast(Type::I32, value);
            self.b.rf_write(cell, value);
        }
    }

    fn read(&mut self, place: u16) {
        if let Some(touched) = &mut self.touched {
            touched.reads.insert(place);
        }
    }

    fn written(&mut self, place: u16) {
        if let Some(touched) = &mut self.touched {
            touched.writes.insert(place);
        }
    }

    fn cell(&mut self, reg: Reg) -> warploom_ir::Reg {
        self.usage.registers = self.usage.registers.max(u32::from(reg.0) + 1);
        self.banks.registers.reg(reg.0.into())
    }

    /// Reads a register as `i32`: varying, or the constant 0 for RZ.
    pub fn reg(&mut self, reg: Reg) -> Value {
        if reg.is_zero() {
            return self.int(0);
        }
        self.read(reg.0.into());
        let cell = self.cell(reg);
        self.b.rf_read(cell)
    }

    /// Reads a register; the result is varying even for RZ.
    pub fn varying_reg(&mut self, reg: Reg) -> Value {
        let value = self.reg(reg);
        self.b.splat(value)
    }

    /// Reads a register pair as `i64`. The pair of RZ is 0.
    pub fn reg_pair(&mut self, reg: Reg) -> Value {
        if reg.is_zero() {
            return self.constant(Type::I64, 0);
        }
        let next = self.after(reg, 1);
        let (lo, hi) = (self.reg(reg), self.reg(next));
        self.b.concat(lo, hi)
    }

    /// Returns the `n`th register behind a register. Past R254 there is none: then the instruction
    /// is not executed.
    pub fn after(&mut self, reg: Reg, n: u8) -> Reg {
        self.refused |= !reg.is_zero() && n >= Reg::ZERO.0 - reg.0;
        reg.plus(n)
    }

    /// Reads the `n`th register behind a register, varying.
    pub fn nth(&mut self, reg: Reg, n: u8) -> Value {
        let register = self.after(reg, n);
        self.varying_reg(register)
    }

    /// Writes a 32-bit value of any type, under the guard.
    pub fn set(&mut self, reg: Reg, value: Value) {
        if reg.is_zero() {
            return;
        }
        self.written(reg.0.into());
        let value = self.cast(Type::I32, value);
        let cell = self.cell(reg);
        self.b.rf_write(cell, value);
    }

    /// Writes a 64-bit value to a register pair.
    pub fn set_pair(&mut self, reg: Reg, value: Value) {
        let value = self.cast(Type::I64, value);
        let (lo, hi) = (self.b.trunc(Type::I32, value), self.b.high_half(value));
        let next = self.after(reg, 1);
        self.set(reg, lo);
        self.set(next, hi);
    }

    /// Reinterprets a value as another type of its width.
    pub fn cast(&mut self, ty: Type, value: Value) -> Value {
        if self.b.ty(value).ty == ty { value } else { self.b.bitcast(ty, value) }
    }

    // Sources.

    /// Returns the content of a constant bank, if the code determines it.
    fn compiled_constant(&self, bank: u8, offset: u32, ty: Type) -> Option<u64> {
        let first = offset as usize;
        let bytes = self.compiled.get(first..first + ty.bytes() as usize)?;
        let is_word = bank == COMPILED && offset.is_multiple_of(4);
        is_word.then(|| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
    }

    /// Reads `c[bank][offset]`, uniform. Offsets have 16 bits. Out of range it is 0. An instruction
    /// that names a bank that does not exist is not executed.
    pub fn bank(&mut self, bank: u8, offset: i32, ty: Type) -> Value {
        self.refused |= (BANKS..images::driver::BANK).contains(&bank);
        // Disassemblers show the upper half of a bank with negative offsets.
        let offset = offset as u32 & 0xffff;
        if let Some(&value) = self.loads.get(&(bank, offset, ty)) {
            return value;
        }
        // Known bounds of the block's size bound indices.
        if let (Some(ntid), 0, Type::I32) = (self.ntid, bank, ty)
            && let Some(axis) = (0..3).find(|&axis| offset == ntid + 4 * u32::from(axis))
        {
            return self.b.special(Special::Ntid(axis));
        }
        if let Some(bits) = self.compiled_constant(bank, offset, ty) {
            return self.constant(ty, bits);
        }
        let address = self.int(offset);
        let access = Access {
            space: Space::Const(bank),
            ty,
            count: 1,
            align: 4,
            address,
            offset: 0,
            guard: None,
            nomask: false,
        };
        let value = self.b.load_access(access, Extend::None)[0];
        self.loads.insert((bank, offset, ty), value);
        value
    }

    /// Refuses a constant of a descriptor's bank: drivers of graphics make these descriptors.
    fn described(&mut self, ty: Type) -> Value {
        self.refused = true;
        self.constant(ty, 0)
    }

    /// Returns the 32 bits of a source, without its modifiers.
    pub fn raw(&mut self, source: Source) -> Value {
        match source.value {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Const { bank, offset } => self.bank(bank, offset, Type::I32),
            Operand::Imm(bits) => self.int(bits as u32),
            Operand::Uniform(uniform) => self.uniform(uniform),
            Operand::Described { .. } => self.described(Type::I32),
        }
    }

    /// Reads a 32-bit integer source: part (zero-extended), absolute value, complement, negation.
    pub fn word(&mut self, source: Source) -> Value {
        let raw = self.raw(source);
        let mut value = self.part(raw, source.part, false);
        if source.abs {
            value = self.b.abs(value);
        }
        if source.inv {
            value = self.b.not(value);
        }
        if source.neg {
            value = self.b.neg(value);
        }
        value
    }

    /// Extracts a half or byte of an `i32`, extended.
    pub fn part(&mut self, value: Value, part: Part, signed: bool) -> Value {
        match part.range() {
            (_, 32) => value,
            (lo, bits) => self.bit_range(value, lo, bits, signed),
        }
    }

    /// Extracts `bits` bits (fewer than 32) of an `i32` from bit `lo`, extended.
    pub fn bit_range(&mut self, value: Value, lo: u32, bits: u32, signed: bool) -> Value {
        bits::range(self, value, lo, bits, signed)
    }

    pub fn shl(&mut self, value: Value, count: u32) -> Value {
        bits::shl(self, value, count)
    }

    /// Shifts an `i32` right logically.
    pub fn shr(&mut self, value: Value, count: u32) -> Value {
        bits::shr(self, value, count)
    }

    /// Extracts a half of an `i32` as an `f16`.
    pub fn f16(&mut self, word: Value, half: u8) -> Value {
        let bits = if half == 0 { word } else { self.shr(word, 16) };
        let bits = self.b.trunc(Type::I16, bits);
        self.cast(Type::F16, bits)
    }

    /// Returns an `f16` as the low half of an `i32`; the high half is 0.
    pub fn low_half(&mut self, half: Value) -> Value {
        let bits = self.cast(Type::I16, half);
        self.b.zero_extend(Type::I32, bits)
    }

    /// Reads an `f32` source: absolute value, negation. Both act on the sign bit only.
    pub fn f32(&mut self, source: Source) -> Value {
        let value = match source.value {
            Operand::Reg(reg) => {
                let bits = self.reg(reg);
                self.cast(Type::F32, bits)
            }
            Operand::Const { bank, offset } => self.bank(bank, offset, Type::F32),
            Operand::Imm(bits) => self.constant(Type::F32, bits),
            Operand::Uniform(uniform) => {
                let bits = self.uniform(uniform);
                self.cast(Type::F32, bits)
            }
            Operand::Described { .. } => self.described(Type::F32),
        };
        self.float_modifiers(source, value)
    }

    /// Reads an `f64` source.
    pub fn f64(&mut self, source: Source) -> Value {
        let value = match source.value {
            Operand::Reg(reg) => {
                let bits = self.reg_pair(reg);
                self.cast(Type::F64, bits)
            }
            Operand::Const { bank, offset } => self.bank(bank, offset, Type::F64),
            Operand::Imm(bits) => self.constant(Type::F64, bits),
            Operand::Uniform(uniform) => {
                let bits = self.uniform_pair(uniform);
                self.cast(Type::F64, bits)
            }
            Operand::Described { .. } => self.described(Type::F64),
        };
        self.float_modifiers(source, value)
    }

    /// Returns the 64 bits of a source: a register pair, 8 bytes of a constant bank, or a
    /// sign-extended immediate.
    pub fn wide(&mut self, source: Source) -> Value {
        match source.value {
            Operand::Reg(reg) => self.reg_pair(reg),
            Operand::Const { bank, offset } => self.bank(bank, offset, Type::I64),
            Operand::Imm(bits) => self.constant(Type::I64, bits),
            Operand::Uniform(uniform) => self.uniform_pair(uniform),
            Operand::Described { .. } => self.described(Type::I64),
        }
    }

    /// Applies absolute value and negation to a float.
    pub fn float_modifiers(&mut self, source: Source, mut value: Value) -> Value {
        if source.abs {
            value = self.b.fabs(value);
        }
        if source.neg {
            value = self.b.fneg(value);
        }
        value
    }
}

/// Returns the source without the selection of a part.
pub fn whole(source: Source) -> Source {
    Source { part: Part::Whole, ..source }
}

impl<'a> Lifter<'a> for Cx<'a> {
    fn guard(&self) -> Mask {
        self.guard
    }

    fn executing(&mut self) -> Value {
        Cx::executing(self)
    }

    fn driver_word(&mut self, bank: u8, offset: u32, ty: Type) -> Value {
        self.bank(bank, offset as i32, ty)
    }

    fn images(&self) -> KnownImages<'a> {
        self.images
    }

    fn records(&mut self) -> &mut images::Records {
        &mut self.records
    }

    fn others(&mut self, mask: Mask) -> Mask {
        self.not(mask)
    }
}
