//! Words of messages: atomic operations, relations, channels, and the addresses, data and caches of
//! LSC messages. Facts, `visa.md` 2.

use super::types::coded;

coded! {
    /// The operation of an atomic message that is not LSC's.
    AtomicOp {
        Add = 0 "add",
        Sub = 1 "sub",
        Inc = 2 "inc",
        Dec = 3 "dec",
        /// The unsigned minimum.
        Min = 4 "min",
        Max = 5 "max",
        Xchg = 6 "xchg",
        Cmpxchg = 7 "cmpxchg",
        And = 8 "and",
        Or = 9 "or",
        Xor = 10 "xor",
        /// The signed minimum, `IMIN` of the documents.
        Imin = 11 "minsint",
        Imax = 12 "maxsint",
        Predec = 13 "predec",
        Fmax = 16 "fmax",
        Fmin = 17 "fmin",
        Fcmpwr = 18 "fcmpwr",
        Fadd = 19 "fadd",
        Fsub = 20 "fsub",
    }
}

impl AtomicOp {
    /// Returns the operation of a name, also in the documents' spelling.
    pub fn spelled(name: &str) -> Option<AtomicOp> {
        match name {
            "imin" => Some(AtomicOp::Imin),
            "imax" => Some(AtomicOp::Imax),
            _ => AtomicOp::from_name(name),
        }
    }
}

/// An atomic operation with the width of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub op: AtomicOp,
    /// The width: 16, 32 or 64.
    pub bits: u8,
}

impl Atomic {
    pub fn code(self) -> u32 {
        u32::from(self.op.code())
            | u32::from(self.bits == 16) << 5
            | u32::from(self.bits == 64) << 6
    }

    pub fn from_code(code: u32) -> Option<Atomic> {
        let bits = match code >> 5 {
            0 => 32,
            1 => 16,
            2 => 64,
            _ => return None,
        };
        Some(Atomic { op: AtomicOp::from_code((code & 31) as u8)?, bits })
    }
}

coded! {
    Relation {
        Eq = 0 "eq",
        Ne = 1 "ne",
        Gt = 2 "gt",
        Ge = 3 "ge",
        Lt = 4 "lt",
        Le = 5 "le",
    }
}

coded! {
    /// The unit that receives an LSC message.
    Sfid {
        Ugm = 0 "ugm",
        Ugml = 1 "ugml",
        /// Typed memory.
        Tgm = 2 "tgm",
        /// Shared local memory.
        Slm = 3 "slm",
    }
}

coded! {
    /// The option of a message for a cache.
    Cache {
        Default = 0 "df",
        Uncached = 1 "uc",
        Cached = 2 "ca",
        WriteBack = 3 "wb",
        WriteThrough = 4 "wt",
        Streaming = 5 "st",
        ReadInvalidate = 6 "ri",
        ConstCached = 7 "cc",
    }
}

coded! {
    /// The memory that an LSC address is relative to.
    AddressModel {
        Flat = 1 "flat",
        /// A surface by its offset in the bindless heap.
        Bss = 2 "bss",
        Ss = 3 "ss",
        /// A surface by its index in the binding table.
        Bti = 4 "bti",
        Arg = 5 "arg",
        Surf = 6 "surf",
    }
}

coded! {
    AddressSize {
        A16 = 1 "a16",
        A32 = 2 "a32",
        A64 = 3 "a64",
        /// 32 bits, extended to 64.
        A32u = 4 "a32u",
        A32s = 5 "a32s",
    }
}

coded! {
    /// The size of an element in memory, and in the register if that differs.
    DataSize {
        D8 = 1 "d8",
        D16 = 2 "d16",
        D32 = 3 "d32",
        D64 = 4 "d64",
        D8u32 = 5 "d8u32",
        D16u32 = 6 "d16u32",
        /// In the upper half of a dword.
        D16u32h = 7 "d16u32h",
    }
}

impl DataSize {
    /// Returns the spelling of compilers before version 4.2.
    pub const fn old_name(self) -> &'static str {
        match self {
            DataSize::D8u32 => "d8c32",
            DataSize::D16u32 => "d16c32",
            DataSize::D16u32h => "d16c32h",
            _ => self.name(),
        }
    }

    /// Returns the size of a name, in either spelling.
    pub fn spelled(name: &str) -> Option<DataSize> {
        DataSize::ALL.iter().copied().find(|one| one.name() == name || one.old_name() == name)
    }
}

/// The numbers of elements at an address. The binary form has the index plus one.
pub const VECTOR_SIZES: [u8; 8] = [1, 2, 3, 4, 8, 16, 32, 64];

coded! {
    FenceOp {
        None = 0 "none",
        Evict = 1 "evict",
        Invalidate = 2 "invalidate",
        Discard = 3 "discard",
        Clean = 4 "clean",
        FlushL3 = 5 "flushl3",
        Type6 = 6 "type6",
    }
}

coded! {
    FenceScope {
        Group = 0 "group",
        Local = 1 "local",
        Tile = 2 "tile",
        Gpu = 3 "gpu",
        Gpus = 4 "gpus",
        SystemRelease = 5 "sysrel",
        SystemAcquire = 6 "sysacq",
    }
}

coded! {
    /// The precision of a matrix's elements.
    Precision {
        U1 = 1 "u1",
        S1 = 2 "s1",
        U2 = 3 "u2",
        S2 = 4 "s2",
        U4 = 5 "u4",
        S4 = 6 "s4",
        U8 = 7 "u8",
        S8 = 8 "s8",
        Bf = 9 "bf",
        Hf = 10 "hf",
        Bf8 = 11 "bf8",
        Tf32 = 12 "tf32",
        Df = 13 "df",
        Hf8 = 14 "hf8",
        E2m1 = 15 "e2m1",
    }
}

/// The letters of channels, in the order of their bits in a mask.
pub const CHANNELS: [u8; 4] = *b"RGBA";
/// The letters of an LSC message's channels, in the order of their bits in a mask.
pub(crate) const LSC_CHANNELS: [u8; 4] = *b"xyzw";
/// The bits of a fence that is not LSC's, lowest first, without bit 5, which means a local fence.
pub(crate) const FENCE_BITS: [(u8, &str); 6] =
    [(0, "E"), (1, "I"), (2, "S"), (3, "C"), (4, "R"), (6, "L1")];
