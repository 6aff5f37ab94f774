//! Lowers conversions of texels of a known format to ordinary operations on words.
//!
//! The results must equal [`texel::unpack`](warploom_ir::texel::unpack) and
//! [`texel::pack`](warploom_ir::texel::pack) bit by bit.

use smallvec::SmallVec;
use warploom_ir::texel::{TexelFormat, TexelKind};
use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, FloatUnaryOp, Op, Round, Type, Value,
    ValueType, Values, Window,
};

use super::editor::Editor;

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// The greatest width of a normalised field. Fields up to this width are exact as floats. Their
/// quotients by less than 2^16 are rounded alike whether they are first rounded to a double or not:
/// no quotient is near the middle of two floats.
const MAX_NORMAL: u32 = 16;

/// The position of a component: word, lowest bit, width.
#[derive(Clone, Copy)]
struct Field {
    word: usize,
    lo: u32,
    width: u32,
}

/// Returns the positions of the components that a format has. None if a component spans two words.
fn fields(format: TexelFormat) -> Option<[Option<Field>; 4]> {
    let (mut at, mut fields) = (0, [None; 4]);
    for (field, width) in fields.iter_mut().zip(format.widths()) {
        let (word, lo) = (at as usize / 32, at % 32);
        if lo + width > 32 {
            return None;
        }
        *field = (width > 0).then_some(Field { word, lo, width });
        at += width;
    }
    Some(fields)
}

impl Editor {
    /// Emits a conversion of texels as other operations, if its format is a constant that allows
    /// it.
    pub(super) fn texels(&mut self, op: &Op, window: Window) -> Option<Values> {
        let (format, given, unpacks) = match *op {
            Op::Unpack { format, a } => (format, a, true),
            Op::Pack { format, a } => (format, a, false),
            _ => return None,
        };
        let format = TexelFormat(self.constant(format)? as u32);
        let (kind, fields) = (format.kind()?, fields(format)?);
        let known = |field: &Field| match kind {
            TexelKind::Uint | TexelKind::Sint => true,
            TexelKind::Float | TexelKind::FloatCut => field.width == 32,
            TexelKind::Unorm => field.width <= MAX_NORMAL,
            TexelKind::Snorm => unpacks && (2..=MAX_NORMAL).contains(&field.width),
            _ => false,
        };
        if !fields.iter().flatten().all(known) {
            return None;
        }
        if !unpacks {
            return Some(self.packed(kind, fields, given, window));
        }
        let last =
            if matches!(kind, TexelKind::Uint | TexelKind::Sint) { 1 } else { 1f32.to_bits() };
        let absent = [0, 0, 0, last].map(|bits| self.iconst(Type::I32, bits.into()));
        let component = |(field, absent): (Option<Field>, Value)| match field {
            Some(field) => self.component(kind, field, given[field.word], window),
            None => absent,
        };
        Some(fields.into_iter().zip(absent).map(component).collect())
    }

    fn shift(&mut self, op: BinaryOp, value: Value, count: u32, window: Window) -> Value {
        let count = self.iconst(Type::I32, count.into());
        self.binary(op, value, count, window)
    }

    fn mask(&mut self, value: Value, width: u32, window: Window) -> Value {
        let mask = self.iconst(Type::I32, (u32::MAX >> (32 - width)).into());
        self.binary(BinaryOp::And, value, mask, window)
    }

    fn component(&mut self, kind: TexelKind, field: Field, word: Value, window: Window) -> Value {
        let Field { lo, width, .. } = field;
        let signed = matches!(kind, TexelKind::Sint | TexelKind::Snorm);
        let bits = if signed {
            let top = self.shift(BinaryOp::Shl, word, 32 - width - lo, window);
            self.shift(BinaryOp::ShrS, top, 32 - width, window)
        } else {
            let low = self.shift(BinaryOp::ShrU, word, lo, window);
            self.mask(low, width, window)
        };
        if !matches!(kind, TexelKind::Unorm | TexelKind::Snorm) {
            return bits;
        }
        let shape = self.ty(bits).shape;
        let float = [ValueType { ty: Type::F32, shape }];
        let most = u32::MAX >> (32 - width + u32::from(signed));
        let most = self.iconst(Type::F32, (most as f32).to_bits().into());
        let op = Op::IntToFloat { to: Type::F32, signed, round: Round::Nearest, a: bits };
        let a = self.pure(op, window, &float)[0];
        let op = Op::FBinary { op: FloatBinaryOp::Div, attrs: IEEE, a, b: most };
        let mut value = self.pure(op, window, &float)[0];
        if signed {
            let least = self.iconst(Type::F32, (-1f32).to_bits().into());
            let op = Op::FBinary { op: FloatBinaryOp::Max, attrs: IEEE, a: value, b: least };
            value = self.pure(op, window, &float)[0];
        }
        self.convert(ConvertOp::Bitcast, Type::I32, value, window)
    }

    fn packed(
        &mut self,
        kind: TexelKind,
        fields: [Option<Field>; 4],
        given: [Value; 4],
        window: Window,
    ) -> Values {
        let zero = self.iconst(Type::I32, 0);
        let mut words: SmallVec<[Value; 4]> = [zero; 4].into_iter().collect();
        for (field, component) in fields.into_iter().zip(given) {
            let Some(Field { word, lo, width }) = field else { continue };
            let bits = self.field(kind, width, component, window);
            let placed = self.shift(BinaryOp::Shl, bits, lo, window);
            words[word] = self.binary(BinaryOp::Or, words[word], placed, window);
        }
        words.into_iter().collect()
    }

    /// Emits the bits of a component for its field.
    fn field(&mut self, kind: TexelKind, width: u32, component: Value, window: Window) -> Value {
        let mask = u32::MAX >> (32 - width);
        match kind {
            _ if width == 32 => component,
            TexelKind::Uint => {
                let most = self.iconst(Type::I32, mask.into());
                self.binary(BinaryOp::MinU, component, most, window)
            }
            TexelKind::Sint => {
                let most = self.iconst(Type::I32, (mask >> 1).into());
                let least = self.iconst(Type::I32, (!(mask >> 1)).into());
                let low = self.binary(BinaryOp::MinS, component, most, window);
                let within = self.binary(BinaryOp::MaxS, low, least, window);
                self.mask(within, width, window)
            }
            // In doubles, where the product is exact.
            _ => {
                let shape = self.ty(component).shape;
                let of = |ty| [ValueType { ty, shape }];
                let a = self.convert(ConvertOp::Bitcast, Type::F32, component, window);
                let attrs = FloatAttrs { saturate: true, ..IEEE };
                let a = self.pure(
                    Op::FUnary { op: FloatUnaryOp::Copy, attrs, a },
                    window,
                    &of(Type::F32),
                )[0];
                let a = self.pure(
                    Op::FConvert { to: Type::F64, attrs: IEEE, a },
                    window,
                    &of(Type::F64),
                )[0];
                let b = self.iconst(Type::F64, f64::from(mask).to_bits());
                let op = Op::FBinary { op: FloatBinaryOp::Mul, attrs: IEEE, a, b };
                let a = self.pure(op, window, &of(Type::F64))[0];
                let round = Round::Nearest;
                let op =
                    Op::FloatToInt { to: Type::I32, signed: true, round, flush: false, nan: 0, a };
                self.pure(op, window, &of(Type::I32))[0]
            }
        }
    }
}
