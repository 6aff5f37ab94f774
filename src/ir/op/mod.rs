//! The operations. Each doc comment is the definition that both engines follow.
//!
//! Unless its comment says otherwise, an operation is *pure and lane-wise*. It acts on every lane
//! of its window, also on inactive lanes. Its result is uniform if all operands are uniform, else
//! varying; uniform operands are broadcast. Only register writes, lane memory operations and
//! atomics are masked. The *execution mask* of a masked operation is `active & window & guard`. A
//! missing guard is all ones, and `nomask` leaves `active` out.
//!
//! Integers wrap. Narrow integers are zero-extended in their cells.

mod arith;
mod traits;
mod wide;

pub use arith::*;
pub use traits::OpTraits;
pub use wide::WideOp;

use super::function::Value;
use super::image::sample::Operation;
use super::matrix::Product;
use super::register::{BankId, Part, Reg, Region};
use super::types::Type;

/// Values of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Index of the lane in its block, per axis 0..=2 (x, y, z): varying `i32`.
    Tid(u8),
    /// Index of the block, per axis: uniform `i32`.
    Ctaid(u8),
    /// Size of the block in lanes, per axis: uniform `i32`.
    Ntid(u8),
    /// Size of the grid in blocks, per axis: uniform `i32`.
    Nctaid(u8),
    /// Index of the warp in its block: uniform `i32`.
    WarpId,
    /// A number less than `LaunchConfig::warp_slots` that no other living warp has: uniform `i32`.
    WarpSlot,
    /// The lanes of this warp that exist (the last warp of a block may be short): mask.
    LaunchMask,
    /// The guest instructions that the worker thread has counted so far, including this block:
    /// uniform `i64`. Both engines agree.
    Clock,
    /// The result of the last reducing barrier that this warp passed: uniform `i32`. For barriers
    /// that count lanes, the result for the lanes in [`Special::BarrierReleased`].
    BarrierResult,
    /// The lanes that are handed back when a warp goes on after a barrier that counts lanes or a
    /// [`LaneEvent`](crate::LaneEvent): mask. One complete barrier has released them. Lanes that
    /// other barriers release come after later barriers or events.
    BarrierReleased,
    /// Bytes of shared memory of the block, static and dynamic: uniform `i32`.
    SharedBytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// 64-bit address; the runtime's windows decide between global, shared and local.
    Generic,
    /// 64-bit guest address.
    Global,
    /// 32-bit offset in the block's shared memory.
    Shared,
    /// 32-bit offset in the lane's local memory. Elements have at most 4 bytes, so a wide access is
    /// several elements; the runtime interleaves lanes word by word.
    Local,
    /// 32-bit offset in a constant bank of 64 KiB; reads past its content give 0.
    Const(u8),
}

/// The extension of a loaded element to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extend {
    None,
    /// Sign- (zero-) extended to `i32`.
    Signed,
    Unsigned,
}

/// Address and access of a memory operation.
///
/// The access covers `count` consecutive elements of `ty` at `address + offset`. The address must
/// be a multiple of `align` bytes, else the fault is *misaligned*. If `address` is uniform, the
/// operation is *scalar*. It happens once with uniform values, also if no lane is active, unless it
/// has a guard that is 0. Otherwise it happens for each lane of the execution mask, in ascending
/// order.
///
/// A lane's access happens whole or, if any of its bytes may not be touched, not at all. Its fault
/// names `address + offset`, which wraps in the address's type, and the lane (for a scalar access,
/// the least active lane). Alignment is checked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub space: Space,
    pub ty: Type,
    /// 1 to 16 elements, of `count * ty.bytes()` bytes together.
    pub count: u8,
    pub align: u8,
    /// `i64` for generic and global, else `i32`.
    pub address: Value,
    pub offset: i32,
    pub guard: Option<Value>,
    pub nomask: bool,
}

impl Access {
    /// The bytes of all elements together.
    pub fn bytes(&self) -> u32 {
        self.ty.bytes() * u32::from(self.count)
    }
}

