//! Messages that move consecutive bytes of memory from one address: block messages, and LSC
//! messages with a vector of one lane.

use warploom_ir::{IntCc, Type, Value};

use super::super::Cx;
use super::item::{Item, integer};
use super::place::{MessageTarget, Target, narrowed};
use crate::instruction::Raw;

/// A block of elements that are consecutive both in memory and in registers.
#[derive(Clone, Copy)]
pub struct Block {
    pub place: MessageTarget,
    pub item: Item,
    pub count: u32,
}

/// The most elements of a block that are moved as scalars. Code uses larger blocks as vectors.
const MAX_SCALARS: u32 = 4;
/// The most bytes of an access.
const MAX_BYTES: u32 = 16;
/// The most elements that are moved at once.
const MAX_LANES: u32 = 128;

/// Returns the numbers of the elements of a piece, from `first` on, as `i32`.
pub fn numbers(cx: &mut Cx<'_>, first: u32) -> Value {
    let piece = cx.piece();
    let number = first + piece.element;
    if piece.is_scalar() {
        return cx.word(number);
    }
    let (lane, number) = (cx.b.lane_id(), cx.word(number.wrapping_sub(piece.lane.into())));
    cx.b.add(lane, number)
}

impl Block {
    /// Returns runs of elements to move as scalars: the first number and the count of each run.
    ///
    /// Returns None if lanes move the block.
    fn scalars(&self, cx: &mut Cx<'_>) -> Option<Vec<(u32, u32)>> {
        if self.count > MAX_SCALARS && cx.condition().is_none() {
            return None;
        }
        let most = if self.place.target.is_bounded() { 1 } else { MAX_BYTES / self.item.bytes() };
        Some(
            (0..self.count)
                .step_by(most as usize)
                .map(|first| (first, most.min(self.count - first)))
                .collect(),
        )
    }

    /// Returns the places of a piece's elements.
    fn at_lanes(&self, cx: &mut Cx<'_>) -> MessageTarget {
        let number = numbers(cx, 0);
        let ty = cx.b.ty(self.place.address).ty;
        let number = cx.resize(number, ty, false);
        let size = cx.constant(ty, self.item.bytes().into());
        let distance = cx.b.mul(number, size);
        MessageTarget { address: cx.b.add(self.place.address, distance), ..self.place }
    }

    pub fn load(&self, cx: &mut Cx<'_>, dst: Raw) {
        if dst == Raw::NULL {
            return;
        }
        self.place.target.check(cx);
        let Item { memory, register, .. } = self.item;
        let extend = self.item.extend();
        if let Some(runs) = self.scalars(cx) {
            for (first, count) in runs {
                let values =
                    self.place.after(first * self.item.bytes()).perform(cx, |cx, place| {
                        let access = place.access(cx, memory, count as u8);
                        cx.b.load_access(access, extend).to_vec()
                    });
                for (n, value) in (first..).zip(values) {
                    let value = self.item.loaded(cx, value);
                    cx.set_raw(dst, n * register, value);
                }
            }
            return;
        }
        cx.as_block(self.count as u8, |cx, _| {
            let place = self.at_lanes(cx);
            let access = place.access(cx, memory, 1);
            let value = cx.b.load_access(access, extend)[0];
            let value = self.item.loaded(cx, value);
            cx.set_raw(dst, 0, value);
        });
    }

    pub fn store(&self, cx: &mut Cx<'_>, src: Raw) {
        self.place.target.check(cx);
        let Item { memory, register, .. } = self.item;
        if let Some(runs) = self.scalars(cx) {
            for (first, count) in runs {
                let value = |n: u32| {
                    let value = cx.raw_scalar(src, n * register, integer(register));
                    self.item.stored(cx, value)
                };
                let values: Vec<Value> = (first..first + count).map(value).collect();
                self.place.after(first * self.item.bytes()).perform(cx, |cx, place| {
                    let access = place.access(cx, memory, count as u8);
                    cx.b.store_access(access, &values);
                    vec![]
                });
            }
            return;
        }
        cx.as_block(self.count as u8, |cx, _| {
            let value = self.item.read(cx, src, 0);
            let place = self.at_lanes(cx);
            let access = place.access(cx, memory, 1);
            cx.b.store_access(access, &[value]);
        });
    }
}

/// A rectangle of elements in rows of memory. Elements outside read 0 and are not written.
///
/// All fields are uniform `i32` values, except the base.
pub struct Rectangle {
    /// The address, an `i64`.
    pub base: Value,
    /// The bytes of a row; `height` is the number of rows, `pitch` the distance of rows in bytes.
    pub width: Value,
    pub height: Value,
    pub pitch: Value,
    /// The place of the first element, with a sign; x is in bytes.
    pub x: Value,
    pub y: Value,
    /// Whether an element outside stands for the nearest element inside.
    pub clamps: bool,
}

