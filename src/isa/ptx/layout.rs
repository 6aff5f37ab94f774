//! Addresses of parameters and variables in memory.
//!
//! Source: facts, `ptx.md` 4.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::module::{
    AddressOf, Formal, FunctionId, Linkage, Module, Operand, SpecialRegister, Statement, Variable,
    VariableId,
};
use super::text::operand_symbols;
use super::types::StateSpace;

/// Returns the offset in the parameter block and the size of each parameter of a kernel, and the
/// end of the last parameter.
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

/// Returns the places of a module's variables of one space, each aligned as declared, and their
/// end. The variables follow each other in memory.
pub fn variables(module: &Module, space: StateSpace) -> (Vec<(VariableId, u64)>, u64) {
    one_after_the_other(module, |variable| {
        variable.space == space && variable.linkage != Linkage::Extern
    })
}

fn one_after_the_other(
    module: &Module,
    wanted: impl Fn(&Variable) -> bool,
) -> (Vec<(VariableId, u64)>, u64) {
    let mut end = 0_u64;
    let mut places = Vec::new();
    for (variable, id) in module.variables.iter().zip(0..) {
        if wanted(variable) {
            end = end.next_multiple_of(u64::from(variable.align.max(1)));
            places.push((VariableId(id), end));
            end = end.saturating_add(variable.size);
        }
    }
    (places, end)
}

/// Returns the addresses of the module's local variables, and their end. Each lane has one copy of
/// these variables for all functions.
pub fn module_locals(module: &Module) -> (Vec<(VariableId, u64)>, u64) {
    let is_local =
        |variable: &Variable| variable.space == StateSpace::Local && variable.owner.is_none();
    one_after_the_other(module, is_local)
}

/// Returns the callee of a call.
fn callee<'a>(module: &Module, statement: &'a Statement) -> Option<&'a Operand> {
    let is_call = module.form(statement.form).row.opcode.split('.').next() == Some("call");
    statement.operands.get(1).filter(|_| is_call)
}

/// Returns the functions whose address is taken: the candidates of an indirect call.
pub fn taken(module: &Module) -> BTreeSet<FunctionId> {
    let mut taken = BTreeSet::new();
    let mut take = |of| {
        if let AddressOf::Function(id) = of {
            taken.insert(id);
        }
    };
    let initial = module.variables.iter().filter_map(|variable| variable.initial.as_ref());
    initial.flat_map(|initial| &initial.addresses).for_each(|address| take(address.of));
    for statement in module
        .functions
        .iter()
        .filter_map(|function| function.body.as_ref())
        .flat_map(|body| &body.statements)
    {
        let callee = callee(module, statement).map(std::ptr::from_ref);
        let operands = statement
            .operands
            .iter()
            .filter(|operand| callee != Some(std::ptr::from_ref(*operand)));
        operands.for_each(|operand| operand_symbols(operand, &mut take));
    }
    taken
}

/// %reserved_smem_offset_cap. It is the size of the system's shared memory, not an address.
const RESERVED_SIZE: u8 = 2;

/// The variables and functions that each function names.
pub struct References {
    functions: Vec<Named>,
    /// Functions whose address is taken: the candidates of an indirect call.
    taken: BTreeSet<FunctionId>,
}

/// The variables and functions that a function names.
#[derive(Clone, Default)]
struct Named {
    variables: BTreeSet<VariableId>,
    functions: BTreeSet<FunctionId>,
    /// Whether the function calls through a pointer.
    is_indirect: bool,
    /// Whether the function reads the address of the system's shared memory.
    reserved_shared: bool,
}

impl References {
    pub fn new(module: &Module) -> References {
        let mut references = References {
            functions: vec![Named::default(); module.functions.len()],
            taken: taken(module),
        };
        for (function, named) in module.functions.iter().zip(&mut references.functions) {
            let Some(body) = &function.body else { continue };
            named.functions.extend(body.call_targets.iter().flatten());
            for statement in &body.statements {
                let callee = callee(module, statement);
                let is_direct = matches!(callee, Some(Operand::Symbol(AddressOf::Function(_), 0)));
                named.is_indirect |= callee.is_some() && !is_direct;
                let mut name = |of| match of {
                    AddressOf::Variable(id) => {
                        named.variables.insert(id);
                    }
                    AddressOf::Function(id) => {
                        named.functions.insert(id);
                    }
                };
                statement.operands.iter().for_each(|operand| operand_symbols(operand, &mut name));
                let is_reserved = |operand: &Operand| matches!(operand, Operand::Special(SpecialRegister::ReservedSmem(part)) if *part != RESERVED_SIZE);
                named.reserved_shared |= statement.operands.iter().any(is_reserved);
            }
        }
        references
    }

    /// Returns a kernel and all functions that it calls, directly or not.
    fn reached(&self, module: &Module, kernel: FunctionId) -> BTreeSet<FunctionId> {
        let mut seen = BTreeSet::from([kernel]);
        let mut work = vec![kernel];
        while let Some(function) = work.pop() {
            let own = &self.functions[function.0 as usize];
            let alias = module.function(function).alias;
            let pointed = self.taken.iter().filter(|_| own.is_indirect);
            for &callee in own.functions.iter().chain(&alias).chain(pointed) {
                if seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        seen
    }

    /// Whether a kernel or one of its callees reads the address of the system's shared memory.
    pub fn reserved_shared(&self, module: &Module, kernel: FunctionId) -> bool {
        self.reached(module, kernel)
            .iter()
            .any(|function| self.functions[function.0 as usize].reserved_shared)
    }

    /// Returns the wanted variables that a kernel and its callees name.
    pub fn named(
        &self,
        module: &Module,
        kernel: FunctionId,
        wanted: impl Fn(&Variable) -> bool,
    ) -> BTreeSet<VariableId> {
        let reached = self.reached(module, kernel);
        let named =
            reached.iter().flat_map(|function| &self.functions[function.0 as usize].variables);
        named.copied().filter(|id| wanted(module.variable(*id))).collect()
    }

    /// Returns the offsets of the shared variables that a kernel and its callees name, and the
    /// offset at which dynamic shared memory begins.
    ///
    /// Names of dynamic shared memory refer to that second offset.
    pub fn shared(&self, module: &Module, kernel: FunctionId) -> (FxHashMap<VariableId, u64>, u64) {
        let named = self.named(module, kernel, |variable| variable.space == StateSpace::Shared);
        // A variable that is only declared, but has a size, is allocated like others; ptxas does so
        // too.
        let is_dynamic = |id: &VariableId| module.variable(*id).size == 0;
        let (mut places, mut end) = (FxHashMap::default(), 0_u64);
        for &id in named.iter().filter(|id| !is_dynamic(id)) {
            let variable = module.variable(id);
            end = end.next_multiple_of(u64::from(variable.align.max(1)));
            places.insert(id, end);
            end = end.saturating_add(variable.size);
        }
        let dynamic: Vec<VariableId> = named.into_iter().filter(is_dynamic).collect();
        let align =
            dynamic.iter().map(|&id| u64::from(module.variable(id).align)).max().unwrap_or(1);
        end = end.next_multiple_of(align.max(1));
        places.extend(dynamic.into_iter().map(|id| (id, end)));
        (places, end)
    }
}
