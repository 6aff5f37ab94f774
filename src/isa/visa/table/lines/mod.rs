//! The lines of the table, family by family.

mod arithmetic;
mod control;
mod logic;
mod lsc;
mod media;
mod memory;
mod sampler;

use warploom_guest::fidelity::Fidelity;

use super::{Field, Item, Row};
use crate::lift::Lift;

/// A line of the table.
#[derive(Clone, Copy)]
pub struct Line {
    name: &'static str,
    code: u8,
    sub: Option<u8>,
    fidelity: Fidelity,
    lift: Option<Lift>,
    /// Letters of [`Field`].
    fields: &'static str,
    /// Words of [`Item`]; empty for the execution size and all operands in order.
    text: &'static str,
}

/// Makes the line of an opcode that is executed exactly.
const fn line(name: &'static str, code: u8, fields: &'static str, text: &'static str) -> Line {
    Line { name, code, sub: None, fidelity: Fidelity::Exact, lift: None, fields, text }
}

/// Makes the line of a sub-opcode that is executed exactly.
const fn sub(
    name: &'static str,
    code: u8,
    sub: u8,
    fields: &'static str,
    text: &'static str,
) -> Line {
    Line { name, code, sub: Some(sub), fidelity: Fidelity::Exact, lift: None, fields, text }
}

impl Line {
    /// Marks a line as not executed.
    const fn trap(self) -> Line {
        Line { fidelity: Fidelity::Unimplemented, ..self }
    }

    /// Sets the lift function of a line.
    const fn lift(self, lift: Lift) -> Line {
        Line { lift: Some(lift), ..self }
    }

    const fn approximate(self, how: &'static str) -> Line {
        Line { fidelity: Fidelity::Approximate(how), ..self }
    }

    pub(super) fn row(self) -> Row {
        let fields: Vec<Field> = self.fields.split_whitespace().map(Field::from_letter).collect();
        let items = match self.text {
            "" => {
                let operands = fields.iter().filter(|field| field.is_operand()).count();
                let exec = fields.contains(&Field::Exec).then_some(Item::Exec);
                exec.into_iter().chain((0..operands).map(Item::Operand)).collect()
            }
            text => text.split_whitespace().map(Item::from_word).collect(),
        };
        Row {
            name: self.name,
            code: self.code,
            sub: self.sub,
            fidelity: self.fidelity,
            lift: self.lift,
            fields,
            items,
        }
    }
}

pub(super) fn all() -> impl Iterator<Item = Line> {
    let families: [&[Line]; 7] = [
        arithmetic::LINES,
        logic::LINES,
        control::LINES,
        memory::LINES,
        lsc::LINES,
        sampler::LINES,
        media::LINES,
    ];
    families.into_iter().flatten().copied()
}