/// The layout of a rectangle in a raw operand.
#[derive(Clone, Copy)]
pub struct Layout {
    pub item: Item,
    /// The width in elements; the height is in rows.
    pub width: u32,
    pub height: u32,
    /// Whether columns become rows.
    pub transposed: bool,
    /// The number of rows whose elements are interleaved.
    pub interleaved: u32,
    /// The fewest elements of a row in the operand.
    pub least_row: u32,
}

impl Layout {
    /// Returns the number of elements of a row in the operand, and the number of rows.
    fn shape(self) -> (u32, u32) {
        match self.transposed {
            true => (self.height.next_power_of_two(), self.width),
            false => (
                self.width.next_power_of_two().max(self.least_row),
                self.height.next_multiple_of(self.interleaved),
            ),
        }
    }

    /// Returns the bytes of the rectangle in the operand.
    pub fn bytes(self) -> u32 {
        let (row, rows) = self.shape();
        row * rows * self.item.register
    }

    /// Returns the column and row of the element with a number in the operand.
    fn place(self, cx: &mut Cx<'_>, number: Value) -> (Value, Value) {
        // All divisors are powers of two.
        let split = |cx: &mut Cx<'_>, value: Value, by: u32| {
            let (shift, mask) = (cx.word(by.ilog2()), cx.word(by - 1));
            (cx.b.shr_u(value, shift), cx.b.and(value, mask))
        };
        let (row, _) = self.shape();
        if self.transposed {
            let (x, y) = split(cx, number, row);
            return (x, y);
        }
        let (rest, below) = split(cx, number, self.interleaved);
        let (above, x) = split(cx, rest, row);
        let rows = cx.word(self.interleaved);
        let y = cx.b.mul(above, rows);
        (x, cx.b.add(y, below))
    }
}

impl Rectangle {
    /// Calls `f` for each group of elements in turn.
    ///
    /// Its arguments are the addresses, the lanes that are inside, and the group's offset in the
    /// operand.
    fn each(
        &self,
        cx: &mut Cx<'_>,
        layout: Layout,
        mut f: impl FnMut(&mut Cx<'_>, Value, Value, u32),
    ) {
        let (row, rows) = layout.shape();
        let count = row * rows;
        let lanes = MAX_LANES / u32::from(cx.lanes()) * u32::from(cx.lanes());
        for first in (0..count).step_by(lanes as usize) {
            cx.as_block(lanes.min(count - first) as u8, |cx, _| {
                let number = numbers(cx, first);
                let (address, inside) = self.place(cx, layout, number);
                f(cx, address, inside, first * layout.item.register);
            });
        }
    }

    /// Returns the address of the element with a number in the operand, and whether it is inside.
    fn place(&self, cx: &mut Cx<'_>, layout: Layout, number: Value) -> (Value, Value) {
        let (column, line) = layout.place(cx, number);
        let (columns, lines) = (cx.word(layout.width), cx.word(layout.height));
        let (there, below) =
            (cx.b.icmp(IntCc::LtU, column, columns), cx.b.icmp(IntCc::LtU, line, lines));
        let mut inside = cx.b.and(there, below);
        let size = cx.word(layout.item.bytes());
        let distance = cx.b.mul(column, size);
        let (mut x, mut y) = (cx.b.add(self.x, distance), cx.b.add(self.y, line));
        if self.clamps {
            let (zero, one) = (cx.word(0), cx.word(1));
            let last = [cx.b.sub(self.width, size), cx.b.sub(self.height, one)];
            [x, y] = [(x, last[0]), (y, last[1])].map(|(at, last)| {
                let at = cx.b.min_s(at, last);
                cx.b.max_s(at, zero)
            });
        }
        let (in_row, in_rows) =
            (cx.b.icmp(IntCc::LtU, x, self.width), cx.b.icmp(IntCc::LtU, y, self.height));
        inside = cx.b.and(inside, in_row);
        inside = cx.b.and(inside, in_rows);
        let [x, y, pitch] = [x, y, self.pitch].map(|value| cx.b.zero_extend(Type::I64, value));
        let above = cx.b.mul(y, pitch);
        let offset = cx.b.add(above, x);
        (cx.b.add(self.base, offset), inside)
    }

    pub fn load(&self, cx: &mut Cx<'_>, layout: Layout, dst: Raw) {
        if dst == Raw::NULL {
            return;
        }
        self.each(cx, layout, |cx, address, inside, at| {
            let place = MessageTarget { target: Target::Flat, address, offset: 0 };
            let access = place.access(cx, layout.item.memory, 1);
            let access = narrowed(cx, access, inside);
            let value = cx.b.load_access(access, layout.item.extend())[0];
            let value = layout.item.loaded(cx, value);
            cx.set_raw(dst, at, value);
        });
    }

    pub fn store(&self, cx: &mut Cx<'_>, layout: Layout, src: Raw) {
        self.each(cx, layout, |cx, address, inside, at| {
            let value = cx.raw(src, at, integer(layout.item.register));
            let place = MessageTarget { target: Target::Flat, address, offset: 0 };
            let access = place.access(cx, layout.item.memory, 1);
            let access = narrowed(cx, access, inside);
            cx.b.store_access(access, &[value]);
        });
    }
}
