//! Initial contents of variables. Facts, `ptx.md` 1.3.

use super::constant::bits_of;
use super::declare::Shape;
use super::lexer::Kind;
use super::names::{Lookup, Named};
use super::reader::{Reader, Result};
use crate::module::{AddressMode, AddressOf, Initial, InitialAddress, Linkage, Sampler};
use crate::types::{Kind as TyKind, StateSpace, Ty};

/// An address as it is written.
struct WrittenAddress {
    of: AddressOf,
    generic: bool,
    addend: i64,
}

/// One element of an initial content.
enum Element {
    Bits(u64),
    /// Bits of an address: the lowest bit, and the count.
    Address(WrittenAddress, u8, u8),
}

impl Reader<'_> {
    /// Reads the part after the `=` of a variable. A first dimension of 0 takes the length of the
    /// content.
    pub fn initial(&mut self, shape: &Shape, dimensions: &mut [u64], at: u32) -> Result<Initial> {
        let what = match (shape.space, shape.linkage, shape.ty) {
            (StateSpace::Global, _, Ty::Samplerref | Ty::Texref) => return self.sampler(),
            (_, Linkage::Extern, _) => "a variable defined elsewhere",
            (
                StateSpace::Global | StateSpace::Const,
                _,
                Ty::F16 | Ty::F16x2 | Ty::B128 | Ty::Surfref,
            ) => "a variable of this type",
            (StateSpace::Global | StateSpace::Const, ..) => "",
            _ => "a variable of this state space",
        };
        if !what.is_empty() {
            return self.fail(at, format!("{what} has no initial content"));
        }
        let mut all = dimensions.to_vec();
        if shape.elements > 1 {
            all.push(shape.elements.into());
        }
        let mut initial = Initial::default();
        if let [0, ..] = all[..] {
            // Treat it as endless; `grow` limits it.
            all[0] = u64::MAX;
        }
        let length = self.fill(shape.ty, &all, 0, &mut initial)?;
        if let Some(first @ 0) = dimensions.first_mut() {
            if length == 0 {
                return self.fail(at, "found an array of length 0, expected one of at least 1");
            }
            *first = length;
        }
        Ok(initial)
    }

    /// Reads an element, or the elements of an array in braces, into the bytes from an offset on.
    /// Returns their number.
    fn fill(
        &mut self,
        ty: Ty,
        dimensions: &[u64],
        offset: u64,
        initial: &mut Initial,
    ) -> Result<u64> {
        let Some((&length, inner)) = dimensions.split_first() else {
            self.element(ty, offset, initial)?;
            return Ok(1);
        };
        self.expect(b'{', "`{`")?;
        if self.take(b'}') {
            return Ok(0);
        }
        let stride =
            inner.iter().fold(u64::from(ty.bytes()), |size, &length| size.saturating_mul(length));
        let mut count = 0;
        loop {
            if count == length {
                return self.fail(self.token.at, format!("more than {length} elements"));
            }
            self.fill(ty, inner, offset.saturating_add(stride.saturating_mul(count)), initial)?;
            count += 1;
            if !self.take(b',') {
                self.expect(b'}', "`,` or `}`")?;
                return Ok(count);
            }
        }
    }

    fn element(&mut self, ty: Ty, offset: u64, initial: &mut Initial) -> Result<()> {
        let at = self.token.at;
        let end = offset.saturating_add(ty.bytes().into());
        self.grow(initial, end, at)?;
        let element = match self.token.kind {
            Kind::Name if self.here() != "WARP_SZ" => {
                let place = self.place()?;
                if !matches!(ty.bits(), 32 | 64) || ty.kind() == TyKind::Float {
                    return self.fail(at, format!("an address stands in no `.{}`", ty.name()));
                }
                Element::Address(place, 0, ty.bits() as u8)
            }
            Kind::Integer { .. } if self.lexer.following() == b'(' => self.byte_of(ty)?,
            _ => {
                let value = self.constant()?;
                match bits_of(value, ty) {
                    Ok(bits) => Element::Bits(bits),
                    Err(message) => return self.fail(at, message),
                }
            }
        };
        let bytes = ty.bytes() as usize;
        let start = offset as usize;
        match element {
            Element::Bits(bits) => {
                initial.bytes[start..start + bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
            }
            Element::Address(WrittenAddress { of, generic, addend }, first_bit, bits) => {
                initial.addresses.push(InitialAddress {
                    offset,
                    of,
                    generic,
                    addend,
                    first_bit,
                    bits,
                });
            }
        }
        Ok(())
    }

    /// Reads `0xff00(var)`, `0xff(1234)`: a byte of an address or an integer.
    fn byte_of(&mut self, ty: Ty) -> Result<Element> {
        let mask = self.advance();
        self.needs(mask.at, "a byte of an address", 0, (7, 1))?;
        let first_bit = mask.value.trailing_zeros();
        if mask.value == 0 || !first_bit.is_multiple_of(8) || mask.value >> first_bit != 0xff {
            return self.fail(
                mask.at,
                format!("found `{}`, expected a mask of one byte like `0xff00`", self.slice(mask)),
            );
        }
        if ty.bits() != 8 {
            return self
                .fail(mask.at, format!("a byte of an address stands in no `.{}`", ty.name()));
        }
        self.expect(b'(', "`(`")?;
        let found = match self.token.kind {
            Kind::Name if self.here() != "WARP_SZ" => {
                Element::Address(self.place()?, first_bit as u8, 8)
            }
            _ => Element::Bits(self.integer("an integer")? >> first_bit & 0xff),
        };
        self.expect(b')', "`)`")?;
        Ok(found)
    }

    /// Reads `var`, `var+4`, `generic(var)+4`, or the name of a function.
    fn place(&mut self) -> Result<WrittenAddress> {
        let (mut name, mut at) = self.name("the name of a variable or function")?;
        let mut generic = self.module.version < (3, 1);
        if name == "generic" && self.take(b'(') {
            generic = true;
            (name, at) = self.name("the name of a variable or function")?;
            self.expect(b')', "`)`")?;
        }
        let of = match self.names.lookup(name) {
            Some(Lookup::Name(Named::Variable(id))) => {
                let space = self.module.variable(id).space;
                if !matches!(space, StateSpace::Global | StateSpace::Const) {
                    return self.fail(
                        at,
                        format!(
                            "`{name}` is neither `.global` nor `.const`, so it has no fixed address"
                        ),
                    );
                }
                AddressOf::Variable(id)
            }
            Some(Lookup::Name(Named::Function(id))) => AddressOf::Function(id),
            Some(_) => {
                return self.fail(at, format!("found `{name}`, expected a variable or function"));
            }
            None => {
                let message = format!(
                    "found `{name}`, which is not declared before, expected a variable or function"
                );
                return self.undeclared(name, at, message);
            }
        };
        let addend = match self.take(b'+') {
            true => self.integer("an offset in bytes")? as i64,
            false => 0,
        };
        Ok(WrittenAddress { of, generic, addend })
    }

    /// Reads `{ addr_mode_0 = wrap, filter_mode = linear }`.
    fn sampler(&mut self) -> Result<Initial> {
        self.expect(b'{', "`{`")?;
        let mut sampler = Sampler::default();
        loop {
            let (key, at) = self.name("a property of a sampler")?;
            self.expect(b'=', "`=`")?;
            match key {
                "addr_mode_0" => sampler.address_modes[0] = self.address_mode()?,
                "addr_mode_1" => sampler.address_modes[1] = self.address_mode()?,
                "addr_mode_2" => sampler.address_modes[2] = self.address_mode()?,
                "filter_mode" => {
                    let (name, at) = self.name("`nearest` or `linear`")?;
                    sampler.linear = match name {
                        "nearest" => false,
                        "linear" => true,
                        _ => {
                            return self.fail(
                                at,
                                format!("found `{name}`, expected `nearest` or `linear`"),
                            );
                        }
                    };
                }
                "force_unnormalized_coords" => {
                    sampler.unnormalized = self.literal("0 or 1", 1)? == 1
                }
                _ => {
                    return self
                        .fail(at, format!("found `{key}`, expected a property of a sampler"));
                }
            }
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b'}', "`,` or `}`")?;
        Ok(Initial { sampler: Some(sampler), ..Initial::default() })
    }

    fn address_mode(&mut self) -> Result<AddressMode> {
        let (name, at) = self.name("an address mode")?;
        match AddressMode::from_name(name) {
            Some(mode) => Ok(mode),
            None => self.fail(at, format!("found `{name}`, expected an address mode")),
        }
    }
}
