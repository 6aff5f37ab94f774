//! [`Instruction`] and its operands.

use smallvec::SmallVec;

use super::module::{AddressId, LabelId, PredicateId, SamplerId, SurfaceId, VariableId};
use super::table::Row;
use super::types::{Exec, Region, Ty};
use super::words::{AddressModel, AddressSize, Cache, DataSize, Sfid};

/// One instruction; labels are some, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub row: &'static Row,
    /// Where it stands, in bytes from the start of the text or the binary file.
    pub at: u32,
    /// None: the opcode has none.
    pub exec: Option<Exec>,
    pub predicate: Option<PredicateUse>,
    /// `.sat`
    pub saturate: bool,
    /// In the order of the row's fields.
    pub operands: Operands,
}

pub type Operands = SmallVec<[Operand; 4]>;

/// `(!P1.any)`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateUse {
    pub predicate: PredicateId,
    /// Done after `combine`.
    pub invert: bool,
    pub combine: Combine,
}

/// What the bits of a predicate become before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    None,
    Any,
    All,
}

/// Modifier of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Modifier {
    #[default]
    None,
    Abs,
    Neg,
    NegAbs,
    /// `(~)`
    Not,
}

impl Modifier {
    pub const ALL: [Modifier; 5] =
        [Modifier::None, Modifier::Abs, Modifier::Neg, Modifier::NegAbs, Modifier::Not];

    /// As it is spelled in front of an operand.
    pub const fn text(self) -> &'static str {
        match self {
            Modifier::None => "",
            Modifier::Abs => "(abs)",
            Modifier::Neg => "(-)",
            Modifier::NegAbs => "(-abs)",
            Modifier::Not => "(~)",
        }
    }
}

/// An operand; of which kinds one may be is what the row's fields say.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    General(General),
    Indirect(Indirect),
    /// `A0(2)<4>`: elements of an address variable.
    Address {
        address: AddressId,
        element: u8,
        width: u8,
        modifier: Modifier,
    },
    /// A predicate as a whole.
    Predicate {
        predicate: PredicateId,
        modifier: Modifier,
    },
    /// Its bits; those beyond the type's size are kept as they are written.
    Immediate {
        ty: Ty,
        bits: u64,
    },
    /// `T6(0)`, `S0(0)`
    State {
        state: State,
        element: u8,
    },
    /// `&V4[32]`: the address of a byte. The region is what the binary form has there.
    AddressOf {
        of: VariableId,
        offset: u32,
        region: Region,
        modifier: Modifier,
    },
    /// `&T6[0]`
    AddressOfState {
        state: State,
        element: u8,
    },
    Raw(Raw),
    /// A counted list.
    Raws(Vec<Raw>),
    Surface(SurfaceId),
    Sampler(SamplerId),
    Label(LabelId),
    /// Of a `switchjmp`.
    Labels(Vec<LabelId>),
    /// A function, symbol or file.
    Name(String),
    /// A number that is part of the opcode, or stands among the operands.
    Number(u32),
    /// What an LSC message says of addresses and data.
    Lsc(Box<Lsc>),
    /// Of a `lifetime` instruction.
    Lifetime {
        end: bool,
        of: Living,
    },
}

/// A variable whose life begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Living {
    Variable(VariableId),
    Address(AddressId),
    Predicate(PredicateId),
}

/// `V32(1,2)<8;8,1>`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct General {
    pub variable: VariableId,
    /// In registers.
    pub row: u8,
    /// In elements.
    pub column: u8,
    pub region: Region,
    pub modifier: Modifier,
}

/// `r[A0(2),16]<1,0>:ud`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indirect {
    pub address: AddressId,
    pub element: u8,
    /// In bytes.
    pub offset: i16,
    pub ty: Ty,
    pub region: Region,
    pub modifier: Modifier,
}

/// `V32.64`: bytes of a variable from an offset on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    pub variable: VariableId,
    /// In bytes.
    pub offset: u32,
}

impl Raw {
    pub const NULL: Raw = Raw { variable: VariableId::NULL, offset: 0 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Surface(SurfaceId),
    Sampler(SamplerId),
}

/// The description of an LSC message. What a message does not have is 0, `Default`, or as in its neighbours' encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lsc {
    pub sfid: Sfid,
    /// L1 and L3.
    pub caches: [Cache; 2],
    pub model: AddressModel,
    pub address_size: AddressSize,
    /// Factor of the addresses; 0 and 1 alike.
    pub scale: u16,
    /// Added to the addresses, in bytes.
    pub offset: i32,
    /// Of U, V and R of a typed message, in elements.
    pub offsets: [i32; 3],
    /// `bss(V, 0x1)`: added to the surface.
    pub surface_index: u32,
    pub data: DataSize,
    /// One address, elements one after the other.
    pub transposed: bool,
    /// At each address.
    pub elements: u8,
    /// Of a `quad` message; bit 0 is X.
    pub channels: u8,
    /// Of a block of two dimensions.
    pub block: Option<Block>,
}

/// A block of two dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Side by side.
    pub count: u8,
    /// In elements.
    pub width: u16,
    /// In rows.
    pub height: u16,
    /// Rows are interleaved in dwords.
    pub vnni: bool,
}

impl Lsc {
    /// A message that says nothing.
    pub fn new(sfid: Sfid) -> Lsc {
        Lsc {
            sfid,
            caches: [Cache::Default; 2],
            model: AddressModel::Flat,
            address_size: AddressSize::A32,
            scale: 1,
            offset: 0,
            offsets: [0; 3],
            surface_index: 0,
            data: DataSize::D32,
            transposed: false,
            elements: 1,
            channels: 0,
            block: None,
        }
    }
}
