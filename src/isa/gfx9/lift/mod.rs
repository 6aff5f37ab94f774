//! Makes IR of instructions. A placeholder: nothing is lifted yet.

use super::instruction::Instruction;

/// What a lift function builds IR with.
pub struct Cx<'a>(std::marker::PhantomData<&'a ()>);

/// What becomes of control flow after an instruction.
pub struct Lifted;

/// Makes IR of an instruction.
pub type Lift = fn(&mut Cx<'_>, &Instruction) -> Lifted;
