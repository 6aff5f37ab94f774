//! Methods that append single instructions.

use super::region::Selector;
use crate::asm::Condition;
use crate::asm::opcode::{self, Opcode};
use crate::machine::{Base, Block, GENERAL, MASK, Mem, Op, Reg, Rm, VECTOR};

/// A field of the warp's context.
pub fn context(offset: i32) -> Rm {
    Rm::Memory(Mem::at(Base::Context, offset))
}

/// A place in the warp's register file.
pub fn registers(offset: u32) -> Rm {
    Rm::Memory(Mem::at(Base::Registers, offset as i32))
}

/// Selects the instruction for 32-bit or 64-bit lanes.
pub fn sized(wide: bool, [narrow, long]: [Opcode; 2]) -> Opcode {
    if wide { long } else { narrow }
}

impl Selector<'_> {
    fn result(&mut self, class: regalloc2::RegClass, op: Op) -> Reg {
        let result = self.body.reg(class);
        self.body.op(Op { result: Some(result), ..op });
        result
    }

    /// Appends a vector instruction of two sources.
    pub fn vector(&mut self, opcode: Opcode, a: Reg, b: Rm) -> Reg {
        self.result(VECTOR, Op::new(opcode, None, Some(a), b))
    }

    /// Appends a vector instruction of one source.
    pub fn vector_of(&mut self, opcode: Opcode, a: Rm) -> Reg {
        self.result(VECTOR, Op::new(opcode, None, None, a))
    }

    /// Appends a vector instruction of one source and an immediate.
    pub fn vector_imm(&mut self, opcode: Opcode, a: Rm, imm: i64) -> Reg {
        self.result(VECTOR, Op { imm, ..Op::new(opcode, None, None, a) })
    }

    /// Appends a vector instruction of three sources. The result reuses the register of `tied`.
    pub fn vector_tied(&mut self, opcode: Opcode, tied: Reg, a: Reg, b: Rm, imm: i64) -> Reg {
        self.result(VECTOR, Op { tied: Some(tied), imm, ..Op::new(opcode, None, Some(a), b) })
    }

    /// Appends a vector instruction that computes where a mask is set, and keeps `old` elsewhere.
    pub fn vector_where(
        &mut self,
        opcode: Opcode,
        mask: Reg,
        old: Reg,
        a: Option<Reg>,
        b: Rm,
    ) -> Reg {
        self.result(VECTOR, Op { tied: Some(old), mask: Some(mask), ..Op::new(opcode, None, a, b) })
    }

    /// Appends a vector load where a mask is set, with 0 elsewhere.
    pub fn vector_or_zero(&mut self, opcode: Opcode, mask: Reg, a: Rm) -> Reg {
        self.result(VECTOR, Op { mask: Some(mask), zero: true, ..Op::new(opcode, None, None, a) })
    }

    /// Returns `yes` where a mask is set, else `no`.
    pub fn blend(&mut self, wide: bool, mask: Reg, yes: Rm, no: Reg) -> Reg {
        let opcode = if wide { opcode::VPBLENDMQ } else { opcode::VPBLENDMD };
        self.result(VECTOR, Op { mask: Some(mask), ..Op::new(opcode, None, Some(no), yes) })
    }

    /// Returns a vector constant.
    pub fn vector_constant(&mut self, words: [u64; 8]) -> Reg {
        self.vector_of(opcode::VMOVDQU64, Rm::Vector(words))
    }

    pub fn store_vector(&mut self, opcode: Opcode, a: Reg, to: Rm, mask: Option<Reg>) {
        self.body.op(Op { mask, ..Op::new(opcode, None, Some(a), to) });
    }

    /// Compares two vectors into a mask. `relation` is the number of the relation.
    pub fn compare(&mut self, opcode: Opcode, relation: i64, a: Reg, b: Rm) -> Reg {
        self.result(MASK, Op { imm: relation, ..Op::new(opcode, None, Some(a), b) })
    }

    /// Compares two vectors into a mask where another mask is set.
    pub fn compare_where(
        &mut self,
        mask: Reg,
        opcode: Opcode,
        relation: i64,
        a: Reg,
        b: Rm,
    ) -> Reg {
        self.result(
            MASK,
            Op { imm: relation, mask: Some(mask), ..Op::new(opcode, None, Some(a), b) },
        )
    }

    /// Appends an operation on two masks.
    pub fn mask(&mut self, opcode: Opcode, a: Reg, b: Reg) -> Reg {
        self.result(MASK, Op::new(opcode, None, Some(a), Rm::Reg(b)))
    }

    /// Makes a mask from a mask or a general register.
    pub fn mask_of(&mut self, opcode: Opcode, a: Reg, imm: i64) -> Reg {
        self.result(MASK, Op { imm, ..Op::new(opcode, None, None, Rm::Reg(a)) })
    }

    /// Appends a general instruction of one source.
    pub fn general_of(&mut self, opcode: Opcode, a: Rm) -> Reg {
        self.result(GENERAL, Op::new(opcode, None, None, a))
    }

    /// Moves the first lane of a vector into a general register.
    pub fn first_lane(&mut self, wide: bool, a: Reg) -> Reg {
        let opcode = if wide { opcode::VMOVQ_GENERAL } else { opcode::VMOVD_GENERAL };
        self.result(GENERAL, Op::new(opcode, None, Some(a), Rm::None))
    }

    /// Appends a general instruction of two sources. The result reuses the register of `a`.
    pub fn general(&mut self, opcode: Opcode, a: Reg, b: Rm) -> Reg {
        self.result(GENERAL, Op { tied: Some(a), ..Op::new(opcode, None, None, b) })
    }

    /// Appends a general instruction of a source and an immediate, if it has one. The result reuses
    /// the register of `a`.
    pub fn general_imm(&mut self, opcode: Opcode, a: Reg, imm: i64) -> Reg {
        self.result(GENERAL, Op { tied: Some(a), imm, ..Op::new(opcode, None, None, Rm::None) })
    }

    /// Appends a general instruction that keeps both sources, for example a shift.
    pub fn general_free(&mut self, opcode: Opcode, a: Reg, b: Rm) -> Reg {
        self.result(GENERAL, Op::new(opcode, None, Some(a), b))
    }

    /// Multiplies a source by a sign-extended 32-bit number.
    pub fn times(&mut self, a: Rm, by: i64) -> Reg {
        self.result(GENERAL, Op { imm: by, ..Op::new(opcode::IMUL_IMM, None, None, a) })
    }

    /// Adds a number to a register.
    pub fn plus(&mut self, a: Reg, number: i32) -> Reg {
        if number == 0 {
            return a;
        }
        self.general_of(opcode::LEA, Rm::Memory(Mem::at(Base::Reg(a), number)))
    }

    pub fn number(&mut self, number: u64) -> Reg {
        let opcode =
            if u32::try_from(number).is_ok() { opcode::MOV_IMM32 } else { opcode::MOV_IMM };
        self.result(GENERAL, Op { imm: number as i64, ..Op::new(opcode, None, None, Rm::None) })
    }

    pub fn store(&mut self, opcode: Opcode, a: Reg, to: Rm) {
        self.body.op(Op::new(opcode, None, Some(a), to));
    }

    pub fn store_number(&mut self, opcode: Opcode, number: i64, to: Rm) {
        self.body.op(Op { imm: number, ..Op::new(opcode, None, None, to) });
    }

    /// Sets the flags by comparing two numbers. The user of the flags must follow at once.
    pub fn cmp(&mut self, a: Reg, b: Rm) {
        self.body.op(Op::new(opcode::CMP, None, Some(a), b));
    }

    pub fn cmp_imm(&mut self, a: Reg, imm: i64) {
        self.body.op(Op { imm, ..Op::new(opcode::CMP_IMM, None, None, Rm::Reg(a)) });
    }

    /// Sets the flags by the bits of a register: *equal* if no bit is set.
    pub fn test(&mut self, a: Reg) {
        self.body.op(Op::new(opcode::TEST, None, Some(a), Rm::Reg(a)));
    }

    pub fn test_imm(&mut self, a: Reg, imm: i64) {
        self.body.op(Op { imm, ..Op::new(opcode::TEST_IMM, None, None, Rm::Reg(a)) });
    }

    /// Sets the flags by a mask of 16 lanes: *equal* if no lane is set.
    pub fn kortest(&mut self, a: Reg) {
        self.body.op(Op::new(opcode::KORTESTW, None, Some(a), Rm::Reg(a)));
    }

    /// Returns `yes` if the flags satisfy the condition, else `no`.
    pub fn choose(&mut self, condition: Condition, yes: Reg, no: Reg) -> Reg {
        let opcode = match condition {
            Condition::Below => opcode::CMOVB,
            Condition::AboveOrEqual => opcode::CMOVAE,
            Condition::Equal => opcode::CMOVE,
            Condition::NotEqual => opcode::CMOVNE,
            Condition::BelowOrEqual => opcode::CMOVBE,
            Condition::Above => opcode::CMOVA,
            Condition::Less => opcode::CMOVL,
            Condition::GreaterOrEqual => opcode::CMOVGE,
            Condition::LessOrEqual => opcode::CMOVLE,
            Condition::Greater => opcode::CMOVG,
        };
        self.general(opcode, no, Rm::Reg(yes))
    }

    /// Adds a parameter in a fresh general register to a block.
    pub fn general_param(&mut self, block: Block) -> Reg {
        self.body.param(block, GENERAL)
    }

    /// Adds a parameter in a fresh vector register to a block.
    pub fn vector_param(&mut self, block: Block) -> Reg {
        self.body.param(block, VECTOR)
    }

    /// Continues in a new block if the flags satisfy the condition, else goes to `other`.
    pub fn require(&mut self, condition: Condition, other: Block) {
        let go = self.body.block();
        self.body.branch(condition, (go, Vec::new()), (other, Vec::new()));
        self.body.switch_to(go);
    }
}
