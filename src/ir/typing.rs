//! The typing rule: [`op_types`] has an operation's demands on its operands and the types of its
//! results. Builder, verifier and parser all use this rule.

use std::fmt::Display;

use smallvec::SmallVec;

use super::function::Value;
use super::op::*;
use super::register::{Bank, BankId, CellKind, Part, Reg, Region};
use super::types::{Shape, Type, ValueType};

/// The number of constant banks in the runtime.
const CONST_BANKS: u8 = warploom_runtime::warp::CONST_BANKS as u8;
/// The most elements of one access.
pub const MAX_ELEMENTS: u8 = 16;

pub type Results = SmallVec<[ValueType; 4]>;

/// The reason why an operation is ill-typed. Messages say what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    #[error("v{} is not defined before it is used", .0.0)]
    Undefined(Value),
    #[error("operand `{operand}` must be {expected}, but v{} is {found}", .value.0)]
    Operand { operand: &'static str, expected: String, value: Value, found: ValueType },
    #[error("{what} must be {expected}, found {found}")]
    Attribute { what: &'static str, expected: &'static str, found: String },
    #[error("bank {} is not declared", .0.0)]
    NoBank(BankId),
    #[error("bank `{bank}` has {count} registers; {first}+{used} is past its end")]
    PastBank { bank: String, count: u32, first: u32, used: u32 },
    #[error("bank `{bank}` must hold {expected}")]
    BankKind { bank: String, expected: &'static str },
    #[error("an unmasked operation (uniform access or register) takes no guard and no nomask")]
    GuardOnUnmasked,
}

/// The inputs of the rule.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    /// The lanes of a warp.
    pub lanes: u8,
    pub banks: &'a [Bank],
    /// The types of the values defined so far.
    pub values: &'a [ValueType],
}

impl<'a> Env<'a> {
    fn ty(self, value: Value) -> Result<ValueType, TypeError> {
        self.values.get(value.0 as usize).copied().ok_or(TypeError::Undefined(value))
    }

    fn expect(
        self,
        operand: &'static str,
        value: Value,
        expected: impl Display,
        holds: impl Fn(ValueType) -> bool,
    ) -> Result<ValueType, TypeError> {
        let found = self.ty(value)?;
        if holds(found) {
            Ok(found)
        } else {
            Err(TypeError::Operand { operand, expected: expected.to_string(), value, found })
        }
    }

    fn int(self, operand: &'static str, value: Value) -> Result<ValueType, TypeError> {
        self.expect(operand, value, "an integer", |t| t.ty.is_int())
    }

    /// Requires an integer or a mask.
    fn bits(self, operand: &'static str, value: Value) -> Result<ValueType, TypeError> {
        self.expect(operand, value, "an integer or a mask", |t| t.ty.is_int() || t.ty == Type::Mask)
    }

    /// Requires a type whose value each lane can have separately.
    fn element(self, operand: &'static str, value: Value) -> Result<ValueType, TypeError> {
        self.expect(operand, value, "an integer or a float, not a mask", |t| t.ty != Type::Mask)
    }

    fn float(self, operand: &'static str, value: Value) -> Result<ValueType, TypeError> {
        self.expect(operand, value, "a float", |t| t.ty.is_float())
    }

    fn of(self, operand: &'static str, value: Value, ty: Type) -> Result<ValueType, TypeError> {
        self.expect(operand, value, format_args!("of type {}", ty.name()), |t| t.ty == ty)
    }

    /// Requires type `ty`, and a uniform value if `uniform` is set.
    fn of_shape(
        self,
        operand: &'static str,
        value: Value,
        ty: Type,
        uniform: bool,
    ) -> Result<ValueType, TypeError> {
        if uniform {
            self.exactly(operand, value, ValueType::uniform(ty))
        } else {
            self.of(operand, value, ty)
        }
    }

