//! Instructions that access memory, with the code that sets up their addresses.

use std::sync::LazyLock;

use arbitrary::Result;
use warploom_gfx9::lift::apertures;
use warploom_gfx9::{Encoding, Format, Row};

use super::super::words::{
    ADDRESS, COORDINATES, OFFSET, OTHER_ADDRESS, POINTERS, RESOURCE, SCALARS, rows,
};
use super::{ELEMENT, ITEM, LDS_BYTES, OWN, SCRATCH_BYTES, TEMPORARY, Writer, of};
use crate::case::{DATA_BYTES, OWN_BYTES};
use crate::program::Node;

static LDS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| of(|e| e == Encoding::Ds));
static BUFFER: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| of(|e| matches!(e, Encoding::Mubuf | Encoding::Mtbuf)));
static GLOBAL: LazyLock<Vec<&'static Row>> = LazyLock::new(|| memory(|_| true));
static FLAT: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|row| row.places[0].format == Format::Flat));
static FLAT_MOVES: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    let atomic = |row: &&&Row| row.mnemonic.contains("_atomic");
    FLAT.iter().filter(|row| !atomic(row)).copied().collect()
});
static SCRATCH_ACCESSES: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|row| row.places[0].format == Format::Scratch));
static GLOBAL_LOADS: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| memory(|row| row.mnemonic.contains("_load_")));
static IMAGES: LazyLock<Vec<&'static Row>> = LazyLock::new(|| of(|e| e == Encoding::Mimg));
static IMAGE_LOADS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    let changes = |row: &Row| row.mnemonic.contains("_store") || row.mnemonic.contains("_atomic");
    IMAGES.iter().filter(|row| !changes(row)).copied().collect()
});
static BUFFER_LOADS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    let loads = |row: &&&Row| row.mnemonic.contains("_load_");
    BUFFER.iter().filter(loads).copied().collect()
});

/// Returns the wanted rows of flat and global memory. A mnemonic stands for rows of both.
fn memory(wanted: impl Fn(&Row) -> bool) -> Vec<&'static Row> {
    rows(|row| matches!(row.places[0].format, Format::Flat | Format::Global) && wanted(row))
}

impl Writer<'_, '_> {
    /// Returns lines that put an index below a power of two into the offset's register, mostly a
    /// multiple of 16.
    fn index(&mut self, bytes: u32) -> Result<Vec<String>> {
        let low = if self.seldom(32)? { 0x4 } else { 0x10 };
        let from = if self.u.arbitrary()? { ITEM } else { self.vector()? };
        if from == ITEM && self.u.arbitrary()? {
            // The index is evenly spaced: the items of small workgroups have places of their own.
            let shifted = format!("v_lshlrev_b32_e32 v{OFFSET}, 4, v{from}");
            return Ok(vec![
                shifted,
                format!("v_and_b32_e32 v{OFFSET}, {:#x}, v{OFFSET}", bytes - 0x10),
            ]);
        }
        Ok(vec![format!("v_and_b32_e32 v{OFFSET}, {:#x}, v{from}", bytes - low)])
    }

    /// Returns an access to global or flat memory. An instruction takes the address or the offset.
    pub(super) fn global(&mut self) -> Result<Node> {
        let own = self.u.arbitrary()?;
        let mut lines = match own {
            true => vec![format!(
                "v_lshlrev_b32_e32 v{OFFSET}, {}, v{ELEMENT}",
                OWN_BYTES.trailing_zeros()
            )],
            false => self.index(DATA_BYTES / 2)?,
        };
        let pointer = match (own, self.independent) {
            (true, _) => OWN,
            (false, true) => POINTERS[0],
            (false, false) => *self.u.choose(&POINTERS)?,
        };
        let rows: &[&Row] = if self.independent && !own { &GLOBAL_LOADS } else { &GLOBAL };
        for address in [ADDRESS, OTHER_ADDRESS] {
            let (high, pointer_high) = (address + 1, pointer + 1);
            lines.push(format!("v_mov_b32_e32 v{high}, s{pointer_high}"));
            lines.push(format!("v_add_co_u32_e32 v{address}, vcc, s{pointer}, v{OFFSET}"));
            lines.push(format!("v_addc_co_u32_e32 v{high}, vcc, 0, v{high}, vcc"));
        }
        let text = self.text(rows)?;
        // An offset is from the first pointer. Here another pointer takes its place.
        let first = format!("s[{}:{}]", POINTERS[0], POINTERS[0] + 1);
        lines.push(text.replace(&first, &format!("s[{pointer}:{}]", pointer + 1)));
        Ok(Node::lines(lines))
    }

