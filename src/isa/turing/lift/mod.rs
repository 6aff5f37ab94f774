//! The lifter from code of Turing, Ampere and Ada to IR.
//!
//! [`lift_kernel`] finds the code that a kernel can reach and makes a graph of it (`graph`), puts
//! its nodes into an order with places where lanes wait (`plan`), and emits each node (`emit`). The
//! table names the lift function of every instruction; each family has a file. An instruction that
//! is not implemented becomes a trap at its place.
//!
//! # Registers of a function
//!
//! - `r`: the general registers (`Lane(I32)`)
//! - `ur`: the uniform registers, also `Lane(I32)`: each lane sees the values of its own path. Code
//!   that the hardware runs with a whole warp gives all lanes equal values.
//! - `p`, `up`: P0 to P6, UP0 to UP6
//! - `b`: the registers of convergence, if code waits for lanes that they name (`Lane(I32)`)
//! - `active`, and the registers of places and meetings

mod emit;
pub(crate) mod graph;
mod liveness;
mod meeting;
mod operand;
mod plan;

// The instructions, family by family.
pub mod atomic;
pub mod bits;
pub mod compare;
pub mod control;
pub mod convert;
pub mod float;
mod flow;
pub mod half;
pub mod integer;
pub mod matrix;
pub mod memory;
pub mod moves;
pub mod shift;
pub mod surface;
pub mod texture;
pub mod warp;

use flow::Lifted;
use warploom_guest::LiftError;
use warploom_guest::fidelity::Fidelity;
use warploom_ir::{CellKind, Function, FunctionBuilder, NanPolicy, Service, Type};
pub use warploom_sass::lift::Cx;
use warploom_sass::lift::{Banks, Flag, FlagBanks, KnownImages};

use crate::{Instruction, WORD_BYTES};

/// Lifts one instruction: emits its operations and returns where control goes.
pub type Lift = fn(&mut Cx<'_>, &Instruction) -> Lifted;

pub const WARP_LANES: u8 = 32;

/// The NaN that operations produce, as on PTX's GPUs.
pub const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8_0000_0000_0000 };

/// The most registers of a lane, and of its uniform registers.
const REGISTERS: u32 = 255;
const UNIFORM_REGISTERS: u32 = 63;
/// The registers of convergence.
const CONVERGENCE_REGISTERS: u32 = 16;

/// The kernel to lift, and the facts that its lifting may rely on.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    pub name: &'a str,
    /// The number of the GPU's model, as 75 in `sm_75`.
    pub model: u8,
    /// The code from address 0 on.
    pub code: &'a [u8],
    /// The address of the first instruction.
    pub entry: u64,
    /// The addresses that indirect jumps and calls may reach.
    pub targets: &'a [u64],
    /// Stand-ins of undefined functions that the host provides, with their addresses.
    pub services: &'a [(u64, Service)],
    /// Images whose handles are known words of constant bank 0.
    pub images: KnownImages<'a>,
    /// The compiler's content of constant bank 2. No launch changes it: it is part of the code.
    pub constants: &'a [u8],
    /// Whether the code tells observers what operations do not show.
    pub observed: bool,
}

impl Kernel<'_> {
    /// Decodes the instruction at an address. None: there is no legal word.
    pub fn instruction(&self, pc: u64) -> Option<Instruction> {
        let bytes = crate::word_at(self.code, pc)?;
        Instruction::decode(bytes, self.model)
    }
}

/// Lifts a kernel with all code that it can reach.
///
/// # Errors
/// The entry is outside the code, or a lift function built an ill-typed operation.
pub fn lift_kernel(kernel: &Kernel<'_>) -> Result<Function, LiftError> {
    check_entry(kernel)?;
    let plan = plan::Plan::new(kernel);
    let built = emit::emit(kernel, &plan);
    built.map_err(|error| LiftError::Build { kernel: kernel.name.to_owned(), error })
}

/// # Errors
/// The entry is outside the code.
pub(crate) fn check_entry(kernel: &Kernel<'_>) -> Result<(), LiftError> {
    if crate::word_at(kernel.code, kernel.entry).is_some() {
        return Ok(());
    }
    let (entry, len) = (kernel.entry, kernel.code.len());
    Err(LiftError::NoEntry { kernel: kernel.name.to_owned(), entry, len })
}

/// Declares the banks of registers.
fn declare(function: &mut FunctionBuilder, registers: u32, uniform: u32, converges: bool) -> Banks {
    let lanes = CellKind::Lane(Type::I32);
    let registers = function.bank("r", lanes, registers.max(1));
    let uniform = Some(function.bank("ur", lanes, uniform.max(1)));
    let predicates = function.bank("p", CellKind::Mask, Flag::PREDICATES as u32);
    let others = function.bank("up", CellKind::Mask, Flag::PREDICATES as u32);
    let convergence = converges.then(|| function.bank("b", lanes, CONVERGENCE_REGISTERS));
    Banks { registers, uniform, convergence, flags: FlagBanks { predicates, others } }
}

/// Returns how faithfully an instruction is executed, with its modifiers and operands.
pub fn fidelity(insn: &Instruction, pc: u64) -> Fidelity {
    let class = insn.fidelity();
    if class != Fidelity::Unimplemented && !graph::Trial::new().executes(insn, pc) {
        return Fidelity::Unimplemented;
    }
    class
}

/// Returns the address of the next instruction.
const fn next_pc(pc: u64) -> u64 {
    pc.wrapping_add(WORD_BYTES)
}
