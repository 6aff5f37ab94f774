//! Instructions that access memory, with the code that sets up their addresses, and calls of the
//! driver's functions.

use std::sync::LazyLock;

use arbitrary::Result;
use warploom_maxwell::{Opcode, Row};

use super::{
    ADDRESS, ARGUMENT, Addressing, COORDINATES, COUNTERS, FORMATS_AT, Family, HANDLE,
    LOCAL_BEHIND_SHARED, LOCAL_BYTES, LOCAL_WINDOW, OUT, OWN, RZ, SHARED_BYTES, SHARED_DATA,
    SHARED_WINDOW, SURFACE, SURFACES, TABLE, TEMPORARY, TEXTURE, TEXTURES, THREAD, Writer,
    plus_parameter, rows,
};
use crate::case::DATA_BYTES;
use crate::format;
use crate::program::Node;

static GLOBAL_LOADS: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| matches!(opcode, Opcode::Ld | Opcode::Ldg | Opcode::LdgSparse)));
static GLOBAL: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Global));
static GENERIC: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| matches!(opcode, Opcode::Ld | Opcode::St)));
static SHARED: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Shared));
static LOCAL: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| matches!(opcode, Opcode::Ldl | Opcode::Stl)));
static CONSTANT: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| opcode == Opcode::Ldc));
static SURFACE_LOADS: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| opcode == Opcode::Suld));
static SURFACE_ACCESSES: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Surface));

/// The rows of each texture instruction: instructions that fetch a texel, then all other ones.
static FETCHES: LazyLock<Vec<Vec<&'static Row>>> =
    LazyLock::new(|| each(&[Opcode::Tld, Opcode::Tlds]));
static SAMPLES: LazyLock<Vec<Vec<&'static Row>>> = LazyLock::new(|| {
    use Opcode::{Tex, Texs, Tld4, Tld4s, Tmml, Txd, Txq};
    each(&[Tex, Texs, Tld4, Tld4s, Txd, Tmml, Txq])
});

fn each(opcodes: &[Opcode]) -> Vec<Vec<&'static Row>> {
    opcodes.iter().map(|&wanted| rows(|opcode| opcode == wanted)).collect()
}

impl Writer<'_, '_> {
    /// Returns a line that puts an index below a power of two into a register. Most indices are
    /// multiples of 16.
    fn index(&mut self, register: u64, bytes: u32) -> Result<String> {
        let low = if self.seldom(32)? { 0x4 } else { 0x10 };
        let from = if self.u.arbitrary()? { THREAD } else { self.value()? };
        if from == THREAD && self.u.arbitrary()? {
            // The index is evenly spaced: the threads of small blocks have places of their own.
            let bits = (bytes / 0x10).trailing_zeros();
            return Ok(format!("BFI R{register}, R{from}, {:#x}, RZ", bits << 8 | 4));
        }
        Ok(format!("LOP32I.AND R{register}, R{from}, {:#x}", bytes - low))
    }

    pub(super) fn global(&mut self) -> Result<Node> {
        let generic =
            self.only.is_none_or(|row| GENERIC.iter().any(|generic| generic.opcode == row.opcode));
        if generic && self.u.ratio(1, 4)? {
            return self.generic();
        }
        if self.u.arbitrary()? {
            let offset = self.u.int_in_range(0..=3)? * 16;
            return Ok(Node::line(self.instruction(
                &GLOBAL,
                Addressing { base: OWN, offset },
                true,
            )?));
        }
        let (data, rows): (u64, &[&Row]) = match self.independent {
            true if self.u.ratio(1, 4)? => {
                // Additions of 32 and of 64 bits at one place do not commute: the order decides
                // whether a carry is lost.
                let half = DATA_BYTES / 2;
                let (op, place) =
                    *self.u.choose(&[("ADD", ""), ("ADD.S32", ""), ("ADD.U64", "+0x200")])?;
                let value = self.value()? & !1;
                let index = self.index(ADDRESS, half)?;
                let red = format!("RED.E.{op} [R{ADDRESS}{place}], R{value}");
                return Ok(Node::lines(
                    [index].into_iter().chain(plus_parameter(ADDRESS, COUNTERS)).chain([red]),
                ));
            }
            true => (TABLE, &GLOBAL_LOADS),
            false => (*self.u.choose(&[TABLE, SHARED_DATA, SHARED_DATA])?, &GLOBAL),
        };
        let mut lines = vec![self.index(ADDRESS, DATA_BYTES)?];
        lines.extend(plus_parameter(ADDRESS, data));
        lines.push(self.instruction(rows, Addressing { base: ADDRESS, offset: 0 }, true)?);
        Ok(Node::lines(lines))
    }

