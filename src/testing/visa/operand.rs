//! Operands: regions of variables, immediates, elements behind addresses.

use arbitrary::Result;
use warploom_visa::types::{Exec, Ty};

use super::statement::Writer;
use super::variables::{KINDS, Kind, name_of};

/// Vertical strides, widths and horizontal strides.
const VERTICAL: [u32; 6] = [0, 1, 2, 4, 8, 16];
const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
const HORIZONTAL: [u32; 4] = [0, 1, 2, 4];

/// Bits of numbers at edges: of integers, and of floats of each size.
const INTEGERS: [u64; 12] =
    [0, 1, 2, 31, 0x7f, 0x80, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678, u64::MAX];
const FLOATS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    3.0e38,
    1.0e-40,
    65504.0,
    f64::INFINITY,
    f64::NAN,
    2_147_483_648.0,
    -129.75,
];

/// How a source is written.
#[derive(Clone, Copy, Default)]
pub struct Use {
    pub modifiers: bool,
    /// Whether neither a constant nor one element for all lanes may be here.
    pub regions_alone: bool,
}

impl Writer<'_, '_> {
    /// Returns a region of a variable that lanes have a share of. Each lane gets its own element.
    fn of_lanes(&mut self, ty: Ty, exec: Exec, is_source: bool) -> Result<String> {
        let size = ty.size();
        let letters: &[char] = match size {
            8 => &['Q'],
            4 => &['V', 'V', 'V', 'Q'],
            2 => &['H', 'H', 'V'],
            _ => &['V', 'H'],
        };
        let letter = *self.u.choose(letters)?;
        let kind = Kind::of(letter);
        let share = kind.bytes(self.lanes) / self.lanes;
        let part = self.u.int_in_range(0..=share / size - 1)?;
        let stride = share / size;
        let number = self.u.int_in_range(0..=kind.count - 1)?;
        let start = u32::from(exec.offset) * share + part * size;
        let region = if is_source { format!("<{stride};1,0>") } else { format!("<{stride}>") };
        Ok(self.general(&format!("{}{number}", name_of(letter)), ty, start, &region))
    }

    /// Returns a region of a variable, from a byte on.
    fn general(&self, name: &str, ty: Ty, start: u32, region: &str) -> String {
        let (row, rest) = (start / self.register, start % self.register);
        format!("{name}{}({row},{}){region}", ty.name(), rest / ty.size())
    }

    /// Returns an element that all lanes read, or that an instruction of one lane writes.
    fn single(&mut self, ty: Ty, region: &str) -> Result<String> {
        let kind = Kind::of('S');
        let number = self.u.int_in_range(0..=kind.count - 1)?;
        let element = self.u.int_in_range(0..=8 / ty.size() - 1)?;
        Ok(self.general(&format!("S{number}"), ty, element * ty.size(), region))
    }

    /// Returns any region of any variable.
    fn anywhere(&mut self, ty: Ty, count: u32, is_source: bool) -> Result<String> {
        let size = ty.size();
        let kind = &KINDS[self.u.int_in_range(0..=KINDS.len() - 1)?];
        let (number, bytes) = (self.u.int_in_range(0..=kind.count - 1)?, kind.bytes(self.lanes));
        let name = format!("{}{number}", name_of(kind.letter));
        let (mut extent, mut region) = if is_source {
            let (vertical, horizontal) = (*self.u.choose(&VERTICAL)?, *self.u.choose(&HORIZONTAL)?);
            let width = (*self.u.choose(&WIDTHS)?).min(count);
            let last = (count - 1) / width * vertical + (width - 1) * horizontal;
            (last + 1, format!("<{vertical};{width},{horizontal}>"))
        } else {
            let stride = *self.u.choose(&[1, 1, 2, 4])?;
            ((count - 1) * stride + 1, format!("<{stride}>"))
        };
        if extent * size > bytes {
            if !is_source {
                return self.of_few(ty, count, false);
            }
            (extent, region) = (1, "<0;1,0>".into());
        }
        let start = self.u.int_in_range(0..=bytes / size - extent)? * size;
        Ok(self.general(&name, ty, start, &region))
    }