    fn exactly(
        self,
        operand: &'static str,
        value: Value,
        expected: ValueType,
    ) -> Result<ValueType, TypeError> {
        self.expect(operand, value, expected, |t| t == expected)
    }

    fn mask(self, operand: &'static str, value: Value) -> Result<ValueType, TypeError> {
        self.exactly(operand, value, ValueType::MASK)
    }

    fn guard(self, guard: Option<Value>, nomask: bool, masked: bool) -> Result<(), TypeError> {
        if !masked && (guard.is_some() || nomask) {
            return Err(TypeError::GuardOnUnmasked);
        }
        guard.map_or(Ok(()), |guard| self.mask("guard", guard).map(drop))
    }

    /// The bank of `count` registers from `first`, which must exist.
    fn cells(self, id: BankId, first: u32, count: u32) -> Result<&'a Bank, TypeError> {
        let bank = self.banks.get(id.0 as usize).ok_or(TypeError::NoBank(id))?;
        if u64::from(first) + u64::from(count) > u64::from(bank.count) {
            return Err(TypeError::PastBank {
                bank: bank.name.clone(),
                count: bank.count,
                first,
                used: count,
            });
        }
        Ok(bank)
    }

    /// The type of a part of a register that is no byte array.
    fn part(self, reg: Reg, part: Part) -> Result<ValueType, TypeError> {
        let bank = self.cells(reg.bank, reg.index, 1)?;
        let wrong = |expected| Err(TypeError::BankKind { bank: bank.name.clone(), expected });
        match (bank.kind, part) {
            (CellKind::Lane(ty), Part::Whole) => Ok(ValueType::varying(ty)),
            (CellKind::Uniform(ty), Part::Whole) => Ok(ValueType::uniform(ty)),
            (CellKind::Mask, Part::Whole) => Ok(ValueType::MASK),
            // The bits past the last lane must stay 0.
            (CellKind::Mask, _) if self.lanes == 64 => Ok(ValueType::uniform(Type::I32)),
            (CellKind::Mask, _) => wrong("masks of 64 lanes, to have halves"),
            (CellKind::Uniform(ty), _) if ty.bits() == 64 => Ok(ValueType::uniform(Type::I32)),
            (CellKind::Uniform(_) | CellKind::Lane(_), _) => {
                wrong("masks or 64-bit uniforms, to have halves")
            }
            (CellKind::Bytes(_), _) => wrong("cells, not byte arrays"),
        }
    }

    fn region(self, reg: Reg, region: Region) -> Result<(), TypeError> {
        let bank = self.cells(reg.bank, reg.index, 1)?;
        if !matches!(bank.kind, CellKind::Bytes(_)) {
            return Err(TypeError::BankKind { bank: bank.name.clone(), expected: "byte arrays" });
        }
        attribute("the region's width", "at least 1", region.width, region.width >= 1)
    }

    /// The type of the register that `rf.gather` and `rf.scatter` address, as a value.
    fn indexed(
        self,
        bank: BankId,
        first: u32,
        count: u32,
        index: Value,
    ) -> Result<ValueType, TypeError> {
        let bank = self.cells(bank, first, count)?;
        match bank.kind {
            CellKind::Lane(ty) => {
                self.of("index", index, Type::I32).map(|_| ValueType::varying(ty))
            }
            CellKind::Uniform(ty) => self.index_of_uniform(index).map(|_| ValueType::uniform(ty)),
            CellKind::Mask => self.index_of_uniform(index).map(|_| ValueType::MASK),
            CellKind::Bytes(_) => Err(TypeError::BankKind {
                bank: bank.name.clone(),
                expected: "cells, not byte arrays",
            }),
        }
    }

    fn index_of_uniform(self, index: Value) -> Result<ValueType, TypeError> {
        self.exactly("index", index, ValueType::uniform(Type::I32))
    }

    /// Requires two operands of one type; the result has their joined shape.
    fn pair(
        self,
        a: Value,
        b: Value,
        of: fn(Env<'a>, &'static str, Value) -> Result<ValueType, TypeError>,
    ) -> Result<ValueType, TypeError> {
        let a = of(self, "a", a)?;
        let b = self.of("b", b, a.ty)?;
        Ok(ValueType { ty: a.ty, shape: a.shape.join(b.shape) })
    }

    /// Checks an access, and returns whether it is scalar.
    fn access(self, access: &Access, kind: AccessKind) -> Result<bool, TypeError> {
        let Access { space, ty, count, align, address, offset: _, guard, nomask } = *access;
        let address_ty = match space {
            Space::Generic | Space::Global => Type::I64,
            Space::Shared | Space::Local | Space::Const(_) => Type::I32,
        };
        let scalar = self.of("address", address, address_ty)?.is_uniform();
        self.guard(guard, nomask, !(scalar && nomask))?;
        element_type("type of an element", ty)?;
        attribute("count", "1 to 16 elements", count, (1..=MAX_ELEMENTS).contains(&count))?;
        attribute("align", "a power of two", align, align.is_power_of_two())?;
        match space {
            Space::Const(bank) => {
                attribute("constant bank", "below 33", bank, bank < CONST_BANKS)?;
                attribute(
                    "space of a store or atomic",
                    "writable",
                    "const",
                    kind == AccessKind::Load,
                )?;
            }
            Space::Local => {
                attribute(
                    "element of local memory",
                    "at most 4 bytes",
                    ty.name(),
                    ty.bytes() <= 4,
                )?;
                attribute(
                    "space of an atomic",
                    "generic, global or shared",
                    "local",
                    kind != AccessKind::Atomic,
                )?;
                // Each lane has its own local memory: a scalar access to it has no meaning.
                attribute("address of a local access", "varying", "uniform", !scalar)?;
            }
            Space::Generic | Space::Global | Space::Shared => {}
        }
        if kind == AccessKind::Atomic {
            attribute("elements of an atomic", "1", count, count == 1)?;
            attribute("type of an atomic", "of at least 16 bits", ty.name(), ty.bits() >= 16)?;
            attribute(
                "align of an atomic",
                "at least the element's size",
                align,
                u32::from(align) >= ty.bytes(),
            )?;
        }
        Ok(scalar)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessKind {
    Load,
    Store,
    Atomic,
}

fn element_type(what: &'static str, ty: Type) -> Result<(), TypeError> {
    attribute(what, "an integer or a float", ty.name(), ty != Type::Mask)
}

fn attribute(
    what: &'static str,
    expected: &'static str,
    found: impl Display,
    holds: bool,
) -> Result<(), TypeError> {
    if holds {
        Ok(())
    } else {
        Err(TypeError::Attribute { what, expected, found: found.to_string() })
    }
}

/// The expectation of conditions, which [`is_condition`] checks.
pub(super) const CONDITION: &str = "a uniform integer or a mask";

/// Returns whether a value may be a condition, which holds if it is not 0.
pub(super) fn is_condition(ty: ValueType) -> bool {
    ty.is_uniform() && (ty.ty.is_int() || ty.ty == Type::Mask)
}

fn one(ty: ValueType) -> Results {
    smallvec::smallvec![ty]
}

/// Checks an operation, and returns the types of its results in order.
///
/// It does not check windows: `verify` does.
pub fn op_types(op: &Op, env: Env<'_>) -> Result<Results, TypeError> {
    Ok(match *op {
        Op::Const { ty, bits } => {
            let expected = if ty == Type::Mask { "lanes of the warp" } else { "within its type" };
            let holds = bits & !ty.bits_of_lanes(env.lanes) == 0;
            attribute("bits of a constant", expected, format_args!("{bits:#x}"), holds)?;
            one(ValueType::uniform(ty))
        }
        Op::Splat { a } => {
            env.element("a", a)?;
            let ty = env.expect("a", a, "uniform", ValueType::is_uniform)?.ty;
            one(ValueType::varying(ty))
        }
        Op::LaneId => one(ValueType::varying(Type::I32)),
        Op::Special(special) => one(special_type(special)?),
        Op::Unary { op: UnaryOp::FNeg | UnaryOp::FAbs, a } => one(env.float("a", a)?),
        Op::Unary { op: UnaryOp::Not, a } => one(env.bits("a", a)?),
        Op::Unary { a, .. } => one(env.int("a", a)?),
        Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b } => {
            one(env.pair(a, b, Env::bits)?)
        }
        Op::Binary { a, b, .. } => one(env.pair(a, b, Env::int)?),
        Op::AddCarry { a, b, carry } => {
            let mut sum = env.pair(a, b, Env::int)?;
            if let Some(carry) = carry {
                env.mask("carry", carry)?;
                sum.shape = Shape::Varying;
            }
            smallvec::smallvec![sum, ValueType::MASK]
        }
        Op::ICmp { a, b, .. } => env.pair(a, b, Env::int).map(|_| one(ValueType::MASK))?,
        Op::FCmp { a, b, .. } => env.pair(a, b, Env::float).map(|_| one(ValueType::MASK))?,
        Op::Select { mask, a, b } => {
            env.mask("mask", mask)?;
            one(ValueType::varying(env.pair(a, b, Env::element)?.ty))
        }
        Op::UniformSelect { cond, a, b } => {
            env.expect("cond", cond, CONDITION, is_condition)?;
            let a = env.expect("a", a, "uniform", ValueType::is_uniform)?;
            one(env.exactly("b", b, a)?)
        }
        Op::Convert { op, to, a } => {
            let from = env.ty(a)?;
            let expected = match op {
                ConvertOp::Trunc => "an integer narrower than the operand",
                ConvertOp::ZeroExtend | ConvertOp::SignExtend => {
                    "an integer wider than the operand"
                }
                ConvertOp::Bitcast => "as wide as the operand",
                ConvertOp::HighHalf => "i32, of an i64",
                ConvertOp::FromMask => "i64, of a mask",
                ConvertOp::ToMask => "mask, of a uniform i64",
            };
            let ints = to.is_int() && from.ty.is_int();
            let holds = match op {
                ConvertOp::Trunc => ints && to.bits() < from.ty.bits(),
                ConvertOp::ZeroExtend | ConvertOp::SignExtend => ints && to.bits() > from.ty.bits(),
                ConvertOp::Bitcast => {
                    to.bits() == from.ty.bits() && to != Type::Mask && from.ty != Type::Mask
                }
                ConvertOp::HighHalf => to == Type::I32 && from.ty == Type::I64,
                ConvertOp::FromMask => to == Type::I64 && from.ty == Type::Mask,
                ConvertOp::ToMask => to == Type::Mask && from == ValueType::uniform(Type::I64),
            };
            attribute("the type converted to", expected, to.name(), holds)?;
            one(ValueType { ty: to, ..from })
        }
        Op::Concat { lo, hi } => {
            let shape = env.of("lo", lo, Type::I32)?.shape.join(env.of("hi", hi, Type::I32)?.shape);
            one(ValueType { ty: Type::I64, shape })
        }
        Op::FUnary { a, .. } => one(env.float("a", a)?),
        Op::FBinary { a, b, .. } => one(env.pair(a, b, Env::float)?),
        Op::Fma { a, b, c, .. } => {
            let product = env.pair(a, b, Env::float)?;
            let shape = product.shape.join(env.of("c", c, product.ty)?.shape);
            one(ValueType { shape, ..product })
        }
        Op::FConvert { to, a, .. } => {
            let from = env.float("a", a)?;
            attribute(
                "the type converted to",
                "another float type",
                to.name(),
                to.is_float() && to != from.ty,
            )?;
            one(ValueType { ty: to, ..from })
        }
        Op::IntToFloat { to, a, .. } => {
            attribute("the type converted to", "a float", to.name(), to.is_float())?;
            one(ValueType { ty: to, ..env.int("a", a)? })
        }
        Op::FloatToInt { to, nan, a, .. } => {
            attribute("the type converted to", "an integer", to.name(), to.is_int())?;
            attribute(
                "bits of NaN",
                "within the result's type",
                format_args!("{nan:#x}"),
                nan & !to.bit_mask() == 0,
            )?;
            one(ValueType { ty: to, ..env.float("a", a)? })
        }
        Op::Shared { function, a } => one(env.of("a", a, function.ty())?),
        Op::LaneGather { a, index } => {
            env.of("index", index, Type::I32)?;
            one(env.expect("a", a, "varying", |t| !t.is_uniform())?)
        }
        Op::LaneRead { a, lane } => {
            env.exactly("lane", lane, ValueType::uniform(Type::I32))?;
            one(ValueType::uniform(env.expect("a", a, "varying", |t| !t.is_uniform())?.ty))
        }
        Op::LaneScatter { a, index, lanes } => {
            env.of("index", index, Type::I32)?;
            env.mask("lanes", lanes)?;
            one(env.expect("a", a, "varying", |t| !t.is_uniform())?)
        }
        Op::Unpack { format, a } | Op::Pack { format, a } => {
            let mut result = env.of("format", format, Type::I32)?;
            for a in a {
                result.shape = result.shape.join(env.of("a", a, Type::I32)?.shape);
            }
            smallvec::smallvec![result; 4]
        }
        Op::Product { product, ref args } => {
            attribute("the product", "one that there is", product, product.is_valid())?;
            let count = product.operands().count();
            attribute("operands", "as many as registers", args.len(), args.len() == count)?;
            for (&arg, ty) in args.iter().zip(product.operands()) {
                env.of("register", arg, ty)?;
            }
            let [.., results] = product.registers();
            smallvec::smallvec![ValueType::varying(product.d.register()); results.into()]
        }
        Op::RfRead { reg, part } => one(env.part(reg, part)?),
        Op::RfWrite { reg, part, value, guard, nomask } => {
            let cell = env.part(reg, part)?;
            env.of_shape("value", value, cell.ty, cell.is_uniform())?;
            env.guard(guard, nomask, !cell.is_uniform())?;
            Results::new()
        }
        Op::RfGather { bank, first, count, index } => one(env.indexed(bank, first, count, index)?),
        Op::RfScatter { bank, first, count, index, value, guard, nomask } => {
            let cell = env.indexed(bank, first, count, index)?;
            env.of_shape("value", value, cell.ty, cell.is_uniform())?;
            env.guard(guard, nomask, !cell.is_uniform())?;
            Results::new()
        }
        Op::RegionRead { reg, index, region, ty, uniform } => {
            env.region(reg, region)?;
            element_type("type of an element", ty)?;
            if let Some(index) = index {
                env.of_shape("index", index, Type::I32, uniform)?;
            }
            one(if uniform { ValueType::uniform(ty) } else { ValueType::varying(ty) })
        }
        Op::RegionWrite { reg, index, region, value, guard, nomask } => {
            env.region(reg, region)?;
            if let Some(index) = index {
                env.of("index", index, Type::I32)?;
            }
            env.element("value", value)?;
            env.guard(guard, nomask, true)?;
            Results::new()
        }
        Op::Load { access, extend, sparse } => {
            let scalar = env.access(&access, AccessKind::Load)?;
            let narrow = matches!(access.ty, Type::I8 | Type::I16);
            attribute(
                "the type extended",
                "i8 or i16",
                access.ty.name(),
                extend == Extend::None || narrow,
            )?;
            let ty = if extend == Extend::None { access.ty } else { Type::I32 };
            let shape = if scalar { Shape::Uniform } else { Shape::Varying };
            let mut results: Results = (0..access.count).map(|_| ValueType { ty, shape }).collect();
            results.extend(sparse.then_some(ValueType::MASK));
            results
        }
        Op::Store { access, ref values, sparse } => {
            let scalar = env.access(&access, AccessKind::Store)?;
            attribute(
                "values of a store",
                "one for each element",
                values.len(),
                values.len() == usize::from(access.count),
            )?;
            for &value in values {
                let ty = access.ty;
                let expected = format_args!("{} or a wider integer of at most 32 bits", ty.name());
                env.expect("values", value, expected, |t| {
                    t.ty == ty
                        || (ty.is_int() && t.ty.is_int() && (ty.bits()..=32).contains(&t.ty.bits()))
                })?;
                env.expect("values", value, "uniform, as the address is", |t| {
                    !scalar || t.is_uniform()
                })?;
            }
            sparse.then_some(ValueType::MASK).into_iter().collect()
        }
        Op::Atomic { access, op, value, compare, sparse } => {
            let scalar = env.access(&access, AccessKind::Atomic)?;
            attribute(
                "type of the atomic",
                "of its operation's kind",
                access.ty.name(),
                op.takes(access.ty),
            )?;
            env.of_shape("value", value, access.ty, scalar)?;
            attribute(
                "`compare`",
                "there for operations of two operands only",
                compare.is_some(),
                compare.is_some() == op.has_compare(),
            )?;
            if let Some(compare) = compare {
                env.of_shape("compare", compare, access.ty, scalar)?;
            }
            let shape = if scalar { Shape::Uniform } else { Shape::Varying };
            let mut results = one(ValueType { ty: access.ty, shape });
            results.extend(sparse.then_some(ValueType::MASK));
            results
        }
        Op::Wide { op, ref args, guard, nomask } => {
            attribute(
                "operands",
                "as many as the operation has",
                args.len(),
                args.len() == op.operands(),
            )?;
            attribute("the reduction", "of its type's kind", op.is_valid(), op.is_valid())?;
            for &arg in args {
                env.of("args", arg, Type::I64)?;
            }
            env.guard(guard, nomask, true)?;
            smallvec::smallvec![ValueType::varying(Type::I64); op.results()]
        }
        Op::Sample { image, sampler, args, guard, nomask, sparse, .. } => {
            env.of("image", image, Type::I64)?;
            env.of("sampler", sampler, Type::I64)?;
            for arg in args {
                env.of("args", arg, Type::I32)?;
            }
            env.guard(guard, nomask, true)?;
            let mut results: Results = smallvec::smallvec![ValueType::varying(Type::I32); 4];
            results.extend(sparse.then_some(ValueType::MASK));
            results
        }
        Op::Observe { ref args, guard, nomask, .. } => {
            attribute("operands", "one or more", args.len(), !args.is_empty())?;
            env.guard(guard, nomask, true)?;
            Results::new()
        }
        Op::Raise { guard, nomask, .. } => {
            env.guard(guard, nomask, true)?;
            Results::new()
        }
        Op::Fence => Results::new(),
    })
}

fn special_type(special: Special) -> Result<ValueType, TypeError> {
    if let Special::Tid(axis) | Special::Ctaid(axis) | Special::Ntid(axis) | Special::Nctaid(axis) =
        special
    {
        attribute("axis", "0, 1 or 2", axis, axis <= 2)?;
    }
    Ok(match special {
        Special::Tid(_) => ValueType::varying(Type::I32),
        Special::LaunchMask | Special::BarrierReleased => ValueType::MASK,
        Special::Clock => ValueType::uniform(Type::I64),
        Special::Ctaid(_)
        | Special::Ntid(_)
        | Special::Nctaid(_)
        | Special::WarpId
        | Special::WarpSlot
        | Special::BarrierResult
        | Special::SharedBytes => ValueType::uniform(Type::I32),
    })
}
