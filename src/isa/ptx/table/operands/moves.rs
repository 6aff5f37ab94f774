//! `mov`. Facts, `ptx.md` 2.6 and 3.

use super::{AllChecked, Check, Checked, at};
use crate::module::{Address, AddressOf, Base, Operand, SpecialRegister};
use crate::types::{Kind, Ty};

impl Check<'_> {
    pub fn mov(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 2, 2)?;
        let ty = self.form.ty(0);
        let (to, from) = (&operands[0], &operands[1]);
        if self.form.vector() > 1 {
            self.elements(to, ty, self.form.vector(), true).map_err(at(0))?;
            return self.elements(from, ty, self.form.vector(), false).map_err(at(1));
        }
        match to {
            Operand::Vector(all) => {
                if all.iter().all(|element| *element == Operand::Sink) {
                    return Err((0, "found a vector of sinks alone".into()));
                }
                self.parts(all, ty, true).map_err(at(0))?;
            }
            _ if ty == Ty::Pred => self.predicate_destination(to).map_err(at(0))?,
            _ => self.destination(to, ty, false).map_err(at(0))?,
        }
        match from {
            Operand::Vector(_) if matches!(to, Operand::Vector(_)) => {
                Err((1, "expected a register or a constant".into()))
            }
            Operand::Vector(all) => self.parts(all, ty, false).map_err(at(1)),
            _ => self.moved(from, ty).map_err(at(1)),
        }
    }

    /// Checks the elements of a register of bits.
    fn parts(&self, all: &[Operand], ty: Ty, written: bool) -> Checked {
        let part = match (ty, all.len()) {
            (Ty::B16, 2) => Ty::B8,
            (Ty::B32, 2) => Ty::B16,
            (Ty::B32, 4) => Ty::B8,
            (Ty::B64, 2) => Ty::B32,
            (Ty::B64, 4) => Ty::B16,
            (Ty::B128, 2) => Ty::B64,
            (Ty::B128, 4) => Ty::B32,
            _ => return Err(format!("found {} elements, which make no .{}", all.len(), ty.name())),
        };
        all.iter().try_for_each(|element| match written {
            true if *element == Operand::Sink => Ok(()),
            true => self.destination(element, part, false),
            false => self.source(element, part, false),
        })
    }

    fn elements(&self, operand: &Operand, ty: Ty, count: usize, written: bool) -> Checked {
        let Operand::Vector(all) = operand else {
            return Err(format!("expected {count} elements"));
        };
        if all.len() != count {
            return Err(format!("found {} elements, expected {count}", all.len()));
        }
        all.iter().try_for_each(|element| match written {
            true => self.destination(element, ty, false),
            false => self.moved(element, ty),
        })
    }

    /// Checks a source of `mov`, which may be more than a register or a constant.
    fn moved(&self, operand: &Operand, ty: Ty) -> Checked {
        match *operand {
            _ if ty == Ty::Pred => match *operand {
                Operand::Special(SpecialRegister::IsExplicitCluster) => Ok(()),
                _ => self.predicate_source(operand),
            },
            Operand::Special(special) => special_fits(special, ty),
            Operand::Symbol(of, _)
            | Operand::Address(Address { base: Base::Symbol(of), index: None, .. }) => {
                self.address_of(of, ty)
            }
            _ => self.source(operand, ty, false),
        }
    }

    fn address_of(&self, of: AddressOf, ty: Ty) -> Checked {
        match of {
            AddressOf::Function(id) => {
                let kernel = self.module.function(id).kernel;
                let (target, version) = (self.module.target, self.module.version);
                if kernel && (target.sm < 35 || version < (3, 1)) {
                    return Err("the address of a kernel needs sm_35 and PTX 3.1".into());
                }
                if version < (2, 1) {
                    return Err("the address of a function needs PTX 2.1".into());
                }
                Ok(())
            }
            AddressOf::Variable(_) if ty.kind() == Kind::Float => {
                Err(format!("found an address, expected a value of type .{}", ty.name()))
            }
            AddressOf::Variable(id) => {
                let variable = self.module.variable(id);
                let opaque = matches!(variable.ty, Ty::Texref | Ty::Samplerref | Ty::Surfref);
                match (opaque, ty) {
                    (true, Ty::U64) if self.module.version >= (3, 1) => Ok(()),
                    (true, _) => Err(format!(
                        "found `{}`, whose handle is .u64 and needs PTX 3.1",
                        variable.name
                    )),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// Checks that a special register is a value of a type.
pub(super) fn special_fits(special: SpecialRegister, ty: Ty) -> Checked {
    use SpecialRegister::*;
    let bits: &[u32] = match special {
        Tid(_) | Ntid(_) | Ctaid(_) | Nctaid(_) => &[32, 16],
        GridId => &[64, 32, 16],
        Clock64 | GlobalTimer | Pm64(_) | CurrentGraphExec => &[64],
        IsExplicitCluster => &[1],
        _ => &[32],
    };
    match bits.contains(&ty.bits()) && ty.kind() != Kind::Float {
        true => Ok(()),
        false => Err(format!(
            "found a special register of {} bits, expected a value of type .{}",
            bits[0],
            ty.name()
        )),
    }
}
