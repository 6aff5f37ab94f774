//! Machine code of x86-64 with AVX-512 as bytes: `opcode` has the instructions, `encode` writes an
//! instruction, and this file has the buffer with labels, constants and references to helpers.
//!
//! Registers are numbers here: 0 to 15 general, 0 to 31 vectors, 0 to 7 masks. Nothing checks that
//! an instruction gets registers of the right kind.

mod encode;
pub mod opcode;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use opcode::Opcode;

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

/// A place in memory: `[base + index << scale + displacement]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: u8,
    /// A register, and the number of bits by which it is shifted.
    pub index: Option<(u8, u8)>,
    pub displacement: i32,
}

/// The last source of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Register(u8),
    Memory(Address),
    /// A constant of the code, for all lanes. Of its 64 bits the instruction takes as many as an
    /// element has.
    Constant(u64),
    /// A vector that is a constant of the code.
    Vector([u64; 8]),
}

/// The operands of one instruction. Fields that its form lacks are 0.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    pub reg: u8,
    pub vvvv: u8,
    pub rm: Source,
    /// The mask of the lanes that are computed; register 0 stands for all lanes.
    pub mask: u8,
    /// If true, lanes outside the mask are 0. If false, they keep the result's old value.
    pub zero: bool,
    pub imm: i64,
}

/// Code that is being written.
#[derive(Default)]
pub struct Assembler {
    bytes: Vec<u8>,
    /// Where labels are bound.
    labels: Vec<Option<usize>>,
    /// 4-byte displacements, each by the offset of its end. `constants` also has the number of
    /// bytes between a displacement and the end of its instruction.
    jumps: Vec<(usize, Label)>,
    constants: Vec<(usize, u8, Vec<u64>)>,
    helpers: Vec<(u32, u32)>,
}

/// Conditions of jumps, as the encoding numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowOrEqual = 6,
    Above = 7,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

impl Condition {
    pub fn inverse(self) -> Condition {
        match self {
            Condition::Below => Condition::AboveOrEqual,
            Condition::AboveOrEqual => Condition::Below,
            Condition::Equal => Condition::NotEqual,
            Condition::NotEqual => Condition::Equal,
            Condition::BelowOrEqual => Condition::Above,
            Condition::Above => Condition::BelowOrEqual,
            Condition::Less => Condition::GreaterOrEqual,
            Condition::GreaterOrEqual => Condition::Less,
            Condition::LessOrEqual => Condition::Greater,
            Condition::Greater => Condition::LessOrEqual,
        }
    }
}

/// Finished code.
#[derive(Debug)]
pub struct Assembled {
    pub bytes: Vec<u8>,
    /// Offsets of the 8 bytes that will hold a helper's address, each with the helper's number.
    pub helpers: Vec<(u32, u32)>,
}

/// The alignment of finished code and of its constants, in bytes.
pub const ALIGNMENT: usize = 64;

impl Assembler {
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label to the current offset.
    pub fn bind(&mut self, label: Label) {
        debug_assert!(self.labels[label.0 as usize].is_none(), "a label has one place");
        self.labels[label.0 as usize] = Some(self.bytes.len());
    }

    /// Fills with no-ops up to a multiple of `to` bytes.
    pub fn align(&mut self, to: usize) {
        const NOPS: [&[u8]; 8] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let mut missing = self.bytes.len().next_multiple_of(to) - self.bytes.len();
        while missing > 0 {
            let nop = NOPS[missing.min(NOPS.len()) - 1];
            self.bytes.extend(nop);
            missing -= nop.len();
        }
    }

    pub fn jump(&mut self, to: Label) {
        self.bytes.push(0xe9);
        self.displacement(to);
    }

    pub fn jump_if(&mut self, condition: Condition, to: Label) {
        self.bytes.extend([0x0f, 0x80 + condition as u8]);
        self.displacement(to);
    }

    /// Calls code in this buffer.
    pub fn call(&mut self, to: Label) {
        self.bytes.push(0xe8);
        self.displacement(to);
    }

    /// Calls the code whose address is in a register.
    pub fn call_register(&mut self, register: u8) {
        debug_assert!(register < 8, "a low register");
        self.bytes.extend([0xff, 0xd0 + register]);
    }

    pub fn ret(&mut self) {
        self.bytes.push(0xc3);
    }

    pub fn push(&mut self, register: u8) {
        if register >= 8 {
            self.bytes.push(0x41);
        }
        self.bytes.push(0x50 + (register & 7));
    }

    /// Pushes a number, extended from 32 bits.
    pub fn push_number(&mut self, number: i32) {
        self.bytes.push(0x68);
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn pop(&mut self, register: u8) {
        if register >= 8 {
            self.bytes.push(0x41);
        }
        self.bytes.push(0x58 + (register & 7));
    }

    /// Clears the upper halves of vector registers. Otherwise code with SSE would be slow.
    pub fn vzeroupper(&mut self) {
        self.bytes.extend([0xc5, 0xf8, 0x77]);
    }

    /// Loads the address of a helper into a general register.
    pub fn helper(&mut self, register: u8, helper: u32) {
        self.op(opcode::MOV_IMM, &Operands::of(register, 0, Source::Register(0)));
        self.helpers.push((self.bytes.len() as u32 - 8, helper));
    }

    /// Writes an instruction.
    pub fn op(&mut self, op: Opcode, operands: &Operands) {
        encode::encode(self, op, operands);
    }

    fn displacement(&mut self, to: Label) {
        self.bytes.extend([0; 4]);
        self.jumps.push((self.bytes.len(), to));
    }

    /// Returns the code with its constants behind it. All labels must be bound.
    pub fn finish(mut self) -> Assembled {
        for (end, label) in &self.jumps {
            let to = self.labels[label.0 as usize].expect("a label that is jumped to is bound");
            let distance = to as i64 - *end as i64;
            self.bytes[end - 4..*end].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        let mut places: HashMap<&[u64], usize> = HashMap::new();
        // Vectors come first, so that their places are multiples of their size.
        let mut constants: Vec<&(usize, u8, Vec<u64>)> = self.constants.iter().collect();
        constants.sort_by_key(|(_, _, words)| std::cmp::Reverse(words.len()));
        if !constants.is_empty() {
            self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0xcc);
        }
        for (end, behind, words) in constants {
            let at = *places.entry(words).or_insert_with(|| {
                let at = self.bytes.len();
                words.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
                at
            });
            let distance = at as i64 - (*end as i64 + i64::from(*behind));
            self.bytes[end - 4..*end].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        Assembled { bytes: self.bytes, helpers: self.helpers }
    }
}

impl Operands {
    pub fn of(reg: u8, vvvv: u8, rm: Source) -> Operands {
        Operands { reg, vvvv, rm, mask: 0, zero: false, imm: 0 }
    }

    pub fn imm(self, imm: i64) -> Operands {
        Operands { imm, ..self }
    }
}