    /// Returns an access by a generic pointer into shared memory or the lane's local memory, or
    /// into both in different lanes.
    fn generic(&mut self) -> Result<Node> {
        let (window, bytes) =
            *self.u.choose(&[(SHARED_WINDOW, SHARED_BYTES), (LOCAL_WINDOW, LOCAL_BYTES)])?;
        let mixed = self.u.ratio(1, 6)?;
        let bytes = if mixed { SHARED_BYTES.min(LOCAL_BYTES) } else { bytes };
        let mut lines = vec![self.offset(ADDRESS, bytes)?];
        if mixed {
            let from = self.value()?;
            lines.push(format!("LOP32I.AND R{TEMPORARY}, R{from}, {:#x}", LOCAL_BEHIND_SHARED));
            lines.push(format!("IADD R{ADDRESS}, R{ADDRESS}, R{TEMPORARY}"));
        }
        let window = if mixed { SHARED_WINDOW } else { window };
        lines.push(format!("IADD R{ADDRESS}, R{ADDRESS}, c[0x0][{window:#x}]"));
        lines.push(format!("MOV R{}, RZ", ADDRESS + 1));
        let offset = if self.seldom(16)? { self.u.int_in_range(0..=64)? * 4 } else { 0 };
        lines.push(self.instruction(&GENERIC, Addressing { base: ADDRESS, offset }, false)?);
        Ok(Node::lines(lines))
    }

    /// Returns a line for an index as in [`Self::index`], or for an index that a warp's lanes
    /// share.
    fn offset(&mut self, register: u64, bytes: u32) -> Result<String> {
        if self.u.ratio(2, 3)? {
            return self.index(register, bytes);
        }
        // The offset is the warp's number in bytes, or the warp's first thread.
        Ok(match self.seldom(4)? {
            true => format!("SHR.U32 R{register}, R{THREAD}, 0x5"),
            false => format!("LOP32I.AND R{register}, R{THREAD}, {:#x}", (bytes - 0x10) & !0x1f),
        })
    }

    pub(super) fn shared(&mut self) -> Result<Node> {
        let index = self.index(TEMPORARY, SHARED_BYTES)?;
        let offset = if self.seldom(40)? { 4 } else { 0 };
        Ok(Node::lines([
            index,
            self.instruction(&SHARED, Addressing { base: TEMPORARY, offset }, false)?,
        ]))
    }

    /// Returns an access to local or constant memory.
    pub(super) fn local(&mut self) -> Result<Node> {
        let constant = match self.only {
            Some(row) => row.opcode == Opcode::Ldc,
            None => !self.u.arbitrary::<bool>()?,
        };
        if !constant {
            if self.u.ratio(1, 4)? {
                // A spill slot.
                let offset = self.u.int_in_range(0..=u64::from(LOCAL_BYTES) / 16 - 1)? * 16;
                return Ok(Node::line(self.instruction(
                    &LOCAL,
                    Addressing { base: RZ, offset },
                    false,
                )?));
            }
            let index = self.offset(TEMPORARY, LOCAL_BYTES)?;
            let offset = if self.seldom(40)? { 4 } else { 0 };
            return Ok(Node::lines([
                index,
                self.instruction(&LOCAL, Addressing { base: TEMPORARY, offset }, false)?,
            ]));
        }
        // Past the data of the launch, and past the bank, there are zeros.
        let (bytes, offset) = if self.seldom(8)? { (0x2_0000, OUT) } else { (0x20, OUT) };
        let index = self.offset(TEMPORARY, bytes)?;
        Ok(Node::lines([
            index,
            self.instruction(&CONSTANT, Addressing { base: TEMPORARY, offset }, false)?,
        ]))
    }

