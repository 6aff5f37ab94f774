//! Single instructions.

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

/// One of two instructions: for lanes of 32 bits, or of 64.
pub fn sized(wide: bool, [narrow, long]: [Opcode; 2]) -> Opcode {
    if wide { long } else { narrow }
}

impl Selector<'_> {
    fn result(&mut self, class: regalloc2::RegClass, op: Op) -> Reg {
        let result = self.body.reg(class);
        self.body.op(Op { result: Some(result), ..op });
        result
    }

    /// A vector of two sources.
    pub fn vector(&mut self, opcode: Opcode, a: Reg, b: Rm) -> Reg {
        self.result(VECTOR, Op::new(opcode, None, Some(a), b))
    }

    /// A vector of one source.
    pub fn vector_of(&mut self, opcode: Opcode, a: Rm) -> Reg {
        self.result(VECTOR, Op::new(opcode, None, None, a))
    }

    /// A vector of one source and an immediate.
    pub fn vector_imm(&mut self, opcode: Opcode, a: Rm, imm: i64) -> Reg {
        self.result(VECTOR, Op { imm, ..Op::new(opcode, None, None, a) })
    }

    /// A vector of three sources, the first of which gives its register up.
    pub fn vector_tied(&mut self, opcode: Opcode, tied: Reg, a: Reg, b: Rm, imm: i64) -> Reg {
        self.result(VECTOR, Op { tied: Some(tied), imm, ..Op::new(opcode, None, Some(a), b) })
    }

    /// A vector that is computed where a mask is set, and `old` elsewhere.
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

    /// A vector that is loaded where a mask is set, and 0 elsewhere.
    pub fn vector_or_zero(&mut self, opcode: Opcode, mask: Reg, a: Rm) -> Reg {
        self.result(VECTOR, Op { mask: Some(mask), zero: true, ..Op::new(opcode, None, None, a) })
    }

    /// `yes` where a mask is set, else `no`.
    pub fn blend(&mut self, wide: bool, mask: Reg, yes: Rm, no: Reg) -> Reg {
        let opcode = if wide { opcode::VPBLENDMQ } else { opcode::VPBLENDMD };
        self.result(VECTOR, Op { mask: Some(mask), ..Op::new(opcode, None, Some(no), yes) })
    }

    /// A vector that all lanes have as a constant.
    pub fn vector_constant(&mut self, words: [u64; 8]) -> Reg {
        self.vector_of(opcode::VMOVDQU64, Rm::Vector(words))
    }

    pub fn store_vector(&mut self, opcode: Opcode, a: Reg, to: Rm, mask: Option<Reg>) {
        self.body.op(Op { mask, ..Op::new(opcode, None, Some(a), to) });
    }

    /// A mask that compares two vectors, by the number of the relation.
    pub fn compare(&mut self, opcode: Opcode, relation: i64, a: Reg, b: Rm) -> Reg {
        self.result(MASK, Op { imm: relation, ..Op::new(opcode, None, Some(a), b) })
    }

    /// A mask that compares two vectors where another mask is set.
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

    /// A mask of two masks.
    pub fn mask(&mut self, opcode: Opcode, a: Reg, b: Reg) -> Reg {
        self.result(MASK, Op::new(opcode, None, Some(a), Rm::Reg(b)))
    }

    /// A mask of a mask or a general register.
    pub fn mask_of(&mut self, opcode: Opcode, a: Reg, imm: i64) -> Reg {
        self.result(MASK, Op { imm, ..Op::new(opcode, None, None, Rm::Reg(a)) })
    }

    /// A general register of one source.
    pub fn general_of(&mut self, opcode: Opcode, a: Rm) -> Reg {
        self.result(GENERAL, Op::new(opcode, None, None, a))
    }

    /// A general register with the first lane of a vector.
    pub fn first_lane(&mut self, wide: bool, a: Reg) -> Reg {
        let opcode = if wide { opcode::VMOVQ_GENERAL } else { opcode::VMOVD_GENERAL };
        self.result(GENERAL, Op::new(opcode, None, Some(a), Rm::None))
    }

    /// A general register of two sources, the first of which gives its register up.
    pub fn general(&mut self, opcode: Opcode, a: Reg, b: Rm) -> Reg {
        self.result(GENERAL, Op { tied: Some(a), ..Op::new(opcode, None, None, b) })
    }

    /// A general register of a source, which gives its register up, and an immediate if there is
    /// one.
    pub fn general_imm(&mut self, opcode: Opcode, a: Reg, imm: i64) -> Reg {
        self.result(GENERAL, Op { tied: Some(a), imm, ..Op::new(opcode, None, None, Rm::None) })
    }

    /// A general register of two sources that both stay, such as a shift.
    pub fn general_free(&mut self, opcode: Opcode, a: Reg, b: Rm) -> Reg {
        self.result(GENERAL, Op::new(opcode, None, Some(a), b))
    }

    /// The product of a source and a number of 32 bits, extended.
    pub fn times(&mut self, a: Rm, by: i64) -> Reg {
        self.result(GENERAL, Op { imm: by, ..Op::new(opcode::IMUL_IMM, None, None, a) })
    }

    /// A sum of a register and a number.
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

    /// Sets the flags by two numbers. What uses them follows at once.
    pub fn cmp(&mut self, a: Reg, b: Rm) {
        self.body.op(Op::new(opcode::CMP, None, Some(a), b));
    }

    pub fn cmp_imm(&mut self, a: Reg, imm: i64) {
        self.body.op(Op { imm, ..Op::new(opcode::CMP_IMM, None, None, Rm::Reg(a)) });
    }

    /// Sets the flags by the bits of a register: *equal* if there are none.
    pub fn test(&mut self, a: Reg) {
        self.body.op(Op::new(opcode::TEST, None, Some(a), Rm::Reg(a)));
    }

    pub fn test_imm(&mut self, a: Reg, imm: i64) {
        self.body.op(Op { imm, ..Op::new(opcode::TEST_IMM, None, None, Rm::Reg(a)) });
    }

    /// Sets the flags by a mask of 16 lanes: *equal* if it has none.
    pub fn kortest(&mut self, a: Reg) {
        self.body.op(Op::new(opcode::KORTESTW, None, Some(a), Rm::Reg(a)));
    }

    /// `yes` if the flags say so, else `no`.
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

    /// A fresh general register for a parameter of a block.
    pub fn general_param(&mut self, block: Block) -> Reg {
        self.body.param(block, GENERAL)
    }

    /// A fresh vector register for a parameter of a block.
    pub fn vector_param(&mut self, block: Block) -> Reg {
        self.body.param(block, VECTOR)
    }

    /// Goes on in a new block if the flags say so, else to `other`.
    pub fn require(&mut self, condition: Condition, other: Block) {
        let go = self.body.block();
        self.body.branch(condition, (go, Vec::new()), (other, Vec::new()));
        self.body.switch_to(go);
    }
}
