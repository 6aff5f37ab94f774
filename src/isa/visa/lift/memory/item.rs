//! Elements of messages, in memory and in registers.

use warploom_ir::{Extend, Type, Value};

use super::super::Cx;
use crate::instruction::Raw;
use crate::words::DataSize;

/// The type of an element in memory, and its bytes in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The type in memory, an integer.
    pub memory: Type,
    pub register: u32,
    /// Whether the element is in the upper half of the register's dword.
    pub high: bool,
}

/// Returns the integer type of `bytes` bytes.
pub fn integer(bytes: u32) -> Type {
    match bytes {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}

impl Item {
    /// Returns an element that is as wide in a register as in memory.
    pub const fn same(memory: Type) -> Item {
        Item { memory, register: memory.bytes(), high: false }
    }

    pub const DWORD: Item = Item::same(Type::I32);
    pub const QWORD: Item = Item::same(Type::I64);

    /// Returns an element of `bytes` bytes in memory that takes a dword of a register.
    pub fn in_dword(bytes: u32) -> Item {
        Item { memory: integer(bytes), register: 4, high: false }
    }

    /// Returns an element of an LSC message.
    pub fn of(size: DataSize) -> Item {
        match size {
            DataSize::D8 => Item::same(Type::I8),
            DataSize::D16 => Item::same(Type::I16),
            DataSize::D32 => Item::DWORD,
            DataSize::D64 => Item::QWORD,
            DataSize::D8u32 => Item::in_dword(1),
            DataSize::D16u32 => Item::in_dword(2),
            DataSize::D16u32h => Item { high: true, ..Item::in_dword(2) },
        }
    }

    /// Returns the bytes in memory.
    pub fn bytes(self) -> u32 {
        self.memory.bytes()
    }

    /// Returns how loads extend the element.
    pub fn extend(self) -> Extend {
        if self.bytes() < 4 { Extend::Unsigned } else { Extend::None }
    }

    /// Converts a loaded value to the register's value.
    pub fn loaded(self, cx: &mut Cx<'_>, value: Value) -> Value {
        match self.register {
            1 | 2 => cx.b.trunc(integer(self.register), value),
            4 if self.high => {
                let half = cx.word(16);
                cx.b.shl(value, half)
            }
            _ => value,
        }
    }

    /// Converts a register's value to the stored value.
    pub fn stored(self, cx: &mut Cx<'_>, value: Value) -> Value {
        if self.high {
            let half = cx.word(16);
            return cx.b.shr_u(value, half);
        }
        value
    }

    /// Returns the offset of component `n` of a raw operand. Each component begins a register.
    /// Facts, `visa-semantics.md` 7.
    pub fn component(self, cx: &Cx<'_>, n: u32) -> u32 {
        n * (u32::from(cx.exec().size) * self.register).next_multiple_of(cx.grf())
    }

    /// Reads a component, one element for each lane of the piece. The null variable holds zeros.
    pub fn read(self, cx: &mut Cx<'_>, raw: Raw, n: u32) -> Value {
        let at = self.component(cx, n);
        let value = cx.raw(raw, at, integer(self.register));
        self.stored(cx, value)
    }

    /// Writes a loaded component.
    pub fn write(self, cx: &mut Cx<'_>, raw: Raw, n: u32, value: Value) {
        let (at, value) = (self.component(cx, n), self.loaded(cx, value));
        cx.set_raw(raw, at, value);
    }
}
