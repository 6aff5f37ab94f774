//! [`Cx`], the state that lift functions work with: operands as values, and destinations.

use std::ops::{Deref, DerefMut};

use warploom_guest::bits::Emit;
use warploom_guest::divergence::Mask;
use warploom_guest::images::{self, Lifter};
use warploom_ir::{self as ir, BlockBuilder, Special, Type, Value};
use warploom_sass::lift;
pub use warploom_sass::lift::{KnownImages, PT, Usage, whole};

use super::flow::Active;
use super::shader::{Shader, is_of_pixels};
use crate::Instruction;
use warploom_sass::lift::Flags;

/// The register banks of the function under construction.
#[derive(Clone, Copy, Debug)]
pub struct Banks {
    pub common: lift::Banks,
    /// The banks of a graphics program.
    pub shader: Option<Shader>,
}

/// The state of one block while its instructions are lifted.
///
/// A lift function must check that it supports the instruction's modifiers before it writes
/// anything.
pub struct Cx<'a> {
    common: lift::Cx<'a>,
    pub(super) shader: Option<Shader>,
    /// The helper lanes, and the number of each lane in the launch, in a graphics program.
    pub(super) helpers: Option<Value>,
    pub(super) number: Option<Value>,
}

impl<'a> Deref for Cx<'a> {
    type Target = lift::Cx<'a>;

    fn deref(&self) -> &Self::Target {
        &self.common
    }
}

impl DerefMut for Cx<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.common
    }
}

impl<'a> Emit<'a> for Cx<'a> {
    fn builder(&mut self) -> &mut BlockBuilder<'a> {
        &mut self.common.b
    }

    fn constant_of(&mut self, ty: Type, bits: u64) -> Value {
        self.constant(ty, bits)
    }
}

impl<'a> Cx<'a> {
    /// Starts a block. `kept` are the flags that matter in inactive lanes.
    pub fn new(b: BlockBuilder<'a>, banks: Banks, kept: Flags) -> Self {
        let common = lift::Cx::new(b, banks.common, kept);
        Cx { common, shader: banks.shader, helpers: None, number: None }
    }

    /// Starts an instruction. Its guard is in force on return.
    pub fn start(&mut self, insn: &Instruction, pc: u64, live: Flags) {
        self.common.start(insn, pc, live);
        if is_of_pixels(insn.opcode()) {
            let pixels = self.pixels();
            let guard = self.guard();
            let guard = self.and(guard, pixels);
            self.set_guard(guard);
        }
    }

    /// Makes other lanes active; `suspended` holds the previously active lanes.
    pub fn activate(&mut self, active: Active, suspended: ir::Reg) {
        let lanes = match active {
            Active::All => {
                let before = self.active();
                self.b.rf_write(suspended, before);
                match self.shader {
                    Some(shader) => self.b.rf_read(shader.begun),
                    None => self.b.special(Special::LaunchMask),
                }
            }
            Active::Restored => self.b.rf_read(suspended),
        };
        self.set_active(lanes);
    }
}

impl<'a> Lifter<'a> for Cx<'a> {
    fn guard(&self) -> Mask {
        self.common.guard()
    }

    fn executing(&mut self) -> Value {
        self.common.executing()
    }

    fn driver_word(&mut self, bank: u8, offset: u32, ty: Type) -> Value {
        self.bank(bank, offset as i32, ty)
    }

    fn images(&self) -> KnownImages<'a> {
        self.images
    }

    fn records(&mut self) -> &mut images::Records {
        self.common.records()
    }

    fn others(&mut self, mask: Mask) -> Mask {
        self.not(mask)
    }
}
