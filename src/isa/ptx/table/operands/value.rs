//! Registers and constants.

use super::{Check, Checked};
use crate::module::{Literal, Operand, Register};
use crate::types::{Kind, Ty};

/// Whether constants are operands of a type.
fn takes_constants(ty: Ty) -> bool {
    match ty.kind() {
        Kind::Float => matches!(ty, Ty::F32 | Ty::F64),
        _ => !matches!(ty, Ty::U16x2 | Ty::S16x2),
    }
}

/// Whether a register of one type is an operand of another type. `wide` allows a wider register,
/// too.
pub(super) fn fits(register: Ty, ty: Ty, wide: bool) -> bool {
    if (register == Ty::Pred) != (ty == Ty::Pred) {
        return false;
    }
    let bits = |kind| matches!(kind, Kind::Bits);
    let (of_register, of_ty) = (register.kind(), ty.kind());
    if register.bits() != ty.bits() {
        // Packed and short float formats allow no wider register.
        let plain = !matches!(of_ty, Kind::Float) || matches!(ty, Ty::F16 | Ty::F32 | Ty::F64);
        let kinds = match of_ty {
            Kind::Bits => true,
            Kind::Float => bits(of_register),
            _ => !matches!(of_register, Kind::Float),
        };
        return wide && plain && kinds && register.bits() > ty.bits();
    }
    if bits(of_register) || bits(of_ty) {
        return true;
    }
    match (of_register, of_ty) {
        (Kind::Float, Kind::Float) => register == ty,
        (Kind::Float, _) | (_, Kind::Float) => false,
        _ => true,
    }
}

impl Check<'_> {
    pub fn register_type(&self, register: Register) -> Ty {
        self.body.registers.get(register.0 as usize).map_or(Ty::B32, |of| of.ty)
    }

    pub fn register(&self, register: Register, ty: Ty, wide: bool) -> Checked {
        let of = self.register_type(register);
        if fits(of, ty, wide) {
            return Ok(());
        }
        Err(format!("found a register of type .{}, expected .{}", of.name(), ty.name()))
    }

    /// Checks a register and nothing else.
    pub fn register_only(&self, operand: &Operand, ty: Ty, wide: bool) -> Checked {
        match *operand {
            Operand::Register(register) => self.register(register, ty, wide),
            Operand::Integer(_) | Operand::Float(_) => {
                Err(format!("found a constant, expected a register of type .{}", ty.name()))
            }
            _ => Err(format!("expected a register of type .{}", ty.name())),
        }
    }

    pub fn destination(&self, operand: &Operand, ty: Ty, wide: bool) -> Checked {
        self.register_only(operand, ty, wide)
    }

    /// Checks a register or a constant.
    pub fn source(&self, operand: &Operand, ty: Ty, wide: bool) -> Checked {
        match *operand {
            Operand::Integer(_) | Operand::Float(_) => self.constant(operand, ty),
            Operand::Special(_) => {
                Err("found a special register, which only mov and cvt take".into())
            }
            Operand::Symbol(..) => {
                Err("found the address of a name, which only mov, cvta and mapa take".into())
            }
            _ => self.register_only(operand, ty, wide),
        }
    }

    pub fn constant(&self, operand: &Operand, ty: Ty) -> Checked {
        if !takes_constants(ty) {
            return Err(format!("found a constant, expected a register of type .{}", ty.name()));
        }
        let fits = match (operand, ty.kind()) {
            (Operand::Integer(_), kind) => kind != Kind::Float,
            (Operand::Float(_), Kind::Float) => true,
            (Operand::Float(Literal::F32(_)), Kind::Bits) => ty.bits() == 32,
            (Operand::Float(Literal::F64(_)), Kind::Bits) => ty.bits() == 64,
            (Operand::Float(Literal::Decimal(_)), Kind::Bits) => ty.bits() == 64,
            _ => false,
        };
        match fits {
            true => Ok(()),
            false => Err(format!(
                "found a constant of another kind, expected one of type .{}",
                ty.name()
            )),
        }
    }

    pub fn immediate(&self, operand: &Operand, low: u64, high: u64) -> Checked {
        match *operand {
            Operand::Integer(value) if (low..=high).contains(&value) => Ok(()),
            Operand::Integer(value) if low == high => Err(format!("found {value}, expected {low}")),
            Operand::Integer(value) => Err(format!("found {value}, expected {low} to {high}")),
            _ => Err("expected a constant".into()),
        }
    }

    /// Checks a register of 32 bits, or a constant of 8 bits.
    pub fn byte(&self, operand: &Operand) -> Checked {
        match operand {
            Operand::Integer(_) => self.immediate(operand, 0, 255),
            _ => self.source(operand, Ty::U32, false),
        }
    }

    /// Checks a generic address as a value.
    pub fn either_width(&self, operand: &Operand) -> Checked {
        self.source(operand, Ty::B64, false).or_else(|_| self.source(operand, Ty::B32, false))
    }

    pub fn predicate_destination(&self, operand: &Operand) -> Checked {
        match *operand {
            Operand::Sink => Ok(()),
            Operand::Register(register) => self.register(register, Ty::Pred, false),
            _ => Err("expected a predicate register".into()),
        }
    }

    pub fn predicate_source(&self, operand: &Operand) -> Checked {
        match *operand {
            Operand::Register(register) | Operand::Not(register) => {
                self.register(register, Ty::Pred, false)
            }
            Operand::Integer(_) => Ok(()),
            _ => Err("expected a predicate".into()),
        }
    }

    pub fn barrier(&self, operand: &Operand) -> Checked {
        match operand {
            Operand::Integer(_) => self.immediate(operand, 0, 15),
            _ => self.source(operand, Ty::U32, false),
        }
    }

    pub fn threads(&self, operand: &Operand) -> Checked {
        match *operand {
            Operand::Integer(count) if count % 32 != 0 => {
                Err(format!("found {count} threads, expected a multiple of 32"))
            }
            _ => self.source(operand, Ty::U32, false),
        }
    }

    pub fn register_count(&self, operand: &Operand) -> Checked {
        match *operand {
            Operand::Integer(count) if (24..=256).contains(&count) && count % 8 == 0 => Ok(()),
            _ => Err("expected 24 to 256 registers in steps of 8".into()),
        }
    }
}
