//! Addresses that code computes for jumps and calls that go farther than a branch reaches.
//!
//! Compilers emit `s_getpc_b64`, behind it `s_add_u32` and `s_addc_u32` of the distance, and some
//! time later the jump.

use super::flow::Flow;
use crate::{Instruction, Opcode, Operand};

/// The known address in a pair of scalar registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computed {
    /// The number of the first register.
    pair: u8,
    pub address: u64,
    /// The carry that the next instruction is to add to the high half with its own operand.
    carry: Option<bool>,
}

impl Computed {
    /// Returns the address that is known behind an instruction that writes these scalar registers.
    ///
    /// `before` is the address that was known before the instruction. `next` is the address behind
    /// it.
    pub fn after(
        before: Option<Computed>,
        insn: &Instruction,
        next: u64,
        mut writes: impl Iterator<Item = u8>,
    ) -> Option<Computed> {
        let (dst, operands) = (insn.dst(), [insn.src(0).operand, insn.src(1).operand]);
        match (insn.opcode(), dst, before) {
            (Opcode::SGetpcB64, Operand::Scalar(pair), _) => {
                Some(Computed { pair, address: next, carry: None })
            }
            (
                Opcode::SAddU32,
                Operand::Scalar(low),
                Some(Computed { pair, address, carry: None }),
            ) if low == pair && operands[0] == dst => {
                let (sum, carry) = (address as u32).overflowing_add(constant(operands[1])?);
                Some(Computed {
                    pair,
                    address: address >> 32 << 32 | u64::from(sum),
                    carry: Some(carry),
                })
            }
            (
                Opcode::SAddcU32,
                Operand::Scalar(high),
                Some(Computed { pair, address, carry: Some(carry) }),
            ) if high == pair + 1 && operands[0] == dst => {
                let more = constant(operands[1])?.wrapping_add(carry.into());
                Some(Computed {
                    pair,
                    address: address.wrapping_add(u64::from(more) << 32),
                    carry: None,
                })
            }
            _ => before.filter(|known| {
                known.carry.is_none()
                    && writes.all(|number| number != known.pair && number != known.pair + 1)
            }),
        }
    }

    /// Replaces an indirect jump or call through the known pair by one to the pair's address.
    pub fn resolve(known: Option<Computed>, flow: Flow) -> Flow {
        let target = |to| {
            let here =
                |known: &Computed| known.carry.is_none() && to == Operand::Scalar(known.pair);
            known.filter(here).map(|known| known.address)
        };
        match flow {
            Flow::Indirect(to) => target(to).map_or(flow, Flow::Jump),
            Flow::IndirectCall { link, to } => {
                target(to).map_or(flow, |target| Flow::Call { link, target })
            }
            _ => flow,
        }
    }
}

fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Literal(bits) => Some(bits),
        Operand::Int(number) => Some(number as u32),
        _ => None,
    }
}
