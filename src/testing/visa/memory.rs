//! Messages to memory that a random kernel may read and change.

use arbitrary::Result;

use super::statement::Writer;
use crate::case::{DATA_BYTES, OWN_BYTES};
use crate::program::Node;

/// Bytes of local memory of a block.
pub const LOCAL_BYTES: u32 = 4096;
/// Indices in the binding table: of data that is only read, and of data that all threads change.
pub const TABLE_INDEX: u32 = 1;
pub const DATA_INDEX: u32 = 2;

/// The memory that lanes access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemoryKind {
    /// Flat memory, by addresses in `ADDR`.
    Flat,
    /// Local memory, by offsets in `OFF`.
    Local,
    Surface(u32),
    Bindless,
}

/// Data of LSC: its text, bytes of an element in memory and in a register, and the number of
/// elements.
const DATA: [(&str, u32, u32, u32); 10] = [
    ("d32", 4, 4, 1),
    ("d32", 4, 4, 1),
    ("d32x2", 4, 4, 2),
    ("d32x4", 4, 4, 4),
    ("d64", 8, 8, 1),
    ("d64x2", 8, 8, 2),
    ("d8u32", 1, 4, 1),
    ("d16u32", 2, 4, 1),
    ("d16u32h", 2, 4, 1),
    ("d32x3", 4, 4, 3),
];
/// Blocks and elements of SVM messages, bytes of a lane in memory, and bytes of an element in a
/// register.
const BLOCKS: [(&str, u32, u32); 8] = [
    ("1.1", 1, 4),
    ("1.2", 2, 4),
    ("1.4", 4, 4),
    ("4.1", 4, 4),
    ("4.2", 8, 4),
    ("4.4", 16, 4),
    ("8.1", 8, 8),
    ("8.2", 16, 8),
];
const CHANNELS: [&str; 6] = ["R", "G", "RG", "GB", "RGBA", "RA"];

/// Atomics that are not LSC's, and atomics of LSC, with the numbers of their sources.
const ATOMICS: [(&str, u32); 17] = [
    ("add", 1),
    ("sub", 1),
    ("inc", 0),
    ("dec", 0),
    ("min", 1),
    ("max", 1),
    ("xchg", 1),
    ("cmpxchg", 2),
    ("and", 1),
    ("or", 1),
    ("xor", 1),
    ("minsint", 1),
    ("maxsint", 1),
    ("predec", 0),
    ("fmax", 1),
    ("fmin", 1),
    ("fcmpwr", 2),
];
const LSC_ATOMICS: [(&str, u32); 19] = [
    ("iinc", 0),
    ("idec", 0),
    ("load", 0),
    ("store", 1),
    ("iadd", 1),
    ("isub", 1),
    ("smin", 1),
    ("smax", 1),
    ("umin", 1),
    ("umax", 1),
    ("icas", 2),
    ("fadd", 1),
    ("fsub", 1),
    ("fmin", 1),
    ("fmax", 1),
    ("fcas", 2),
    ("and", 1),
    ("or", 1),
    ("xor", 1),
];

impl Writer<'_, '_> {
    /// Returns a message to memory, with the code that computes its addresses.
    pub fn message(&mut self) -> Result<Node> {
        match self.u.int_in_range(0..=9)? {
            0..=3 => self.load(),
            4 | 5 => self.store(),
            6 => self.block(),
            _ => self.atomic(),
        }
    }

    /// Returns the lanes of a message, and the mask of its address computation. Lanes that are off
    /// take part only if the message reads.
    fn lanes_of(&mut self, reads: bool) -> Result<(String, u32, u32, &'static str)> {
        let (lanes, half) = (self.lanes, self.lanes / 2);
        Ok(match self.u.int_in_range(0..=7)? {
            0 => (format!("(M1, {half})"), half, 0, ""),
            1 => (format!("(M{}, {half})", half / 4 + 1), half, half, ""),
            2 if reads => (format!("(M1_NM, {lanes})"), lanes, 0, "_NM"),
            _ => (format!("(M1, {lanes})"), lanes, 0, ""),
        })
    }