/// The effect of an atomic on the memory value `m` with its operand `b`; it returns the old `m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Add,
    Sub,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    Exchange,
    /// m >= b ? 0 : m + 1 (unsigned).
    Inc,
    /// m == 0 || m > b ? b : m - 1 (unsigned).
    Dec,
    /// Advances a queue's put pointer if there is room: see
    /// [`SafeAdd`](warploom_runtime::atomics::AtomicKind::SafeAdd).
    SafeAdd,
    /// m == compare ? swap : m.
    CompareExchange,
    /// m == compare ? swap : m, with a float comparison: zeros are equal, a NaN equals nothing.
    FCompareExchange,
    /// b - m
    ReverseSub,
    /// m & !compare | b
    MaskedOr,
    /// m >= b ? m - b : m + compare (unsigned).
    Wrap,
    /// Float operations, round to nearest; with `flush` denormal operands and results become zero.
    FAdd {
        flush: bool,
    },
    FMin,
    FMax,
    /// Float operations on each half of an `i32` as an `f16`.
    PairFAdd {
        flush: bool,
    },
    PairFMin,
    PairFMax,
    /// Float operations on an `i16` as a `bf16`, or on each half of an `i32`. A NaN result is
    /// 0x7fff.
    BrainFAdd,
    BrainFMin,
    BrainFMax,
    /// Arrival at a barrier in memory, an `i64`: `b` threads and `compare` bytes, or, as a negative
    /// number, bytes that are awaited from now on. See
    /// [`MemoryBarrier`](warploom_runtime::mbarrier::MemoryBarrier).
    Arrive {
        /// Whether the threads leave later phases.
        drop: bool,
    },
    /// Arrival of `b` threads (its low 32 bits) at a
    /// [`CountingBarrier`](warploom_runtime::mbarrier::CountingBarrier), an `i64`.
    ArriveCounting,
}

impl AtomicOp {
    /// Returns whether the operation has a second operand, `compare`.
    pub fn has_compare(self) -> bool {
        matches!(
            self,
            AtomicOp::CompareExchange
                | AtomicOp::FCompareExchange
                | AtomicOp::MaskedOr
                | AtomicOp::Wrap
                | AtomicOp::Arrive { .. }
        )
    }

    /// Returns whether it acts on an `i32` of two halves.
    pub fn is_of_pairs(self) -> bool {
        matches!(self, AtomicOp::PairFAdd { .. } | AtomicOp::PairFMin | AtomicOp::PairFMax)
    }

    /// Returns whether it acts on `bf16`s in an `i16` or `i32`.
    pub fn is_of_brain(self) -> bool {
        matches!(self, AtomicOp::BrainFAdd | AtomicOp::BrainFMin | AtomicOp::BrainFMax)
    }

    /// Returns whether it may act on a cell of this type.
    pub fn takes(self, ty: Type) -> bool {
        match self {
            AtomicOp::Exchange => true,
            AtomicOp::Arrive { .. } | AtomicOp::ArriveCounting => ty == Type::I64,
            _ if self.is_of_pairs() => ty == Type::I32,
            _ if self.is_of_brain() => matches!(ty, Type::I16 | Type::I32),
            _ => self.is_float() == ty.is_float(),
        }
    }

    /// Returns whether it acts only on floats.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            AtomicOp::FAdd { .. } | AtomicOp::FMin | AtomicOp::FMax | AtomicOp::FCompareExchange
        )
    }
}

/// The faults that [`Op::Raise`] can raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneFault {
    Misaligned,
    SurfaceOutOfRange,
    InvalidSurface,
    /// The executed instruction has no lift function.
    Unimplemented,
    /// The target of a call is no function.
    IllegalInstruction,
    StackOverflow,
}

