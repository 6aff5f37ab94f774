//! Operands of instructions that sample, load, store and change images.

use arbitrary::Result;
use warploom_ptx::table::Form;
use warploom_ptx::types::Ty;
use warploom_ptx::word::Word;

use super::registers::{self, of_type};
use super::rules::{Operands, braces};
use super::statement::Writer;
use crate::maxwell::{SURFACES, TEXTURES};

/// The size of all surfaces, in texels of 4 bytes: see `maxwell::surface`.
const WIDTH: u32 = 32;
const HEIGHT: u32 = 16;

/// Returns the variables that are bound by their names.
pub fn variables() -> Vec<String> {
    let textures = TEXTURES.iter().map(|name| format!(".global .texref {name};"));
    textures.chain(SURFACES.iter().map(|name| format!(".global .surfref {name};"))).collect()
}

fn geometry(form: &Form) -> Word {
    const ALL: [Word; 9] = [
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
    form.one_of(&ALL).unwrap_or(Word::D2)
}

impl Writer<'_, '_> {
    /// Whether to write the instruction: mostly, the images are of the kind that it takes.
    fn fits(&mut self, form: &Form) -> Result<bool> {
        Ok(geometry(form) == Word::D2 || !self.steady && self.u.ratio(1, 16)?)
    }

    /// Returns `d[|p], [t, coordinates] {, level | , dx, dy} {, offsets} {, depth}`.
    pub fn sample(&mut self, form: &Form) -> Operands {
        if !self.fits(form)? {
            return Ok(None);
        }
        let geometry = geometry(form);
        let (count, is_array) = match geometry {
            Word::D1 => (1, false),
            Word::A1d => (2, true),
            Word::D2 => (2, false),
            Word::A2d | Word::ACube | Word::A2dms => (4, true),
            _ => (4, false),
        };
        let coordinate = form.ty(1);
        let Some(texels) = self.all(form.ty(0), form.vector())? else { return Ok(None) };
        let Some(mut coordinates) = self.all(coordinate, count)? else { return Ok(None) };
        if is_array {
            coordinates[0] = registers::one(self.u, "r")?;
        }
        let texture = *self.u.choose(&TEXTURES)?;
        let mut operands = vec![braces(&texels), format!("[{texture}, {}]", braces(&coordinates))];
        match form.one_of(&[Word::Level, Word::Grad]) {
            Some(Word::Level) => operands.extend(of_type(self.u, coordinate, false)?),
            Some(_) => {
                let count = match geometry {
                    Word::D1 | Word::A1d => 1,
                    Word::D2 | Word::A2d => 2,
                    _ => 4,
                };
                for _ in 0..2 {
                    let Some(all) = self.all(Ty::F32, count)? else { return Ok(None) };
                    operands.push(braces(&all));
                }
            }
            None => {}
        }
        let takes_more = self.target.sm >= 30 && self.version >= (4, 3) && geometry == Word::D2;
        if takes_more && self.u.ratio(1, 4)? {
            let Some(offsets) = self.all(Ty::S32, 2)? else { return Ok(None) };
            operands.push(braces(&offsets));
        }
        if takes_more && coordinate == Ty::F32 && self.u.ratio(1, 4)? {
            operands.push(registers::one(self.u, "f")?);
        }
        Ok(Some(operands))
    }

    /// Returns `[t]`.
    pub fn handle(&mut self, form: &Form) -> Result<Option<String>> {
        if form.has(Word::ForceUnnormalizedCoords) {
            return Ok(None);
        }
        let names = if form.row.opcode.starts_with("txq") { &TEXTURES[..] } else { &SURFACES[..] };
        Ok(Some(format!("[{}]", self.u.choose(names)?)))
    }

    /// Returns `[surface, coordinates]`, and appends lines that keep the coordinates in the
    /// surface.
    pub fn texel(&mut self, form: &Form, lines: &mut Vec<String>) -> Result<Option<String>> {
        // Blocks share the surfaces.
        let writes = form.row.opcode != "suld.b";
        if !self.fits(form)? || writes && self.independent {
            return Ok(None);
        }
        let bytes = form.vector() as u32 * form.ty(0).bytes();
        let in_bytes = form.row.opcode.ends_with(".b");
        let columns = if in_bytes { (4 * WIDTH - 1) & !(bytes - 1) } else { WIDTH - 1 };
        for (n, mask) in [columns, HEIGHT - 1].into_iter().enumerate() {
            lines.push(format!("and.b32 %a{n}, {}, {mask:#x};", registers::one(self.u, "r")?));
        }
        let coordinates = match geometry(form) {
            Word::D1 => "%a0",
            Word::D2 => "%a0, %a1",
            // The layer comes first.
            Word::A1d => "%a1, %a0",
            Word::A2d => "%a1, %a0, %a1, %a1",
            _ => "%a0, %a1, %a1, %a1",
        };
        Ok(Some(format!("[{}, {{{coordinates}}}]", self.u.choose(&SURFACES)?)))
    }
}
