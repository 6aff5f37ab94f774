//! Typed memory: texels of a format that the instruction or a descriptor gives, as components in
//! registers.
//!
//! Sources: "Vega" Instruction Set Architecture, "Buffer resource"; CLRX, "MUBUF/MTBUF format
//! conversion"; the formats by number in Mesa's register descriptions. The conversion of components
//! is in [`texel`](warploom_ir::texel).

use warploom_ir::texel::{TexelFormat, TexelKind};
use warploom_ir::{FloatAttrs, IntCc, Space, Type, Value};

use super::context::Cx;
use super::vector_memory::{Item, write_half};

/// Widths of the components of buffer formats, by number, from the lowest bit.
pub const BUFFER_FORMATS: [[u32; 4]; 16] = [
    [0; 4],
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8; 4],
    [32, 32, 0, 0],
    [16; 4],
    [32, 32, 32, 0],
    [32; 4],
    [0; 4],
];

/// Returns the bytes of a texel.
pub fn bytes_of(widths: [u32; 4]) -> u32 {
    widths.iter().sum::<u32>() / 8
}

/// The layout of texels in memory, and their form in registers.
pub struct Texel {
    /// The format: a uniform `i32`, as `Op::Unpack` takes it.
    format: Value,
    /// The size in bytes: known, or a uniform `i32` of 1, 2, 4, 8, 12 or 16.
    bytes: Result<u32, Value>,
    /// All lanes if the components are integers, and if they are signed integers.
    ints: Value,
    signed: Value,
    /// True if the components are words without conversion.
    plain: bool,
    /// The source of each component, three bits each from the lowest: 0, 1, or 4 to 7 for the
    /// texel's components. `None`: each component is its own source.
    selectors: Option<Value>,
}

impl Texel {
    /// Returns texels of a known format. The first eight kinds have the hardware's numbers.
    pub fn fixed(cx: &mut Cx<'_>, widths: [u32; 4], kind: u8) -> Texel {
        let number = TexelFormat(TexelFormat::widths_only(widths) | u32::from(kind) << 24);
        let truth = |cx: &mut Cx<'_>, holds: bool| cx.lanes(if holds { u64::MAX } else { 0 });
        let ints = matches!(number.kind(), Some(TexelKind::Uint | TexelKind::Sint));
        let words = widths.iter().all(|&width| width == 0 || width == 32);
        Texel {
            format: cx.int(number.0),
            bytes: Ok(bytes_of(widths)),
            ints: truth(cx, ints),
            signed: truth(cx, number.kind() == Some(TexelKind::Sint)),
            plain: words && (ints || number.kind() == Some(TexelKind::Float)),
            selectors: None,
        }
    }

