//! Where parameters and variables lie in memory.
//!
//! Source: facts, `ptx.md` 4.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::module::{AddressOf, Formal, FunctionId, Linkage, Module, Operand, Variable, VariableId};
use super::text::operand_symbols;
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
    functions: Vec<Named>,
    /// Functions whose address is taken: what an indirect call may mean.
    taken: BTreeSet<FunctionId>,
}

/// What a function names.
#[derive(Clone, Default)]
struct Named {
    variables: BTreeSet<VariableId>,
    functions: BTreeSet<FunctionId>,
    /// It calls through a pointer.
    is_indirect: bool,
}

impl References {
    pub fn new(module: &Module) -> References {
        let mut references =
            References { functions: vec![Named::default(); module.functions.len()], taken: BTreeSet::new() };
        for (function, named) in module.functions.iter().zip(&mut references.functions) {
            let Some(body) = &function.body else { continue };
            named.functions.extend(body.call_targets.iter().flatten());
            for statement in &body.statements {
                let is_call = module.form(statement.form).row.opcode.split('.').next() == Some("call");
                let callee = statement.operands.get(1).filter(|_| is_call);
                let is_direct = matches!(callee, Some(Operand::Symbol(AddressOf::Function(_), 0)));
                named.is_indirect |= is_call && !is_direct;
                let mut name = |of| match of {
                    AddressOf::Variable(id) => {
                        named.variables.insert(id);
                    }
                    AddressOf::Function(id) => {
                        named.functions.insert(id);
                        if !is_direct {
                            references.taken.insert(id);
                        }
                    }
                };
                statement.operands.iter().for_each(|operand| operand_symbols(operand, &mut name));
            }
        }
        for address in module
            .variables
            .iter()
            .filter_map(|variable| variable.initial.as_ref())
            .flat_map(|initial| &initial.addresses)
        {
            if let AddressOf::Function(id) = address.of {
                references.taken.insert(id);
            }
        }
        references
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
            let own = &self.functions[function.0 as usize];
            named.extend(own.variables.iter().filter(|id| wanted(module.variable(**id))));
            let alias = module.function(function).alias;
            let pointed = self.taken.iter().filter(|_| own.is_indirect);
            for &callee in own.functions.iter().chain(&alias).chain(pointed) {
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
