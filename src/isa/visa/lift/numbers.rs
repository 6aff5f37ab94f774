//! Converts sources to numbers, and numbers to destinations. Facts, `visa-semantics.md` 2.

use warploom_guest::brain;
use warploom_ir::{FloatAttrs, FloatUnaryOp, IntCc, Round, Type, Value};

use super::operand::{Source, is_float, is_signed};
use super::storage::int_type;
use super::{Cx, Lifted, Unsupported};
use crate::instruction::{Instruction, Modifier};
use crate::types::Ty;

/// The kind of numbers that an instruction computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Float(Type),
}

/// The NaN of a `bf16`.
const NAN_BF16: u64 = 0x7fc0;

/// Returns the range of an integer type.
pub fn range_of(ty: Ty) -> (i128, i128) {
    let bits = ty.size() * 8;
    if is_signed(ty) { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The integers in which operations give exact results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    S32,
    U32,
    S64,
    U64,
    /// Some numbers are negative, other numbers exceed the greatest of 64 bits.
    Wide,
}

impl Domain {
    pub fn of(ranges: &[(i128, i128)]) -> Domain {
        let within = |least: i128, most: i128| {
            ranges.iter().all(|range| range.0 >= least && range.1 <= most)
        };
        match () {
            () if within(i32::MIN.into(), i32::MAX.into()) => Domain::S32,
            () if within(0, u32::MAX.into()) => Domain::U32,
            () if within(i64::MIN.into(), i64::MAX.into()) => Domain::S64,
            () if within(0, u64::MAX.into()) => Domain::U64,
            () => Domain::Wide,
        }
    }

    pub fn ty(self) -> Type {
        if matches!(self, Domain::S32 | Domain::U32) { Type::I32 } else { Type::I64 }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Domain::S32 | Domain::S64 | Domain::Wide)
    }
}

impl Source {
    /// Returns the range of an integer source's values.
    pub fn range(&self) -> (i128, i128) {
        let (least, most) = match self.immediate {
            Some(bits) => {
                let above = 64 - self.ty.size() * 8;
                let number = if is_signed(self.ty) {
                    i128::from((bits << above) as i64 >> above)
                } else {
                    i128::from(bits)
                };
                (number, number)
            }
            None => range_of(self.ty),
        };
        let largest = least.abs().max(most.abs());
        // Compilers take the negative of the least 64-bit number to be its wrapped value.
        let wraps = self.ty.size() == 8 && self.immediate.is_none();
        match self.modifier {
            Modifier::Neg | Modifier::NegAbs if wraps => range_of(Ty::Q),
            Modifier::Abs if wraps && is_signed(self.ty) => range_of(Ty::Q),
            Modifier::None => (least, most),
            Modifier::Neg => (-most, -least),
            Modifier::Abs => (0, largest),
            Modifier::NegAbs => (-largest, 0),
            Modifier::Not => range_of(self.ty),
        }
    }
}

