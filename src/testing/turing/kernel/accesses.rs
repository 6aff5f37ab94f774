//! Instructions that access memory, with the code that sets up their addresses, and calls of the
//! driver's functions.

use std::sync::LazyLock;

use arbitrary::Result;
use warploom_turing::Opcode;

use super::{
    ADDRESS, ARGUMENT, Addressing, COORDINATES, COUNTERS, FORMATS_AT, Family, HANDLE, LOCAL_BYTES,
    LOCAL_WINDOW, OUT, OWN, OWN_PREDICATE, RETURN, RZ, Rows, SHARED_BYTES, SHARED_DATA,
    SHARED_WINDOW, SURFACE, SURFACES, TABLE, TEMPORARY, TEXTURE, TEXTURES, THREAD, Writer,
    has_factor, masked, plus_parameter, rows, shifted_left,
};
use crate::case::DATA_BYTES;
use crate::format;
use crate::program::Node;

static GLOBAL_LOADS: LazyLock<Rows> =
    LazyLock::new(|| rows(|opcode| matches!(opcode, Opcode::Ld | Opcode::Ldg)));
static GLOBAL: LazyLock<Rows> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Global));
static GENERIC: LazyLock<Rows> = LazyLock::new(|| {
    rows(|opcode| matches!(opcode, Opcode::Ld | Opcode::St | Opcode::Atom | Opcode::AtomCas))
});
static SHARED: LazyLock<Rows> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Shared));
static COPIES: LazyLock<Rows> = LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Copy));
static LOCAL: LazyLock<Rows> =
    LazyLock::new(|| rows(|opcode| matches!(opcode, Opcode::Ldl | Opcode::Stl)));
static CONSTANT: LazyLock<Rows> = LazyLock::new(|| rows(|opcode| opcode == Opcode::Ldc));
static SURFACE_LOADS: LazyLock<Rows> = LazyLock::new(|| rows(|opcode| opcode == Opcode::Suld));
static SURFACE_ACCESSES: LazyLock<Rows> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Surface));
static FETCHES: LazyLock<Rows> = LazyLock::new(|| rows(|opcode| opcode == Opcode::Tld));
static SAMPLES: LazyLock<Rows> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Texture && opcode != Opcode::Tld));

impl Writer<'_, '_> {
    /// Returns lines that put an index below a power of two into a register. Most indices are
    /// multiples of 16.
    fn index(&mut self, register: u64, bytes: u32) -> Result<Vec<String>> {
        let low = if self.seldom(32)? { 0x4 } else { 0x10 };
        let mut from = if self.u.arbitrary()? { THREAD } else { self.value()? };
        let mut lines = Vec::new();
        if from == THREAD && self.u.arbitrary()? {
            // The index is evenly spaced: the threads of small blocks have places of their own.
            lines.push(shifted_left(register, from, 4));
            from = register;
        }
        lines.push(masked(register, from, bytes - low));
        Ok(lines)
    }

    /// Returns lines for an index as in [`Self::index`], or for an index that a warp's lanes share.
    fn offset(&mut self, register: u64, bytes: u32) -> Result<Vec<String>> {
        if self.u.ratio(2, 3)? {
            return self.index(register, bytes);
        }
        // The offset is the warp's number in bytes, or the warp's first thread.
        Ok(vec![match self.seldom(4)? {
            true => format!("SHF.R.U32.HI R{register}, RZ, 0x5, R{THREAD}"),
            false => masked(register, THREAD, (bytes - 0x10) & !0x1f),
        }])
    }

    pub(super) fn global(&mut self) -> Result<Node> {
        let is_generic = |opcode| matches!(opcode, Opcode::Ld | Opcode::St);
        let generic = self.only.is_none_or(|row| is_generic(row.opcode));
        if generic && self.u.ratio(1, 4)? {
            return self.generic();
        }
        if self.u.arbitrary()? {
            let offset = self.u.int_in_range(0..=2)? * 16;
            let place = Addressing { offset, has_room: true, ..Addressing::at(OWN) };
            return Ok(Node::line(self.instruction(&GLOBAL, place)?));
        }
        let (data, rows): (u64, &Rows) = match self.independent {
            true if self.u.ratio(1, 4)? => return self.count(),
            true => (TABLE, &GLOBAL_LOADS),
            false => (*self.u.choose(&[TABLE, SHARED_DATA, SHARED_DATA])?, &GLOBAL),
        };
        let mut lines = self.index(ADDRESS, DATA_BYTES)?;
        lines.extend(plus_parameter(ADDRESS, data));
        lines.push(self.instruction(rows, Addressing::at(ADDRESS))?);
        Ok(Node::lines(lines))
    }

