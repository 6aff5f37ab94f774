//! [`Cx`], the context of lift functions: operands as values, and destinations.

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_guest::bits::Emit;
use warploom_guest::divergence::Mask;
use warploom_guest::images::{self, Lifter};
use warploom_ir::image::Shape;
use warploom_ir::{
    self as ir, BankId, BlockBuilder, BlockId, CellKind, Extend, FunctionBuilder, Space, Type,
    Value,
};

use super::driver;
use super::known::{Known, KnownRegisters};
use super::place::VariableAddresses;
use crate::module::{
    Address, AddressOf, Base, Body, Literal, Module, Operand, Register, RegisterDecl,
    SpecialRegister, VariableId,
};
use crate::table::Form;
use crate::types::{Kind, StateSpace, Ty};

/// An instruction to lift.
#[derive(Clone, Copy)]
pub struct Insn<'a> {
    pub form: &'a Form,
    pub operands: &'a [Operand],
}

impl<'a> Insn<'a> {
    /// Lifts it. Returns false if it is not executed.
    pub fn lift(&self, cx: &mut Cx<'_>) -> bool {
        self.form.row.lift.is_some_and(|lift| lift(cx, self).is_ok()) && !cx.is_refused()
    }

    /// Returns the `n`th operand. The checker has made sure that it is there.
    pub fn operand(&self, n: usize) -> &'a Operand {
        static MISSING: Operand = Operand::Sink;
        self.operands.get(n).unwrap_or(&MISSING)
    }
}

/// Registers of the function being built, by width.
#[derive(Clone, Copy, Debug)]
pub struct Banks {
    pub b8: BankId,
    pub b16: BankId,
    pub b32: BankId,
    pub b64: BankId,
    pub pred: BankId,
    /// The carry of extended precision, a mask.
    pub carry: ir::Reg,
    /// The offset in local memory of the frame of the outlined function that a lane runs.
    pub frame: ir::Reg,
    /// Bytes that a lane's stack has taken from the end of local memory, `i32`; and the copies that
    /// calls keep of them.
    pub stack: BankId,
}

impl Banks {
    pub fn declare(function: &mut FunctionBuilder, counts: Counts) -> Banks {
        let mut bank = |name: &str, kind, count: u32| function.bank(name, kind, count.max(1));
        Banks {
            b8: bank("rb", CellKind::Lane(Type::I8), counts.b8),
            b16: bank("rs", CellKind::Lane(Type::I16), counts.b16),
            b32: bank("r", CellKind::Lane(Type::I32), counts.b32),
            b64: bank("rd", CellKind::Lane(Type::I64), counts.b64),
            pred: bank("p", CellKind::Mask, counts.pred),
            carry: bank("cc", CellKind::Mask, 1).reg(0),
            frame: bank("frame", CellKind::Lane(Type::I32), 1).reg(0),
            stack: bank("sp", CellKind::Lane(Type::I32), 1 + counts.kept_stacks),
        }
    }
}

/// The number of registers in each bank.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub b8: u32,
    pub b16: u32,
    pub b32: u32,
    pub b64: u32,
    pub pred: u32,
    /// Instances that restore the stack when they return.
    pub kept_stacks: u32,
}

impl Counts {
    /// Returns the number of a new place that keeps a stack.
    pub fn keep_stack(&mut self) -> u32 {
        self.kept_stacks += 1;
        self.kept_stacks - 1
    }
}

/// The place of a PTX register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A value within one block only.
    Block,
    /// A register at this index of the bank of its width. A register of 128 bits has two.
    File(u32),
}

/// Returns the bank's integer type of a register.
pub fn cell_type(ty: Ty) -> Type {
    int_type(ty.bits())
}

/// Returns the integer type of this many bits.
pub fn int_type(bits: u32) -> Type {
    match bits {
        0..=8 => Type::I8,
        9..=16 => Type::I16,
        17..=32 => Type::I32,
        _ => Type::I64,
    }
}