    /// Emits aligned offsets below `bytes`, in each lane or equal in all lanes.
    fn offsets(
        &mut self,
        bytes: u32,
        align: u32,
        mask: &str,
        lines: &mut Vec<String>,
    ) -> Result<()> {
        let lanes = self.lanes;
        let most = (bytes - 1) & !(align - 1);
        let from = self.u.int_in_range(0..=7_u32)?;
        lines.push(match self.u.int_in_range(0..=2)? {
            0 => format!(
                "shl (M1{mask}, {lanes}) OFFud(0,0)<1> NUMBERud(0,0)<1;1,0> {:#x}:ud",
                align.ilog2()
            ),
            1 => format!("mov (M1{mask}, {lanes}) OFFud(0,0)<1> S{}ud(0,0)<0;1,0>", from.min(5)),
            _ => format!("mov (M1{mask}, {lanes}) OFFud(0,0)<1> V{from}ud(0,0)<1;1,0>"),
        });
        lines.push(format!("and (M1{mask}, {lanes}) OFFud(0,0)<1> OFFud(0,0)<1;1,0> {most:#x}:ud"));
        Ok(())
    }

    /// Chooses memory, and computes the places that its lanes access. Each place has at least
    /// `bytes` bytes.
    fn place(
        &mut self,
        bytes: u32,
        writes: bool,
        mask: &str,
        lines: &mut Vec<String>,
    ) -> Result<MemoryKind> {
        let lanes = self.lanes;
        let align = bytes.next_power_of_two();
        let place = match self.u.int_in_range(0..=7)? {
            0 | 1 => MemoryKind::Local,
            2 if !writes => MemoryKind::Surface(TABLE_INDEX),
            3 if !self.independent => MemoryKind::Surface(DATA_INDEX),
            4 if !writes => MemoryKind::Bindless,
            _ => MemoryKind::Flat,
        };
        match place {
            // A read beyond the end of a surface gives 0.
            MemoryKind::Surface(_) | MemoryKind::Bindless => {
                self.offsets(2 * DATA_BYTES, align.min(if writes { 8 } else { 4 }), mask, lines)?;
            }
            MemoryKind::Local => self.offsets(LOCAL_BYTES, align, mask, lines)?,
            MemoryKind::Flat => {
                let (base, room) = match self.u.int_in_range(0..=2)? {
                    0 if !writes => ("TABLEuq(0,0)<0;1,0>", DATA_BYTES),
                    1 if !self.independent => ("DATAuq(0,0)<0;1,0>", DATA_BYTES),
                    // Lanes that are off have no memory of their own.
                    _ if mask == "_NM" => ("TABLEuq(0,0)<0;1,0>", DATA_BYTES),
                    _ => ("OWNuq(0,0)<1;1,0>", OWN_BYTES),
                };
                self.offsets(room, align, mask, lines)?;
                lines.push(format!("mov (M1{mask}, {lanes}) ADDRuq(0,0)<1> OFFud(0,0)<1;1,0>"));
                lines.push(format!(
                    "add (M1{mask}, {lanes}) ADDRuq(0,0)<1> ADDRuq(0,0)<1;1,0> {base}"
                ));
            }
        }
        if let MemoryKind::Surface(index) = place {
            lines.push(format!("movs (M1_NM, 1) T6(0) {index:#x}:ud"));
        }
        Ok(place)
    }

    /// Returns the operand with the addresses of lanes from `first` on.
    fn address(place: MemoryKind, first: u32) -> String {
        let start = |name: &str, bytes: u32| {
            if first == 0 { name.to_owned() } else { format!("{name}.{}", first * bytes) }
        };
        match place {
            MemoryKind::Flat => format!("flat[{}]:a64", start("ADDR", 8)),
            MemoryKind::Local => format!("flat[{}]:a32", start("OFF", 4)),
            MemoryKind::Surface(index) => format!("bti({index:#x})[{}]:a32", start("OFF", 4)),
            MemoryKind::Bindless => format!("bss(HANDLE)[{}]:a32", start("OFF", 4)),
        }
    }