    /// Returns an addition to a counter. Additions of 32 and of 64 bits at one place do not
    /// commute: the order decides whether a carry is lost.
    fn count(&mut self) -> Result<Node> {
        let half = DATA_BYTES / 2;
        let (ty, place) = *self.u.choose(&[("", ""), (".S32", ""), (".64", "+0x200")])?;
        let value = self.value()? & !1;
        let mut lines = self.index(ADDRESS, half)?;
        lines.extend(plus_parameter(ADDRESS, COUNTERS));
        let address = if self.model() == 75 { "" } else { ".64" };
        lines.push(format!("RED.E.ADD{ty}.STRONG.GPU [R{ADDRESS}{address}{place}], R{value}"));
        Ok(Node::lines(lines))
    }

    /// Returns an access by a generic pointer into shared memory or the lane's local memory, or
    /// into both in different lanes.
    fn generic(&mut self) -> Result<Node> {
        let mixed = self.u.ratio(1, 6)?;
        let (window, bytes) =
            *self.u.choose(&[(SHARED_WINDOW, SHARED_BYTES), (LOCAL_WINDOW, LOCAL_BYTES)])?;
        let bytes = if mixed { SHARED_BYTES.min(LOCAL_BYTES) } else { bytes };
        let mut lines = self.offset(ADDRESS, bytes)?;
        if mixed {
            let from = self.value()?;
            lines
                .push(format!("ISETP.LT.AND {OWN_PREDICATE}, PT, R{from}, R{}, PT", self.value()?));
            let high = TEMPORARY - 1;
            for (guard, window) in
                [(String::new(), SHARED_WINDOW), (format!("@{OWN_PREDICATE} "), LOCAL_WINDOW)]
            {
                lines.push(format!("{guard}MOV R{TEMPORARY}, c[0x0][{window:#x}]"));
                lines.push(format!("{guard}MOV R{high}, c[0x0][{:#x}]", window + 4));
            }
            lines.push(format!("IADD3 R{ADDRESS}, {OWN_PREDICATE}, R{ADDRESS}, R{TEMPORARY}, RZ"));
            lines.push(format!("IMAD.X R{}, RZ, RZ, R{high}, {OWN_PREDICATE}", ADDRESS + 1));
        } else {
            lines.extend(plus_parameter(ADDRESS, window));
        }
        let offset = if self.seldom(16)? { self.u.int_in_range(0..=64)? * 4 } else { 0 };
        let place = Addressing { offset, has_room: true, ..Addressing::at(ADDRESS) };
        lines.push(self.instruction(&GENERIC, place)?);
        Ok(Node::lines(lines))
    }

    /// Returns lines that set up an address in shared memory, and the address. A shift in the
    /// address undoes a shift of the index.
    fn in_shared(&mut self) -> Result<(Vec<String>, Addressing)> {
        let mut lines = self.index(TEMPORARY, SHARED_BYTES)?;
        let shift = match self.only {
            Some(row) if !has_factor(row) => 0,
            _ => *self.u.choose(&[0, 0, 0, 2, 3, 4])?,
        };
        if shift > 0 {
            lines.push(format!("SHF.R.U32.HI R{TEMPORARY}, RZ, {shift:#x}, R{TEMPORARY}"));
        }
        let offset = if self.seldom(40)? { 4 } else { 0 };
        Ok((lines, Addressing { offset, shift, has_room: true, ..Addressing::at(TEMPORARY) }))
    }

    pub(super) fn shared(&mut self) -> Result<Node> {
        let (mut lines, place) = self.in_shared()?;
        lines.push(self.instruction(&SHARED, place)?);
        Ok(Node::lines(lines))
    }