impl Cx<'_> {
    /// Returns the sources from the `first` operand on.
    pub fn sources<const N: usize>(
        &mut self,
        insn: &Instruction,
        first: usize,
    ) -> Result<[Source; N], Unsupported> {
        let mut all = [None; N];
        for (n, one) in all.iter_mut().enumerate() {
            *one = Some(self.source(insn, first + n)?);
        }
        Ok(all.map(|one| one.expect("each was read")))
    }

    /// Returns an integer source in a type: its low bits there.
    pub fn integer(&mut self, source: Source, to: Type) -> Value {
        let value = match source.immediate {
            Some(_) if source.modifier == Modifier::None => {
                let (number, _) = source.range();
                return self.constant(to, number as u64);
            }
            _ => self.resize(source.value, to, is_signed(source.ty)),
        };
        match source.modifier {
            Modifier::None => value,
            Modifier::Neg => self.b.neg(value),
            Modifier::Not => self.b.not(value),
            Modifier::Abs | Modifier::NegAbs => {
                let value = match is_signed(source.ty) {
                    false => value,
                    // The sign is that of all bits.
                    true if source.ty.size() > to.bytes() => {
                        let magnitude = self.b.abs(source.value);
                        self.resize(magnitude, to, false)
                    }
                    true => self.b.abs(value),
                };
                if source.modifier == Modifier::Abs { value } else { self.b.neg(value) }
            }
        }
    }

    /// Returns a float source in a type of the IR.
    pub fn float(&mut self, source: Source, to: Type) -> Result<Value, Unsupported> {
        let value = match source.ty {
            Ty::Bf => {
                let value = brain::from_bf16(self, source.value);
                self.signed(value, source.modifier)?
            }
            ty if is_float(ty) => {
                let value = self.b.bitcast(float_type(ty), source.value);
                self.signed(value, source.modifier)?
            }
            Ty::Bool => return Err(Unsupported),
            _ => {
                let domain = Domain::of(&[source.range()]);
                let value = self.integer(source, domain.ty());
                return Ok(self.b.int_to_float(to, domain.is_signed(), self.mode.round(), value));
            }
        };
        Ok(self.to_float(value, to, false))
    }

    fn signed(&mut self, value: Value, modifier: Modifier) -> Result<Value, Unsupported> {
        Ok(match modifier {
            Modifier::None => value,
            Modifier::Neg => self.b.fneg(value),
            Modifier::Abs => self.b.fabs(value),
            Modifier::NegAbs => {
                let value = self.b.fabs(value);
                self.b.fneg(value)
            }
            Modifier::Not => return Err(Unsupported),
        })
    }

    /// Returns a float as another type, rounded as the mode says.
    pub fn to_float(&mut self, value: Value, to: Type, saturate: bool) -> Value {
        let from = self.b.ty(value).ty;
        if from != to {
            let small = if from.bits() < to.bits() { from } else { to };
            let attrs =
                FloatAttrs { round: self.mode.round(), flush: self.mode.flushes(small), saturate };
            return self.b.fconvert(to, attrs, value);
        }
        if !saturate {
            return value;
        }
        self.b.funary(FloatUnaryOp::Copy, FloatAttrs { saturate, ..FloatAttrs::IEEE }, value)
    }

    /// Returns the kind of numbers in which sources are computed.
    pub fn kind(&self, sources: &[Source]) -> Kind {
        if !sources.iter().any(|source| is_float(source.ty)) {
            return Kind::Integer;
        }
        let has = |ty| sources.iter().any(|source| source.ty == ty);
        Kind::Float(match () {
            () if has(Ty::Df) => Type::F64,
            () if has(Ty::F) || has(Ty::Bf) => Type::F32,
            () => Type::F16,
        })
    }

    /// Returns whether the operation itself may saturate: its result has the destination's type.
    pub fn saturates(&self, insn: &Instruction, ty: Type) -> bool {
        insn.saturate
            && self
                .destination_type(insn, 0)
                .is_ok_and(|to| to != Ty::Bf && is_float(to) && float_type(to) == ty)
    }

    /// Writes a float, which is saturated already if [`Cx::saturates`].
    pub fn set_float(&mut self, insn: &Instruction, value: Value) -> Lifted {
        let to = self.destination_type(insn, 0)?;
        let from = self.b.ty(value).ty;
        let saturate = insn.saturate && !self.saturates(insn, from);
        let value = self.float_to(value, to, saturate)?;
        self.set(insn, 0, value);
        Ok(())
    }

    /// Returns a float as a destination's type.
    pub fn float_to(&mut self, value: Value, to: Ty, saturate: bool) -> Result<Value, Unsupported> {
        let round = self.mode.round();
        Ok(match to {
            Ty::Bf => {
                let value = if self.b.ty(value).ty == Type::F64 {
                    self.odd(value)
                } else {
                    self.to_float(value, Type::F32, false)
                };
                let value = self.to_float(value, Type::F32, saturate);
                brain::to_bf16(self, round, NAN_BF16, value)
            }
            ty if is_float(ty) => self.to_float(value, float_type(ty), saturate),
            Ty::Bool => return Err(Unsupported),
            _ => self.truncated(value, to),
        })
    }

    /// Returns a float as an integer: truncated, then clamped to the type.
    fn truncated(&mut self, value: Value, to: Ty) -> Value {
        let (signed, size) = (is_signed(to), to.size());
        if size >= 4 {
            return self.b.float_to_int(int_type(size), signed, Round::Zero, false, 0, value);
        }
        let word = self.b.float_to_int(Type::I32, true, Round::Zero, false, 0, value);
        let word = self.clamped(word, true, to);
        self.b.trunc(int_type(size), word)
    }

    /// Returns the integer of a type that is nearest to a number.
    ///
    /// The number may be negative if `signed`.
    pub fn clamped(&mut self, value: Value, signed: bool, to: Ty) -> Value {
        let ty = self.b.ty(value).ty;
        let (least, most) = range_of(to);
        let (low, high) = if ty == Type::I32 {
            (i128::from(i32::MIN), if signed { i32::MAX.into() } else { u32::MAX.into() })
        } else {
            (i128::from(i64::MIN), if signed { i64::MAX.into() } else { u64::MAX.into() })
        };
        let mut value = value;
        if most < high {
            let most = self.constant(ty, most as u64);
            value = if signed { self.b.min_s(value, most) } else { self.b.min_u(value, most) };
        }
        if signed && least > low {
            let least = self.constant(ty, least as u64);
            value = self.b.max_s(value, least);
        }
        value
    }

    /// Writes an integer: its low bits, or with `.sat` the nearest number of the type.
    pub fn set_integer(&mut self, insn: &Instruction, value: Value, signed: bool) -> Lifted {
        let to = self.destination_type(insn, 0)?;
        let value = self.integer_to(value, signed, to, insn.saturate)?;
        self.set(insn, 0, value);
        Ok(())
    }

    /// Returns an integer as a destination's type.
    pub fn integer_to(
        &mut self,
        value: Value,
        signed: bool,
        to: Ty,
        saturate: bool,
    ) -> Result<Value, Unsupported> {
        let from = self.b.ty(value).ty;
        if to == Ty::Bf {
            let value = self.odd_integer(value, signed);
            let value = self.to_float(value, Type::F32, saturate);
            return Ok(brain::to_bf16(self, self.mode.round(), NAN_BF16, value));
        }
        if is_float(to) {
            let value = self.b.int_to_float(float_type(to), signed, self.mode.round(), value);
            return Ok(self.to_float(value, float_type(to), saturate));
        }
        if to == Ty::Bool {
            return Err(Unsupported);
        }
        let ty = int_type(to.size());
        if !saturate {
            return Ok(self.resize(value, ty, signed));
        }
        let value = if from.bits() < 32 { self.resize(value, Type::I32, signed) } else { value };
        let value = if ty.bits() > self.b.ty(value).ty.bits() {
            self.resize(value, ty, signed)
        } else {
            value
        };
        let value = self.clamped(value, signed, to);
        Ok(self.resize(value, ty, signed))
    }

    /// Returns a source as a destination's type, as `mov` does.
    pub fn converted(
        &mut self,
        source: Source,
        to: Ty,
        saturate: bool,
    ) -> Result<Value, Unsupported> {
        if source.ty == Ty::Bool {
            return Err(Unsupported);
        }
        if source.ty == to && source.modifier == Modifier::None && !(saturate && is_float(to)) {
            return Ok(source.value);
        }
        if !is_float(source.ty) {
            let domain = Domain::of(&[source.range()]);
            // The low bits are right in any type.
            let ty = if saturate || is_float(to) {
                domain.ty()
            } else if to.size() == 8 {
                Type::I64
            } else {
                Type::I32
            };
            let value = self.integer(source, ty);
            return self.integer_to(value, domain.is_signed(), to, saturate);
        }
        let own = if source.ty == Ty::Bf { Type::F32 } else { float_type(source.ty) };
        if source.ty == to && source.ty == Ty::Bf && !saturate {
            // The modifier changes the sign bit of the bits.
            let short = Source { ty: Ty::Hf, ..source };
            let value = self.float(short, Type::F16)?;
            return Ok(self.b.bitcast(Type::I16, value));
        }
        let value = self.float(source, own)?;
        self.float_to(value, to, saturate)
    }

    /// Returns an `f64` as an `f32` that can be rounded to a shorter float as if rounded once.
    ///
    /// It is truncated, and made odd if bits were lost.
    fn odd(&mut self, value: Value) -> Value {
        use warploom_ir::FloatCc;
        let cut = FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE };
        let short = self.b.fconvert(Type::F32, cut, value);
        let back = self.b.fconvert(Type::F64, FloatAttrs::IEEE, short);
        let lost = self.b.fcmp(FloatCc::Ne, false, back, value);
        self.odd_where(lost, short)
    }

    fn odd_integer(&mut self, value: Value, signed: bool) -> Value {
        let short = self.b.int_to_float(Type::F32, signed, Round::Zero, value);
        let back = self.b.float_to_int(self.b.ty(value).ty, signed, Round::Zero, false, 0, short);
        let lost = self.b.icmp(IntCc::Ne, back, value);
        self.odd_where(lost, short)
    }

    fn odd_where(&mut self, lost: Value, short: Value) -> Value {
        let bits = self.b.bitcast(Type::I32, short);
        let one = self.word(1);
        let odd = self.b.or(bits, one);
        let bits = self.pick(lost, odd, bits);
        self.b.bitcast(Type::F32, bits)
    }
}

/// Returns the IR's type of a float; `f32` for formats that the IR lacks.
pub fn float_type(ty: Ty) -> Type {
    match ty {
        Ty::Hf => Type::F16,
        Ty::Df => Type::F64,
        _ => Type::F32,
    }
}
