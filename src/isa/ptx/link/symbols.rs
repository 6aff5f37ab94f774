//! Finds the definition of each name.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_guest::errors::MAX_ERRORS;

use super::{LinkError, LinkErrors};
use crate::module::{AddressOf, FunctionId, Linkage, Module, Variable, VariableId};
use crate::parts::Position;
use crate::text::operand_symbols;
use crate::types::{Kind, StateSpace, Ty};
use warploom_guest::service;

/// A function or variable, and the number of its module.
type Item = (usize, AddressOf);

/// The linked module's numbers for the functions and variables of all modules.
pub(super) struct Resolved {
    /// Indexed by module, and by number in that module.
    pub functions: Vec<Vec<FunctionId>>,
    pub variables: Vec<Vec<VariableId>>,
    /// Lower bounds of the alignments of variables in the linked module.
    pub aligned: Vec<(VariableId, u32)>,
    left_out: FxHashSet<Item>,
}

impl Resolved {
    /// Whether an item is in the linked module. Otherwise another item replaces it, or nothing
    /// names it.
    pub fn is_kept(&self, module: usize, of: AddressOf) -> bool {
        !self.left_out.contains(&(module, of))
    }
}

/// Finds the definition of each name.
pub(super) fn resolve(modules: &[Module]) -> Result<Resolved, LinkErrors> {
    let mut resolving = Resolving {
        modules,
        used: used(modules),
        instead: FxHashMap::default(),
        aligned: FxHashMap::default(),
        errors: vec![],
    };
    for (name, items) in names(modules) {
        resolving.name(name, &items);
    }
    match resolving.errors.is_empty() {
        true => Ok(resolving.numbered()),
        false => {
            resolving.errors.truncate(MAX_ERRORS);
            Err(LinkErrors { errors: resolving.errors })
        }
    }
}

/// Returns the items that other modules can name, by name, in the order of the modules.
fn names(modules: &[Module]) -> BTreeMap<&str, Vec<Item>> {
    let mut names: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
    for (module, number) in modules.iter().zip(0..) {
        for (function, id) in module.functions.iter().zip(0..) {
            if function.kernel || function.linkage != Linkage::Local {
                names
                    .entry(&function.name)
                    .or_default()
                    .push((number, AddressOf::Function(FunctionId(id))));
            }
        }
        for (variable, id) in module.variables.iter().zip(0..) {
            if variable.owner.is_none() && variable.linkage != Linkage::Local {
                names
                    .entry(&variable.name)
                    .or_default()
                    .push((number, AddressOf::Variable(VariableId(id))));
            }
        }
    }
    names
}

/// Returns where statements and initial contents first name each item.
fn used(modules: &[Module]) -> FxHashMap<Item, u32> {
    let mut used = FxHashMap::default();
    for (module, number) in modules.iter().zip(0..) {
        let mut add = |of: AddressOf, at: u32| {
            used.entry((number, of)).or_insert(at);
        };
        for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
            for statement in &body.statements {
                let mut name = |of| add(of, statement.at);
                statement.operands.iter().for_each(|operand| operand_symbols(operand, &mut name));
            }
            body.call_targets
                .iter()
                .flatten()
                .for_each(|&id| add(AddressOf::Function(id), body.end));
        }
        for variable in &module.variables {
            let addresses = variable.initial.iter().flat_map(|initial| &initial.addresses);
            addresses.for_each(|address| add(address.of, variable.at));
        }
    }
    used
}

/// The precedence of a definition over other definitions of its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Weak,
    Common,
    Strong,
}

struct Resolving<'m> {
    modules: &'m [Module],
    used: FxHashMap<Item, u32>,
    /// For items that are left out: the item that replaces each.
    instead: FxHashMap<Item, Item>,
    aligned: FxHashMap<Item, u32>,
    errors: Vec<LinkError>,
}

