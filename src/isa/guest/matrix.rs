//! Moves of matrices of 8 x 8 elements of 16 bits between registers and memory. Lane 4 g + t holds
//! elements 2 t and 2 t + 1 of row g.

use warploom_ir::{Access, Extend, IntCc, Space, Type, Value};

use super::bits::{Emit, shl, shr};

/// Returns the numbers g and t of a lane 4 g + t.
pub fn lane_parts<'a>(cx: &mut impl Emit<'a>) -> [Value; 2] {
    let lane = cx.builder().lane_id();
    let three = cx.constant_of(Type::I32, 3);
    [shr(cx, lane, 2), cx.builder().and(lane, three)]
}

/// Returns the halves of an `i32`, the low half first.
pub fn halves<'a>(cx: &mut impl Emit<'a>, bits: Value) -> [Value; 2] {
    let high = shr(cx, bits, 16);
    [bits, high].map(|half| cx.builder().trunc(Type::I16, half))
}

/// Returns two halves as an `i32`.
pub fn pack<'a>(cx: &mut impl Emit<'a>, low: Value, high: Value) -> Value {
    let [low, high] = [low, high].map(|half| cx.builder().zero_extend(Type::I32, half));
    let high = shl(cx, high, 16);
    cx.builder().or(low, high)
}

/// Rows of matrices in memory: lane 8 j + i has the address of row i of matrix j.
pub struct Rows {
    pub space: Space,
    /// The address in each lane, and a constant to add.
    pub addresses: Value,
    pub offset: i32,
    /// Registers hold the transposed matrices.
    pub transposed: bool,
}

impl Rows {
    /// Returns the access of a lane's part of a matrix: of row `row + add`, from byte `byte` on.
    fn part<'a>(
        &self,
        cx: &mut impl Emit<'a>,
        row: Value,
        add: u32,
        byte: Value,
        ty: Type,
    ) -> Access {
        let first = cx.constant_of(Type::I32, add.into());
        let index = cx.builder().add(row, first);
        let address = cx.builder().lane_gather(self.addresses, index);
        let b = cx.builder();
        let byte =
            if b.ty(address).ty == Type::I64 { b.zero_extend(Type::I64, byte) } else { byte };
        let address = b.add(address, byte);
        b.access(self.space, ty, 1, address, self.offset)
    }

    /// Returns the accesses of the two halves of a transposed element, or of the word of another
    /// element.
    fn parts<'a>(&self, cx: &mut impl Emit<'a>, matrix: u32) -> Vec<Access> {
        let [g, t] = lane_parts(cx);
        if self.transposed {
            let (row, byte) = (shl(cx, t, 1), shl(cx, g, 1));
            let part = |add| self.part(cx, row, 8 * matrix + add, byte, Type::I16);
            return [0, 1].map(part).into();
        }
        let byte = shl(cx, t, 2);
        vec![self.part(cx, g, 8 * matrix, byte, Type::I32)]
    }

    /// Loads a matrix.
    pub fn load<'a>(&self, cx: &mut impl Emit<'a>, matrix: u32) -> Value {
        let parts = self.parts(cx, matrix).into_iter();
        let loaded: Vec<Value> =
            parts.map(|access| cx.builder().load_access(access, Extend::None)[0]).collect();
        match loaded[..] {
            [low, high] => pack(cx, low, high),
            _ => loaded[0],
        }
    }

    /// Stores a matrix.
    pub fn store<'a>(&self, cx: &mut impl Emit<'a>, matrix: u32, bits: Value) {
        let values = if self.transposed { halves(cx, bits).to_vec() } else { vec![bits] };
        for (access, value) in self.parts(cx, matrix).into_iter().zip(values) {
            cx.builder().store_access(access, &[value]);
        }
    }
}

/// Transposes a matrix: elements 2 t and 2 t + 1 of column g are in lanes 8 t + g / 2 and four
/// further on.
pub fn transpose<'a>(cx: &mut impl Emit<'a>, bits: Value) -> Value {
    let bits = cx.builder().splat(bits);
    let [g, t] = lane_parts(cx);
    let (none, one) = (cx.constant_of(Type::I32, 0), cx.constant_of(Type::I32, 1));
    let (first, within) = (shl(cx, t, 3), shr(cx, g, 1));
    let first = cx.builder().add(first, within);
    let odd = cx.builder().and(g, one);
    let odd = cx.builder().icmp(IntCc::Ne, odd, none);
    let [low, high] = [0, 4].map(|distance| {
        let distance = cx.constant_of(Type::I32, distance);
        let lane = cx.builder().add(first, distance);
        let word = cx.builder().lane_gather(bits, lane);
        let [even, uneven] = halves(cx, word);
        cx.one_of(odd, uneven, even)
    });
    pack(cx, low, high)
}
