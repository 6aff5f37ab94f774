//! The meaning of forms in modules for old targets and of old versions.
//!
//! Source: the PTX ISA's notes on PTX 1.0 to 1.4 and on `sm_1x`, and the code that ptxas 13.5
//! makes: a form and its meaning here give the same instructions.

use super::{Form, resolve};
use crate::module::Target;
use crate::types::Ty;
use crate::word::Word;

/// Approximations and roundings.
const PRECISIONS: &[Word] = &[Word::Approx, Word::Full, Word::Rn, Word::Rz, Word::Rm, Word::Rp];

impl Form {
    /// Returns the form that runs for this form in a module of this target and version.
    ///
    /// Before PTX 1.4 some forms have no approximation or rounding: `.f32` is approximate, `.f64`
    /// rounds to the nearest. Targets below sm_20 know no subnormal `.f32`.
    pub fn meant(self, target: Target, version: (u8, u8)) -> Form {
        let precision = self.precision().filter(|_| self.one_of(PRECISIONS).is_none());
        let flushes = target.sm < 20 && self.types.contains(&Ty::F32) && !self.has(Word::Ftz) && {
            // Up to 1.4 a conversion from or to 64 bits keeps subnormal numbers.
            let keeps = self.row.opcode == "cvt"
                && version <= (1, 4)
                && self.types.iter().any(|ty| ty.bits() == 64);
            !keeps
        };
        let precise = precision.and_then(|word| self.with(word));
        let flushed = flushes.then(|| precise.as_ref().unwrap_or(&self).with(Word::Ftz)).flatten();
        match flushed.or(precise) {
            Some(meant) => Form { written: Some(self.mnemonic()), ..meant },
            None => self,
        }
    }

    /// Returns the word for precision that PTX 1.0 to 1.3 omit.
    fn precision(&self) -> Option<Word> {
        let double = self.ty(0) == Ty::F64;
        match self.row.opcode {
            "mad" if matches!(self.ty(0), Ty::F32 | Ty::F64) => Some(Word::Rn),
            "div" | "sqrt" if double => Some(Word::Rn),
            "div" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2"
                if double || self.ty(0) == Ty::F32 =>
            {
                Some(Word::Approx)
            }
            _ => None,
        }
    }

    /// Returns the form with one more word, if there is one.
    fn with(&self, word: Word) -> Option<Form> {
        let mnemonic = self.mnemonic();
        let words: Vec<&str> = mnemonic.split('.').chain([word.text()]).collect();
        resolve(&words).ok()
    }

    /// Returns the mnemonic with its words in the table's order.
    pub fn mnemonic(&self) -> String {
        let in_opcode = self.row.opcode.split('.').count() - 1;
        let words = self.words.iter().skip(in_opcode).map(|word| word.text());
        let types = self.types.iter().map(|ty| ty.name());
        std::iter::once(self.row.opcode).chain(words).chain(types).collect::<Vec<_>>().join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(mnemonic: &str, sm: u32, version: (u8, u8)) -> String {
        let form = resolve(&mnemonic.split('.').collect::<Vec<_>>()).unwrap();
        form.meant(Target { sm, suffix: None }, version).mnemonic()
    }

    /// Pairs for which ptxas 13.5 makes the same code: the left in PTX 1.3 for sm_13, and the right
    /// in PTX 8.0 for sm_80.
    #[test]
    fn forms_of_ptx_1_3_mean_what_ptxas_makes_of_them() {
        for (form, means) in [
            ("add.f32", "add.ftz.f32"),
            ("add.rz.f32", "add.rz.ftz.f32"),
            ("sub.sat.f32", "sub.ftz.sat.f32"),
            ("max.f32", "max.ftz.f32"),
            ("mad.f32", "mad.rn.ftz.f32"),
            ("mad.sat.f32", "mad.rn.ftz.sat.f32"),
            ("mad.f64", "mad.rn.f64"),
            ("div.f32", "div.approx.ftz.f32"),
            ("div.f64", "div.rn.f64"),
            ("rcp.f32", "rcp.approx.ftz.f32"),
            ("sqrt.f32", "sqrt.approx.ftz.f32"),
            ("sqrt.f64", "sqrt.rn.f64"),
            ("rsqrt.f32", "rsqrt.approx.ftz.f32"),
            ("rsqrt.f64", "rsqrt.approx.f64"),
            ("sin.f32", "sin.approx.ftz.f32"),
            ("cos.f32", "cos.approx.ftz.f32"),
            ("lg2.f32", "lg2.approx.ftz.f32"),
            ("ex2.f32", "ex2.approx.ftz.f32"),
            ("cvt.f32.f32", "cvt.ftz.f32.f32"),
            ("cvt.sat.f32.f32", "cvt.ftz.sat.f32.f32"),
            ("cvt.rzi.f32.f32", "cvt.rzi.ftz.f32.f32"),
            ("cvt.rzi.s32.f32", "cvt.rzi.ftz.s32.f32"),
            ("cvt.f64.f32", "cvt.f64.f32"),
            ("cvt.rn.f32.f64", "cvt.rn.f32.f64"),
            ("slct.f32.f32", "slct.ftz.f32.f32"),
            ("set.lt.f32.f32", "set.lt.ftz.f32.f32"),
            ("set.lt.f32.u32", "set.lt.f32.u32"),
            ("mov.f32", "mov.f32"),
            ("ld.global.f32", "ld.global.f32"),
        ] {
            assert_eq!(meant(form, 13, (1, 3)), means, "{form}");
        }
    }

    #[test]
    fn forms_mean_themselves_from_sm_20_on() {
        for form in ["add.f32", "mad.rn.f32", "cvt.f64.f32", "div.full.f32", "ex2.approx.f32"] {
            assert_eq!(meant(form, 20, (2, 0)), form);
        }
        // PTX 1.5 flushes in these forms, too.
        assert_eq!(meant("cvt.f64.f32", 13, (1, 5)), "cvt.ftz.f64.f32");
        assert_eq!(meant("cvt.rn.f32.f64", 13, (2, 3)), "cvt.rn.ftz.f32.f64");
    }
}
