//! Detours: an instruction changes `%cr0` and the next instruction changes it back. Compilers write
//! detours between the halves of an integer division's last step.

use std::borrow::Cow;

use super::super::mode::Mode;
use super::rewrite::nothing;
use crate::instruction::{Instruction, Operand};
use crate::module::Module;

/// Returns a module without detours, so that halves follow each other.
pub fn without(module: &Module) -> Cow<'_, Module> {
    let mut module = Cow::Borrowed(module);
    for number in 0..module.routines.len() {
        for at in 1..module.routines[number].code.len() {
            if is_detour(&module.routines[number].code[at - 1..=at]) {
                module.to_mut().routines[number].code[at - 1..=at].iter_mut().for_each(nothing);
            }
        }
    }
    module
}

fn is_detour(two: &[Instruction]) -> bool {
    let [first, second] = two else { return false };
    let changes = |insn: &Instruction| {
        insn.row.name == "xor"
            && Mode::is_written(insn)
            && Mode::default().after(insn).is_ok()
            && matches!(insn.operands.last(), Some(Operand::Immediate { .. }))
    };
    changes(first)
        && changes(second)
        && (first.exec, &first.operands) == (second.exec, &second.operands)
}

#[cfg(test)]
mod tests {
    use super::super::tests::left;

    #[test]
    fn modes_that_are_changed_and_changed_back_between_halves() {
        let xor = |bits: &str| format!("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits}:ud\n");
        let (low, high) = (
            "mul (M1, 16) A(0,0)<1> C(0,0)<1;1,0> 0x3:d\n",
            "mul (M5, 16) B(0,0)<1> D(0,0)<1;1,0> 0x3:d\n",
        );
        let zero = xor("0x30");
        let left_of = |between: &str| left(&format!("{zero}{low}{between}{high}{zero}")).len();
        assert_eq!(left_of(&format!("{zero}{zero}")), 3);
        assert_eq!(left_of(&format!("{zero}{}", xor("0x10"))), 6);
    }
}
