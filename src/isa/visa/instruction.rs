//! [`Instruction`] and its operands.

use smallvec::SmallVec;

use super::module::{AddressId, LabelId, PredicateId, SamplerId, SurfaceId, VariableId};
use super::table::Row;
use super::types::{Exec, Region, Ty};
use super::words::{AddressModel, AddressSize, Cache, DataSize, Sfid};

/// An instruction or a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub row: &'static Row,
    /// The offset in bytes from the start of the text or the binary file.
    pub at: u32,
    /// None if the opcode has no execution size.
    pub exec: Option<Exec>,
    pub predicate: Option<PredicateUse>,
    /// `.sat`
    pub saturate: bool,
    /// The operands in the order of the row's fields.
    pub operands: Operands,
}

pub type Operands = SmallVec<[Operand; 4]>;

/// The use of a predicate: `(!P1.any)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateUse {
    pub predicate: PredicateId,
    /// Inverts the result of `combine`.
    pub invert: bool,
    pub combine: Combine,
}

/// How the bits of a predicate are combined before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    None,
    Any,
    All,
}

/// The modifier of a source.
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

    /// Returns the spelling in front of an operand.
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

/// An operand. The row's fields say which kinds it may have.
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
    /// All bits of a predicate.
    Predicate {
        predicate: PredicateId,
        modifier: Modifier,
    },
    /// A constant. Bits beyond the type's size are kept as written.
    Immediate {
        ty: Ty,
        bits: u64,
    },
    /// `T6(0)`, `S0(0)`
    State {
        state: State,
        element: u8,
    },
    /// `&V4[32]`: the address of a byte. The region comes from the binary form.
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
    /// A counted list of raw operands.
    Raws(Vec<Raw>),
    Surface(SurfaceId),
    Sampler(SamplerId),
    Label(LabelId),
    /// The labels of a `switchjmp`.
    Labels(Vec<LabelId>),
    /// The name of a function, symbol or file.
    Name(String),
    /// A number that is part of the opcode, or stands among the operands.
    Number(u32),
    /// The description of addresses and data in an LSC message.
    Lsc(Box<Lsc>),
    /// The operand of a `lifetime` instruction.
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

/// A region of a variable: `V32(1,2)<8;8,1>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct General {
    pub variable: VariableId,
    /// The row, in registers.
    pub row: u8,
    /// The column, in elements.
    pub column: u8,
    pub region: Region,
    pub modifier: Modifier,
}

/// An operand at a computed address: `r[A0(2),16]<1,0>:ud`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indirect {
    pub address: AddressId,
    pub element: u8,
    /// The offset in bytes.
    pub offset: i16,
    pub ty: Ty,
    pub region: Region,
    pub modifier: Modifier,
}

/// `V32.64`: bytes of a variable from an offset on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    pub variable: VariableId,
    /// The offset in bytes.
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

/// The description of an LSC message.
///
/// A property that a message lacks is 0 or `Default`, or has the encoding of neighbouring messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lsc {
    pub sfid: Sfid,
    /// The options for L1 and L3.
    pub caches: [Cache; 2],
    pub model: AddressModel,
    pub address_size: AddressSize,
    /// The factor of the addresses. 0 and 1 mean 1.
    pub scale: u16,
    /// The bytes that are added to the addresses.
    pub offset: i32,
    /// The elements that are added to U, V and R of a typed message.
    pub offsets: [i32; 3],
    /// `bss(V, 0x1)`: added to the surface.
    pub surface_index: u32,
    pub data: DataSize,
    /// Whether the message has one address, from which the elements follow one another.
    pub transposed: bool,
    /// The number of elements at each address.
    pub elements: u8,
    /// The channels of a `quad` message; bit 0 is X.
    pub channels: u8,
    /// The block of a two-dimensional block message.
    pub block: Option<Block>,
}

/// A two-dimensional block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of blocks side by side.
    pub count: u8,
    /// The width in elements.
    pub width: u16,
    /// The height in rows.
    pub height: u16,
    /// Whether rows are interleaved in dwords.
    pub vnni: bool,
}

impl Lsc {
    /// Returns a description with default properties.
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
