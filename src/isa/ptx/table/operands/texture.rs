//! Textures and surfaces. Facts, `ptx.md` 2.9.

use super::{AllChecked, Check, Checked, at};
use crate::module::{Address, AddressOf, Base, Operand};
use crate::types::Ty;
use crate::word::Word;

/// The geometries of textures and surfaces.
const GEOMETRIES: &[Word] = &[
    Word::D1,
    Word::D2,
    Word::D3,
    Word::A1d,
    Word::A2d,
    Word::Cube,
    Word::ACube,
    Word::D2ms,
    Word::A2dms,
];

impl Check<'_> {
    /// Checks `d[|p], [t, {sampler,} coordinates] {, level | , dx, dy} {, offsets} {, depth}`.
    pub fn texture(&self, operands: &[Operand]) -> AllChecked {
        let gather = self.form.row.opcode == "tld4";
        let fixed = match self.form.one_of(&[Word::Level, Word::Grad]) {
            Some(Word::Level) => 3,
            Some(_) => 4,
            None => 2,
        };
        self.count(operands, fixed, fixed + 2)?;
        self.texels(&operands[0]).map_err(at(0))?;
        self.sampled(&operands[1]).map_err(at(1))?;
        match fixed {
            3 => self.source(&operands[2], self.coordinate(), false).map_err(at(2))?,
            4 => (2..4).try_for_each(|n| self.gradient(&operands[n]).map_err(at(n)))?,
            _ => {}
        }
        let mut rest = operands[fixed..]
            .iter()
            .enumerate()
            .map(|(n, operand)| (n + fixed, operand))
            .peekable();
        if rest.peek().is_some() {
            self.needs(30, (4, 3), "an offset or a depth").map_err(at(fixed))?;
        }
        if let Some((n, operand @ Operand::Vector(_))) = rest.peek().copied() {
            self.texel_offset(operand, gather).map_err(at(n))?;
            rest.next();
        }
        match rest.next() {
            None => Ok(()),
            Some((n, _)) if n + 1 < operands.len() => Err((n, "expected offsets in braces".into())),
            Some((n, operand)) => self.depth(operand, gather).map_err(at(n)),
        }
    }

    fn geometry(&self) -> Word {
        self.form.one_of(GEOMETRIES).unwrap_or(Word::D1)
    }

    /// Returns the type of a coordinate.
    fn coordinate(&self) -> Ty {
        self.form.ty(1)
    }

    /// Checks the destination, with a predicate of residency.
    fn texels(&self, operand: &Operand) -> Checked {
        let operand = match operand {
            Operand::Pair(pair) => {
                self.needs(60, (7, 1), "a predicate of residency")?;
                self.predicate_destination(&pair[1])?;
                &pair[0]
            }
            _ => operand,
        };
        let count = self.form.vector();
        match operand {
            Operand::Vector(all) if all.len() == count => {
                all.iter().try_for_each(|element| match element {
                    Operand::Sink => Ok(()),
                    _ => self.destination(element, self.form.ty(0), false),
                })
            }
            _ => Err(format!("expected {count} elements in braces")),
        }
    }

    /// Checks `[t, {sampler,} coordinates]`.
    fn sampled(&self, operand: &Operand) -> Checked {
        let Operand::Bracket(all) = operand else {
            return Err("expected `[texture, coordinates]`".into());
        };
        let (texture, sampler, coordinates) = match &all[..] {
            [texture, coordinates] => (texture, None, coordinates),
            [texture, sampler, coordinates] => (texture, Some(sampler), coordinates),
            _ => return Err("expected `[texture, coordinates]`".into()),
        };
        self.opaque(texture, Ty::Texref)?;
        if let Some(sampler) = sampler {
            self.opaque(sampler, Ty::Samplerref)?;
        }
        self.coordinates(coordinates, self.coordinate())
    }

    /// Checks the name of a texture, surface or sampler, or its handle.
    fn opaque(&self, operand: &Operand, ty: Ty) -> Checked {
        match *operand {
            Operand::Register(register) => {
                self.needs(20, (3, 1), "a handle in a register")?;
                self.register(register, Ty::U64, false)
            }
            Operand::Symbol(AddressOf::Variable(id), 0) => {
                let variable = self.module.variable(id);
                let of_tex = ty == Ty::Texref && variable.space == crate::types::StateSpace::Tex;
                match variable.ty == ty || of_tex {
                    true => Ok(()),
                    false => Err(format!("found `{}`, which is no .{}", variable.name, ty.name())),
                }
            }
            _ => Err(format!("expected a .{} or its handle", ty.name())),
        }
    }

    /// Checks a tuple of at least as many coordinates as the geometry has. One coordinate may stand
    /// alone. The index of an array comes first.
    fn coordinates(&self, operand: &Operand, ty: Ty) -> Checked {
        let (least, index) = match self.geometry() {
            Word::D1 => (1, false),
            Word::D2 => (2, false),
            Word::A1d => (2, true),
            Word::A2d | Word::ACube => (4, true),
            _ => (4, false),
        };
        let all = match operand {
            Operand::Vector(all) => &all[..],
            alone if least == 1 => std::slice::from_ref(alone),
            _ => return Err("expected coordinates in braces".into()),
        };
        if all.len() < least || !matches!(all.len(), 1 | 2 | 4) {
            return Err(format!("found {} coordinates, expected {least}", all.len()));
        }
        if matches!((operand, all.len()), (Operand::Vector(_), 1 | 2)) {
            self.needs(10, (1, 2), "a tuple of less than 4 coordinates")?;
        }
        all.iter().enumerate().try_for_each(|(n, coordinate)| {
            let ty = if n == 0 && index { Ty::U32 } else { ty };
            self.source(coordinate, ty, false)
        })
    }

    fn gradient(&self, operand: &Operand) -> Checked {
        let Operand::Vector(all) = operand else {
            return Err("expected derivatives in braces".into());
        };
        let fits = match self.geometry() {
            Word::D1 | Word::A1d => all.len() == 1,
            Word::D2 | Word::A2d => all.len() == 2,
            Word::D3 => all.len() == 4,
            _ => matches!(all.len(), 1 | 2 | 4),
        };
        if !fits {
            return Err(format!(
                "found {} derivatives, as many as the geometry has none",
                all.len()
            ));
        }
        all.iter().try_for_each(|derivative| self.source(derivative, Ty::F32, false))
    }

    fn texel_offset(&self, operand: &Operand, gather: bool) -> Checked {
        let Operand::Vector(all) = operand else { return Err("expected offsets in braces".into()) };
        let least = match self.geometry() {
            Word::Cube | Word::ACube => return Err("cubes take no offsets".into()),
            Word::D1 | Word::A1d => 1,
            Word::D3 => 4,
            _ => 2,
        };
        let fits =
            all.len() >= least && matches!(all.len(), 1 | 2 | 4) && (!gather || all.len() == 2);
        if !fits {
            return Err(format!("found {} offsets, expected {least}", all.len()));
        }
        all.iter().try_for_each(|offset| self.source(offset, Ty::S32, false))
    }

    fn depth(&self, operand: &Operand, gather: bool) -> Checked {
        let takes = matches!(
            self.geometry(),
            Word::D1 | Word::D2 | Word::A1d | Word::A2d | Word::Cube | Word::ACube
        );
        if !gather && (!takes || self.coordinate() != Ty::F32) {
            return Err("this form takes no depth to compare".into());
        }
        self.source(operand, Ty::F32, false)
    }

    /// Checks `[surface, coordinates]`.
    pub fn texel(&self, operand: &Operand) -> Checked {
        match operand {
            Operand::Bracket(all) if all.len() == 2 => {
                self.opaque(&all[0], Ty::Surfref)?;
                self.coordinates(&all[1], Ty::S32)
            }
            _ => Err("expected `[surface, coordinates]`".into()),
        }
    }

    /// Checks `[t]` of `txq` and `suq`.
    pub fn handle(&self, operand: &Operand) -> Checked {
        let texture = self.form.row.opcode.starts_with("txq");
        match *operand {
            Operand::Address(Address {
                base: Base::Register(register),
                offset: 0,
                index: None,
            }) => {
                self.needs(20, (3, 1), "a handle in a register")?;
                self.register(register, Ty::U64, false)
            }
            Operand::Address(Address { base: Base::Symbol(of), offset: 0, index: None }) => {
                let symbol = Operand::Symbol(of, 0);
                match texture {
                    true if self.form.has(Word::ForceUnnormalizedCoords) => {
                        self.opaque(&symbol, Ty::Samplerref)
                    }
                    true => self
                        .opaque(&symbol, Ty::Texref)
                        .or_else(|_| self.opaque(&symbol, Ty::Samplerref)),
                    false => self.opaque(&symbol, Ty::Surfref),
                }
            }
            _ => Err("expected a texture or surface in brackets".into()),
        }
    }
}
