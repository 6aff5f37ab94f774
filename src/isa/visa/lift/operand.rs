//! Reads operands as values, and writes destinations.

use warploom_ir::{IntCc, Region, Type, Value};

use super::elements::{Elements, Pattern, source_pattern};
use super::storage::{Cells, Component, RootStorage, int_type};
use super::survey::{Access, What};
use super::variables::{ADDRESS_BYTES, RootId};
use super::write::Target;
use super::{Cx, Unsupported};
use crate::instruction::{General, Indirect, Instruction, Modifier, Operand, Raw, State};
use crate::module::{AddressId, VariableId};
use crate::types::{self, Ty};

/// A source before its modifier is applied.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// An integer of the type's size, or a mask of lanes for a predicate.
    pub value: Value,
    pub ty: Ty,
    pub modifier: Modifier,
    /// The bits of an immediate that its type has.
    pub immediate: Option<u64>,
}

/// The kind of an operand that receives a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Elements of this type.
    Of(Ty),
    Predicate,
}

/// Raw operands, and other operands of messages.
impl Cx<'_> {
    fn raw_elements(&self, raw: Raw, at: u32, ty: Type) -> Elements {
        let (root, offset) = self.shape.roots.variable(self.routine, raw.variable);
        let ty = ty.as_int();
        let size = ty.bytes();
        let start = offset
            .saturating_add(raw.offset)
            .saturating_add(at)
            .saturating_add(self.piece.element * size);
        let pattern = if self.piece.is_scalar() { Pattern::Scalar } else { Pattern::Linear(size) };
        Elements { root, start, ty, pattern }
    }

    /// Reads consecutive elements of a raw operand, from `at` bytes behind its start on.
    ///
    /// There is one element for each lane of the piece; the value is uniform if the piece has one
    /// element. For component `c` of a message of `n` lanes, `at` is `c * roundup(n * size, grf)`.
    pub fn raw(&mut self, raw: Raw, at: u32, ty: Type) -> Value {
        if raw.variable == VariableId::NULL {
            return self.constant(ty, 0);
        }
        let elements = self.raw_elements(raw, at, ty);
        let value = self.read(elements);
        self.bits_as(value, ty)
    }

    /// Reads one element of a raw operand as a uniform value.
    pub fn raw_scalar(&mut self, raw: Raw, at: u32, ty: Type) -> Value {
        if raw.variable == VariableId::NULL {
            return self.constant(ty, 0);
        }
        let (root, offset) = self.shape.roots.variable(self.routine, raw.variable);
        let start = offset.saturating_add(raw.offset).saturating_add(at);
        let value = self.read(Elements { root, start, ty: ty.as_int(), pattern: Pattern::Scalar });
        self.bits_as(value, ty)
    }

    /// Writes consecutive elements in the enabled lanes. A write to the null variable has no
    /// effect.
    pub fn set_raw(&mut self, raw: Raw, at: u32, value: Value) {
        if raw.variable != VariableId::NULL {
            let ty = self.b.ty(value).ty;
            let elements = self.raw_elements(raw, at, ty);
            self.later(Target::Elements(elements), value);
        }
    }

    /// Returns the `n`th operand, a raw operand.
    pub fn raw_operand(&self, insn: &Instruction, n: usize) -> Result<Raw, Unsupported> {
        match insn.operands.get(n) {
            Some(Operand::Raw(raw)) => Ok(*raw),
            _ => Err(Unsupported),
        }
    }

    /// Returns the `n`th operand, a number that is part of the opcode or stands among the operands.
    pub fn number(&self, insn: &Instruction, n: usize) -> Result<u32, Unsupported> {
        match insn.operands.get(n) {
            Some(Operand::Number(number)) => Ok(*number),
            _ => Err(Unsupported),
        }
    }

    /// Reads the first element of a source as a uniform integer, extended by the source's type.
    pub fn scalar(&mut self, insn: &Instruction, n: usize, to: Type) -> Result<Value, Unsupported> {
        let piece = self.piece;
        self.piece = super::pieces::Piece { element: 0, count: 1, lane: piece.lane };
        let source = self.source(insn, n);
        self.piece = piece;
        let source = source?;
        if source.modifier != Modifier::None || source.ty == Ty::Bool {
            return Err(Unsupported);
        }
        Ok(self.integer(source, to))
    }
}

/// Returns whether an integer of a type may be negative.
pub fn is_signed(ty: Ty) -> bool {
    matches!(ty, Ty::B | Ty::W | Ty::D | Ty::Q | Ty::V)
}

pub fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::Hf | Ty::F | Ty::Df | Ty::Bf)
}