    pub(super) fn surface(&mut self) -> Result<Node> {
        let handle = SURFACE + 8 * self.u.int_in_range(0..=SURFACES.len() as u64 - 1)?;
        let (x, y) = (self.value()?, if self.u.arbitrary()? { THREAD } else { self.value()? });
        let inside = if self.u.ratio(1, 8)? { 0xf0 } else { 0x70 };
        let rows: &[&Row] = if self.independent { &SURFACE_LOADS } else { &SURFACE_ACCESSES };
        let lines = vec![
            format!("LOP32I.AND R{COORDINATES}, R{x}, {inside:#x}"),
            format!("LOP32I.AND R{}, R{y}, 0xf", COORDINATES + 1),
            format!("MOV R{HANDLE}, c[0x0][{handle:#x}]"),
            self.instruction(rows, Addressing { base: COORDINATES, offset: handle / 4 }, false)?,
        ];
        Ok(Node::lines(lines))
    }

    /// Returns an access to a texture. Coordinates are whole numbers or any values, or floats
    /// between whole numbers, to an edge and beyond.
    pub(super) fn texture(&mut self) -> Result<Node> {
        let fetches = match self.only {
            Some(row) => matches!(row.opcode, Opcode::Tld | Opcode::Tlds),
            None => self.u.ratio(1, 3)?,
        };
        let mut lines = Vec::new();
        for axis in [COORDINATES, COORDINATES + 1] {
            let value = self.value()?;
            if self.u.ratio(1, 4)? {
                lines.push(format!("MOV R{axis}, R{value}"));
                continue;
            }
            lines.push(format!("LOP32I.AND R{axis}, R{value}, 0x3f"));
            if !fetches {
                let scale = self.u.choose(&["0.0234375", "-0.0078125", "0.75"])?;
                lines.extend([
                    format!("I2F.F32.U32 R{axis}, R{axis}"),
                    format!("FMUL32I R{axis}, R{axis}, {scale}"),
                ]);
            }
        }
        let handle = TEXTURE + 8 * self.u.int_in_range(0..=TEXTURES.len() as u64 - 1)?;
        let rows = self.u.choose(if fetches { &FETCHES } else { &SAMPLES })?;
        lines.push(self.instruction(
            rows,
            Addressing { base: COORDINATES, offset: handle / 4 },
            false,
        )?);
        Ok(Node::lines(lines))
    }

    /// Returns a call of a function that the driver provides.
    pub(super) fn driver(&mut self) -> Result<Node> {
        let (pointer, second) = (ARGUMENT, ARGUMENT + 2);
        // The place of a block of memory depends on the order of requests.
        if !self.independent && self.u.ratio(1, 3)? {
            let size = format!("LOP32I.AND R{pointer}, R{}, 0x3f", self.value()?);
            let mut lines =
                vec![size, format!("MOV R{}, RZ", pointer + 1), "JCAL `(malloc)".into()];
            if self.u.arbitrary()? {
                lines.push("JCAL `(free)".into());
            }
            return Ok(Node::lines(lines));
        }
        let mut lines = vec![format!("MOV32I R{pointer}, {:#x}", format::any(self.u)?)];
        lines.extend(plus_parameter(pointer, FORMATS_AT));
        // Arguments are values that the thread has stored.
        lines.extend([0, 1].map(|half| format!("MOV R{}, R{}", second + half, OWN + half)));
        lines.push("JCAL `(vprintf)".into());
        Ok(Node::lines(lines))
    }
}
