//! The contents of registers when a wave starts.
//!
//! Everything that depends on the launch comes from constant bank 0, so that a translation serves
//! all launches. Source: LLVM, "User Guide for AMDGPU Backend", "Initial Kernel Execution State".

use warploom_ir::{Extend, IntCc, Space, Special, Type};

use super::context::Cx;
use super::graphics::{self, Shader};
use crate::Operand;

/// The constant bank that the launch fills.
pub const BANK: u8 = 0;

/// The registers that do not start as 0, and the launch's known memory.
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// The initial scalars, by number of the scalar register.
    pub scalars: Vec<(u8, InitialScalar)>,
    /// The initial vectors, by number of the vector register.
    pub vectors: Vec<(u8, InitialVector)>,
    /// The offset in the bank of the address of the chip's global data share, if there is one.
    pub data_share: Option<u32>,
    /// Memory that does not change during the launch.
    pub constants: Vec<ConstantMemory>,
    /// Words of the bank with bits that are equal in every launch.
    pub words: Vec<KnownWord>,
    /// The part that only shaders have.
    pub shader: Option<Shader>,
}

/// A word of the bank with some bits that are equal in every launch.
///
/// An example is the word of scratch memory's descriptor that says how lanes are interleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownWord {
    /// The word's offset in the bank.
    pub offset: u32,
    /// The known bits, and their values. If the lower half has unknown bits, they are not all ones,
    /// so a carry goes no further.
    pub mask: u32,
    pub bits: u32,
}

/// Memory of which the bank has a copy.
///
/// Loads may read the copy if their pair of scalar registers is known to hold the memory's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantMemory {
    /// The offset in the bank of the memory's address.
    pub pointer: u32,
    /// The offset of the copy in the bank, a multiple of 8, and the copy's length.
    pub offset: u32,
    pub bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialScalar {
    /// The word at this offset of the bank.
    Constant(u32),
    /// The index of the workgroup on an axis.
    Workgroup(u8),
    /// The word at this offset of the bank, and bit 31 in the workgroup's first wave.
    WorkgroupInfo(u32),
    /// Bytes from the start of scratch memory to this wave's part: the wave's slot times the word
    /// at this offset of the bank.
    ScratchOffset(u32),
    /// A word for each warp of the launch, from the address in the two words at this offset of the
    /// bank. Blocks are one warp each.
    Warps(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialVector {
    /// The index of the work-item in its workgroup on an axis.
    WorkItem(u8),
    /// All three indices in ten bits each, x in the lowest.
    PackedWorkItem,
    /// The word at this offset of the bank, in each lane.
    Constant(u32),
    /// A word for each work-item of the workgroup, x fastest, from the address in the two words at
    /// this offset of the bank.
    Array(u32),
    /// A word for each lane of the launch, in a row that the program is given, from the address in
    /// the two words at this offset of the bank.
    Row(u32),
}

/// Emits the block before the first instruction.
pub(super) fn set_up(cx: &mut Cx<'_>, initial: &Initial) {
    for &(number, scalar) in &initial.scalars {
        let value = match scalar {
            InitialScalar::Constant(offset) => cx.b.load_const(BANK, offset, Type::I32),
            InitialScalar::Workgroup(axis) => cx.b.special(Special::Ctaid(axis)),
            InitialScalar::WorkgroupInfo(offset) => {
                let (wave, zero, first) =
                    (cx.b.special(Special::WarpId), cx.int(0), cx.int(1 << 31));
                let is_first = cx.b.icmp(IntCc::Eq, wave, zero);
                let (first, word) = (
                    cx.b.uniform_select(is_first, first, zero),
                    cx.b.load_const(BANK, offset, Type::I32),
                );
                cx.b.or(first, word)
            }
            InitialScalar::ScratchOffset(offset) => {
                let (slot, bytes) =
                    (cx.b.special(Special::WarpSlot), cx.b.load_const(BANK, offset, Type::I32));
                cx.b.mul(slot, bytes)
            }
            InitialScalar::Warps(offset) => cx.warp_word(offset),
        };
        cx.set_scalar(Operand::Scalar(number), value);
    }
    for &(number, vector) in &initial.vectors {
        let value = match vector {
            InitialVector::WorkItem(axis) => cx.b.special(Special::Tid(axis)),
            InitialVector::PackedWorkItem => {
                let [x, y, z] = [0, 1, 2].map(|axis| cx.b.special(Special::Tid(axis)));
                let (y, z) = (cx.shl(y, 10), cx.shl(z, 20));
                let low = cx.b.or(x, y);
                cx.b.or(low, z)
            }
            InitialVector::Constant(offset) => cx.b.load_const(BANK, offset, Type::I32),
            InitialVector::Row(offset) => cx.given(offset),
            InitialVector::Array(offset) => {
                let warp = cx.b.special(Special::WarpId);
                let (first, lane) = (cx.shl(warp, 6), cx.b.lane_id());
                let index = cx.b.add(first, lane);
                let index = cx.b.zero_extend(Type::I64, index);
                let (base, two) =
                    (cx.b.load_const(BANK, offset, Type::I64), cx.b.iconst(Type::I64, 2));
                let bytes = cx.b.shl(index, two);
                let address = cx.b.add(base, bytes);
                cx.b.load(Space::Global, Type::I32, Extend::None, address, 0)
            }
        };
        cx.set_vector(number, value);
    }
    if let Some(shader) = &initial.shader {
        graphics::set_up(cx, shader);
    }
}
