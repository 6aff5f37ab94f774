//! Where parameters and variables lie in memory.
//!
//! Source: facts, `ptx.md` 4.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::module::{Address, AddressOf, Base, Formal, FunctionId, Linkage, Module, Operand, Variable, VariableId};
use super::types::StateSpace;

/// Bytes from the start of the parameter block, and size, of each parameter of a kernel; and where they end.
pub fn parameters(module: &Module, kernel: FunctionId) -> (Vec<(VariableId, u64)>, u64) {
    let mut end = 0_u64;
    let mut places = Vec::new();
    for formal in &module.function(kernel).inputs {
        let &Formal::Param(id) = formal else { continue };
        let variable = module.variable(id);
        end = end.next_multiple_of(u64::from(variable.align.max(1)));
        places.push((id, end));
        end = end.saturating_add(variable.size);
    }
    (places, end)
}

/// Variables of one space that belong to a module, one after the other, each aligned as it asks; and where they end.
pub fn variables(module: &Module, space: StateSpace) -> (Vec<(VariableId, u64)>, u64) {
    let mut end = 0_u64;
    let mut places = Vec::new();
    for (variable, id) in module.variables.iter().zip(0..) {
        if variable.space == space && variable.linkage != Linkage::Extern {
            end = end.next_multiple_of(u64::from(variable.align.max(1)));
            places.push((VariableId(id), end));
            end = end.saturating_add(variable.size);
        }
    }
    (places, end)
}

/// What functions name.
pub struct References {
    variables: Vec<BTreeSet<VariableId>>,
    functions: Vec<BTreeSet<FunctionId>>,
}

impl References {
    pub fn new(module: &Module) -> References {
        let count = module.functions.len();
        let mut references =
            References { variables: vec![BTreeSet::new(); count], functions: vec![BTreeSet::new(); count] };
        for (function, number) in module.functions.iter().zip(0..) {
            for statement in function.body.iter().flat_map(|body| &body.statements) {
                statement.operands.iter().for_each(|operand| references.operand(number, operand));
            }
        }
        references
    }

    fn operand(&mut self, function: usize, operand: &Operand) {
        match operand {
            Operand::Symbol(of, _) | Operand::Address(Address { base: Base::Symbol(of), .. }) => match *of {
                AddressOf::Variable(id) => {
                    self.variables[function].insert(id);
                }
                AddressOf::Function(id) => {
                    self.functions[function].insert(id);
                }
            },
            Operand::Vector(all) | Operand::Bracket(all) | Operand::List(all) => {
                all.iter().for_each(|operand| self.operand(function, operand));
            }
            _ => {}
        }
    }

    /// Variables that a kernel and what it calls name, of those that are asked for.
    pub fn named(
        &self,
        module: &Module,
        kernel: FunctionId,
        wanted: impl Fn(&Variable) -> bool,
    ) -> BTreeSet<VariableId> {
        let mut seen = BTreeSet::from([kernel]);
        let mut work = vec![kernel];
        let mut named = BTreeSet::new();
        while let Some(function) = work.pop() {
            named.extend(self.variables[function.0 as usize].iter().filter(|id| wanted(module.variable(**id))));
            let alias = module.function(function).alias;
            for &callee in self.functions[function.0 as usize].iter().chain(&alias) {
                if seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        named
    }

    /// Shared variables that a kernel and what it calls name, at their offsets. What dynamic shared memory begins with is the
    /// second number: names of it are there.
    pub fn shared(&self, module: &Module, kernel: FunctionId) -> (FxHashMap<VariableId, u64>, u64) {
        let named = self.named(module, kernel, |variable| variable.space == StateSpace::Shared);
        let is_dynamic = |id: &VariableId| {
            let variable = module.variable(*id);
            variable.linkage == Linkage::Extern || variable.size == 0
        };
        let (mut places, mut end) = (FxHashMap::default(), 0_u64);
        for &id in named.iter().filter(|id| !is_dynamic(id)) {
            let variable = module.variable(id);
            end = end.next_multiple_of(u64::from(variable.align.max(1)));
            places.insert(id, end);
            end = end.saturating_add(variable.size);
        }
        let dynamic: Vec<VariableId> = named.into_iter().filter(is_dynamic).collect();
        let align = dynamic.iter().map(|&id| u64::from(module.variable(id).align)).max().unwrap_or(1);
        end = end.next_multiple_of(align.max(1));
        places.extend(dynamic.into_iter().map(|id| (id, end)));
        (places, end)
    }
}
