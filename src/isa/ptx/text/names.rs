//! Names and their scopes. Facts, `ptx.md` 1.3.

use rustc_hash::FxHashMap;

use crate::module::{FunctionId, Register, VariableId};

/// The limit of digits at the end of a name that are tried as a register's number.
const MAX_DIGITS: usize = 24;

/// The item that a name stands for. Labels have a separate name space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The first of the register's elements, and their number.
    Register(Register, u8),
    Variable(VariableId),
    /// A register of the module: the local variable that holds it, and its number of elements.
    ModuleRegister(VariableId, u8),
    Function(FunctionId),
    BranchTargets(u32),
    CallTargets(u32),
    Prototype(u32),
}

/// The result of looking up a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Name(Named),
    /// A register of a family `%r<100>`: the family, and the register's number in it.
    Member(u32, u64),
}

/// The items that `name<count>` declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Registers, which are made when they are first named.
    Registers(u32),
    /// Variables, by the first.
    Variables(VariableId),
    /// Registers of the module: the variable of the first, and the elements of each.
    ModuleRegisters(VariableId, u8),
}

#[derive(Clone, Copy)]
struct Entry<T> {
    value: T,
    depth: u32,
}

enum Undo<'a> {
    Name(&'a str, Option<Entry<Named>>),
    Family(&'a str, Option<Entry<(Family, u64)>>),
}

/// Declared names. Names of inner scopes hide names of outer scopes.
#[derive(Default)]
pub(super) struct Names<'a> {
    names: FxHashMap<&'a str, Entry<Named>>,
    /// Families by the part in front of the number: the family, and its size.
    families: FxHashMap<&'a str, Entry<(Family, u64)>>,
    undo: Vec<Undo<'a>>,
    /// The length of `undo` at the start of each open scope.
    scopes: Vec<usize>,
}

impl<'a> Names<'a> {
    pub fn open(&mut self) {
        self.scopes.push(self.undo.len());
    }

    pub fn close(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for undo in self.undo.drain(start..).rev() {
            match undo {
                Undo::Name(name, Some(entry)) => {
                    self.names.insert(name, entry);
                }
                Undo::Name(name, None) => {
                    self.names.remove(name);
                }
                Undo::Family(name, Some(entry)) => {
                    self.families.insert(name, entry);
                }
                Undo::Family(name, None) => {
                    self.families.remove(name);
                }
            }
        }
    }

    /// Returns the number of open scopes.
    pub fn depth(&self) -> u32 {
        self.scopes.len() as u32
    }

    /// Returns the item of a name that this very scope declares.
    pub fn declared_here(&self, name: &str) -> Option<Lookup> {
        let (lookup, depth) = self.find(name)?;
        (depth == self.depth()).then_some(lookup)
    }

    pub fn declare(&mut self, name: &'a str, value: Named) {
        let entry = Entry { value, depth: self.depth() };
        let old = self.names.insert(name, entry);
        if !self.scopes.is_empty() {
            self.undo.push(Undo::Name(name, old));
        }
    }

    /// Declares `count` names. Returns false if the scope already has names with this prefix.
    pub fn declare_family(&mut self, prefix: &'a str, family: Family, count: u64) -> bool {
        let entry = Entry { value: (family, count), depth: self.depth() };
        if self.families.get(prefix).is_some_and(|old| old.depth == entry.depth) {
            return false;
        }
        let old = self.families.insert(prefix, entry);
        if !self.scopes.is_empty() {
            self.undo.push(Undo::Family(prefix, old));
        }
        true
    }

    pub fn lookup(&self, name: &str) -> Option<Lookup> {
        Some(self.find(name)?.0)
    }

    fn find(&self, name: &str) -> Option<(Lookup, u32)> {
        let exact = self.names.get(name).map(|entry| (Lookup::Name(entry.value), entry.depth));
        if !name.ends_with(|c: char| c.is_ascii_digit()) || self.families.is_empty() {
            return exact;
        }
        let mut best = exact;
        let (mut number, mut scale) = (0_u64, 1_u64);
        for (split, byte) in name.bytes().enumerate().rev().take(MAX_DIGITS) {
            if !byte.is_ascii_digit() || split == 0 {
                break;
            }
            // Leading zeros are ignored; a number past all families matches none.
            let digit = u64::from(byte - b'0');
            match digit.checked_mul(scale).and_then(|value| value.checked_add(number)) {
                Some(value) => number = value,
                None if digit > 0 => break,
                None => {}
            }
            scale = scale.saturating_mul(10);
            if let Some(entry) = self.families.get(&name[..split])
                && number < entry.value.1
                && best.is_none_or(|(_, depth)| depth < entry.depth)
            {
                let lookup = match entry.value.0 {
                    Family::Registers(family) => Lookup::Member(family, number),
                    Family::ModuleRegisters(first, elements) => Lookup::Name(
                        Named::ModuleRegister(VariableId(first.0 + number as u32), elements),
                    ),
                    Family::Variables(first) => {
                        Lookup::Name(Named::Variable(VariableId(first.0 + number as u32)))
                    }
                };
                best = Some((lookup, entry.depth));
            }
        }
        best
    }
}