    /// Returns texels of a format that is known when the code runs.
    ///
    /// The widths (`TexelFormat::widths_only`), kind and bytes are uniform `i32`s.
    pub fn of(
        cx: &mut Cx<'_>,
        widths: Value,
        kind: Value,
        bytes: Value,
        selectors: Value,
    ) -> Texel {
        let high = cx.shl(kind, 24);
        let is = |cx: &mut Cx<'_>, kind: Value, number: TexelKind| {
            let number = cx.int(number as u32);
            cx.b.icmp(IntCc::Eq, kind, number)
        };
        let (unsigned, signed) = (is(cx, kind, TexelKind::Uint), is(cx, kind, TexelKind::Sint));
        Texel {
            format: cx.b.or(widths, high),
            bytes: Err(bytes),
            ints: cx.b.or(unsigned, signed),
            signed,
            plain: false,
            selectors: Some(selectors),
        }
    }

    /// Returns the size as a uniform `i32`.
    pub fn size(&self, cx: &mut Cx<'_>) -> Value {
        match self.bytes {
            Ok(bytes) => cx.int(bytes),
            Err(bytes) => bytes,
        }
    }

    /// Returns the items that a texel may consist of, the word where each begins, and the lanes
    /// that have it.
    fn parts(&self, cx: &mut Cx<'_>, guard: Value) -> Vec<(Item, u32, Value)> {
        let narrow = |bytes| if bytes == 1 { Item::UBYTE } else { Item::USHORT };
        match self.bytes {
            Ok(bytes @ (1 | 2)) => vec![(narrow(bytes), 0, guard)],
            Ok(bytes) => (0..bytes / 4).map(|word| (Item::Words(1), word, guard)).collect(),
            Err(size) => {
                let mut parts = Vec::new();
                for bytes in [1, 2] {
                    let number = cx.int(bytes);
                    let this = cx.b.icmp(IntCc::Eq, size, number);
                    parts.push((narrow(bytes), 0, cx.b.and(this, guard)));
                }
                for word in 0..4 {
                    let end = cx.int(4 * word + 4);
                    let there = cx.b.icmp(IntCc::GeU, size, end);
                    parts.push((Item::Words(1), word, cx.b.and(there, guard)));
                }
                parts
            }
        }
    }

    /// Loads the components of texels whose words are at `address`.
    ///
    /// Outside the guard components are 0, except components that are always 1. All components of a
    /// format that does not exist are 0.
    pub fn load(
        &self,
        cx: &mut Cx<'_>,
        guard: Value,
        mut address: impl FnMut(&mut Cx<'_>, u32) -> Value,
    ) -> [Value; 4] {
        let (zero, size) = (cx.int(0), self.size(cx));
        let valid = cx.b.icmp(IntCc::Ne, size, zero);
        let guard = cx.b.and(guard, valid);
        let mut words = [zero; 4];
        for (item, word, guard) in self.parts(cx, guard) {
            let at = address(cx, word);
            let value =
                cx.b.load_access(item.access(Space::Global, at, 0, Some(guard)), item.extend())[0];
            let word = &mut words[word as usize];
            // Only one of the items that share a word is there.
            *word = if *word == zero { value } else { cx.b.or(*word, value) };
        }
        let one = self.one(cx);
        let components = if self.plain {
            let last = if words[3] == zero { one } else { words[3] };
            [words[0], words[1], words[2], last]
        } else {
            cx.b.unpack(self.format, words)
        };
        let components = components.map(|component| cx.b.select(guard, component, zero));
        let Some(selectors) = self.selectors else { return components };
        let one = cx.b.uniform_select(valid, one, zero);
        std::array::from_fn(|i| {
            let which = cx.shr(selectors, 3 * i as u32);
            let which = cx.and_bits(which, 7);
            let choices = [(1, one)].into_iter().chain((4..).zip(components));
            choices.fold(zero, |chosen, (number, value)| {
                let number = cx.int(number);
                let this = cx.b.icmp(IntCc::Eq, which, number);
                cx.b.select(this, value, chosen)
            })
        })
    }

    /// Returns 1 as a component.
    fn one(&self, cx: &mut Cx<'_>) -> Value {
        let (int, float) = (cx.int(1), cx.int(1f32.to_bits()));
        cx.b.uniform_select(self.ints, int, float)
    }

    /// Stores texels of these components.
    pub fn store(
        &self,
        cx: &mut Cx<'_>,
        guard: Value,
        mut components: [Value; 4],
        mut address: impl FnMut(&mut Cx<'_>, u32) -> Value,
    ) {
        if let Some(selectors) = self.selectors {
            // A place gets the first component that would be loaded from it.
            let given = components;
            components = std::array::from_fn(|place| {
                let zero = cx.int(0);
                (0..4).rev().fold(zero, |chosen, i| {
                    let which = cx.shr(selectors, 3 * i as u32);
                    let (which, place) = (cx.and_bits(which, 7), cx.int(4 + place as u32));
                    let this = cx.b.icmp(IntCc::Eq, which, place);
                    cx.b.select(this, given[i], chosen)
                })
            });
        }
        let words = if self.plain { components } else { cx.b.pack(self.format, components) };
        for (item, word, guard) in self.parts(cx, guard) {
            let at = address(cx, word);
            cx.b.store_access(
                item.access(Space::Global, at, 0, Some(guard)),
                &[words[word as usize]],
            );
        }
    }

    /// Writes the first components to registers from `first` on: a word each, or with `half` two in
    /// a register.
    ///
    /// The last of an odd number of halves may be the upper half of its register.
    pub fn write(&self, cx: &mut Cx<'_>, first: u8, components: &[Value], half: Option<bool>) {
        let Some(high) = half else {
            return Item::Words(components.len() as u8).write(cx, first, components);
        };
        let halves: Vec<Value> =
            components.iter().map(|&component| self.to_half(cx, component)).collect();
        for (number, pair) in (first..=u8::MAX).zip(halves.chunks(2)) {
            match *pair {
                [low, upper] => {
                    let (low, upper) = (cx.low_bits(low, 16, false), cx.shl(upper, 16));
                    let both = cx.b.or(low, upper);
                    cx.set_vector(number, both);
                }
                _ => write_half(cx, number, pair[0], high),
            }
        }
    }

    /// Reads components as [`Texel::write`] writes them; the other components are 0.
    pub fn read(&self, cx: &mut Cx<'_>, first: u8, count: usize, half: Option<bool>) -> [Value; 4] {
        let zero = cx.int(0);
        std::array::from_fn(|i| {
            if i >= count {
                return zero;
            }
            let Some(high) = half else { return cx.vector(first.wrapping_add(i as u8)) };
            let pair = cx.vector(first.wrapping_add(i as u8 / 2));
            let upper = i % 2 == 1 || high && count == 1;
            let bits = if upper { cx.shr(pair, 16) } else { cx.low_bits(pair, 16, false) };
            self.of_half(cx, bits)
        })
    }

    /// Returns a component in the low 16 bits. A float is rounded to f16.
    fn to_half(&self, cx: &mut Cx<'_>, component: Value) -> Value {
        let float = cx.cast(Type::F32, component);
        let float = cx.b.fconvert(Type::F16, FloatAttrs::IEEE, float);
        let float = cx.cast(Type::I16, float);
        let float = cx.b.zero_extend(Type::I32, float);
        cx.b.select(self.ints, component, float)
    }

    fn of_half(&self, cx: &mut Cx<'_>, bits: Value) -> Value {
        let float = cx.b.trunc(Type::I16, bits);
        let float = cx.cast(Type::F16, float);
        let float = cx.b.fconvert(Type::F32, FloatAttrs::IEEE, float);
        let float = cx.cast(Type::I32, float);
        let signed = cx.low_bits(bits, 16, true);
        let int = cx.b.select(self.signed, signed, bits);
        cx.b.select(self.ints, int, float)
    }
}

/// Returns entry `index` (a uniform `i32`) of a table.
///
/// The index is taken modulo the table's length, a power of two.
pub fn look_up(cx: &mut Cx<'_>, index: Value, table: &[u32]) -> Value {
    if table.iter().all(|entry| *entry == table[0]) {
        return cx.int(table[0]);
    }
    let half = table.len() / 2;
    let (low, high) = (look_up(cx, index, &table[..half]), look_up(cx, index, &table[half..]));
    let upper = cx.and_bits(index, half as u64);
    cx.b.uniform_select(upper, high, low)
}