    fn unit(place: MemoryKind) -> &'static str {
        if place == MemoryKind::Local { "slm" } else { "ugm" }
    }

    /// Returns the operand with the data of lanes, of one component or of several.
    fn data(&mut self, register: u32, count: u32, first: u32) -> Result<String> {
        if count > 1 || self.u.ratio(1, 4)? {
            return Ok("M0.0".into());
        }
        let kind = if register == 8 { "Q" } else { "V" };
        Ok(format!("{kind}{}.{}", self.u.int_in_range(0..=3)?, first * register))
    }

    fn load(&mut self) -> Result<Node> {
        let (exec, _, first, mask) = self.lanes_of(true)?;
        let (guard, mut lines) = (self.guard()?, vec![]);
        if self.u.ratio(1, 3)? {
            return self.old(false);
        }
        let &(text, bytes, register, count) = self.u.choose(&DATA)?;
        let place = self.place(bytes * count, false, mask, &mut lines)?;
        let (unit, address) = (Self::unit(place), Self::address(place, first));
        let data = self.data(register, count, first)?;
        lines.push(format!("{guard}lsc_load.{unit} {exec} {data}:{text} {address}"));
        Ok(Node::lines(lines))
    }

    fn store(&mut self) -> Result<Node> {
        let (exec, _, first, mask) = self.lanes_of(false)?;
        let (guard, mut lines) = (self.guard()?, vec![]);
        if self.u.ratio(1, 3)? {
            return self.old(true);
        }
        let &(text, bytes, register, count) = self.u.choose(&DATA)?;
        let place = self.place(bytes * count, true, mask, &mut lines)?;
        let (unit, address) = (Self::unit(place), Self::address(place, first));
        let data = self.data(register, count, first)?;
        lines.push(format!("{guard}lsc_store.{unit} {exec} {address} {data}:{text}"));
        Ok(Node::lines(lines))
    }

    /// Returns a message that is not LSC's.
    fn old(&mut self, writes: bool) -> Result<Node> {
        let (exec, _, first, mask) = self.lanes_of(!writes)?;
        let (guard, mut lines) = (self.guard()?, vec![]);
        let verb = if writes { "scatter" } else { "gather" };
        let &(block, bytes, register) = self.u.choose(&BLOCKS)?;
        let &channels = self.u.choose(&CHANNELS)?;
        let place = self.place(16, writes, mask, &mut lines)?;
        let count = bytes.div_ceil(register);
        let line = match place {
            MemoryKind::Flat if self.u.ratio(3, 4)? => {
                let data = self.data(register, count, first)?;
                format!("svm_{verb}.{block} {exec} ADDR.{} {data}", first * 8)
            }
            MemoryKind::Flat => {
                format!("svm_{verb}4scaled.{channels} {exec} 0x0:ud ADDR.{} M0.0", first * 8)
            }
            _ => {
                let surface = match place {
                    MemoryKind::Local => "%slm",
                    MemoryKind::Bindless => {
                        lines.push("movs (M1_NM, 1) %bss(0) HANDLEud(0,0)<0;1,0>".into());
                        "%bss"
                    }
                    _ => "T6",
                };
                let at = first * 4;
                match self.u.int_in_range(0..=3)? {
                    0 => format!("{verb}4_scaled.{channels} {exec} {surface} 0x0:ud OFF.{at} M0.0"),
                    1 => format!(
                        "qw_{verb}.{} {exec} {surface} OFF.{at} M0.0",
                        self.u.choose(&["1", "2"])?
                    ),
                    2 if first == 0 && exec.ends_with("16)") => {
                        let size = *self.u.choose(&["1", "2", "4"])?;
                        let mask = exec.replace("_NM", "");
                        return Ok(Node::lines(lines.into_iter().chain([format!(
                            "{verb}.{size} {mask} {surface} 0x0:ud OFF.0 M0.0"
                        )])));
                    }
                    _ => {
                        let data = self.data(4, 1, first)?;
                        format!(
                            "{verb}_scaled.{} {exec} {surface} 0x0:ud OFF.{at} {data}",
                            self.u.choose(&["1", "2", "4"])?
                        )
                    }
                }
            }
        };
        lines.push(format!("{guard}{line}"));
        Ok(Node::lines(lines))
    }

    /// Returns a message about consecutive data from one address on.
    fn block(&mut self) -> Result<Node> {
        let owords = *self.u.choose(&[1_u32, 2, 4, 8])?;
        let loads = self.u.arbitrary()?;
        let mut lines = vec![format!(
            "and (M1_NM, 1) ATuq(0,0)<1> S{}ud(0,0)<0;1,0> 0xf0:ud",
            self.u.int_in_range(0..=5)?
        )];
        let data = if self.u.arbitrary()? { "M0.0" } else { "XV0.0" };
        let own = format!(
            "add (M1_NM, 1) ATuq(0,0)<1> ATuq(0,0)<0;1,0> {}uq(0,0)<0;1,0>",
            if loads { "TABLE" } else { "DATA" }
        );
        let flat = loads || !self.independent;
        let line = match self.u.int_in_range(0..=3)? {
            0 if flat => {
                lines.push(own);
                let verb = if loads { "ld" } else { "st" };
                format!("svm_block_{verb}.unaligned ({owords}) ATuq(0,0)<0;1,0> {data}")
            }
            1 if flat => {
                lines.push(own);
                let count = owords * 4;
                match loads {
                    true => format!(
                        "lsc_load.ugm (M1_NM, 1) {data}:d32x{}t flat[AT]:a64",
                        count.min(32)
                    ),
                    false => format!(
                        "lsc_store.ugm (M1_NM, 1) flat[AT]:a64 {data}:d32x{}t",
                        count.min(32)
                    ),
                }
            }
            2 if flat => {
                let index = if loads { TABLE_INDEX } else { DATA_INDEX };
                lines.push(format!("movs (M1_NM, 1) T6(0) {index:#x}:ud"));
                let verb = if loads { "ld" } else { "st" };
                format!("oword_{verb} ({owords}) T6 {:#x}:ud {data}", self.u.int_in_range(0..=70)?)
            }
            _ => match loads {
                true => format!("lsc_load.slm (M1_NM, 1) {data}:d32x4t flat[AT]:a32"),
                false => format!("lsc_store.slm (M1_NM, 1) flat[AT]:a32 {data}:d32x4t"),
            },
        };
        lines.push(line);
        Ok(Node::lines(lines))
    }

    /// Returns a null operand, or the register of lanes from `first` on.
    fn optional(&mut self, there: bool, bytes: u32, first: u32) -> Result<String> {
        if !there {
            return Ok("%null.0".into());
        }
        let kind = if bytes == 8 { "Q" } else { "V" };
        Ok(format!("{kind}{}.{}", self.u.int_in_range(0..=3)?, first * bytes))
    }

    fn atomic(&mut self) -> Result<Node> {
        let (exec, _, first, _) = self.lanes_of(false)?;
        let (guard, mut lines) = (self.guard()?, vec![]);
        let bytes = *self.u.choose(&[4, 4, 4, 2, 8])?;
        let register = if bytes == 8 { 8 } else { 4 };
        let place = self.place(bytes, true, "", &mut lines)?;
        let has_result = self.u.ratio(3, 4)?;
        let result = self.optional(has_result, register, first)?;
        // Local memory has no atomics on floats of 8 bytes. Surfaces have no atomics on floats of
        // 16 bits.
        if self.u.arbitrary()? {
            let &(name, sources) = self.u.choose(&LSC_ATOMICS)?;
            let data = match bytes {
                2 => "d16u32",
                4 => "d32",
                _ => "d64",
            };
            let [a, b] = [
                self.optional(sources > 0, register, first)?,
                self.optional(sources > 1, register, first)?,
            ];
            let (unit, address) = (Self::unit(place), Self::address(place, first));
            lines.push(format!(
                "{guard}lsc_atomic_{name}.{unit} {exec} {result}:{data} {address} {a} {b}"
            ));
            return Ok(Node::lines(lines));
        }
        let &(name, sources) = self.u.choose(&ATOMICS)?;
        let [a, b] = [
            self.optional(sources > 0, register, first)?,
            self.optional(sources > 1, register, first)?,
        ];
        let width = match bytes {
            2 => ".16",
            4 => "",
            _ => ".64",
        };
        lines.push(match place {
            MemoryKind::Flat => format!(
                "{guard}svm_atomic.{name}{width} {exec} ADDR.{} {result} {a} {b}",
                first * 8
            ),
            MemoryKind::Local => {
                format!(
                    "{guard}dword_atomic.{name}{width} {exec} %slm OFF.{} {a} {b} {result}",
                    first * 4
                )
            }
            _ => format!(
                "{guard}dword_atomic.{name}{width} {exec} T6 OFF.{} {a} {b} {result}",
                first * 4
            ),
        });
        Ok(Node::lines(lines))
    }
}
