//! Checks calls: arguments against the parameters of the function. Facts, `ptx.md` 4.

use super::reader::{Reader, Result};
use crate::module::{AddressOf, Formal, FunctionId, Operand, Operands};
use crate::types::{StateSpace, Ty};

/// A parameter or return value that a call must match.
#[derive(Clone, Copy)]
struct Expected {
    /// Size in bytes; 0 for an array of any length.
    size: u64,
    /// The alignment of an array.
    align: Option<u32>,
    pred: bool,
}

impl Reader<'_> {
    /// Checks the operands of a call, as [`Reader::call`] has read them.
    pub fn check_call(&mut self, operands: &Operands) -> Result<()> {
        let [Operand::List(returns), callee, Operand::List(arguments), ..] = &operands[..] else {
            return Ok(());
        };
        let [returns_at, callee_at, arguments_at] = [0, 1, 2].map(|n| self.code.places[n]);
        let known = match (callee, operands.get(3)) {
            (&Operand::Symbol(AddressOf::Function(id), _), _) => {
                if self.module.function(id).kernel {
                    return self.fail(callee_at, "found a kernel, expected a device function");
                }
                Some(self.expected_by(id))
            }
            (_, Some(&Operand::Prototype(n))) => {
                let prototype = &self.code.body.prototypes[n as usize];
                let expected = |all: &[(u64, u32)]| {
                    let expected = |&(size, align): &(u64, u32)| Expected {
                        size,
                        align: Some(align),
                        pred: false,
                    };
                    all.iter().map(expected).collect()
                };
                Some([expected(&prototype.outputs), expected(&prototype.inputs)])
            }
            (_, Some(&Operand::CallTargets(n))) => {
                let first = self.code.body.call_targets[n as usize].first().copied();
                first.map(|id| self.expected_by(id))
            }
            _ => None,
        };
        let Some([outputs, inputs]): Option<[Vec<Expected>; 2]> = known else { return Ok(()) };
        self.check_passed("return value", returns_at, returns, &outputs, true)?;
        self.check_passed("argument", arguments_at, arguments, &inputs, false)
    }

    fn expected_by(&self, id: FunctionId) -> [Vec<Expected>; 2] {
        let function = self.module.function(id);
        let expected = |formal: &Formal| match *formal {
            Formal::Reg(_, ty) => {
                Expected { size: ty.bytes().into(), align: None, pred: ty == Ty::Pred }
            }
            Formal::Param(id) => {
                let variable = self.module.variable(id);
                let is_array = variable.size > u64::from(variable.ty.bytes());
                Expected {
                    size: variable.size,
                    align: is_array.then_some(variable.align),
                    pred: false,
                }
            }
        };
        [&function.outputs, &function.inputs].map(|formals| formals.iter().map(expected).collect())
    }

    fn check_passed(
        &mut self,
        what: &str,
        at: u32,
        passed: &[Operand],
        expected: &[Expected],
        returned: bool,
    ) -> Result<()> {
        if passed.len() != expected.len() {
            let message =
                format!("found {} {what}s of a call, expected {}", passed.len(), expected.len());
            return self.fail(at, message);
        }
        for ((operand, expected), n) in passed.iter().zip(expected).zip(1..) {
            if let Err(found) = self.passes(operand, *expected, returned) {
                let size = match (expected.pred, expected.size) {
                    (true, _) => "a predicate".to_string(),
                    (_, 0) => "a parameter".to_string(),
                    (_, size) => format!("{size} bytes"),
                };
                return self
                    .fail(at, format!("found {found} as {what} {n} of a call, expected {size}"));
            }
        }
        Ok(())
    }

    /// Returns the error of an operand that is passed or takes a return value.
    fn passes(
        &self,
        operand: &Operand,
        expected: Expected,
        returned: bool,
    ) -> std::result::Result<(), String> {
        match *operand {
            Operand::Sink if returned => Ok(()),
            Operand::Register(register) => {
                let ty = self.code.body.registers[register.0 as usize].ty;
                let fits =
                    u64::from(ty.bytes()) == expected.size && (ty == Ty::Pred) == expected.pred;
                if fits { Ok(()) } else { Err(format!("a register of `.{}`", ty.name())) }
            }
            Operand::Integer(_) | Operand::Float(_)
                if !returned && (1..=8).contains(&expected.size) =>
            {
                Ok(())
            }
            Operand::Symbol(AddressOf::Variable(id), 0) => {
                let variable = self.module.variable(id);
                if variable.space != StateSpace::Param {
                    return Err(format!("`{}`, which is no `.param`", variable.name));
                }
                if expected.size != 0 && variable.size != expected.size {
                    return Err(format!("{} bytes of `{}`", variable.size, variable.name));
                }
                let is_array = variable.size != u64::from(variable.ty.bytes());
                match expected.align.filter(|&align| is_array && align != variable.align) {
                    Some(align) => Err(format!(
                        "`{}` of alignment {}, not {align},",
                        variable.name, variable.align
                    )),
                    None => Ok(()),
                }
            }
            _ => Err("another operand".to_string()),
        }
    }
}
