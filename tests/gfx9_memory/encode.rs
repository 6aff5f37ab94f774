//! Encodes instructions as words, with opcode numbers from the table.

use warploom_gfx9::{Format, Role, Row, table};

/// The dwords of an instruction.
pub type Words = [u32; 2];

fn row(mnemonic: &str) -> &'static Row {
    table::rows().find(|row| row.mnemonic == mnemonic).unwrap_or_else(|| panic!("no {mnemonic}"))
}

/// Returns a register's number where the instruction has the operand, else 0.
fn field(mnemonic: &str, role: Role, number: u8) -> u32 {
    row(mnemonic).slot(role).map_or(0, |_| number.into())
}

fn number(mnemonic: &str, format: Format) -> u32 {
    row(mnemonic)
        .places
        .iter()
        .find(|place| place.format == format)
        .map(|place| place.op.into())
        .expect("a place")
}

pub fn ds(mnemonic: &str, dst: u8, addr: u8, data: [u8; 2], offset: u16) -> Words {
    let op = number(mnemonic, Format::Ds);
    let data =
        field(mnemonic, Role::Data0, data[0]) << 8 | field(mnemonic, Role::Data1, data[1]) << 16;
    let (dst, addr) = (field(mnemonic, Role::Vdst, dst) << 24, field(mnemonic, Role::Addr, addr));
    [54 << 26 | op << 17 | u32::from(offset), dst | data | addr]
}

/// Encodes FLAT, GLOBAL and SCRATCH instructions, chosen by the name's beginning.
pub fn flat(
    mnemonic: &str,
    dst: u8,
    addr: u8,
    data: u8,
    saddr: Option<u8>,
    offset: i32,
    glc: bool,
) -> Words {
    let (format, segment) = match mnemonic.split('_').next() {
        Some("flat") => (Format::Flat, 0),
        Some("scratch") => (Format::Scratch, 1),
        _ => (Format::Global, 2),
    };
    let op = number(mnemonic, format);
    let saddr = if segment == 0 { 0 } else { u32::from(saddr.unwrap_or(127)) };
    [
        55 << 26 | op << 18 | u32::from(glc) << 16 | segment << 14 | offset as u32 & 0x1fff,
        u32::from(dst) << 24 | saddr << 16 | u32::from(data) << 8 | u32::from(addr),
    ]
}

/// The fields of a buffer instruction besides its registers.
#[derive(Clone, Copy, Default)]
pub struct Bits {
    pub offset: u32,
    pub offen: bool,
    pub idxen: bool,
    pub glc: bool,
    /// The data and number format of MTBUF.
    pub format: (u32, u32),
}

/// Encodes MUBUF and MTBUF instructions. `srsrc` is the number of the first register.
pub fn buffer(mnemonic: &str, vdata: u8, vaddr: u8, srsrc: u8, soffset: u8, bits: Bits) -> Words {
    let common = u32::from(bits.glc) << 14
        | u32::from(bits.idxen) << 13
        | u32::from(bits.offen) << 12
        | bits.offset;
    let first = if mnemonic.starts_with('t') {
        let (data, kind) = bits.format;
        58 << 26 | kind << 23 | data << 19 | number(mnemonic, Format::Mtbuf) << 15 | common
    } else {
        56 << 26 | number(mnemonic, Format::Mubuf) << 18 | common
    };
    let second = u32::from(soffset) << 24
        | u32::from(srsrc / 4) << 16
        | u32::from(vdata) << 8
        | u32::from(vaddr);
    [first, second]
}

/// The fields of an image instruction besides its registers.
#[derive(Clone, Copy, Default)]
pub struct ImageBits {
    pub dmask: u32,
    pub unorm: bool,
    pub glc: bool,
    pub da: bool,
    pub d16: bool,
}

pub fn image(mnemonic: &str, vdata: u8, vaddr: u8, srsrc: u8, ssamp: u8, bits: ImageBits) -> Words {
    let op = number(mnemonic, Format::Mimg);
    [
        60 << 26
            | op << 18
            | u32::from(bits.da) << 14
            | u32::from(bits.glc) << 13
            | u32::from(bits.unorm) << 12
            | bits.dmask << 8,
        u32::from(bits.d16) << 31
            | u32::from(ssamp / 4) << 21
            | u32::from(srsrc / 4) << 16
            | u32::from(vdata) << 8
            | u32::from(vaddr),
    ]
}

/// Returns each implemented mnemonic of the table with this prefix.
pub fn implemented(prefix: &str) -> Vec<&'static str> {
    let mut names: Vec<_> = table::rows()
        .filter(|row| row.lift.is_some() && row.mnemonic.starts_with(prefix))
        .map(|row| row.mnemonic)
        .collect();
    names.sort_unstable();
    names
}
