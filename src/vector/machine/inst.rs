//! One machine instruction with virtual registers.

use regalloc2::{Operand, PReg};

use super::{GENERAL, Reg};
use crate::asm::Condition;
use crate::asm::opcode::Opcode;

/// The base of an address.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    Reg(Reg),
    /// The warp's context.
    Context,
    /// The warp's register file.
    Registers,
}

/// A place in memory: `[base + index << scale + displacement]`.
#[derive(Clone, Copy, Debug)]
pub struct Mem {
    pub base: Base,
    pub index: Option<(Reg, u8)>,
    pub displacement: i32,
}

impl Mem {
    pub fn at(base: Base, displacement: i32) -> Mem {
        Mem { base, index: None, displacement }
    }
}

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Rm {
    /// The instruction has no operand besides its result.
    None,
    Reg(Reg),
    Memory(Mem),
    /// The bits of an element, for all lanes.
    Constant(u64),
    Vector([u64; 8]),
}

/// An instruction of the assembler. [`crate::asm::opcode::Form`] says where its operands stand.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub opcode: Opcode,
    pub result: Option<Reg>,
    /// A source whose register the result reuses.
    pub tied: Option<Reg>,
    pub first: Option<Reg>,
    pub last: Rm,
    /// The lanes that are computed or stored.
    pub mask: Option<Reg>,
    /// If true, lanes outside the mask are 0. If false, they come from `tied`, or from `first` for
    /// a blend.
    pub zero: bool,
    pub imm: i64,
}

/// An argument of a helper.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    Reg(Reg),
    Number(i32),
}

#[derive(Clone, Debug)]
pub enum Inst {
    Op(Op),
    /// Defines the second argument of the function.
    Entry {
        number: Reg,
    },
    /// Calls a helper with the context and these arguments. All registers keep their values.
    Call {
        helper: u32,
        args: Vec<Arg>,
    },
    /// Goes to the only successor.
    Jump,
    /// Goes to the first successor if the flags satisfy the condition, else to the second.
    Branch(Condition),
    /// Returns a number.
    Return(u32),
}

impl Inst {
    pub fn ends_block(&self) -> bool {
        matches!(self, Inst::Jump | Inst::Branch(_) | Inst::Return(_))
    }

    /// Lists the registers in the order in which [`super::emit`] takes their places.
    pub fn operands(&self, out: &mut Vec<Operand>) {
        match self {
            Inst::Op(op) => op.operands(out),
            Inst::Entry { number } => {
                out.push(Operand::reg_fixed_def(*number, PReg::new(6, GENERAL)))
            }
            Inst::Call { args, .. } => {
                let regs = args
                    .iter()
                    .filter_map(|arg| if let Arg::Reg(reg) = arg { Some(*reg) } else { None });
                out.extend(regs.map(Operand::reg_use));
            }
            Inst::Jump | Inst::Branch(_) | Inst::Return(_) => {}
        }
    }
}

impl Op {
    pub fn new(opcode: Opcode, result: Option<Reg>, first: Option<Reg>, last: Rm) -> Op {
        Op { opcode, result, tied: None, first, last, mask: None, zero: false, imm: 0 }
    }

    fn operands(&self, out: &mut Vec<Operand>) {
        let start = out.len();
        let mut place = |mem: &Mem| {
            if let Base::Reg(base) = mem.base {
                out.push(Operand::reg_use(base));
            }
            out.extend(mem.index.map(|(index, _)| Operand::reg_use(index)));
        };
        match &self.last {
            Rm::Memory(mem) => place(mem),
            Rm::Reg(reg) => out.push(Operand::reg_use(*reg)),
            Rm::None | Rm::Constant(_) | Rm::Vector(_) => {}
        }
        out.extend(self.first.map(Operand::reg_use));
        out.extend(self.mask.map(Operand::reg_use));
        if let Some(tied) = self.tied {
            out.push(Operand::reg_use(tied));
        }
        let tied_at = out.len().wrapping_sub(start + 1);
        if let Some(result) = self.result {
            out.push(match self.tied {
                Some(_) => Operand::reg_reuse_def(result, tied_at),
                None => Operand::reg_def(result),
            });
        }
    }
}
