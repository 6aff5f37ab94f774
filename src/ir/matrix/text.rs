//! Products in the text form: `m16n8k16.f32.f16.f16.f32`, with the types of D, A, B and C.

use std::fmt::{self, Display, Formatter};

use super::super::names::Named;
use super::super::op::Round;
use super::{Factor, Order, Product, Storage, Sum};

macro_rules! names {
    ($type:ident { $($member:ident $name:literal,)* }) => {
        impl Named for $type {
            const NAMES: &'static [(Self, &'static str)] = &[$(($type::$member, $name),)*];
        }
    };
}

names! { Factor {
    F16 "f16", Bf16 "bf16", Tf32 "tf32", E4m3 "e4m3", E5m2 "e5m2", F64 "f64", S8 "s8", U8 "u8", S4 "s4", U4 "u4", B1 "b1",
} }
names! { Sum { F16 "f16", F32 "f32", S32 "s32", F64 "f64", } }
names! { Order { Row "row", Col "col", } }

impl Display for Product {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "m{}n8k{}", self.rows, self.depth)?;
        let (d, c) = (self.d.name_of(), self.c.name_of());
        write!(f, ".{d}.{}.{}.{c}", self.a.name_of(), self.b.name_of())?;
        match self.storage {
            Storage::Dense => {}
            Storage::Sparse(selector) => write!(f, ".sparse{selector}")?,
            Storage::Quad([a, b]) => write!(f, ".{}.{}", a.name_of(), b.name_of())?,
        }
        if self.saturate {
            write!(f, ".sat")?;
        }
        if self.xor {
            write!(f, ".xor")?;
        }
        if self.round != Round::Nearest {
            write!(f, ".{}", self.round.name_of())?;
        }
        Ok(())
    }
}

impl Product {
    /// Parses a product's text. `None` if the text is malformed, or names a product that does not
    /// exist.
    pub fn from_text(text: &str) -> Option<Product> {
        let mut parts = text.split('.').peekable();
        let (rows, depth) = parts.next()?.strip_prefix('m')?.split_once("n8k")?;
        let (rows, depth) = (rows.parse().ok()?, depth.parse().ok()?);
        let d = Sum::from_name(parts.next()?)?;
        let (a, b) = (Factor::from_name(parts.next()?)?, Factor::from_name(parts.next()?)?);
        let c = Sum::from_name(parts.next()?)?;
        let mut product = Product::dense(rows, depth, [a, b], [c, d]);
        if let Some(selector) = parts.peek().and_then(|part| part.strip_prefix("sparse")) {
            product.storage = Storage::Sparse(selector.parse().ok()?);
            parts.next();
        } else if let Some(a) = parts.peek().and_then(|part| Order::from_name(part)) {
            parts.next();
            product.storage = Storage::Quad([a, Order::from_name(parts.next()?)?]);
        }
        product.saturate = parts.next_if_eq(&"sat").is_some();
        product.xor = parts.next_if_eq(&"xor").is_some();
        if let Some(round) = parts.next() {
            product.round = Round::from_name(round)?;
        }
        (parts.next().is_none() && product.is_valid()).then_some(product)
    }
}