    /// Returns consecutive elements of a variable for instructions of no particular lanes.
    fn of_few(&mut self, ty: Ty, count: u32, is_source: bool) -> Result<String> {
        let size = ty.size();
        let (name, bytes) = match self.u.int_in_range(0..=1)? {
            _ if count * size > Kind::of('X').bytes(self.lanes) => {
                ("M0".to_owned(), 32 * self.lanes)
            }
            number => (format!("XV{number}"), Kind::of('X').bytes(self.lanes)),
        };
        let start = self.u.int_in_range(0..=bytes / size - count)? * size;
        Ok(self.general(&name, ty, start, if is_source { "<1;1,0>" } else { "<1>" }))
    }

    fn immediate(&mut self, ty: Ty) -> Result<String> {
        let name = ty.name();
        let float = *self.u.choose(&FLOATS)?;
        Ok(match ty {
            Ty::F => format!("{:#x}:f", (float as f32).to_bits()),
            Ty::Df => format!("{:#x}:df", float.to_bits()),
            Ty::Hf => format!("{:#x}:hf", half::f16::from_f64(float).to_bits()),
            Ty::Ub | Ty::B | Ty::Uw | Ty::W if self.u.ratio(1, 4)? => {
                format!(
                    "{:#x}:{}",
                    self.u.arbitrary::<u32>()?,
                    if ty.name().starts_with('u') { "uv" } else { "v" }
                )
            }
            Ty::Ub | Ty::Uw => format!("{:#x}:uw", *self.u.choose(&INTEGERS)? as u16),
            Ty::B | Ty::W => format!("{:#x}:w", *self.u.choose(&INTEGERS)? as u16),
            Ty::Uq | Ty::Q => format!("{:#x}:{name}", self.u.choose(&INTEGERS)?),
            _ => format!("{:#x}:{name}", *self.u.choose(&INTEGERS)? as u32),
        })
    }

    /// Returns a source of a type.
    pub fn source(&mut self, ty: Ty, exec: Exec, how: Use) -> Result<String> {
        let count = u32::from(exec.size);
        let is_single = exec.no_mask && count < self.lanes.min(8);
        let plain = match self.u.int_in_range(0..=15)? {
            0 | 1 if !how.regions_alone && ty != Ty::Bf => return self.immediate(ty),
            2..=4 if !how.regions_alone => self.single(ty, "<0;1,0>")?,
            _ if self.is_wild()? => self.anywhere(ty, count, true)?,
            5 if ty.size() <= 4 && !how.regions_alone => self.behind_address(ty)?,
            _ if is_single && count == 1 => self.single(ty, "<0;1,0>")?,
            _ if is_single || count > self.lanes => self.of_few(ty, count, true)?,
            _ => self.of_lanes(ty, exec, true)?,
        };
        let modifier = match self.u.int_in_range(0..=11)? {
            0 if how.modifiers => "(-)",
            1 if how.modifiers => "(abs)",
            2 if how.modifiers => "(-abs)",
            _ => "",
        };
        Ok(format!("{modifier}{plain}"))
    }

    /// Returns an element that address variables point to, wherever they point by now.
    fn behind_address(&mut self, ty: Ty) -> Result<String> {
        let offset = self.u.int_in_range(-32..=96_i32)?;
        let name = ty.name();
        Ok(match self.u.int_in_range(0..=2)? {
            0 => format!("r[A0(0),{offset}]<1,0>:{name}"),
            1 => format!("r[A1(0),{offset}]<0;1,0>:{name}"),
            _ => format!("r[A1(0),{offset}]<1;1,0>:{name}"),
        })
    }

    /// Returns a destination of a type.
    pub fn destination(&mut self, ty: Ty, exec: Exec) -> Result<String> {
        let count = u32::from(exec.size);
        let is_single = exec.no_mask && count < self.lanes.min(8);
        if self.is_wild()? {
            return self.anywhere(ty, count, false);
        }
        if self.u.ratio(1, 32)? && ty.size() <= 4 {
            return Ok(format!("r[A1(0),{}]<1>:{}", self.u.int_in_range(0..=64)?, ty.name()));
        }
        match is_single {
            true if count == 1 => self.single(ty, "<1>"),
            true => self.of_few(ty, count, false),
            false if count > self.lanes => self.of_few(ty, count, false),
            false => self.of_lanes(ty, exec, false),
        }
    }

    /// Whether the next region may be any region.
    fn is_wild(&mut self) -> Result<bool> {
        match self.wildness {
            0 => Ok(false),
            wildness => self.u.ratio(1, wildness),
        }
    }
}
