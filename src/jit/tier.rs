//! The code of a program's regions, which is made twice at most: first so that it is there soon, and when it has proved
//! hot so that it is fast.

use std::sync::OnceLock;

use cranelift_codegen::isa::OwnedTargetIsa;

use super::code::CodeMemory;
use super::plan::BlockPlan;
use super::{JitError, generator, lower};

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// To be there soon: registers are allocated in one pass, and nothing is done for a whole warp at once.
    Quick,
    /// To be fast.
    Full,
}

impl Effort {
    /// The host's code generator, made once.
    pub fn isa(self) -> Result<OwnedTargetIsa, JitError> {
        static ISAS: [OnceLock<Result<OwnedTargetIsa, String>>; 2] = [const { OnceLock::new() }; 2];
        let make = || generator(cranelift_native::builder()?, self, &[]);
        ISAS[self as usize].get_or_init(make).clone().map_err(JitError::Host)
    }
}

/// How often warps have executed the instructions of a region, on average, when it is hot. They take some 10 ns each, an
/// instruction some 50 us to be made fast: so when code has been slow for about as long as that, and no launch is
/// much longer for what was not known of it.
pub const HOT: u64 = 4096;
/// Instructions that a call of a helper counts for: it takes some 300 ns.
pub const HELPED: u64 = 32;
/// Backward jumps after which code that is not hot is left, so that the loop may go on in better code.
pub const SLICE: u64 = 256;

/// The code of one region.
pub struct Compiled {
    pub code: CodeMemory,
    pub _owned: lower::Owned,
}

/// What was made with one effort.
pub struct Tier {
    /// Of each block.
    pub plans: OnceLock<Vec<BlockPlan>>,
    /// Of each region that was needed.
    pub code: Vec<OnceLock<Result<Compiled, JitError>>>,
}

impl Tier {
    pub fn new(regions: usize) -> Tier {
        Tier { plans: OnceLock::new(), code: (0..regions).map(|_| OnceLock::new()).collect() }
    }

    /// The code of a region, if it was made.
    pub fn made(&self, region: usize) -> Option<&Compiled> {
        self.code[region].get()?.as_ref().ok()
    }
}
