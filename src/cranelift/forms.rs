//! The forms that a value of the IR takes in machine code.

use cranelift_codegen::ir::{Type as ClifType, Value as Clif, types};
use smallvec::SmallVec;
use warploom_ir::Type;

/// The lanes of one chunk as 128-bit vectors: two of 32-bit cells, or four of 64-bit cells.
pub type Lanes = SmallVec<[Clif; 4]>;

/// Returns how many vectors hold a chunk of values of a type.
pub fn parts(ty: Type) -> usize {
    if ty.bits() == 64 { 4 } else { 2 }
}

/// Returns the type of one value, or of one vector of values. Narrow types live zero-extended in 32
/// bits.
pub fn clif_type(ty: Type, vector: bool) -> ClifType {
    let scalar = match ty {
        Type::I8 | Type::I16 | Type::F16 | Type::I32 => types::I32,
        Type::I64 | Type::Mask => types::I64,
        Type::F32 => types::F32,
        Type::F64 => types::F64,
    };
    match (scalar, vector) {
        (scalar, false) => scalar,
        (types::I32, _) => types::I32X4,
        (types::F32, _) => types::F32X4,
        (types::F64, _) => types::F64X2,
        _ => types::I64X2,
    }
}

/// The mask bits of one chunk, in each form that was asked for.
#[derive(Clone, Copy, Default)]
pub struct MaskForm {
    /// Bits 0..8 of an `i64`. All other bits are 0.
    pub bits: Option<Clif>,
    /// All ones or zeros in each 32-bit lane.
    pub words: Option<[Clif; 2]>,
    /// All ones or zeros in each 64-bit lane.
    pub longs: Option<[Clif; 4]>,
}