/// Returns the IR's type of a float type, or `None` for types that the IR lacks.
pub fn float_type(ty: Ty) -> Option<Type> {
    match ty {
        Ty::F16 => Some(Type::F16),
        Ty::F32 => Some(Type::F32),
        Ty::F64 => Some(Type::F64),
        _ => None,
    }
}

/// The state of one block while its instructions are lifted.
///
/// A lift function reads operands, makes values and writes destinations; `Cx` applies the guard to
/// writes and memory operations. A lift function must find out whether it supports the form before
/// it writes anything.
pub struct Cx<'a> {
    pub b: BlockBuilder<'a>,
    pub module: &'a Module,
    pub places: &'a VariableAddresses,
    body: &'a Body,
    cells: &'a [Cell],
    /// Known values of the body's registers.
    known: Option<&'a KnownRegisters>,
    banks: Banks,
    guard: Mask,
    /// Values of registers in the active lanes; some registers of 128 bits have both halves here.
    values: FxHashMap<(Register, u8), Value>,
    /// Predicate registers of which a write under a guard changed only some lanes.
    predicates: FxHashMap<Register, Mask>,
    /// The carry, if this block has written it.
    carry: Option<Mask>,
    active: Option<Value>,
    constants: FxHashMap<(Type, u64), Value>,
    loads: FxHashMap<(u8, u32, Type), Value>,
    /// Images that the kernel is specialised for, by the names of their handles.
    pub images: &'a [(u32, Shape)],
    records: images::Records,
    refused: FxHashSet<&'static str>,
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
    /// Makes a context at the start of a block. `cells` has one entry for each register of the
    /// body.
    pub fn new(
        b: BlockBuilder<'a>,
        module: &'a Module,
        places: &'a VariableAddresses,
        body: &'a Body,
        cells: &'a [Cell],
        banks: Banks,
    ) -> Cx<'a> {
        Cx {
            b,
            module,
            places,
            body,
            cells,
            known: None,
            banks,
            guard: Mask::Always,
            values: FxHashMap::default(),
            predicates: FxHashMap::default(),
            carry: None,
            active: None,
            constants: FxHashMap::default(),
            loads: FxHashMap::default(),
            images: &[],
            records: images::Records::default(),
            refused: FxHashSet::default(),
        }
    }

    /// Makes a context without registers at the start of another block.
    pub fn in_block(&mut self, block: BlockId) -> Cx<'_> {
        let (module, places, body, banks) = (self.module, self.places, self.body, self.banks);
        Cx::new(self.b.function().at(block), module, places, body, &[], banks)
    }

    /// Starts the next instruction, with its guard.
    pub fn start(&mut self, pc: u64, guard: Option<crate::module::Guard>) {
        self.b.set_pc(pc);
        self.set_guard(Mask::Always);
        if let Some(guard) = guard {
            let lanes = self.register_mask(guard.register);
            let lanes = if guard.not { self.not(lanes) } else { lanes };
            // No lane executes the instruction, but it is still lifted.
            let lanes = if lanes == Mask::Never {
                Mask::Lanes(self.constant(Type::Mask, 0))
            } else {
                lanes
            };
            self.set_guard(lanes);
        }
    }

    fn set_guard(&mut self, guard: Mask) {
        self.guard = guard;
        self.b.set_guard(match guard {
            Mask::Lanes(lanes) => Some(lanes),
            Mask::Always | Mask::Never => None,
        });
    }

    /// The lanes that the guard lets through, among the active lanes.
    pub fn guard(&self) -> Mask {
        self.guard
    }

    pub fn body(&self) -> &'a Body {
        self.body
    }

    /// Returns the mask of active lanes.
    pub fn active(&mut self) -> Value {
        *self.active.get_or_insert_with(|| self.b.read_active())
    }

    /// Returns the lanes that execute this instruction.
    pub fn executing(&mut self) -> Value {
        let active = self.active();
        match self.guard {
            Mask::Lanes(guard) => self.b.and(active, guard),
            _ => active,
        }
    }

    /// Makes other lanes active for the rest of this block.
    pub fn set_active(&mut self, active: Value) {
        self.b.write_active(active);
        self.now_active(active);
    }

    /// Tells which lanes the code before has made active.
    pub fn now_active(&mut self, active: Value) {
        self.active = Some(active);
        // Records that were loaded for the previous lanes are absent in other lanes.
        self.records.clear();
    }

    // Constants and masks.

    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.bit_mask();
        *self.constants.entry((ty, bits)).or_insert_with(|| self.b.iconst(ty, bits))
    }

    /// Returns an `i32` constant.
    pub fn word(&mut self, bits: u32) -> Value {
        self.constant(Type::I32, bits.into())
    }

    pub fn not(&mut self, mask: Mask) -> Mask {
        mask.not(&mut self.b)
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

    /// Selects lane-wise between values.
    pub fn select(&mut self, mask: Mask, a: Value, b: Value) -> Value {
        match mask {
            Mask::Always => a,
            Mask::Never => b,
            Mask::Lanes(mask) => self.b.select(mask, a, b),
        }
    }

    /// Returns a mask as a value.
    pub fn mask_value(&mut self, mask: Mask) -> Value {
        match mask {
            Mask::Always => self.constant(Type::Mask, u64::MAX),
            Mask::Never => self.constant(Type::Mask, 0),
            Mask::Lanes(lanes) => lanes,
        }
    }

    /// Returns a value with another type of its width.
    pub fn cast(&mut self, ty: Type, value: Value) -> Value {
        if self.b.ty(value).ty == ty { value } else { self.b.bitcast(ty, value) }
    }

    /// Returns an integer value in another type: its low bits, or the value extended.
    pub fn resize(&mut self, value: Value, to: Type, signed: bool) -> Value {
        let from = self.b.ty(value).ty.as_int();
        let value = self.cast(from, value);
        match (from.bits(), to.bits()) {
            (a, b) if a == b => value,
            (a, b) if a > b => self.b.trunc(to, value),
            _ if signed => self.b.sign_extend(to, value),
            _ => self.b.zero_extend(to, value),
        }
    }

    // Sources.

    /// Returns the bits of an operand as an integer of the type's width (8, 16, 32 or 64 bits): the
    /// low bits of a wider register, or a narrower register zero-extended.
    pub fn bits(&mut self, operand: &Operand, ty: Ty) -> Value {
        let to = int_type(ty.bits());
        match *operand {
            Operand::Register(register) => {
                let value = self.register(register, 0);
                self.resize(value, to, false)
            }
            Operand::Integer(bits) => self.constant(to, bits),
            Operand::Float(literal) => {
                let bits = literal_bits(literal, ty);
                self.constant(to, bits)
            }
            Operand::Special(special) => {
                let value = self.special(special);
                self.resize(value, to, false)
            }
            Operand::Symbol(of, offset) => {
                let address = self.symbol(of);
                let offset = self.constant(Type::I64, offset as u64);
                let address = self.b.add(address, offset);
                self.resize(address, to, false)
            }
            _ => self.refuse("an operand that is a value", to),
        }
    }

    /// Returns a float operand as a value of the IR's type: `f16`, `f32` or `f64`.
    pub fn float(&mut self, operand: &Operand, ty: Ty) -> Value {
        let bits = self.bits(operand, ty);
        match float_type(ty) {
            Some(float) => self.cast(float, bits),
            None => bits,
        }
    }

    /// Returns both halves of an operand of 128 bits, the low half first.
    pub fn bits128(&mut self, operand: &Operand) -> [Value; 2] {
        match *operand {
            Operand::Register(register) if self.decl(register).ty.bits() == 128 => {
                [self.register(register, 0), self.register(register, 1)]
            }
            _ => {
                let low = self.bits(operand, Ty::B64);
                [low, self.constant(Type::I64, 0)]
            }
        }
    }

    /// Returns a source predicate: a register, its complement, or a constant.
    pub fn pred(&mut self, operand: &Operand) -> Mask {
        match *operand {
            Operand::Register(register) => self.register_mask(register),
            Operand::Not(register) => {
                let mask = self.register_mask(register);
                self.not(mask)
            }
            Operand::Integer(bits) => Mask::of(bits != 0),
            Operand::Special(SpecialRegister::IsExplicitCluster) => self.is_explicit_cluster(),
            _ => {
                self.refused.insert("a predicate");
                Mask::Never
            }
        }
    }

    /// Returns the elements of a vector operand; of another operand, the operand itself.
    pub fn elements<'o>(&self, operand: &'o Operand) -> &'o [Operand] {
        match operand {
            Operand::Vector(elements) => elements,
            other => std::slice::from_ref(other),
        }
    }

    /// Whether an operand had a kind that the lift function did not expect. The instruction is then
    /// not executed.
    pub fn is_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// Forgets register values, as other lanes become active that may hold different values.
    pub fn forget_values(&mut self) {
        self.values.clear();
        self.predicates.clear();
        self.carry = None;
    }

    pub fn forget_refusals(&mut self) {
        self.refused.clear();
    }

    fn refuse(&mut self, expected: &'static str, ty: Type) -> Value {
        self.refused.insert(expected);
        self.constant(ty, 0)
    }

    // Destinations.

    /// Writes the type's width of bits of a value of any IR type. A wider register gets the bits
    /// sign-extended if the type is signed, else zero-extended.
    pub fn set(&mut self, operand: &Operand, ty: Ty, value: Value) {
        let Operand::Register(register) = *operand else {
            if *operand != Operand::Sink {
                self.refused.insert("a destination register");
            }
            return;
        };
        let to = cell_type(self.decl(register).ty);
        let value = self.resize(value, to, ty.is_signed());
        self.write(register, 0, value);
        if self.decl(register).ty.bits() == 128 {
            let high = self.constant(Type::I64, 0);
            self.write(register, 1, high);
        }
    }

    pub fn set128(&mut self, operand: &Operand, [low, high]: [Value; 2]) {
        if let Operand::Register(register) = *operand {
            self.write(register, 0, low);
            self.write(register, 1, high);
        }
    }

    /// Writes a predicate register.
    pub fn set_pred(&mut self, operand: &Operand, value: Mask) {
        let Operand::Register(register) = *operand else { return };
        let value = match self.guard {
            Mask::Always => value,
            guard => {
                let old = self.register_mask(register);
                value.merge(guard, old, &mut self.b)
            }
        };
        self.predicates.insert(register, value);
        self.set_cell_pred(self.cells[register.0 as usize], value);
    }

    /// Returns the carry of extended precision in the executing lanes.
    pub fn carry(&mut self) -> Mask {
        match self.carry {
            Some(carry) => carry,
            None => {
                let carry = Mask::Lanes(self.b.rf_read(self.banks.carry));
                self.carry = Some(carry);
                carry
            }
        }
    }

    pub fn set_carry(&mut self, value: Mask) {
        let value = match self.guard {
            Mask::Always => value,
            guard => {
                let old = self.carry();
                value.merge(guard, old, &mut self.b)
            }
        };
        self.carry = Some(value);
        let old = self.b.rf_read(self.banks.carry);
        let active = Mask::Lanes(self.active());
        let merged = value.merge(active, Mask::Lanes(old), &mut self.b);
        let merged = self.mask_value(merged);
        self.b.rf_write(self.banks.carry, merged);
    }

    // The stack.

    /// Returns the bytes that the stack has taken.
    pub fn stack(&mut self) -> Value {
        self.b.rf_read(self.banks.stack.reg(0))
    }

    pub fn set_stack(&mut self, bytes: Value) {
        self.b.rf_write(self.banks.stack.reg(0), bytes);
    }

    /// Keeps the state of the stack under this number.
    pub fn keep_stack(&mut self, number: u32) {
        let bytes = self.stack();
        self.b.rf_write(self.banks.stack.reg(1 + number), bytes);
    }

    /// Restores the stack that was kept under this number.
    pub fn restore_stack(&mut self, number: u32) {
        let bytes = self.b.rf_read(self.banks.stack.reg(1 + number));
        self.set_stack(bytes);
    }

    // Registers.

    fn decl(&self, register: Register) -> &'a RegisterDecl {
        &self.body.registers[register.0 as usize]
    }

    /// Returns the type that a register is declared with.
    pub fn register_type(&self, register: Register) -> Ty {
        self.decl(register).ty
    }

    /// Returns a register's bits; `half` 1 is the high half of 128 bits.
    pub fn register(&mut self, register: Register, half: u8) -> Value {
        if let Some(&value) = self.values.get(&(register, half)) {
            return value;
        }
        let ty = cell_type(self.decl(register).ty);
        if self.decl(register).ty.kind() == Kind::Pred {
            return self.refuse("a register that is no predicate", ty);
        }
        let known = self.known(register);
        let value = match self.cell(register, half) {
            Some(cell) => self.b.rf_read(cell),
            None if known.is_some() => self.make_known(known, ty),
            // Read before it is written: any value will do.
            None => self.constant(ty, 0),
        };
        self.values.insert((register, half), value);
        value
    }

    /// Sets the registers whose values are made where they are read.
    pub fn know(&mut self, known: &'a KnownRegisters) {
        self.known = Some(known);
    }

    /// Returns the value that a register has wherever it is read, if known.
    pub fn known(&self, register: Register) -> Option<Known> {
        self.known?.get(register)
    }

    fn make_known(&mut self, known: Option<Known>, ty: Type) -> Value {
        match known {
            Some(Known::Parameter(at, ty)) => self.constant_bank(driver::PARAMS, at as u32, ty),
            Some(Known::Special(special)) => self.special(special),
            Some(Known::Constant(bits)) => self.constant(ty, bits),
            Some(Known::Computed(statement)) => self.compute(statement),
            Some(Known::Copy(_)) | None => self.constant(ty, 0),
        }
    }

    /// Computes the result of a statement whose operands are known everywhere, in all lanes.
    fn compute(&mut self, number: u32) -> Value {
        let statement = &self.body.statements[number as usize];
        let Some(&Operand::Register(register)) = statement.operands.first() else {
            unreachable!("it writes a register")
        };
        if let Some(&value) = self.values.get(&(register, 0)) {
            return value;
        }
        let guard = self.guard;
        self.set_guard(Mask::Always);
        let sources = self.known.map_or(&[][..], |known| known.sources(number));
        let mut now = Vec::with_capacity(sources.len());
        for &(source, known) in sources {
            let value = self.make_known(Some(known), cell_type(self.decl(source).ty));
            now.push((source, self.values.insert((source, 0), value)));
        }
        let insn = Insn { form: self.module.form(statement.form), operands: &statement.operands };
        assert!(insn.lift(self), "integer arithmetic is executed");
        for (source, now) in now {
            match now {
                Some(now) => self.values.insert((source, 0), now),
                None => self.values.remove(&(source, 0)),
            };
        }
        self.set_guard(guard);
        self.values[&(register, 0)]
    }

    /// Returns the cells of the body's registers.
    pub fn cells(&self) -> &'a [Cell] {
        self.cells
    }

    fn bank(&self, ty: Ty) -> BankId {
        match ty.bits() {
            0..=8 => self.banks.b8,
            9..=16 => self.banks.b16,
            17..=32 => self.banks.b32,
            _ => self.banks.b64,
        }
    }

    /// Returns the value of a cell of another body's register.
    pub fn cell_value(&mut self, cell: Cell, ty: Ty) -> Value {
        match cell {
            Cell::File(index) => self.b.rf_read(self.bank(ty).reg(index)),
            Cell::Block => self.constant(cell_type(ty), 0),
        }
    }

    /// Writes a cell of another body's register.
    pub fn set_cell(&mut self, cell: Cell, ty: Ty, value: Value) {
        if let Cell::File(index) = cell {
            let value = self.resize(value, cell_type(ty), ty.is_signed());
            let register = self.bank(ty).reg(index);
            self.b.rf_write(register, value);
        }
    }

    /// Returns the value of a cell of another body's predicate.
    pub fn cell_pred(&mut self, cell: Cell) -> Mask {
        match cell {
            Cell::File(index) => Mask::Lanes(self.b.rf_read(self.banks.pred.reg(index))),
            Cell::Block => Mask::Never,
        }
    }

    pub fn set_cell_pred(&mut self, cell: Cell, value: Mask) {
        if let Cell::File(index) = cell {
            let cell = self.banks.pred.reg(index);
            let old = self.b.rf_read(cell);
            let active = Mask::Lanes(self.active());
            let merged = value.merge(active, Mask::Lanes(old), &mut self.b);
            let merged = self.mask_value(merged);
            self.b.rf_write(cell, merged);
        }
    }

    fn cell(&self, register: Register, half: u8) -> Option<ir::Reg> {
        let Cell::File(index) = self.cells[register.0 as usize] else { return None };
        let bank = self.bank(self.decl(register).ty);
        Some(bank.reg(index + u32::from(half)))
    }

    fn write(&mut self, register: Register, half: u8, value: Value) {
        match (self.cell(register, half), self.guard) {
            (Some(cell), guard) => {
                self.b.rf_write(cell, value);
                match guard {
                    Mask::Always => self.values.insert((register, half), value),
                    _ => self.values.remove(&(register, half)),
                };
            }
            (None, Mask::Always) => {
                self.values.insert((register, half), value);
            }
            (None, guard) => {
                let old = self.values.get(&(register, half)).copied();
                let value = old.map_or(value, |old| self.select(guard, value, old));
                self.values.insert((register, half), value);
            }
        }
    }

    fn register_mask(&mut self, register: Register) -> Mask {
        if let Some(&mask) = self.predicates.get(&register) {
            return mask;
        }
        if self.decl(register).ty.kind() != Kind::Pred {
            self.refused.insert("a predicate");
            return Mask::Never;
        }
        let mask = match self.cells[register.0 as usize] {
            Cell::File(index) => Mask::Lanes(self.b.rf_read(self.banks.pred.reg(index))),
            Cell::Block => Mask::Never,
        };
        self.predicates.insert(register, mask);
        mask
    }

    // Launch values and addresses.

    /// Returns a word of the driver's constant bank; it is uniform.
    pub fn driver(&mut self, offset: u32, ty: Type) -> Value {
        self.constant_bank(driver::BANK, offset, ty)
    }

    /// Returns the uniform value at a fixed offset of a constant bank.
    pub fn constant_bank(&mut self, bank: u8, offset: u32, ty: Type) -> Value {
        if let Some(&value) = self.loads.get(&(bank, offset, ty)) {
            return value;
        }
        let address = self.word(offset);
        let access =
            ir::Access { align: 1, ..self.b.access(Space::Const(bank), ty, 1, address, 0) };
        let value = self.b.load_access(access, Extend::None)[0];
        self.loads.insert((bank, offset, ty), value);
        value
    }

    /// Returns the address of a variable in its own space, or of a function: `i64`. For a texture,
    /// sampler or surface it is the handle.
    pub fn symbol(&mut self, of: AddressOf) -> Value {
        let address = match of {
            AddressOf::Function(id) => self.places.function(id),
            AddressOf::Variable(id) => self.places.variable(id),
        };
        if let AddressOf::Variable(id) = of {
            let variable = self.module.variable(id);
            if variable.ty.kind() == Kind::Opaque && variable.space == StateSpace::Param {
                return self.constant_bank(driver::PARAMS, address as u32, Type::I64);
            }
        }
        let address = self.constant(Type::I64, address);
        match of {
            AddressOf::Variable(id) if self.places.is_in_frame(id) => {
                let frame = self.frame();
                let frame = self.b.zero_extend(Type::I64, frame);
                self.b.add(frame, address)
            }
            _ => address,
        }
    }

    /// Returns the address of a variable in the lane's local memory, and a constant to add to it.
    pub fn local_place(&mut self, id: VariableId) -> (Value, i32) {
        let place = self.places.variable(id) as u32;
        if self.places.is_in_frame(id) {
            (self.frame(), place as i32)
        } else {
            self.fixed_place(place)
        }
    }

    /// Returns a place in local memory that is the same for all lanes.
    pub fn fixed_place(&mut self, offset: u32) -> (Value, i32) {
        let address = self.word(offset);
        (self.b.splat(address), 0)
    }

    /// Returns the start of the frame that a lane is in.
    pub fn frame(&mut self) -> Value {
        self.b.rf_read(self.banks.frame)
    }

    pub fn banks(&self) -> Banks {
        self.banks
    }

    /// Returns the space that an address operand names, if it names a variable.
    pub fn named_space(&self, address: &Address) -> Option<StateSpace> {
        match address.base {
            Base::Symbol(AddressOf::Variable(id)) => Some(self.module.variable(id).space),
            _ => None,
        }
    }

    /// Returns an address in bytes as it is written, and a constant to add to it. `wide` addresses
    /// are `i64`, for generic and global ones; others are `i32`.
    pub fn address(&mut self, address: &Address, wide: bool) -> (Value, i32) {
        let ty = if wide { Type::I64 } else { Type::I32 };
        let mut base = match address.base {
            Base::None => self.constant(Type::I64, 0),
            Base::Register(register) => self.register(register, 0),
            Base::Symbol(of) => self.symbol(of),
        };
        base = self.resize(base, ty, false);
        if let Some(index) = address.index {
            let index = self.register(index, 0);
            let index = self.resize(index, ty, false);
            base = self.b.add(base, index);
        }
        match i32::try_from(address.offset) {
            Ok(offset) => (base, offset),
            Err(_) => {
                let offset = self.constant(ty, address.offset as u64);
                (self.b.add(base, offset), 0)
            }
        }
    }
}

impl<'a> Lifter<'a> for Cx<'a> {
    fn guard(&self) -> Mask {
        self.guard
    }

    fn executing(&mut self) -> Value {
        Cx::executing(self)
    }

    fn driver_word(&mut self, bank: u8, offset: u32, ty: Type) -> Value {
        self.constant_bank(bank, offset, ty)
    }

    fn images(&self) -> &'a [(u32, Shape)] {
        self.images
    }

    fn records(&mut self) -> &mut images::Records {
        &mut self.records
    }
}

/// Returns the bits of a float literal as a constant of this type. If the type is not a float, they
/// are the literal's own bits.
pub fn literal_bits(literal: Literal, ty: Ty) -> u64 {
    match (literal, ty) {
        (Literal::F32(bits), _) => bits.into(),
        (Literal::F64(bits), Ty::F32) => (f64::from_bits(bits) as f32).to_bits().into(),
        (Literal::F64(bits), _) => bits,
        (Literal::Decimal(value), Ty::F32 | Ty::B32) => (value as f32).to_bits().into(),
        (Literal::Decimal(value), _) => value.to_bits(),
    }
}
