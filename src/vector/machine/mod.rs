//! Machine instructions with virtual registers: `inst` has an instruction, `body` a function.
//! `allocate` passes the function to regalloc2, and `emit` writes the result as bytes. Nothing here
//! knows the IR.

mod allocate;
mod body;
mod emit;
mod inst;

pub use allocate::allocate;
pub use body::{Block, Body};
pub use emit::{MachineFunction, emit};
pub use inst::{Arg, Base, Inst, Mem, Op, Rm};
use regalloc2::RegClass;

/// A virtual register.
pub type Reg = regalloc2::VReg;

/// General registers: 64 bits.
pub const GENERAL: RegClass = RegClass::Int;
/// Vector registers: 512 bits.
pub const VECTOR: RegClass = RegClass::Float;
/// Mask registers: 64 bits.
pub const MASK: RegClass = RegClass::Vector;
