//! Registers of a module, before PTX 3.0. Each lane has one copy for all functions, in local
//! variables. A statement that names one is preceded by a load, and followed by a store if the
//! register may be its result.

use super::names::{Family, Named};
use super::reader::{Reader, Result};
use crate::module::{
    Address, AddressOf, Base, Linkage, Operand, Register, Statement, Variable, VariableId,
};
use crate::types::{StateSpace, Ty};

/// A register of the module, in the statement that is being read.
#[derive(Clone, Copy)]
pub(super) struct Used {
    variable: VariableId,
    /// The register of the body that holds it during the statement; the first, if it has elements.
    first: Register,
    elements: u8,
}

impl Reader<'_> {
    /// Reads registers of the module, from behind `.reg` up to the `;`.
    pub fn module_registers(&mut self) -> Result<()> {
        let at = self.token.at;
        let shape = self.shape(Linkage::Local, StateSpace::Reg)?;
        if !shape.ty.is_register() || shape.managed || shape.ty == Ty::Pred {
            return self.fail(
                at,
                format!("registers of a module of `.{}` are not supported", shape.ty.name()),
            );
        }
        loop {
            let (name, at) = self.new_name()?;
            if self.names.declared_here(name).is_some() {
                return self.fail(at, format!("`{name}` is declared twice"));
            }
            let first = VariableId(self.module.variables.len() as u32);
            let count = self.count()?;
            self.spend_names(at, count.unwrap_or(1))?;
            for number in 0..count.unwrap_or(1) {
                let name =
                    if count.is_some() { format!("{name}{number}") } else { name.to_string() };
                self.module.variables.push(Variable {
                    name,
                    space: StateSpace::Local,
                    linkage: Linkage::Local,
                    ty: shape.ty,
                    size: u64::from(shape.ty.bytes()) * u64::from(shape.elements),
                    align: shape.alignment(),
                    managed: false,
                    initial: None,
                    owner: None,
                    at,
                });
            }
            match count {
                None => self.names.declare(name, Named::ModuleRegister(first, shape.elements)),
                Some(count) => {
                    let family = Family::ModuleRegisters(first, shape.elements);
                    if !self.names.declare_family(name, family, count) {
                        return self.fail(at, format!("registers `{name}<N>` are declared twice"));
                    }
                }
            }
            if !self.take(b',') {
                return self.semicolon();
            }
        }
    }

    /// Returns the register that stands for a module's register in the current statement. Its
    /// further elements follow it.
    pub fn module_register(
        &mut self,
        variable: VariableId,
        elements: u8,
        at: u32,
    ) -> Result<Register> {
        if let Some(used) = self.code.module_registers.iter().find(|used| used.variable == variable)
        {
            return Ok(used.first);
        }
        let Variable { name, ty, .. } = self.module.variable(variable);
        let (name, ty) = (name.clone(), *ty);
        let first = self.code.register(&name, ty, elements);
        let used = Used { variable, first, elements };
        self.code.module_registers.push(used);
        self.move_elements("ld", used, at)?;
        Ok(first)
    }

    /// Stores the registers of the module that the last statement may have written.
    pub fn store_module_registers(&mut self, at: u32) -> Result<()> {
        let used = std::mem::take(&mut self.code.module_registers);
        let Some(last) = self.code.body.statements.last() else { return Ok(()) };
        if !self.module.form(last.form).first_is_destination() {
            return Ok(());
        }
        let Some(result) = last.operands.first().cloned() else { return Ok(()) };
        for used in used {
            let elements = used.first.0..used.first.0 + u32::from(used.elements);
            if names(&result, &|register| elements.contains(&register.0)) {
                self.move_elements("st", used, at)?;
            }
        }
        Ok(())
    }

    /// Loads or stores all elements.
    fn move_elements(&mut self, opcode: &str, used: Used, at: u32) -> Result<()> {
        let ty = self.module.variable(used.variable).ty;
        let bits = format!("b{}", ty.bits());
        let form = self.form_of(&[opcode, "local", &bits], at)?;
        for n in 0..u32::from(used.elements) {
            let base = Base::Symbol(AddressOf::Variable(used.variable));
            let address =
                Operand::Address(Address { base, offset: i64::from(n * ty.bytes()), index: None });
            let mut operands = [Operand::Register(Register(used.first.0 + n)), address];
            if opcode == "st" {
                operands.reverse();
            }
            let operands = operands.into_iter().collect();
            self.code.body.statements.push(Statement { at, guard: None, form, operands });
        }
        Ok(())
    }
}

/// Whether a result names a register.
fn names(result: &Operand, is: &dyn Fn(Register) -> bool) -> bool {
    match result {
        Operand::Register(register) => is(*register),
        Operand::Vector(all) | Operand::List(all) => all.iter().any(|one| names(one, is)),
        Operand::Pair(pair) => pair.iter().any(|one| names(one, is)),
        Operand::Selected { register, .. } => names(register, is),
        _ => false,
    }
}
