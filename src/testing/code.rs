//! Guest code in random registers, which is lifted and run on every engine.

use arbitrary::{Result as Choice, Unstructured};
use warploom_guest::LiftError;
use warploom_ir::{Function, verify};

use super::check::{Failure, Reproducer, Subject};
use super::compare::{self, BLOCKS, Initial, WAYS, Way};
use super::program::subset;
use super::{
    attack, gfx9_code, gfx9_registers, maxwell, maxwell_code, maxwell_registers, products, turing,
    turing_code, turing_registers,
};

/// An instruction set whose bare code can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    Maxwell,
    Turing,
    Gfx9,
}

/// A function that makes instructions.
type Instructions = fn(&mut Unstructured<'_>) -> Choice<Vec<Vec<u8>>>;

/// Code with the initial content of its registers.
#[derive(Clone, Debug)]
pub struct Code {
    isa: Isa,
    /// Instructions with their literals, without control words.
    instructions: Vec<Vec<u8>>,
    block: [u32; 3],
    /// Choices for the registers' content.
    registers: Vec<u8>,
    /// Whether registers hold addresses at edges of guest memory and beyond.
    hostile: bool,
    /// The ways in which the JIT makes the code: all ways by default.
    ways: &'static [Way],
}

/// The number of vector registers of GFX9 code.
const VGPRS: u32 = 32;
/// The most bytes of an input that registers are chosen from.
const REGISTER_CHOICES: usize = 2048;

impl Code {
    /// Makes code from the bytes as they are.
    pub fn dumb(isa: Isa, bytes: &[u8]) -> Code {
        const MAX_INSTRUCTIONS: usize = 64;
        let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let words = rest.chunks(isa.word_bytes()).take(MAX_INSTRUCTIONS);
        let instructions =
            words.map(|word| [word, &[0; 16][word.len()..]].concat()[..isa.word_bytes()].to_vec());
        let block = BLOCKS[usize::from(*first) % BLOCKS.len()];
        let registers = rest[..rest.len().min(REGISTER_CHOICES)].to_vec();
        Code {
            isa,
            instructions: instructions.collect(),
            block,
            registers,
            hostile: false,
            ways: WAYS,
        }
    }

    /// Makes code from the instruction table.
    pub fn smart(isa: Isa, u: &mut Unstructured<'_>) -> Choice<Code> {
        Code::choose(
            isa,
            u,
            match isa {
                Isa::Maxwell => maxwell_code,
                Isa::Turing => turing_code,
                Isa::Gfx9 => gfx9_code,
            },
        )
    }

    /// Makes code from the table, with addresses that lead to the edges of guest memory and beyond.
    pub fn hostile(isa: Isa, u: &mut Unstructured<'_>) -> Choice<Code> {
        Ok(Code { hostile: true, ..Code::smart(isa, u)? })
    }

    /// Makes Maxwell code of the shapes that analysis fuses.
    pub fn products(u: &mut Unstructured<'_>) -> Choice<Code> {
        Code::choose(Isa::Maxwell, u, products)
    }

    /// Makes code. Half of the choices are for the registers' content.
    fn choose(isa: Isa, u: &mut Unstructured<'_>, instructions: Instructions) -> Choice<Code> {
        let block = *u.choose(&BLOCKS)?;
        let count = u.len().min(REGISTER_CHOICES) / 2;
        let registers = u.bytes(count)?.to_vec();
        Ok(Code {
            isa,
            instructions: instructions(u)?,
            block,
            registers,
            hostile: false,
            ways: WAYS,
        })
    }

    /// Returns the code with these ways of the JIT only.
    pub fn in_ways(self, ways: &'static [Way]) -> Code {
        Code { ways, ..self }
    }

    /// Returns the number of instructions.
    pub fn instructions(&self) -> usize {
        self.instructions.len()
    }

    fn lift(&self) -> Result<Function, LiftError> {
        match self.isa {
            Isa::Maxwell => {
                let code = maxwell::bundles(&self.instructions.concat());
                warploom_maxwell::lift::lift_kernel(&warploom_maxwell::lift::Kernel::new(
                    "random", &code, 8,
                ))
            }
            Isa::Turing => turing::lifted(&self.instructions.concat()),
            Isa::Gfx9 => {
                let code = self.instructions.concat();
                let kernel = warploom_gfx9::lift::Kernel::new("random", &code);
                warploom_gfx9::lift::lift_kernel(&warploom_gfx9::lift::Kernel {
                    vectors: VGPRS,
                    ..kernel
                })
            }
        }
    }

    fn initial(&self, function: &Function) -> Vec<Initial> {
        let u = &mut Unstructured::new(&self.registers);
        let registers = match self.isa {
            Isa::Maxwell => maxwell_registers(function, u),
            Isa::Turing => turing_registers(function, u),
            Isa::Gfx9 => gfx9_registers(function, u),
        };
        // Registers are 0 if the choices run out.
        let mut registers = registers.unwrap_or_default();
        if self.hostile {
            // If the choices run out, the remaining registers stay unchanged.
            let _ = attack::addresses(
                function,
                &mut registers,
                &mut Unstructured::new(&self.registers),
            );
        }
        registers
    }
}

impl Isa {
    const fn word_bytes(self) -> usize {
        match self {
            Isa::Maxwell => 8,
            Isa::Turing => 16,
            Isa::Gfx9 => 4,
        }
    }
}

impl Subject for Code {
    type Outcome = ();

    fn run(&self) -> Result<(), Failure> {
        // Code that does not begin with an instruction is no kernel.
        let Ok(function) = self.lift() else { return Ok(()) };
        verify::verify(&function).map_err(|e| Failure::Difference(format!("{e}\n{function}")))?;
        let initial = self.initial(&function);
        compare::compare(&function, self.block, &initial, self.ways).map_err(|difference| {
            let compare::Difference { engine, block, what, .. } = *difference;
            Failure::Difference(format!("{engine}, block {block:?}: {what}"))
        })
    }

    fn reduced(&self, fails: &dyn Fn(&Code) -> bool) -> Code {
        let with = |kept: &[bool]| {
            let kept = self.instructions.iter().zip(kept).filter(|(_, kept)| **kept);
            Code {
                instructions: kept.map(|(instruction, _)| instruction.clone()).collect(),
                ..self.clone()
            }
        };
        with(&subset(self.instructions.len(), &mut |kept| fails(&with(kept))))
    }

    fn reproducer(&self) -> Option<Reproducer> {
        let function = self.lift().ok()?;
        Some(compare::reproducer(&function, self.block, &self.initial(&function)))
    }
}
