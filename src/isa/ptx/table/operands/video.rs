//! Video instructions. Facts, `ptx.md` 2.13.

use super::{AllChecked, Check, Checked, at};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

/// Selectors of one part of a register.
const PARTS: &[&str] = &["b0", "b1", "b2", "b3", "h0", "h1"];

impl Check<'_> {
    /// Checks `d[.part], a[.part], b[.part][, c]`. A part of d, or a second operation, needs c.
    pub fn video(&self, operands: &[Operand]) -> AllChecked {
        let merged = matches!(operands.first(), Some(Operand::Selected { .. }));
        let second = self.form.one_of(&[Word::Add, Word::Min, Word::Max]).is_some();
        if merged && second {
            return Err((0, "a part of the destination excludes a second operation".into()));
        }
        let count = if merged || second { 4 } else { 3 };
        self.count(operands, count, count)?;
        self.part(&operands[0], false, PARTS).map_err(at(0))?;
        (1..3).try_for_each(|n| self.part(&operands[n], true, PARTS).map_err(at(n)))?;
        match operands.get(3) {
            Some(third) => self.source(third, Ty::U32, false).map_err(at(3)),
            None => Ok(()),
        }
    }

    /// Checks `d, [-]a[.part], [-]b[.part], [-]c`.
    pub fn video_mad(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 4, 4)?;
        self.destination(&operands[0], Ty::U32, false).map_err(at(0))?;
        (1..4).try_for_each(|n| match operands[n] {
            Operand::Negated(register) => self.register(register, Ty::U32, false).map_err(at(n)),
            Operand::Selected { ref register, selector, .. }
                if n < 3 && PARTS.contains(&selector) =>
            {
                self.register_only(register, Ty::U32, false).map_err(at(n))
            }
            ref operand => self.source(operand, Ty::U32, false).map_err(at(n)),
        })
    }

    /// Checks `d[.mask], a[.selectors], b[.selectors], c`.
    pub fn video_simd(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 4, 4)?;
        let letter = if self.form.row.opcode.ends_with('2') { 'h' } else { 'b' };
        let mask = |text: &str| {
            let digits = text.strip_prefix(letter).unwrap_or_default().as_bytes();
            let lanes = if letter == 'h' { b'2' } else { b'4' };
            let falling = digits.windows(2).all(|pair| pair[0] > pair[1]);
            !digits.is_empty() && falling && digits.iter().all(|&digit| digit < lanes)
        };
        let picked = |text: &str| {
            text.starts_with(letter) && text.len() == if letter == 'h' { 3 } else { 5 }
        };
        for (n, operand) in operands.iter().enumerate() {
            let register = match operand {
                Operand::Selected { register, negated: false, selector } => {
                    let fits = match n {
                        0 => mask(selector),
                        3 => false,
                        _ => picked(selector),
                    };
                    if !fits {
                        return Err((n, format!("`.{selector}` selects nothing here")));
                    }
                    register
                }
                operand => operand,
            };
            self.register_only(register, Ty::U32, false).map_err(at(n))?;
        }
        Ok(())
    }

    fn part(&self, operand: &Operand, constant: bool, selectors: &[&str]) -> Checked {
        match operand {
            Operand::Selected { register, negated: false, selector }
                if selectors.contains(selector) =>
            {
                self.register_only(register, Ty::U32, false)
            }
            Operand::Selected { .. } => Err("found a selector that this form does not take".into()),
            _ if constant => self.source(operand, Ty::U32, false),
            _ => self.destination(operand, Ty::U32, false),
        }
    }
}
