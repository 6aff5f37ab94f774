//! Lifts GFX9 code to IR.
//!
//! [`lift_kernel`] finds the code that a kernel can reach (`program`), cuts it into blocks and
//! emits each block (`emit`). The table names the lift function of every instruction; each family
//! of instructions has its own file. An instruction that is not in the table, or not implemented,
//! becomes a trap where it stands.
//!
//! # Registers of a function
//!
//! - `s`: the scalar registers as 64 pairs, by the hardware's own numbers: s0 to s101, flat_scratch
//!   (pair 51), xnack_mask, vcc (53), the trap handler's registers, m0 (the low half of 62), exec
//!   (63, the mask of active lanes). A pair holds a mask of lanes as well as two numbers.
//! - `scc`: a mask of all lanes or none.
//! - `v`: the vector registers.
//!
//! # Modes
//!
//! The mode says how floats round and flush, and whether vector registers are indexed. Instructions
//! change it. A block is lifted for one mode: code that is reached in two modes is lifted twice. So
//! a mode costs nothing where it is used.

pub mod apertures;
mod computed;
mod context;
mod emit;
mod entry;
mod floats;
mod flow;
mod mode;
pub(super) mod program;
mod scalars;
mod scratch;
mod sources;
mod support;
mod texels;
mod vector_memory;

// The instructions, family by family.
pub mod buffer;
pub mod buffer_format;
pub mod control;
pub mod convert;
pub mod division;
pub mod flat;
pub mod graphics;
pub mod hardware;
pub mod image;
mod image_level;
pub mod image_sample;
mod image_taps;
mod known;
pub mod lds;
pub mod lds_atomic;
pub mod lds_lanes;
pub mod packed;
pub mod scalar_alu;
pub mod scalar_bits;
pub mod scalar_compare;
pub mod scalar_memory;
pub mod transcendental;
pub mod vector_compare;
pub mod vector_double;
pub mod vector_float;
pub mod vector_half;
pub mod vector_int;
pub mod vector_lanes;
pub mod vector_short;

pub use context::Cx;
pub use entry::{ConstantMemory, Initial, InitialScalar, InitialVector, KnownWord};
pub use flow::{Flow, Lifted, Unsupported};
pub use known::{OBJECT_BYTES, Object};
pub use mode::Mode;
use warploom_guest::chip::Chip;
use warploom_guest::{LiftError, if_conversion};
use warploom_ir::image::Shape;
use warploom_ir::{Function, NanPolicy};

use super::Instruction;

/// Lifts one instruction: emits its operations and says where control goes.
pub type Lift = fn(&mut Cx<'_>, &Instruction) -> Lifted;

/// The number of lanes of a wave.
pub const WARP_LANES: u8 = 64;

/// The NaNs of results. The hardware keeps the payload of a NaN operand: `docs/fidelity.md`.
pub const NAN: NanPolicy = NanPolicy { f16: 0x7e00, f32: 0x7fc0_0000, f64: 0x7ff8_0000_0000_0000 };

/// A kernel to lift.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    pub name: &'a str,
    /// The code and its surroundings, from address `base` on.
    pub code: &'a [u8],
    pub base: u64,
    /// The address of the first instruction.
    pub entry: u64,
    /// The targets of indirect jumps that the file names.
    pub indirect_targets: &'a [u64],
    /// Further targets of indirect jumps, in the order in which they were seen.
    pub discovered: &'a [u64],
    /// The number of vector registers of a lane, 1 to 256.
    pub vectors: u32,
    /// The mode at the entry, and at every target of an indirect jump.
    pub mode: Mode,
    /// The contents of registers at the entry.
    pub initial: Initial,
    /// The offsets in the constant bank of copies of descriptors, and their known shapes:
    /// [`Object::shape`].
    pub objects: &'a [(u32, Shape)],
    /// The chip that the code is for.
    pub chip: Chip,
    /// True if blocks stay as the guest's branches make them: see [`if_conversion`].
    pub plain: bool,
    /// Whether the code tells observers what operations do not show.
    pub observed: bool,
}

impl<'a> Kernel<'a> {
    /// Returns a kernel of code at address 0 that begins there and has no known indirect targets.
    ///
    /// It has the mode that compilers ask for, and all vector registers.
    pub fn new(name: &'a str, code: &'a [u8]) -> Kernel<'a> {
        Kernel {
            name,
            code,
            base: 0,
            entry: 0,
            indirect_targets: &[],
            discovered: &[],
            vectors: 256,
            mode: Mode::from_bits(COMPILED_MODE),
            initial: Initial::default(),
            objects: &[],
            chip: Chip::Any,
            plain: false,
            observed: false,
        }
    }
}

/// The mode that compilers ask for: rounding to nearest, denormals kept, DX10_CLAMP and IEEE set.
const COMPILED_MODE: u32 = 0x3f0;

/// Lifts the kernel, with all code that it can reach.
///
/// # Errors
/// The entry is outside the code, the code reads an attribute that is not given, or a lift function
/// built an ill-typed operation.
pub fn lift_kernel(kernel: &Kernel<'_>) -> Result<Function, LiftError> {
    let program = program::Program::new(kernel)?;
    graphics::check(kernel, &program)?;
    let function = emit::emit(kernel, &program);
    let mut function =
        function.map_err(|error| LiftError::Build { kernel: kernel.name.to_owned(), error })?;
    if !kernel.plain {
        if_conversion::convert(&mut function);
    }
    Ok(function)
}
