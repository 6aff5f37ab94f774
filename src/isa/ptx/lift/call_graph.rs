//! The call graph of a kernel, and the choice of functions that are not inlined.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Call;
use crate::layout;
use crate::module::{AddressOf, Formal, Function, FunctionId, Module, Operand, Statement};

/// The size of a kernel, in statements with all functions inlined, above which large functions that
/// are called several times are outlined.
const LARGE_KERNEL: u64 = 1 << 13;
const LARGE_FUNCTION: u64 = 64;
/// The limit of inlined functions within each other; the next function is outlined.
const MOST_LEVELS: usize = 32;

/// The calls within a module.
pub struct CallGraph {
    /// Functions whose address is taken.
    taken: BTreeSet<FunctionId>,
    /// Functions with an activation frame: they call themselves, or would be copied too often.
    outlined: FxHashSet<FunctionId>,
}

impl CallGraph {
    /// Builds the graph of the functions that a kernel reaches.
    pub fn new(module: &Module, kernel: FunctionId) -> CallGraph {
        let mut graph = CallGraph { taken: layout::taken(module), outlined: FxHashSet::default() };
        let calls = graph.reached(module, kernel);
        graph.outlined =
            calls.keys().copied().filter(|&function| reaches(&calls, function)).collect();
        graph.outline_large(module, kernel, &calls);
        graph.outline_deep(kernel, &calls);
        graph
    }

    pub fn is_outlined(&self, function: FunctionId) -> bool {
        self.outlined.contains(&function)
    }

    /// Returns the functions that a call may mean: the function that it names, or all functions
    /// whose address a pointer may hold.
    pub fn callees(
        &self,
        module: &Module,
        caller: FunctionId,
        statement: &Statement,
    ) -> Vec<FunctionId> {
        let Some(call) = Call::of(statement) else { return vec![] };
        let real = |id: FunctionId| module.function(id).alias.unwrap_or(id);
        if let &Operand::Symbol(AddressOf::Function(callee), 0) = call.callee {
            return vec![real(callee)];
        }
        let Some(body) = &module.function(caller).body else { return vec![] };
        let mut targets: Vec<FunctionId> = match statement.operands.get(3) {
            Some(&Operand::CallTargets(list)) => {
                body.call_targets[list as usize].iter().map(|&target| real(target)).collect()
            }
            Some(&Operand::Prototype(prototype)) => {
                let prototype = &body.prototypes[prototype as usize];
                let fits = |id: &FunctionId| {
                    let function = module.function(*id);
                    fits(module, &function.inputs, &prototype.inputs)
                        && fits(module, &function.outputs, &prototype.outputs)
                };
                self.taken.iter().map(|&id| real(id)).filter(fits).collect()
            }
            _ => self.taken.iter().map(|&id| real(id)).collect(),
        };
        targets.retain(|&target| {
            module.function(target).body.is_some() && !module.function(target).kernel
        });
        targets.dedup();
        targets
    }

    /// Returns the calls of all functions that a kernel reaches.
    fn reached(
        &self,
        module: &Module,
        kernel: FunctionId,
    ) -> FxHashMap<FunctionId, Vec<FunctionId>> {
        let mut calls = FxHashMap::default();
        let mut work = vec![kernel];
        while let Some(function) = work.pop() {
            if calls.contains_key(&function) {
                continue;
            }
            let statements =
                module.function(function).body.iter().flat_map(|body| &body.statements);
            let callees: Vec<FunctionId> = statements
                .flat_map(|statement| self.callees(module, function, statement))
                .collect();
            work.extend(&callees);
            calls.insert(function, callees);
        }
        calls
    }

