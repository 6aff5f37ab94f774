//! The lines of the table, family by family.
//!
//! The forms of a line are patterns (see [`super::pattern`]). Each follows the lowest target and
//! version that has it, in brackets: `[10 1.0] .f32 .ftz.f32 [53 4.2] .f16`. A mnemonic has the
//! first form that takes it.

mod arithmetic;
mod asynchronous;
mod atomic;
mod barrier;
mod bits;
mod compare;
mod control;
mod convert;
mod float;
mod matrix;
mod memory;
mod moves;
mod newer;
mod texture;
mod video;
mod warp;

use warploom_guest::fidelity::Fidelity;

use super::Row;
use super::minimum::Minimum;
use super::pattern::{Modifier, Pattern};
use super::signature::Signature;
use crate::lift::Lift;

/// Forms of an opcode that share a lift function and operands.
#[derive(Clone, Copy)]
pub struct Line {
    /// The name and, as a pattern, the words that must come first.
    opcode: &'static str,
    lift: Option<Lift>,
    fidelity: Fidelity,
    /// See [`super::signature`].
    operands: &'static str,
    forms: &'static str,
}

/// Returns a line whose fidelity is exact.
const fn line(
    opcode: &'static str,
    lift: Lift,
    operands: &'static str,
    forms: &'static str,
) -> Line {
    Line { opcode, lift: Some(lift), fidelity: Fidelity::Exact, operands, forms }
}

/// Returns a line that is not executed.
const fn trap(opcode: &'static str, operands: &'static str, forms: &'static str) -> Line {
    Line { opcode, lift: None, fidelity: Fidelity::Unimplemented, operands, forms }
}

impl Line {
    const fn approximate(self, how: &'static str) -> Line {
        Line { fidelity: Fidelity::Approximate(how), ..self }
    }

    /// Visits the rows of the line, each with the name of the opcode.
    pub fn rows(&self, found: &mut dyn FnMut(&'static str, Row)) {
        let end = self.opcode.find(['.', '{']).unwrap_or(self.opcode.len());
        let (name, prefix) = self.opcode.split_at(end);
        for prefix in Pattern::parse(prefix).sequences() {
            let words = prefix.iter().map(|modifier| match modifier {
                Modifier::Word(word) => *word,
                Modifier::Type(ty) => panic!("{}: `{}` is no word", self.opcode, ty.name()),
            });
            let prefix: Vec<_> = words.collect();
            let texts: Vec<&str> =
                std::iter::once(name).chain(prefix.iter().map(|word| word.text())).collect();
            let opcode: &'static str = String::leak(texts.join("."));
            for (minimum, pattern) in self.forms() {
                let row = Row {
                    opcode,
                    lift: self.lift,
                    fidelity: self.fidelity,
                    minimum,
                    prefix: prefix.clone(),
                    pattern: Pattern::parse(pattern),
                    operands: Signature::parse(self.operands),
                };
                found(name, row);
            }
        }
    }

    /// Returns the minimum and pattern of each form in `[10 1.0] .a .b [30 3.0] .c`. `-` is an
    /// empty pattern.
    fn forms(&self) -> impl Iterator<Item = (Minimum, &'static str)> {
        self.forms.split('[').skip(1).flat_map(|group| {
            let (minimum, patterns) =
                group.split_once(']').unwrap_or_else(|| panic!("{}: no `]`", self.opcode));
            let minimum = Minimum::parse(minimum);
            patterns
                .split_whitespace()
                .map(move |pattern| (minimum.clone(), pattern.trim_start_matches('-')))
        })
    }
}

pub fn all() -> impl Iterator<Item = &'static Line> {
    [
        arithmetic::LINES,
        float::LINES,
        bits::LINES,
        compare::LINES,
        convert::LINES,
        moves::LINES,
        memory::LINES,
        atomic::LINES,
        texture::LINES,
        warp::LINES,
        barrier::LINES,
        asynchronous::LINES,
        matrix::LINES,
        video::LINES,
        control::LINES,
        newer::LINES,
    ]
    .into_iter()
    .flatten()
}