/// An operation. The module's documentation has the rules for all operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Uniform constant; `bits` has no bits above the type's width.
    Const {
        ty: Type,
        bits: u64,
    },
    /// The operand as a varying value, equal in each lane.
    Splat {
        a: Value,
    },
    /// The lane's number: varying `i32`.
    LaneId,
    Special(Special),

    Unary {
        op: UnaryOp,
        a: Value,
    },
    Binary {
        op: BinaryOp,
        a: Value,
        b: Value,
    },
    /// Two results: `a + b + carry`, and the carry out of the top bit as a mask, 0 outside the
    /// window. `carry` is a mask; a missing carry is 0. With a carry, the sum is always varying.
    /// Without a carry and with uniform operands, the sum is uniform, and the carry out is all
    /// lanes or none as for `ICmp`.
    AddCarry {
        a: Value,
        b: Value,
        carry: Option<Value>,
    },
    /// A mask: bit i is set if the relation holds in lane i; 0 outside the window. If both operands
    /// are uniform, it is all lanes of the warp or none, which serves as lane mask and as branch
    /// condition alike.
    ICmp {
        cc: IntCc,
        a: Value,
        b: Value,
    },
    /// Like `ICmp`, for floats. With `flush`, denormal operands count as zeros.
    FCmp {
        cc: FloatCc,
        a: Value,
        b: Value,
        flush: bool,
    },
    /// Lane i of `a` if bit i of `mask` is set, else of `b`: always varying.
    Select {
        mask: Value,
        a: Value,
        b: Value,
    },
    /// `a` if `cond`, a uniform integer or a mask, is not 0, else `b`; all uniform.
    UniformSelect {
        cond: Value,
        a: Value,
        b: Value,
    },
    Convert {
        op: ConvertOp,
        to: Type,
        a: Value,
    },
    /// The `i64` with these `i32` halves.
    Concat {
        lo: Value,
        hi: Value,
    },

    FUnary {
        op: FloatUnaryOp,
        attrs: FloatAttrs,
        a: Value,
    },
    FBinary {
        op: FloatBinaryOp,
        attrs: FloatAttrs,
        a: Value,
        b: Value,
    },
    /// a * b + c, rounded once.
    Fma {
        attrs: FloatAttrs,
        a: Value,
        b: Value,
        c: Value,
    },
    /// Converts between float types.
    FConvert {
        to: Type,
        attrs: FloatAttrs,
        a: Value,
    },
    IntToFloat {
        to: Type,
        signed: bool,
        round: Round,
        a: Value,
    },
    /// Rounds by `round`, then clamps to the range of `to`; a NaN gives the bits `nan`.
    FloatToInt {
        to: Type,
        signed: bool,
        round: Round,
        flush: bool,
        nan: u64,
        a: Value,
    },
    Shared {
        function: SharedFn,
        a: Value,
    },

    /// Cross-lane: lane i gets `a` of lane `index[i] mod lanes` of the warp, whether this lane is
    /// active or not. `a` covers the whole warp. Varying.
    LaneGather {
        a: Value,
        index: Value,
    },
    /// Cross-lane: `a` of lane `lane mod lanes`; `lane` is a uniform `i32`. Uniform.
    LaneRead {
        a: Value,
        lane: Value,
    },

    /// Cross-lane: lane `index[i] mod lanes` gets `a` of lane i, for each lane i of the window that
    /// is in the mask `lanes`. If several lanes name a lane, the highest counts. A lane that no
    /// lane names gets 0. `a` and the result are varying.
    LaneScatter {
        a: Value,
        index: Value,
        lanes: Value,
    },

    /// Cross-lane: a [`Product`] of matrices, defined by [`evaluate`](super::matrix::evaluate). The
    /// operands are the registers of A, B and C and the metadata of a sparse A. It covers the whole
    /// warp, active or not. If a warp has fewer than 32 lanes, the missing lanes hold zeros. The
    /// results are the registers of D, varying.
    Product {
        product: Product,
        args: Vec<Value>,
    },

    /// Four results: the components of the texel whose words are `a`. `format`, an `i32`, is the
    /// number of a [`TexelFormat`](super::texel::TexelFormat); [`unpack`](super::texel::unpack) is
    /// the definition. All are `i32`.
    Unpack {
        format: Value,
        a: [Value; 4],
    },
    /// Four results: the words of the texel whose components are `a`. [`pack`](super::texel::pack)
    /// is the definition.
    Pack {
        format: Value,
        a: [Value; 4],
    },

    /// Reads a register: a lane register gives a varying value, a uniform or mask register a
    /// uniform value.
    RfRead {
        reg: Reg,
        part: Part,
    },
    /// Writes a register. Writes of lane registers are masked; writes of uniform and mask registers
    /// are unmasked and take no guard.
    RfWrite {
        reg: Reg,
        part: Part,
        value: Value,
        guard: Option<Value>,
        nomask: bool,
    },
    /// Register `first + index` of a bank if `index < count`, else 0; per lane if the index is
    /// varying.
    RfGather {
        bank: BankId,
        first: u32,
        count: u32,
        index: Value,
    },
    /// Writes register `first + index`; writes past `count` are dropped. Masked for lane registers.
    RfScatter {
        bank: BankId,
        first: u32,
        count: u32,
        index: Value,
        value: Value,
        guard: Option<Value>,
        nomask: bool,
    },
    /// Elements of a byte array: lane `window.first + i` gets element i of the region. The result
    /// covers the whole warp, 0 outside the window. `uniform` gives element 0 as a uniform value.
    /// Bytes past the array read 0.
    ///
    /// With an `index`, an `i32`, the region is *indirect*: an element begins `index` bytes further
    /// on. If the index is varying, each lane uses its own index; a uniform read takes a uniform
    /// index. All is modulo 2^32, so that offsets and indices may be negative. An indirect element
    /// reads 0 unless all of its bytes lie in the array. Whatever the index is, nothing outside the
    /// array is touched.
    RegionRead {
        reg: Reg,
        index: Option<Value>,
        region: Region,
        ty: Type,
        uniform: bool,
    },
    /// Writes a region. Masked. A uniform value is written to every element. If elements overlap,
    /// the highest lane counts. Bytes past the array are dropped; an indirect element is written
    /// only if all of its bytes lie in the array.
    ///
    /// The value has been computed before anything is written. So one guest instruction may read
    /// and write regions, however the two regions overlap.
    RegionWrite {
        reg: Reg,
        index: Option<Value>,
        region: Region,
        value: Value,
        guard: Option<Value>,
        nomask: bool,
    },

    /// `count` results (0 in masked-off lanes). With `sparse`, then a mask of the lanes that met a
    /// sparse non-resident page, which reads 0. For a scalar access, this mask is all lanes of the
    /// warp or none.
    Load {
        access: Access,
        extend: Extend,
        sparse: bool,
    },
    /// Stores the low bits of `values`, one value per element. A value has the element's type, or
    /// is a wider integer that takes no more space in a register. With `sparse`, the result is a
    /// mask as for loads (data written to those pages is lost).
    Store {
        access: Access,
        values: Vec<Value>,
        sparse: bool,
    },
    /// The old value (0 in masked-off lanes); then the sparse mask. `compare` is the second operand
    /// of atomics that have one. In the global space, an address in the window of another space is
    /// the fault *invalid address space*.
    Atomic {
        access: Access,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
        sparse: bool,
    },
    /// Memory operations for which no element is wide enough: [`WideOp`] is the definition.
    /// Operands are `i64`, addresses are generic. Results (0 in masked-off lanes) are varying
    /// `i64`.
    Wide {
        op: WideOp,
        args: Vec<Value>,
        guard: Option<Value>,
        nomask: bool,
    },
    /// Four `i32` results of [`View::sample`](super::image::sample::View::sample) (0 in masked-off
    /// lanes); then, with `sparse`, the lanes that met a sparse non-resident page. `image` and
    /// `sampler` are guest addresses (`i64`) of records
    /// ([`Image::record`](super::image::Image::record),
    /// [`Sampler::record`](super::image::sampler::Sampler::record)); no image gives zeros. Without
    /// `compare` nothing is compared, whatever the sampler says. `args` are `i32`: the fields of a
    /// [`Query`](super::image::sample::Query) in order, then the gradients along x, then the
    /// gradients along y.
    Sample {
        operation: Operation,
        compare: bool,
        image: Value,
        sampler: Value,
        args: [Value; 15],
        guard: Option<Value>,
        nomask: bool,
        sparse: bool,
    },
    /// Tells the launch's [`Observer`](warploom_runtime::observe::Observer), if there is one, that
    /// the warp is at this site, with the execution mask and the operands: one or more, of any types.
    /// Guests see no effect.
    /// Observations stay in order. If no lane executes, the observer may hear nothing.
    Observe {
        site: u32,
        args: Vec<Value>,
        guard: Option<Value>,
        nomask: bool,
    },
    /// Raises a fault in the least lane of the execution mask, if there is one.
    Raise {
        fault: LaneFault,
        guard: Option<Value>,
        nomask: bool,
    },
    /// Orders this warp's earlier memory operations before its later memory operations, for other
    /// warps.
    Fence,
}