    /// Cuts long chains of calls.
    fn outline_deep(&mut self, kernel: FunctionId, calls: &FxHashMap<FunctionId, Vec<FunctionId>>) {
        let callees = |function| calls.get(&function).map_or(&[][..], |callees| callees);
        // Callers before callees. Functions that reach themselves are outlined already.
        let (mut order, mut seen) = (vec![], FxHashSet::default());
        let mut work = vec![(kernel, false)];
        while let Some((function, is_done)) = work.pop() {
            if is_done {
                order.push(function);
            } else if seen.insert(function) {
                work.push((function, true));
                work.extend(callees(function).iter().map(|&callee| (callee, false)));
            }
        }
        let mut levels: FxHashMap<FunctionId, usize> = FxHashMap::default();
        for &function in order.iter().rev() {
            let mut level = levels.get(&function).copied().unwrap_or(0);
            if level >= MOST_LEVELS {
                self.outlined.insert(function);
            }
            if self.outlined.contains(&function) {
                level = 0;
            }
            for &callee in callees(function) {
                let deepest = levels.entry(callee).or_default();
                *deepest = (*deepest).max(level + 1);
            }
        }
    }

    /// Limits the growth of kernels.
    fn outline_large(
        &mut self,
        module: &Module,
        kernel: FunctionId,
        calls: &FxHashMap<FunctionId, Vec<FunctionId>>,
    ) {
        let mut sizes = FxHashMap::default();
        if self.size(module, kernel, calls, &mut sizes) <= LARGE_KERNEL {
            return;
        }
        let mut count: FxHashMap<FunctionId, u32> = FxHashMap::default();
        calls.values().flatten().for_each(|&callee| *count.entry(callee).or_default() += 1);
        let large = count.iter().filter(|&(callee, &count)| {
            count > 1
                && sizes.get(callee).copied().unwrap_or_else(|| own_size(module.function(*callee)))
                    > LARGE_FUNCTION
        });
        let large: Vec<FunctionId> = large.map(|(&callee, _)| callee).collect();
        self.outlined.extend(large);
    }

    /// Returns the statements of a function with all functions that are inlined into it. The search
    /// ends, as functions that reach themselves are outlined.
    fn size(
        &self,
        module: &Module,
        function: FunctionId,
        calls: &FxHashMap<FunctionId, Vec<FunctionId>>,
        sizes: &mut FxHashMap<FunctionId, u64>,
    ) -> u64 {
        // Callees before callers.
        let mut work = vec![(function, false)];
        while let Some((id, is_done)) = work.pop() {
            let callees = calls.get(&id).map_or(&[][..], |callees| callees);
            if is_done {
                let inner = callees.iter().map(|callee| sizes.get(callee).copied().unwrap_or(0));
                let size = inner.fold(own_size(module.function(id)), u64::saturating_add);
                sizes.insert(id, size);
            } else if !sizes.contains_key(&id) {
                work.push((id, true));
                work.extend(
                    callees
                        .iter()
                        .filter(|callee| !self.outlined.contains(callee))
                        .map(|&id| (id, false)),
                );
            }
        }
        sizes.get(&function).copied().unwrap_or(0)
    }
}

fn own_size(function: &Function) -> u64 {
    function.body.as_ref().map_or(0, |body| body.statements.len() as u64)
}

fn fits(module: &Module, formals: &[Formal], sizes: &[(u64, u32)]) -> bool {
    let size = |formal: &Formal| match *formal {
        Formal::Param(id) => module.variable(id).size,
        Formal::Reg(_, ty) => u64::from(ty.bytes()),
    };
    formals.len() == sizes.len()
        && formals.iter().zip(sizes).all(|(formal, &(bytes, _))| size(formal) == bytes)
}

/// Whether a function may be called while it runs.
fn reaches(calls: &FxHashMap<FunctionId, Vec<FunctionId>>, function: FunctionId) -> bool {
    let mut seen = FxHashSet::default();
    let mut work: Vec<FunctionId> = calls[&function].clone();
    while let Some(next) = work.pop() {
        if next == function {
            return true;
        }
        if seen.insert(next) {
            work.extend(calls.get(&next).into_iter().flatten());
        }
    }
    false
}