/// Vector operands.
impl Cx<'_> {
    /// Reads the `n`th operand.
    pub fn source(&mut self, insn: &Instruction, n: usize) -> Result<Source, Unsupported> {
        let plain = |value, ty, modifier| Source { value, ty, modifier, immediate: None };
        Ok(match insn.operands.get(n) {
            Some(Operand::General(general)) => {
                let ty = self.routine().ty(general.variable);
                let elements = self.source_elements(general, ty);
                plain(self.read(elements), ty, general.modifier)
            }
            Some(Operand::Indirect(indirect)) => {
                plain(self.read_indirect(indirect), indirect.ty, indirect.modifier)
            }
            Some(&Operand::Immediate { ty, bits }) => self.immediate(ty, bits),
            Some(&Operand::Predicate { predicate, modifier }) => {
                let reg = self.predicate_reg(predicate);
                let of_lanes = !self.exec.no_mask && !self.piece.is_scalar();
                let bits = self.predicate_bits(reg, of_lanes);
                plain(self.at_lanes(bits), Ty::Bool, modifier)
            }
            Some(&Operand::Address { address, element, width, modifier }) => {
                let stride = u32::from(width > 1) * ADDRESS_BYTES;
                let value = self.address_elements(address, element, stride);
                plain(value, Ty::Ud, modifier)
            }
            _ => return Err(Unsupported),
        })
    }

    fn source_elements(&self, general: &General, ty: Ty) -> Elements {
        let (root, offset) = self.shape.roots.variable(self.routine, general.variable);
        let size = ty.size();
        let (first, pattern) =
            source_pattern(general.region, self.piece.element, self.piece.count, size);
        let at = u32::from(general.row) * self.grf() + (u32::from(general.column) + first) * size;
        Elements { root, start: offset.saturating_add(at), ty: int_type(size), pattern }
    }

    /// Returns an immediate as a source. Elements of a vector differ from lane to lane.
    fn immediate(&mut self, ty: Ty, bits: u64) -> Source {
        let of = |value, ty, immediate| Source { value, ty, modifier: Modifier::None, immediate };
        match ty {
            Ty::V | Ty::Uv => {
                let nibble = self.element_of(bits, 8, 4);
                let value = if ty == Ty::V {
                    let count = self.word(28);
                    let high = self.b.shl(nibble, count);
                    self.b.shr_s(high, count)
                } else {
                    nibble
                };
                let value = self.b.trunc(Type::I16, value);
                of(value, if ty == Ty::V { Ty::W } else { Ty::Uw }, None)
            }
            Ty::Vf => {
                let byte = self.element_of(bits, 4, 8);
                of(self.short_float(byte), Ty::F, None)
            }
            _ => {
                let size = ty.size().max(2);
                let ty =
                    if ty.size() == 1 { if is_signed(ty) { Ty::W } else { Ty::Uw } } else { ty };
                let bits = bits & int_type(size).bit_mask();
                of(self.constant(int_type(size), bits), ty, Some(bits))
            }
        }
    }

    /// Returns a field of an immediate vector for each lane, as `i32`.
    fn element_of(&mut self, bits: u64, count: u32, width: u32) -> Value {
        let mask = (1_u32 << width) - 1;
        if self.piece.is_scalar() {
            let field = bits as u32 >> (self.piece.element % count * width) & mask;
            return self.word(field);
        }
        let first = self.word(u32::from(self.piece.lane).wrapping_sub(self.piece.element));
        let lane = self.b.lane_id();
        let element = self.b.sub(lane, first);
        let last = self.word(count - 1);
        let element = self.b.and(element, last);
        let width = self.word(width);
        let shift = self.b.mul(element, width);
        let all = self.word(bits as u32);
        let field = self.b.shr_u(all, shift);
        let mask = self.word(mask);
        self.b.and(field, mask)
    }

    /// Returns the `f32` bits of a float of 8 bits.
    ///
    /// It has a sign, three bits of exponent (bias 3) and four of mantissa. 0x00 and 0x80 are
    /// zeros.
    fn short_float(&mut self, byte: Value) -> Value {
        let (seven, low, one) = (self.word(24), self.word(0x7f), self.word(0x80));
        let sign = self.b.and(byte, one);
        let sign = self.b.shl(sign, seven);
        let rest = self.b.and(byte, low);
        let count = self.word(19);
        let placed = self.b.shl(rest, count);
        let bias = self.word((127 - 3) << 23);
        let number = self.b.add(placed, bias);
        let zero = self.word(0);
        let is_zero = self.b.icmp(IntCc::Eq, rest, zero);
        let number = if self.piece.is_scalar() {
            self.b.uniform_select(is_zero, zero, number)
        } else {
            self.b.select(is_zero, zero, number)
        };
        self.b.or(sign, number)
    }

    /// Reads elements of an address variable, `stride` bytes apart.
    fn address_elements(&mut self, address: AddressId, element: u8, stride: u32) -> Value {
        let root = self.shape.roots.address(self.routine, address);
        let pattern = if stride == 0 || self.piece.is_scalar() {
            Pattern::Scalar
        } else {
            Pattern::Linear(stride)
        };
        let start = u32::from(element) * ADDRESS_BYTES + self.piece.element * stride;
        self.read(Elements { root, start, ty: Type::I32, pattern })
    }

    /// Returns an indirect operand's region, and the index that is added to it.
    fn indirect(&mut self, indirect: &Indirect) -> (Value, Region) {
        let root = self.shape.roots.address(self.routine, indirect.address);
        let at = u32::from(indirect.element) * ADDRESS_BYTES;
        let size = indirect.ty.size();
        let (element, count) = (self.piece.element, self.piece.count);
        let offset = indirect.offset as i32 as u32;
        let (addresses, first, pattern) = match (indirect.region.vertical, indirect.region.width) {
            // Each row has its own address.
            (None, Some(width)) => {
                let width = width.max(1);
                let rows =
                    types::Region { vertical: Some(1), width: Some(width), horizontal: Some(0) };
                let (row, rows) = source_pattern(rows, element, count, ADDRESS_BYTES);
                let within = types::Region {
                    vertical: Some(0),
                    width: Some(width),
                    horizontal: indirect.region.horizontal,
                };
                let (first, pattern) = source_pattern(within, element, count, size);
                (
                    Elements {
                        root,
                        start: at + row * ADDRESS_BYTES,
                        ty: Type::I32,
                        pattern: rows,
                    },
                    first,
                    pattern,
                )
            }
            (Some(_), _) => {
                let (first, pattern) = source_pattern(indirect.region, element, count, size);
                (
                    Elements { root, start: at, ty: Type::I32, pattern: Pattern::Scalar },
                    first,
                    pattern,
                )
            }
            (None, None) => {
                let stride = u32::from(indirect.region.horizontal.unwrap_or(1));
                let pattern = if count == 1 || stride == 0 {
                    Pattern::Scalar
                } else {
                    Pattern::Linear(stride * size)
                };
                (
                    Elements { root, start: at, ty: Type::I32, pattern: Pattern::Scalar },
                    element * stride,
                    pattern,
                )
            }
        };
        let index = self.read(addresses);
        (index, pattern.region(offset.wrapping_add(first * size), size))
    }

    fn read_indirect(&mut self, operand: &Indirect) -> Value {
        let shape = self.shape;
        let (index, region) = self.indirect(operand);
        let size = operand.ty.size();
        // Each lane reads one element of its own, or all lanes read one element.
        let single = Pattern::Scalar.region(region.offset, size) == region;
        self.note_row(operand, single.then_some(size));
        if let Some(root) = self.row_of(operand)
            && !shape.storage.arena.contains_key(&root)
            && let Some(Component { place: RootStorage::Lanes { zero: 0, cells, .. }, .. }) =
                shape.storage.find(root, 0)
        {
            return self.pick_elements(cells, index, (region.offset, int_type(size)));
        }
        let reg = self.shape.storage.arena_reg;
        let ty = int_type(operand.ty.size());
        if self.piece.is_scalar() {
            let op =
                warploom_ir::Op::RegionRead { reg, index: Some(index), region, ty, uniform: true };
            return self.b.push(op)[0];
        }
        self.b.region_read_at(reg, index, region, ty)
    }

    /// Returns the root of an indirect operand.
    ///
    /// Returns None unless the address variable names one root only, which no other address shares
    /// with another root.
    fn row_of(&self, operand: &Indirect) -> Option<RootId> {
        self.shape.pointees.only(self.shape.roots.address(self.routine, operand.address))
    }

    /// Notes an indirect access, which may read the elements of any lane.
    ///
    /// `size` is the size of single elements; None for other regions.
    fn note_row(&self, operand: &Indirect, size: Option<u32>) {
        let (Some(survey), Some(root)) = (self.survey, self.row_of(operand)) else { return };
        let mut survey = survey.borrow_mut();
        survey.note_row(root, size);
        let (size, count) = (operand.ty.size(), self.lanes());
        let what = What::Lanes { stride: size, size, first: 0, count };
        let end = u32::from(count) * size;
        survey.note(
            root,
            Access {
                start: 0,
                end,
                what,
                write: false,
                node: self.node,
                plain: false,
                no_mask: true,
            },
        );
    }

    /// Returns the elements that lanes pick from a row.
    ///
    /// Lane 0's element is at the index that is 0 when `offset` is added. Addresses are multiples
    /// of the size. Elements outside the row are 0.
    fn pick_elements(&mut self, cells: &Cells, index: Value, (offset, ty): (u32, Type)) -> Value {
        let row = self.in_all_lanes(|cx| {
            let row = cx.read_cells(cells, 0, ty);
            cx.b.splat(row)
        });
        let offset = self.word(offset);
        let index = self.b.add(index, offset);
        let (by, end) = (
            self.word(ty.bytes().trailing_zeros()),
            self.word(u32::from(self.lanes()) * ty.bytes()),
        );
        let lane = self.b.shr_u(index, by);
        let inside = self.b.icmp(IntCc::LtU, index, end);
        let zero = self.constant(ty, 0);
        if self.b.ty(index).is_uniform() {
            let picked = self.b.lane_read(row, lane);
            return self.b.uniform_select(inside, picked, zero);
        }
        let picked = self.b.lane_gather(row, lane);
        self.b.select(inside, picked, zero)
    }

    /// Returns the kind of the `n`th operand, a destination.
    pub fn destination(&self, insn: &Instruction, n: usize) -> Result<Destination, Unsupported> {
        Ok(match insn.operands.get(n) {
            Some(Operand::General(general)) => Destination::Of(self.routine().ty(general.variable)),
            Some(Operand::Indirect(indirect)) => Destination::Of(indirect.ty),
            Some(Operand::Predicate { .. }) => Destination::Predicate,
            Some(Operand::Address { .. }) => Destination::Of(Ty::Ud),
            _ => return Err(Unsupported),
        })
    }

    /// Returns the type of a destination; an error for a predicate.
    pub fn destination_type(&self, insn: &Instruction, n: usize) -> Result<Ty, Unsupported> {
        match self.destination(insn, n)? {
            Destination::Of(ty) => Ok(ty),
            Destination::Predicate => Err(Unsupported),
        }
    }

    /// Writes the `n`th operand: a value of its size, or a mask of lanes for a predicate.
    pub fn set(&mut self, insn: &Instruction, n: usize, value: Value) {
        match insn.operands.get(n) {
            Some(Operand::General(general)) if general.variable != VariableId::NULL => {
                let ty = self.routine().ty(general.variable);
                let (root, offset) = self.shape.roots.variable(self.routine, general.variable);
                let (size, stride) = (ty.size(), u32::from(general.region.horizontal.unwrap_or(1)));
                let column = u32::from(general.column) + self.piece.element * stride;
                let start =
                    offset.saturating_add(u32::from(general.row) * self.grf() + column * size);
                let elements = self.consecutive(root, start, int_type(size), stride * size);
                self.later(Target::Elements(elements), value);
            }
            Some(Operand::Indirect(indirect)) => {
                let indirect = *indirect;
                let (index, region) = self.indirect(&indirect);
                self.note_row(&indirect, None);
                let value = self.bits_as(value, int_type(indirect.ty.size()));
                self.later(Target::Indirect { index, region }, value);
            }
            Some(&Operand::Predicate { predicate, .. }) => {
                let (reg, elements) = (
                    self.predicate_reg(predicate),
                    self.shape.predicate_elements(self.routine, predicate),
                );
                self.later(Target::Predicate { reg, elements }, value);
            }
            Some(&Operand::Address { address, element, .. }) => {
                let root = self.shape.roots.address(self.routine, address);
                let start = (u32::from(element) + self.piece.element) * ADDRESS_BYTES;
                let elements = self.consecutive(root, start, Type::I32, ADDRESS_BYTES);
                self.later(Target::Elements(elements), value);
            }
            Some(&Operand::State { state, element }) => self.set_state(state, element, value),
            _ => {}
        }
    }

    fn consecutive(&self, root: RootId, start: u32, ty: Type, stride: u32) -> Elements {
        let single = self.piece.is_scalar() || stride == 0;
        Elements {
            root,
            start,
            ty,
            pattern: if single { Pattern::Scalar } else { Pattern::Linear(stride) },
        }
    }

    /// Sets a state variable to a uniform `i32`.
    pub(super) fn set_state(&mut self, state: State, element: u8, value: Value) {
        let reg = self.state_reg(state, element);
        self.later(Target::State { reg }, value);
    }

    /// Returns the address of a variable's byte in the array of variables whose addresses are
    /// taken.
    pub(super) fn address_of(&mut self, of: VariableId, offset: u32) -> u32 {
        let (root, start) = self.shape.roots.variable(self.routine, of);
        self.shape.take_address(root);
        self.shape
            .storage
            .arena
            .get(&root)
            .copied()
            .unwrap_or(0)
            .wrapping_add(start)
            .wrapping_add(offset)
    }
}
