//! The parts that vector memory instructions share: the items that they move, and their lanes.
//!
//! Accesses are for active lanes because their addresses vary. Accesses need no alignment, as the
//! HSA environment sets the hardware up; atomics need it.

use warploom_ir::{Access, Extend, IntCc, Space, Type, Value};

use super::context::Cx;
use super::{Lifted, Unsupported};
use crate::Operand;

/// The data that one lane's access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A number of words, to or from as many registers.
    Words(u8),
    /// A byte or two, extended to 32 bits; stores take the low bits of the register.
    Narrow { ty: Type, signed: bool },
    /// A byte or two, extended to 16 bits, in one half of a register. The other half stays.
    Half { ty: Type, signed: bool, high: bool },
}

/// The names of the narrow items.
impl Item {
    pub const UBYTE: Item = Item::Narrow { ty: Type::I8, signed: false };
    pub const SBYTE: Item = Item::Narrow { ty: Type::I8, signed: true };
    pub const USHORT: Item = Item::Narrow { ty: Type::I16, signed: false };
    pub const SSHORT: Item = Item::Narrow { ty: Type::I16, signed: true };
    pub const UBYTE_D16: Item = Item::Half { ty: Type::I8, signed: false, high: false };
    pub const UBYTE_D16_HI: Item = Item::Half { ty: Type::I8, signed: false, high: true };
    pub const SBYTE_D16: Item = Item::Half { ty: Type::I8, signed: true, high: false };
    pub const SBYTE_D16_HI: Item = Item::Half { ty: Type::I8, signed: true, high: true };
    pub const SHORT_D16: Item = Item::Half { ty: Type::I16, signed: false, high: false };
    pub const SHORT_D16_HI: Item = Item::Half { ty: Type::I16, signed: false, high: true };
}

impl Item {
    /// Returns the type of the elements in memory.
    pub fn ty(self) -> Type {
        match self {
            Item::Words(_) => Type::I32,
            Item::Narrow { ty, .. } | Item::Half { ty, .. } => ty,
        }
    }

    pub fn elements(self) -> u8 {
        if let Item::Words(count) = self { count } else { 1 }
    }

    pub fn bytes(self) -> u32 {
        self.ty().bytes() * u32::from(self.elements())
    }

    pub fn extend(self) -> Extend {
        match self {
            Item::Words(_) => Extend::None,
            Item::Narrow { signed: true, .. } | Item::Half { signed: true, .. } => Extend::Signed,
            _ => Extend::Unsigned,
        }
    }

    /// Writes loaded values to the registers from `first` on. No register exists past v255.
    pub fn write(self, cx: &mut Cx<'_>, first: u8, values: &[Value]) {
        if let Item::Half { high, .. } = self {
            return write_half(cx, first, values[0], high);
        }
        for (number, &value) in (first..=u8::MAX).zip(values) {
            cx.set_vector(number, value);
        }
    }

    /// Returns the values to store, from the registers from `first` on.
    pub fn read(self, cx: &mut Cx<'_>, first: u8) -> Vec<Value> {
        if let Item::Half { high: true, .. } = self {
            let value = cx.vector(first);
            return vec![cx.shr(value, 16)];
        }
        (0..self.elements()).map(|i| cx.vector(first.wrapping_add(i))).collect()
    }

    /// Returns an access to all elements.
    pub fn access(self, space: Space, address: Value, offset: i32, guard: Option<Value>) -> Access {
        Access {
            space,
            ty: self.ty(),
            count: self.elements(),
            align: 1,
            address,
            offset,
            guard,
            nomask: false,
        }
    }
}

/// Writes the low bits of a value to one half of a register.
pub fn write_half(cx: &mut Cx<'_>, number: u8, value: Value, high: bool) {
    let old = cx.vector(number);
    let (rest, half) = if high {
        (cx.low_bits(old, 16, false), cx.shl(value, 16))
    } else {
        (cx.and_bits(old, 0xffff_0000), cx.low_bits(value, 16, false))
    };
    let merged = cx.b.or(rest, half);
    cx.set_vector(number, merged);
}

/// Returns the number of the first vector register of an operand.
pub fn register(operand: Operand) -> Result<u8, Unsupported> {
    if let Operand::Vector(number) = operand { Ok(number) } else { Err(Unsupported) }
}

/// Returns one or two vector registers as a value of the type.
pub fn operand_of(cx: &mut Cx<'_>, ty: Type, number: u8) -> Value {
    let bits = if ty.bytes() == 8 { cx.vector_pair(number) } else { cx.vector(number) };
    cx.cast(ty, bits)
}

/// Writes a value of 32 or 64 bits to vector registers.
pub fn write_back(cx: &mut Cx<'_>, number: u8, value: Value) {
    if cx.b.ty(value).ty.bytes() == 8 {
        cx.set_vector_pair(number, value);
    } else {
        cx.set_vector(number, value);
    }
}

/// Returns the lanes whose `bytes` bytes from the `i32` offset `at` on lie within the first `size`
/// bytes.
///
/// `bytes` and `size` are uniform. If `bytes` is 0, it returns no lanes.
pub fn within(cx: &mut Cx<'_>, at: Value, bytes: Value, size: Value) -> Value {
    // The number of offsets at which the bytes may begin.
    let one = cx.int(1);
    let last = cx.b.sub(bytes, one);
    let places = cx.b.max_u(size, last);
    let places = cx.b.sub(places, last);
    cx.b.icmp(IntCc::LtU, at, places)
}

/// Returns the lanes for which the lane of number `lane`, less than 64, is active.
pub fn active_at(cx: &mut Cx<'_>, lane: Value) -> Value {
    let (exec, zero) = (cx.exec(), cx.int(0));
    let exec = cx.b.from_mask(exec);
    let (low, high) = (cx.b.trunc(Type::I32, exec), cx.b.high_half(exec));
    let upper = cx.and_bits(lane, 32);
    let upper = cx.b.icmp(IntCc::Ne, upper, zero);
    let half = cx.b.select(upper, high, low);
    let place = cx.and_bits(lane, 31);
    let bit = cx.b.shr_u(half, place);
    let bit = cx.and_bits(bit, 1);
    cx.b.icmp(IntCc::Ne, bit, zero)
}

/// Declares lift functions that pass the arguments behind the colon to a function.
macro_rules! lifts {
    ($($(#[$doc:meta])* $name:ident: $how:ident($($what:expr),*);)*) => {$(
        $(#[$doc])*
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            $how(cx, i, $($what),*)
        }
    )*};
}
pub(super) use lifts;

/// Does nothing and goes on.
pub fn nothing() -> Lifted {
    Ok(super::Flow::Next)
}