impl Resolving<'_> {
    fn variable(&self, (module, of): Item) -> Option<&Variable> {
        match of {
            AddressOf::Variable(id) => Some(self.modules[module].variable(id)),
            AddressOf::Function(_) => None,
        }
    }

    fn position(&self, (module, of): Item) -> Position {
        let module = &self.modules[module];
        module.position(match of {
            AddressOf::Variable(id) => module.variable(id).at,
            AddressOf::Function(id) => module.function(id).at,
        })
    }

    /// Returns the rank of a definition, or `None` for an item that is only declared.
    fn rank(&self, (module, of): Item) -> Option<Rank> {
        let linkage = match of {
            AddressOf::Variable(id) => self.modules[module].variable(id).linkage,
            AddressOf::Function(id) => {
                let function = self.modules[module].function(id);
                let is_defined = function.body.is_some() || function.alias.is_some();
                if is_defined { function.linkage } else { Linkage::Extern }
            }
        };
        match linkage {
            Linkage::Extern => None,
            Linkage::Weak => Some(Rank::Weak),
            Linkage::Common => Some(Rank::Common),
            // Of items without a linkage word, only kernels come here.
            Linkage::Visible | Linkage::Local => Some(Rank::Strong),
        }
    }

    fn error(&mut self, at: Item, message: String) {
        let at = Some(self.position(at));
        self.errors.push(LinkError { at, message });
    }

    fn name(&mut self, name: &str, items: &[Item]) {
        let Some(found) = self.definition(name, items) else { return self.undefined(name, items) };
        for &item in items.iter().filter(|&&item| item != found) {
            self.join(name, item, found);
        }
        let commons = items.iter().filter(|&&item| self.rank(item) == Some(Rank::Common));
        let align = commons.filter_map(|&item| Some(self.variable(item)?.align)).max();
        self.aligned.extend(align.map(|align| (found, align)));
    }

    /// Returns the definition that takes precedence.
    fn definition(&mut self, name: &str, items: &[Item]) -> Option<Item> {
        let mut found: Option<(Rank, Item)> = None;
        for &item in items {
            let Some(rank) = self.rank(item) else { continue };
            let size = |item| self.variable(item).map_or(0, |variable| variable.size);
            let replaces = match found {
                None => true,
                Some((Rank::Strong, first)) if rank == Rank::Strong => {
                    let message =
                        format!("`{name}` is defined twice: at {} before", self.position(first));
                    self.error(item, message);
                    false
                }
                Some((Rank::Common, old)) if rank == Rank::Common => size(item) > size(old),
                Some((old, _)) => rank > old,
            };
            if replaces {
                found = Some((rank, item));
            }
        }
        found.map(|(_, item)| item)
    }

    /// Handles a name that no module defines: joins its declarations, or reports an error if the
    /// name is used and must be defined.
    fn undefined(&mut self, name: &str, items: &[Item]) {
        let is_dynamic =
            |item| self.variable(item).is_some_and(|variable| variable.space == StateSpace::Shared);
        if items.iter().all(|&item| is_dynamic(item)) {
            // The launch defines it; each module's own names refer to it.
            return;
        }
        let used = items.iter().find_map(|&item| Some((item, *self.used.get(&item)?)));
        let is_function = items.iter().all(|&(_, of)| matches!(of, AddressOf::Function(_)));
        if let Some((item, at)) = used.filter(|_| !is_function || service::by_name(name).is_none())
        {
            let at = self.modules[item.0].position(at);
            let message =
                format!("`{name}` is defined in none of the modules, and is used at {at}");
            return self.error(item, message);
        }
        let first = items[0];
        for &item in &items[1..] {
            self.join(name, item, first);
        }
    }

    /// Replaces an item by `found`, which has the same name.
    fn join(&mut self, name: &str, item: Item, found: Item) {
        match self.misfit(item, found) {
            Some(what) => {
                let message = format!("`{name}` {what} at {}", self.position(found));
                self.error(item, message);
            }
            None => {
                self.instead.insert(item, found);
            }
        }
    }

    /// Describes how a definition differs from its declaration, if it does.
    fn misfit(&self, item: Item, found: Item) -> Option<String> {
        let (a, b) = match (item.1, found.1) {
            (AddressOf::Function(a), AddressOf::Function(b)) => {
                let (ours, theirs) = (&self.modules[item.0], &self.modules[found.0]);
                let (is_kernel, other) = (ours.function(a).kernel, theirs.function(b).kernel);
                return match () {
                    () if is_kernel != other && other => Some("is no kernel here, but one".into()),
                    () if is_kernel != other => Some("is a kernel here, but none".into()),
                    () if ours.signature(a) != theirs.signature(b) => {
                        Some("has other parameters or return values here than".into())
                    }
                    () => None,
                };
            }
            (AddressOf::Variable(a), AddressOf::Variable(b)) => {
                (self.modules[item.0].variable(a), self.modules[found.0].variable(b))
            }
            (AddressOf::Function(_), AddressOf::Variable(_)) => {
                return Some("is a function here, but a variable".into());
            }
            (AddressOf::Variable(_), AddressOf::Function(_)) => {
                return Some("is a variable here, but a function".into());
            }
        };
        let common = |variable: &Variable| variable.linkage == Linkage::Common;
        let fits = match () {
            () if a.size == 0 || b.size == 0 => true,
            () if common(a) => a.size <= b.size,
            () if common(b) && a.linkage == Linkage::Weak => true,
            () => a.size == b.size,
        };
        if a.space != b.space {
            return Some(format!("is in `.{}` here, but in `.{}`", a.space.name(), b.space.name()));
        }
        if !same_type(a.ty, b.ty) {
            return Some(format!("is of `.{}` here, but of `.{}`", a.ty.name(), b.ty.name()));
        }
        (!fits).then(|| format!("has {} bytes here, but {}", a.size, b.size))
    }

    /// Gives consecutive numbers to the items that are kept.
    fn numbered(self) -> Resolved {
        let mut left_out: FxHashSet<Item> = self.instead.keys().copied().collect();
        for (module, number) in self.modules.iter().zip(0..) {
            for (variable, id) in module.variables.iter().zip(0..) {
                if variable
                    .owner
                    .is_some_and(|owner| left_out.contains(&(number, AddressOf::Function(owner))))
                {
                    left_out.insert((number, AddressOf::Variable(VariableId(id))));
                }
            }
        }
        let mut numbers: FxHashMap<Item, u32> = FxHashMap::default();
        let (mut functions, mut variables) = (0, 0);
        for item in self.items().filter(|item| !left_out.contains(item)) {
            let next = if matches!(item.1, AddressOf::Function(_)) {
                &mut functions
            } else {
                &mut variables
            };
            numbers.insert(item, *next);
            *next += 1;
        }
        let number = |item: Item| {
            let item = self.instead.get(&item).copied().unwrap_or(item);
            // Only a function that is left out names its own variables.
            numbers.get(&item).copied().unwrap_or(u32::MAX)
        };
        let all = self.modules.iter().zip(0..);
        Resolved {
            functions: (all.clone())
                .map(|(module, n)| {
                    let ids = 0..module.functions.len() as u32;
                    ids.map(|id| FunctionId(number((n, AddressOf::Function(FunctionId(id))))))
                        .collect()
                })
                .collect(),
            variables: all
                .map(|(module, n)| {
                    let ids = 0..module.variables.len() as u32;
                    ids.map(|id| VariableId(number((n, AddressOf::Variable(VariableId(id))))))
                        .collect()
                })
                .collect(),
            aligned: self
                .aligned
                .iter()
                .map(|(&item, &align)| (VariableId(number(item)), align))
                .collect(),
            left_out,
        }
    }

    /// Returns all functions and variables of all modules, in order.
    fn items(&self) -> impl Iterator<Item = Item> {
        self.modules.iter().enumerate().flat_map(|(n, module)| {
            let functions =
                (0..module.functions.len() as u32).map(|id| AddressOf::Function(FunctionId(id)));
            let variables =
                (0..module.variables.len() as u32).map(|id| AddressOf::Variable(VariableId(id)));
            functions.chain(variables).map(move |of| (n, of))
        })
    }
}

/// Whether one variable may have both types: they have the same width, or one is of bytes.
fn same_type(a: Ty, b: Ty) -> bool {
    if a.kind() == Kind::Opaque || b.kind() == Kind::Opaque {
        return a == b;
    }
    let is_float = |ty: Ty| ty.kind() == Kind::Float;
    let untyped = |ty: Ty| ty.kind() == Kind::Bits;
    let same_class = untyped(a) || untyped(b) || is_float(a) == is_float(b);
    a.bits() == 8 || b.bits() == 8 || (a.bits() == b.bits() && same_class)
}
