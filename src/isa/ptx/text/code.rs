//! [`Code`]: the state of a function while its body is read.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::module_register::Used;
use super::reader::{Reader, Result};
use crate::module::{Body, Label, LabelId, Operand, Register, RegisterDecl};
use crate::types::Ty;

/// A family of registers: `%r<100>`.
struct Family<'a> {
    prefix: &'a str,
    ty: Ty,
    elements: u8,
}

/// The place where a label is named.
#[derive(Clone, Copy)]
pub(super) enum LabelUse {
    /// A statement, and the index of the operand.
    Operand(u32, u32),
    /// A list of `.branchtargets`, and the index of the label.
    Target(u32, u32),
}

/// A label that was named, and may be defined further on.
struct Pending<'a> {
    name: Cow<'a, str>,
    at: u32,
    place: LabelUse,
}

struct Scope {
    id: u32,
    /// The number of pending labels when the scope began.
    pending: usize,
    has_labels: bool,
}

#[derive(Default)]
pub(super) struct Code<'a> {
    pub body: Body,
    families: Vec<Family<'a>>,
    /// Registers of families that were named already.
    members: FxHashMap<(u32, u64), Register>,
    /// Labels by the number of their scope and by name.
    labels: FxHashMap<(u32, &'a str), LabelId>,
    scopes: Vec<Scope>,
    scope_count: u32,
    pending: Vec<Pending<'a>>,
    /// The places of a statement's operands.
    pub places: Vec<u32>,
    pub words: Vec<&'a str>,
    /// The module's registers that the statement names.
    pub module_registers: Vec<Used>,
    /// The registers that hold sums in the statement.
    pub sums: Vec<Register>,
    /// The number of the first statement that the line adds.
    pub line_start: usize,
}

impl<'a> Code<'a> {
    /// Forgets the previous function.
    pub fn begin(&mut self) {
        self.body = Body::default();
        self.families.clear();
        self.members.clear();
        self.labels.clear();
        self.scopes.clear();
        self.scope_count = 0;
        self.pending.clear();
    }

    /// Forgets the names of the previous line.
    pub fn begin_line(&mut self) {
        self.module_registers.clear();
        self.sums.clear();
        self.line_start = self.body.statements.len();
    }

    /// Adds a register, or one register for each element of a vector. Returns the first.
    pub fn register(&mut self, name: &str, ty: Ty, elements: u8) -> Register {
        let first = Register(self.body.registers.len() as u32);
        match elements {
            1 => self.body.registers.push(RegisterDecl { name: name.to_string(), ty }),
            _ => {
                let element = |n: u8| RegisterDecl {
                    name: format!("{name}.{}", ['x', 'y', 'z', 'w'][n as usize]),
                    ty,
                };
                self.body.registers.extend((0..elements).map(element));
            }
        }
        first
    }

    pub fn family(&mut self, prefix: &'a str, ty: Ty, elements: u8) -> u32 {
        self.families.push(Family { prefix, ty, elements });
        self.families.len() as u32 - 1
    }

    /// Returns a register of a family and its number of elements. The first naming makes it.
    pub fn member(&mut self, family: u32, number: u64) -> (Register, u8) {
        let &Family { prefix, ty, elements } = &self.families[family as usize];
        if let Some(&register) = self.members.get(&(family, number)) {
            return (register, elements);
        }
        let register = self.register(&format!("{prefix}{number}"), ty, elements);
        self.members.insert((family, number), register);
        (register, elements)
    }

    pub fn open(&mut self) {
        self.scopes.push(Scope {
            id: self.scope_count,
            pending: self.pending.len(),
            has_labels: false,
        });
        self.scope_count += 1;
    }

    pub fn name_label(&mut self, name: Cow<'a, str>, at: u32, place: LabelUse) {
        self.pending.push(Pending { name, at, place });
    }

    /// Ends a scope. Labels that were named in it refer to labels of the scope, or else stay
    /// pending for the scopes around it.
    pub fn close(&mut self) {
        let Some(scope) = self.scopes.pop().filter(|scope| scope.has_labels) else { return };
        let mut kept = scope.pending;
        for n in scope.pending..self.pending.len() {
            let Pending { name, place, .. } = &self.pending[n];
            let Some(&label) = self.labels.get(&(scope.id, &**name)) else {
                self.pending.swap(kept, n);
                kept += 1;
                continue;
            };
            match *place {
                LabelUse::Operand(statement, operand) => {
                    self.body.statements[statement as usize].operands[operand as usize] =
                        Operand::Label(label);
                }
                LabelUse::Target(list, n) => {
                    self.body.branch_targets[list as usize][n as usize] = label
                }
            }
        }
        self.pending.truncate(kept);
    }
}

impl<'a> Reader<'a> {
    pub fn label(&mut self, name: &'a str, at: u32) -> Result<()> {
        let code = &mut self.code;
        let Some(scope) = code.scopes.last_mut() else {
            return self.fail(at, "a label outside of a function");
        };
        scope.has_labels = true;
        let scope = scope.id;
        let label = LabelId(code.body.labels.len() as u32);
        if code.labels.insert((scope, name), label).is_some() {
            return self.fail(at, format!("the label `{name}` is there twice"));
        }
        let statement = code.body.statements.len() as u32;
        code.body.labels.push(Label { name: name.to_string(), statement });
        Ok(())
    }

    /// Reports labels that were named, but never defined.
    pub fn check_labels(&mut self) {
        for Pending { name, at, .. } in self.code.pending.drain(..) {
            self.errors.push(at, format!("found `{name}`, which is no label here, expected one"));
        }
    }
}
