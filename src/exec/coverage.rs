//! [`Coverage`]: the instructions of a file's code that are not executed, found by lifting every
//! kernel.

use std::collections::{BTreeMap, BTreeSet};

use warploom_container::{Code, FunctionId, Module, SectionKind};
use warploom_guest::LiftError;
use warploom_ir::{Block, BlockId, Function, Terminator, TrapKind};
use warploom_runtime::memory::MemoryConfig;

use super::guest::{Lifting, Placed, Purpose};
use super::{Error, FidelityClass, Program};

/// Counts over kernels.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub kernels: u64,
    /// Kernels that can reach an instruction that is not executed, or a word that is no
    /// instruction.
    pub incomplete: u64,
    /// Instructions that kernels can reach. An instruction that several kernels reach counts for
    /// each.
    pub instructions: u64,
    /// Instructions that are not executed, by mnemonic with modifiers.
    pub stops: BTreeMap<Stop, Count>,
    /// Counts of instructions that are executed, but not as documented to the last bit; with the
    /// bound.
    pub approximate: BTreeMap<(String, &'static str), u64>,
}

/// An instruction that is not executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stop {
    pub mnemonic: String,
    /// [`FidelityClass::Illegal`]: the word is no instruction. Exact or approximate: the
    /// instruction is executed with other operands.
    pub class: FidelityClass,
}

/// Occurrences of an instruction in the code of kernels, and the first place.
#[derive(Clone, Debug, Default)]
pub struct Count {
    pub instructions: u64,
    pub kernels: u64,
    /// The kernel, the address from the start of its code section or image, and the text.
    pub example: (String, u64, String),
}

impl Coverage {
    /// Lifts all kernels of a module. Lifting goes on behind an instruction that is not executed.
    ///
    /// # Errors
    /// The module cannot be linked, or a kernel cannot be lifted.
    pub fn add(&mut self, module: Module) -> Result<(), Error> {
        let program = Program::new(module, MemoryConfig::default())?;
        let kernels: Vec<FunctionId> = program.module().kernels().map(|(id, _)| id).collect();
        let mut code: Option<Code> = None;
        for kernel in kernels {
            let function = program.module().function(kernel);
            let is_image = program.module().section(function.section).kind == SectionKind::Image;
            // An image is the same code for all kernels, and may be large.
            let mut own =
                code.take().filter(|_| is_image).unwrap_or_else(|| program.linked().code(kernel));
            if is_image {
                own.entry = own.base.wrapping_add(function.offset);
            }
            self.kernel(&program, kernel, code.insert(own))?;
        }
        Ok(())
    }

    fn kernel(
        &mut self,
        program: &Program,
        kernel: FunctionId,
        code: &mut Code,
    ) -> Result<(), Error> {
        let (linked, guest) = (program.linked(), program.guest());
        let (mut counted, mut stops) = (BTreeSet::new(), BTreeMap::<u64, Placed>::new());
        let (entry, mut starts) = (code.entry, vec![code.entry]);
        while let Some(start) = starts.pop() {
            code.entry = start;
            let lifting = Lifting {
                linked,
                kernel,
                code,
                discovered: &[],
                images: &[],
                purpose: Purpose::Reports,
            };
            let function = match guest.lift(&lifting) {
                Ok(function) => function,
                Err(error @ LiftError::NoEntry { .. }) => match guest.instruction(code, start) {
                    Some(placed) if start == entry => {
                        stops.insert(placed.pc, placed);
                        continue;
                    }
                    None if start == entry => return Err(error.into()),
                    // There may be no more code behind an instruction.
                    _ => continue,
                },
                Err(error) => return Err(error.into()),
            };
            for block in reachable(&function) {
                for placed in super::guest::instructions(guest, code, block.pc, block.cost) {
                    if counted.insert(placed.pc)
                        && let FidelityClass::Approximate(bound) = placed.class
                    {
                        *self.approximate.entry((placed.mnemonic, bound)).or_default() += 1;
                    }
                }
                let Terminator::Trap {
                    kind: TrapKind::Unimplemented | TrapKind::IllegalInstruction,
                    pc,
                } = block.term
                else {
                    continue;
                };
                let Some(placed) = guest.instruction(code, pc) else { continue };
                // A word that is no instruction may be the end of the code.
                if guest.lifts_from_entry()
                    && placed.class != FidelityClass::Illegal
                    && !stops.contains_key(&pc)
                {
                    starts.push(placed.next);
                }
                stops.insert(pc, placed);
            }
        }
        self.kernels += 1;
        self.incomplete += u64::from(!stops.is_empty());
        self.instructions += counted.len() as u64;
        let name = &program.module().function(kernel).name;
        let mut forms = BTreeSet::new();
        for (pc, placed) in stops {
            let stop = Stop { mnemonic: placed.mnemonic, class: placed.class };
            let count = self.stops.entry(stop.clone()).or_insert_with(|| Count {
                example: (name.clone(), pc - code.base, placed.text),
                ..Count::default()
            });
            count.instructions += 1;
            count.kernels += u64::from(forms.insert(stop));
        }
        Ok(())
    }
}

/// Returns the blocks that the first block leads to, and the targets of indirect jumps.
fn reachable(function: &Function) -> Vec<&Block> {
    let mut seen = vec![false; function.blocks.len()];
    let mut next: Vec<BlockId> = function.indirect_targets().map(|(_, id)| id).collect();
    next.push(BlockId(0));
    let mut found = vec![];
    while let Some(BlockId(id)) = next.pop() {
        let Some(block) = function.blocks.get(id as usize) else { continue };
        if !std::mem::replace(&mut seen[id as usize], true) {
            block.term.for_each_target(|target| next.push(target));
            found.push(block);
        }
    }
    found
}
