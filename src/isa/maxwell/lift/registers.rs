//! The registers that an instruction reads and writes.

use warploom_ir::Op;

use super::{Kernel, lift_kernel};
use crate::{Instruction, WORD_BYTES, past_control};

/// A set of the registers R0 to R254.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet([u64; 4]);

impl RegisterSet {
    fn insert(&mut self, register: u32) {
        if let Some(word) = self.0.get_mut(register as usize / 64) {
            *word |= 1 << (register % 64);
        }
    }

    pub fn contains(self, register: u8) -> bool {
        self.0[usize::from(register) / 64] >> (register % 64) & 1 != 0
    }

    /// Whether the sets have a common register.
    pub fn meets(self, other: RegisterSet) -> bool {
        self.0.iter().zip(other.0).any(|(&a, b)| a & b != 0)
    }

    pub fn union(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

/// Returns the registers that an instruction reads, and the registers that it writes, as its lift
/// function does. Both are empty for an instruction that is not executed.
pub fn registers(insn: &Instruction) -> (RegisterSet, RegisterSet) {
    const EXIT: u64 = 0xe300_0000_0007_000f;
    let code: Vec<u8> =
        [0, insn.word(), EXIT, EXIT].iter().flat_map(|word| word.to_le_bytes()).collect();
    let (mut read, mut written) = (RegisterSet::default(), RegisterSet::default());
    let Ok(function) = lift_kernel(&Kernel::new("", &code, 0)) else { return (read, written) };
    let at = past_control(0);
    debug_assert_eq!(at, WORD_BYTES);
    let general = function.banks.iter().position(|bank| bank.name == "r");
    for inst in function.blocks.iter().flat_map(|block| &block.insts).filter(|inst| inst.pc == at) {
        match inst.op {
            Op::RfRead { reg, .. } if Some(reg.bank.0 as usize) == general => {
                read.insert(reg.index)
            }
            Op::RfWrite { reg, .. } if Some(reg.bank.0 as usize) == general => {
                written.insert(reg.index)
            }
            _ => {}
        }
    }
    (read, written)
}
