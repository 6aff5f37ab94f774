//! Renumbers the items of a module and moves their places, as the linked module has them.

use rustc_hash::FxHashMap;

use crate::module::{
    Address, AddressOf, Base, Body, FormId, Formal, Function, FunctionId, Initial, Operand,
    SourceLine, Variable, VariableId,
};

/// The numbers of one module's items in the linked module.
pub(super) struct Numbers<'a> {
    pub functions: &'a [FunctionId],
    pub variables: &'a [VariableId],
    pub forms: &'a [FormId],
    /// Where the module's text begins.
    pub start: u32,
    /// Numbers of `.file`.
    pub files: &'a FxHashMap<u32, u32>,
}

impl Numbers<'_> {
    fn function_id(&self, id: FunctionId) -> FunctionId {
        self.functions[id.0 as usize]
    }

    fn variable_id(&self, id: VariableId) -> VariableId {
        self.variables[id.0 as usize]
    }

    fn address_of(&self, of: AddressOf) -> AddressOf {
        match of {
            AddressOf::Variable(id) => AddressOf::Variable(self.variable_id(id)),
            AddressOf::Function(id) => AddressOf::Function(self.function_id(id)),
        }
    }

    pub fn variable(&self, variable: &Variable) -> Variable {
        let mut new = variable.clone();
        new.at += self.start;
        new.owner = variable.owner.map(|id| self.function_id(id));
        if let Some(Initial { addresses, .. }) = &mut new.initial {
            addresses.iter_mut().for_each(|address| address.of = self.address_of(address.of));
        }
        new
    }

    pub fn function(&self, function: &Function) -> Function {
        let mut new = function.clone();
        new.at += self.start;
        new.alias = function.alias.map(|id| self.function_id(id));
        for formal in new.inputs.iter_mut().chain(&mut new.outputs) {
            if let Formal::Param(id) = formal {
                *id = self.variable_id(*id);
            }
        }
        if let Some(body) = &mut new.body {
            self.body(body);
        }
        new
    }

    fn body(&self, body: &mut Body) {
        body.end += self.start;
        for target in body.call_targets.iter_mut().flatten() {
            *target = self.function_id(*target);
        }
        for (_, SourceLine { file, .. }) in &mut body.lines {
            // Files have numbers from 1 on: 0 is none.
            *file = self.files.get(file).copied().unwrap_or(0);
        }
        for statement in &mut body.statements {
            statement.at += self.start;
            statement.form = self.forms[statement.form.0 as usize];
            statement.operands.iter_mut().for_each(|operand| self.operand(operand));
        }
    }

    fn operand(&self, operand: &mut Operand) {
        match operand {
            Operand::Symbol(of, _) | Operand::Address(Address { base: Base::Symbol(of), .. }) => {
                *of = self.address_of(*of);
            }
            Operand::Vector(all) | Operand::Bracket(all) | Operand::List(all) => {
                all.iter_mut().for_each(|operand| self.operand(operand));
            }
            Operand::Pair(pair) => pair.iter_mut().for_each(|operand| self.operand(operand)),
            Operand::Selected { register, .. } => self.operand(register),
            Operand::Address(_)
            | Operand::Register(_)
            | Operand::Not(_)
            | Operand::Integer(_)
            | Operand::Float(_)
            | Operand::Special(_)
            | Operand::Sink
            | Operand::Label(_)
            | Operand::BranchTargets(_)
            | Operand::CallTargets(_)
            | Operand::Prototype(_)
            | Operand::Negated(_) => {}
        }
    }
}
