//! Staging registers: lanes that come to a statement from different places pass its operands and
//! take its results through them, so that it is executed once for all.

use super::barrier::take_result;
use super::cells::cell;
use super::context::{Cell, Counts, Cx};
use super::uses;
use crate::module::{Body, FormId, Module, Operand, Register, RegisterDecl, Statement};
use crate::table::Form;
use crate::types::{Kind, Ty};
use crate::word::Word;

/// A kind of statement, with its own registers for operands.
pub struct Staging {
    form: FormId,
    /// A body whose only statement has the registers as operands.
    pub body: Body,
    results: Vec<Register>,
    sources: Vec<Register>,
}

/// Returns the types of a form's results and of its sources.
fn types(form: &Form) -> (Vec<Ty>, Vec<Ty>) {
    use Ty::{B32, Pred};
    let name = form.row.opcode.split('.').next().unwrap_or_default();
    if uses::is_barrier(form.row.opcode) {
        return match form.one_of(&[Word::Popc, Word::And, Word::Or]) {
            Some(Word::Popc) => (vec![B32], vec![B32, B32, Pred]),
            Some(_) => (vec![Pred], vec![B32, B32, Pred]),
            None => (vec![], vec![B32, B32]),
        };
    }
    match name {
        "shfl" => (vec![B32, Pred], vec![B32; 4]),
        "vote" => (vec![if form.has(Word::Ballot) { B32 } else { Pred }], vec![Pred, B32]),
        "match" if form.has(Word::Any) => (vec![B32], vec![form.ty(0), B32]),
        "match" => (vec![B32, Pred], vec![form.ty(0), B32]),
        "redux" => (vec![B32], vec![B32, B32]),
        "elect" => (vec![B32, Pred], vec![B32]),
        _ => (vec![], vec![B32]),
    }
}

impl Staging {
    pub fn of(module: &Module, form: FormId) -> Staging {
        let (results, sources) = types(module.form(form));
        let mut body = Body::default();
        let mut register = |ty: &Ty| {
            body.registers.push(RegisterDecl { name: "staged".into(), ty: *ty });
            Register(body.registers.len() as u32 - 1)
        };
        let results: Vec<Register> = results.iter().map(&mut register).collect();
        let sources: Vec<Register> = sources.iter().map(&mut register).collect();
        let result = match results[..] {
            [a, b] => Some(Operand::Pair(Box::new([Operand::Register(a), Operand::Register(b)]))),
            [a] => Some(Operand::Register(a)),
            _ => None,
        };
        let operands = result
            .into_iter()
            .chain(sources.iter().map(|&register| Operand::Register(register)))
            .collect();
        body.statements.push(Statement { at: 0, guard: None, form, operands });
        Staging { form, body, results, sources }
    }

    /// Returns cells for the registers.
    pub fn cells(&self, counts: &mut Counts) -> Vec<Cell> {
        self.body.registers.iter().map(|register| cell(register.ty, true, counts)).collect()
    }

    /// Whether statements of this form may meet statements of the staged form.
    pub fn is_for(&self, module: &Module, form: FormId) -> bool {
        let (a, b) = (module.form(self.form), module.form(form));
        let sorted = |form: &Form| {
            let mut words = form.words.to_vec();
            // `bar` is `barrier.aligned`; ordering does not tell barriers apart.
            const SAME: &[Word] =
                &[Word::Aligned, Word::Cta, Word::Relaxed, Word::Acquire, Word::Release];
            words.retain(|word| !SAME.contains(word));
            words.sort_unstable();
            words
        };
        let barriers = uses::is_barrier(a.row.opcode) && uses::is_barrier(b.row.opcode);
        self.form == form
            || ((std::ptr::eq(a.row, b.row) || barriers)
                && sorted(a) == sorted(b)
                && types(a) == types(b))
    }

    pub fn statement(&self) -> &Statement {
        &self.body.statements[0]
    }

    pub fn is_barrier(&self, module: &Module) -> bool {
        uses::is_barrier(module.form(self.form).row.opcode)
    }

    /// Returns the register that must be equal in lanes that meet: the mask of named lanes, or the
    /// number of a barrier.
    pub fn key(&self, module: &Module) -> Register {
        let key = if self.is_barrier(module) { self.sources.first() } else { self.sources.last() };
        *key.expect("all have a mask or a number")
    }

    /// Passes a statement's operands into the registers, whose cells are given.
    pub fn pass(&self, cx: &mut Cx<'_>, statement: &Statement, cells: &[Cell]) {
        let skip = usize::from(uses::has_destination(cx.module, statement));
        let mut sources = statement.operands.get(skip..).unwrap_or_default();
        // The number of threads may be missing.
        let predicate = self.is_barrier(cx.module) && self.sources.len() == 3;
        let last = if predicate { sources.split_last() } else { None };
        if let Some((_, rest)) = last {
            sources = rest;
        }
        for (n, &register) in self.sources.iter().enumerate() {
            let (cell, ty) =
                (cells[register.0 as usize], self.body.registers[register.0 as usize].ty);
            let operand =
                if predicate && n == 2 { last.map(|(last, _)| last) } else { sources.get(n) };
            match operand {
                Some(operand) if ty.kind() == Kind::Pred => {
                    let value = cx.pred(operand);
                    cx.set_cell_pred(cell, value);
                }
                Some(operand) => {
                    let value = cx.bits(operand, ty);
                    cx.set_cell(cell, ty, value);
                }
                None => {
                    let zero = cx.word(0);
                    cx.set_cell(cell, ty, zero);
                }
            }
        }
    }

    /// Moves the result of a barrier into its register.
    pub fn take_barrier_result(&self, cx: &mut Cx<'_>) {
        if !self.results.is_empty() {
            take_result(cx, &self.statement().operands);
        }
    }

    /// Moves the results to a statement's destinations.
    pub fn give(&self, cx: &mut Cx<'_>, statement: &Statement, cells: &[Cell]) {
        let Some(destination) = statement.operands.first() else { return };
        let destinations = match destination {
            Operand::Pair(pair) => &pair[..],
            other => std::slice::from_ref(other),
        };
        for (&register, destination) in self.results.iter().zip(destinations) {
            let (cell, ty) =
                (cells[register.0 as usize], self.body.registers[register.0 as usize].ty);
            let to_pred = matches!(*destination, Operand::Register(to) if cx.register_type(to).kind() == Kind::Pred);
            if to_pred && ty.kind() == Kind::Pred {
                let value = cx.cell_pred(cell);
                cx.set_pred(destination, value);
            } else if ty.kind() != Kind::Pred {
                let value = cx.cell_value(cell, ty);
                cx.set(destination, ty, value);
            }
        }
    }
}