    /// Returns a copy from global to shared memory.
    pub(super) fn copy(&mut self) -> Result<Node> {
        let mut lines = self.index(TEMPORARY, SHARED_BYTES)?;
        lines.extend(self.index(ADDRESS, DATA_BYTES)?);
        lines.extend(plus_parameter(ADDRESS, TABLE));
        let place = Addressing { has_room: true, loaded: ADDRESS, ..Addressing::at(TEMPORARY) };
        lines.push(self.instruction(&COPIES, place)?);
        Ok(Node::lines(lines))
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
                let place = Addressing { offset, has_room: true, ..Addressing::at(RZ) };
                return Ok(Node::line(self.instruction(&LOCAL, place)?));
            }
            let mut lines = self.offset(TEMPORARY, LOCAL_BYTES)?;
            let offset = if self.seldom(40)? { 4 } else { 0 };
            let place = Addressing { offset, has_room: true, ..Addressing::at(TEMPORARY) };
            lines.push(self.instruction(&LOCAL, place)?);
            return Ok(Node::lines(lines));
        }
        // Past the data of the launch, and past the bank, there are zeros.
        let bytes = if self.seldom(8)? { 0x2_0000 } else { 0x20 };
        let mut lines = self.offset(TEMPORARY, bytes)?;
        let place = Addressing { offset: OUT, ..Addressing::at(TEMPORARY) };
        lines.push(self.instruction(&CONSTANT, place)?);
        Ok(Node::lines(lines))
    }

    pub(super) fn surface(&mut self) -> Result<Node> {
        let handle = SURFACE + 8 * self.u.int_in_range(0..=SURFACES.len() as u64 - 1)?;
        let (x, y) = (self.value()?, if self.u.arbitrary()? { THREAD } else { self.value()? });
        let inside = if self.u.ratio(1, 8)? { 0xf0 } else { 0x70 };
        let rows: &Rows = if self.independent { &SURFACE_LOADS } else { &SURFACE_ACCESSES };
        let place = Addressing { offset: handle, ..Addressing::at(COORDINATES) };
        let lines = vec![
            masked(COORDINATES, x, inside),
            masked(COORDINATES + 1, y, 0xf),
            format!("MOV R{HANDLE}, c[0x0][{handle:#x}]"),
            self.instruction(rows, place)?,
        ];
        Ok(Node::lines(lines))
    }

    /// Returns an access to a texture. Coordinates are whole numbers or any values, or floats
    /// between whole numbers, to an edge and beyond.
    pub(super) fn texture(&mut self) -> Result<Node> {
        let fetches = match self.only {
            Some(row) => row.opcode == Opcode::Tld,
            None => self.u.ratio(1, 3)?,
        };
        let mut lines = Vec::new();
        for axis in [COORDINATES, COORDINATES + 1] {
            let value = self.value()?;
            if self.u.ratio(1, 4)? {
                lines.push(format!("MOV R{axis}, R{value}"));
                continue;
            }
            lines.push(masked(axis, value, 0x3f));
            if !fetches {
                let scale = self.u.choose(&["0.0234375", "-0.0078125", "0.75"])?;
                lines.extend([
                    format!("I2F.U32 R{axis}, R{axis}"),
                    format!("FMUL R{axis}, R{axis}, {scale}"),
                ]);
            }
        }
        let handle = TEXTURE + 8 * self.u.int_in_range(0..=TEXTURES.len() as u64 - 1)?;
        let rows: &Rows = if fetches { &FETCHES } else { &SAMPLES };
        let place = Addressing { offset: handle, ..Addressing::at(COORDINATES) };
        lines.push(self.instruction(rows, place)?);
        Ok(Node::lines(lines))
    }

    /// Returns lines that call a function of the driver.
    fn call_driver(&mut self, function: &str) -> [String; 4] {
        let behind = self.label();
        [
            format!("MOV R{RETURN}, .L{behind}"),
            format!("MOV R{}, RZ", RETURN + 1),
            format!("CALL.ABS.NOINC `({function})"),
            format!(".L{behind}:"),
        ]
    }

    /// Returns a call of a function that the driver provides.
    pub(super) fn driver(&mut self) -> Result<Node> {
        let (pointer, second) = (ARGUMENT, ARGUMENT + 2);
        // The place of a block of memory depends on the order of requests.
        if !self.independent && self.u.ratio(1, 3)? {
            let mut lines =
                vec![masked(pointer, self.value()?, 0x3f), format!("MOV R{}, RZ", pointer + 1)];
            lines.extend(self.call_driver("malloc"));
            if self.u.arbitrary()? {
                lines.extend(self.call_driver("free"));
            }
            return Ok(Node::lines(lines));
        }
        let mut lines = vec![format!("MOV R{pointer}, {:#x}", format::any(self.u)?)];
        lines.extend(plus_parameter(pointer, FORMATS_AT));
        // Arguments are values that the thread has stored.
        lines.extend([0, 1].map(|half| format!("MOV R{}, R{}", second + half, OWN + half)));
        lines.extend(self.call_driver("vprintf"));
        Ok(Node::lines(lines))
    }
}