    /// Returns an access by a flat pointer into LDS or scratch memory, or into both in different
    /// lanes. Scratch memory has no atomics.
    pub(super) fn flat(&mut self) -> Result<Node> {
        let atomic = self.only.is_some_and(|row| row.mnemonic.contains("_atomic"));
        let space = if self.independent || atomic { 0 } else { self.u.int_in_range(0..=2)? };
        let mut lines = self.index(if space == 0 { LDS_BYTES / 2 } else { SCRATCH_BYTES / 2 })?;
        if self.u.ratio(1, 4)? {
            // All lanes have an equal offset.
            lines.push(format!("v_readfirstlane_b32 s{TEMPORARY}, v{OFFSET}"));
            lines.push(format!("v_mov_b32_e32 v{OFFSET}, s{TEMPORARY}"));
        }
        let lanes = self.vector()?;
        for address in [ADDRESS, OTHER_ADDRESS] {
            let high = address + 1;
            lines.push(format!("v_mov_b32_e32 v{address}, v{OFFSET}"));
            lines.push(match space {
                0 => format!("v_mov_b32_e32 v{high}, {:#x}", apertures::SHARED >> 32),
                1 => format!("v_mov_b32_e32 v{high}, {:#x}", apertures::PRIVATE >> 32),
                _ => format!("v_and_b32_e32 v{high}, {:#x}, v{lanes}", apertures::SHARED >> 32),
            });
            if space == 2 {
                lines.push(format!(
                    "v_add_u32_e32 v{high}, {:#x}, v{high}",
                    apertures::SHARED >> 32
                ));
            }
        }
        let rows: &[&Row] = if space == 0 || self.seldom(32)? { &FLAT } else { &FLAT_MOVES };
        lines.push(self.text(rows)?);
        Ok(Node::lines(lines))
    }

    pub(super) fn scratch(&mut self) -> Result<Node> {
        let mut lines = self.index(SCRATCH_BYTES / 2)?;
        lines.push(self.text(&SCRATCH_ACCESSES)?);
        Ok(Node::lines(lines))
    }

    pub(super) fn lds(&mut self) -> Result<Node> {
        let mut lines = self.index(LDS_BYTES / 2)?;
        lines.push(self.text(&LDS)?);
        Ok(Node::lines(lines))
    }

    pub(super) fn buffer(&mut self) -> Result<Node> {
        let mut lines = self.index(2 * DATA_BYTES)?;
        let rows: &[&Row] = if self.independent { &BUFFER_LOADS } else { &BUFFER };
        lines.push(self.text(rows)?);
        Ok(Node::lines(lines))
    }

    /// Returns an access at a texel, mostly of the image, or near a place that is given as floats.
    pub(super) fn image(&mut self) -> Result<Node> {
        let mut lines = Vec::new();
        let (float, bits) = (self.u.arbitrary()?, if self.u.ratio(1, 8)? { 15 } else { 3 });
        for coordinate in COORDINATES {
            let from = if self.u.arbitrary()? { ITEM } else { self.vector()? };
            lines.push(format!("v_and_b32_e32 v{coordinate}, {bits}, v{from}"));
            if float {
                lines.push(format!("v_cvt_f32_u32_e32 v{coordinate}, v{coordinate}"));
                lines.push(format!(
                    "v_mul_f32_e32 v{coordinate}, {:#x}, v{coordinate}",
                    0.3_f32.to_bits()
                ));
            }
        }
        let rows: &[&Row] = if self.independent { &IMAGE_LOADS } else { &IMAGES };
        lines.push(self.text(rows)?);
        Ok(Node::lines(lines))
    }

    pub(super) fn scalar_memory(&mut self) -> Result<Node> {
        let (dwords, name) =
            *self.u.choose(&[(1, "dword"), (2, "dwordx2"), (4, "dwordx4"), (8, "dwordx8")])?;
        let first = self.scalar()? & !(dwords.min(4) - 1);
        let first = first.min(SCALARS.end - dwords).max(SCALARS.start);
        let (pointer, last) = (*self.u.choose(&POINTERS)?, first + dwords - 1);
        let data = if dwords == 1 { format!("s{first}") } else { format!("s[{first}:{last}]") };
        let pointer = if self.independent { POINTERS[0] } else { pointer };
        let (from, base) = match self.u.arbitrary()? {
            true => ("s_load", format!("s[{pointer}:{}]", pointer + 1)),
            false => ("s_buffer_load", format!("s[{RESOURCE}:{}]", RESOURCE + 3)),
        };
        let offset = self.u.int_in_range(0..=240)? * 4;
        Ok(match self.u.arbitrary()? {
            true => Node::line(format!("{from}_{name} {data}, {base}, {offset:#x}")),
            false => Node::lines([
                format!("s_and_b32 s{TEMPORARY}, s{}, {:#x}", self.scalar()?, DATA_BYTES - 4 * 8),
                format!("{from}_{name} {data}, {base}, s{TEMPORARY}"),
            ]),
        })
    }
}
