//! NVIDIA fat binaries: containers of cubins and PTX for several GPUs, alone or in sections of a
//! host's ELF file.
//!
//! A fat binary is a 16-byte header (magic, version, header size, size of the rest) and members.
//! Each member has a header of at least 64 bytes. A file or section may hold several fat binaries,
//! with zeros between them. A member may be a fat binary, or one under LZ4 or Zstandard. Sources:
//! `facts/maxwell.md`, "Fat binaries", and files of the vendor's toolkits.

use std::borrow::Cow;

use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};

use super::compression::Method;
use super::{Error, Format, recognise};

pub(super) const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
const HEADER_BYTES: usize = 16;
const MEMBER_HEADER_BYTES: usize = 64;
/// Sections of a host's ELF file that hold fat binaries: linked and relocatable device code.
const HOST_SECTIONS: &[&[u8]] = &[b".nv_fatbin", b"__nv_relfatbin"];
/// The greatest depth of nested fat binaries.
const MAX_DEPTH: usize = 4;

const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    Ptx,
    Cubin,
    /// Intermediate code for link-time optimisation.
    LtoIr,
    Other(u16),
}

impl std::fmt::Display for MemberKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MemberKind::Ptx => f.write_str("PTX"),
            MemberKind::Cubin => f.write_str("cubin"),
            MemberKind::LtoIr => f.write_str("LTO IR"),
            MemberKind::Other(kind) => write!(f, "kind {kind}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Stored,
    Lz4,
    Zstd,
}

impl std::fmt::Display for Packing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Packing::Stored => "stored",
            Packing::Lz4 => "LZ4",
            Packing::Zstd => "Zstandard",
        })
    }
}

/// One member of a fat binary.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    pub kind: MemberKind,
    pub packing: Packing,
    /// The GPU's number: 50 for sm_50 or compute_50.
    pub arch: u32,
    pub flags: u64,
    /// The name of the source file, if the toolkit kept it.
    pub name: Option<String>,
    /// The offset of the member's header in the bytes that hold the fat binary.
    pub offset: u64,
    /// The unpacked size in bytes.
    pub size: u64,
    packed: &'a [u8],
}

/// A fat binary and its members.
#[derive(Clone, Debug)]
pub struct FatBinary<'a> {
    /// The offset of the header in the bytes that hold the fat binary.
    pub offset: u64,
    pub members: Vec<Member<'a>>,
}

/// Reads the fat binaries of a host's ELF file, or of a file that starts with one.
pub fn fat_binaries<'a>(bytes: &'a [u8], format: Format) -> Result<Vec<FatBinary<'a>>, Error> {
    match format {
        Format::Cubin
        | Format::Hsaco
        | Format::AmdOpenCl
        | Format::OffloadBundle
        | Format::Ptx
        | Format::Zebin
        | Format::VisaText
        | Format::VisaBinary
        | Format::MaxwellShader
        | Format::Assembly
        | Format::Ir => Ok(vec![]),
        Format::FatBinary => sequence(bytes, 0),
        Format::HostElf => {
            let mut all = Vec::new();
            for (offset, section) in host_sections(bytes, HOST_SECTIONS)? {
                all.extend(sequence(section, offset)?);
            }
            Ok(all)
        }
    }
}

/// Returns the offset and content of a host ELF file's sections that have one of these names.
pub(super) fn host_sections<'a>(
    bytes: &'a [u8],
    names: &[&[u8]],
) -> Result<Vec<(u64, &'a [u8])>, Error> {
    let header = FileHeader64::<LE>::parse(bytes).map_err(|e| {
        Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file")
    })?;
    let table = header.e_shoff(LE);
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(
            table,
            format!("section table: {e}"),
            "a table of section headers in the file",
        )
    })?;
    let mut found: Vec<(u64, &[u8])> = Vec::new();
    let mut last_end = 0;
    for section in sections.iter() {
        if !sections.section_name(LE, section).is_ok_and(|name| names.contains(&name)) {
            continue;
        }
        let offset = section.sh_offset(LE);
        let data = section.data(LE, bytes).map_err(|e| {
            Error::malformed(
                offset,
                format!("section of fat binaries: {e}"),
                "it to lie within the file",
            )
        })?;
        if offset < last_end {
            return Err(Error::malformed(
                offset,
                "section of fat binaries",
                "sections in order that do not overlap",
            ));
        }
        last_end = offset + data.len() as u64;
        found.push((offset, data));
    }
    Ok(found)
}

/// Reads consecutive fat binaries with zeros between them.
///
/// `base` is the offset of `bytes` in the file.
fn sequence(bytes: &[u8], base: u64) -> Result<Vec<FatBinary<'_>>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == 0 {
            at += 1;
            continue;
        }
        let offset = base + at as u64;
        let rest = &bytes[at..];
        if !rest.starts_with(&MAGIC) {
            return Err(Error::malformed(
                offset,
                "fat binary",
                "the magic number ba55ed50 or zeros",
            ));
        }
        if rest.len() < HEADER_BYTES {
            let what = format!("fat binary header of {} bytes", rest.len());
            return Err(Error::malformed(offset, what, format!("{HEADER_BYTES} bytes")));
        }
        let (header, size) = (u16_at(rest, 6) as usize, u64_at(rest, 8));
        let end = usize::try_from(size).ok().and_then(|size| size.checked_add(header));
        let Some(content) =
            end.filter(|_| header >= HEADER_BYTES).and_then(|end| rest.get(header..end))
        else {
            let what =
                format!("fat binary with a header of {header} bytes and {size} bytes of members");
            return Err(Error::malformed(
                offset,
                what,
                format!("both to lie within the {} bytes left", rest.len()),
            ));
        };
        all.push(FatBinary { offset, members: members(content, offset + header as u64)? });
        at += header + content.len();
    }
    Ok(all)
}

fn members(bytes: &[u8], base: u64) -> Result<Vec<Member<'_>>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (rest, offset) = (&bytes[at..], base + at as u64);
        if rest.len() < MEMBER_HEADER_BYTES {
            let what = format!("member header of {} bytes", rest.len());
            return Err(Error::malformed(
                offset,
                what,
                format!("at least {MEMBER_HEADER_BYTES} bytes"),
            ));
        }
        let (header, size) = (u32_at(rest, 4) as usize, u64_at(rest, 8));
        let end = usize::try_from(size).ok().and_then(|size| size.checked_add(header));
        let Some(payload) =
            end.filter(|_| header >= MEMBER_HEADER_BYTES).and_then(|end| rest.get(header..end))
        else {
            let what =
                format!("member with a header of {header} bytes and {size} bytes of content");
            return Err(Error::malformed(
                offset,
                what,
                format!("both to lie within the {} bytes left", rest.len()),
            ));
        };
        let flags = u64_at(rest, 40);
        let packing = match flags {
            f if f & FLAG_LZ4 != 0 => Packing::Lz4,
            f if f & FLAG_ZSTD != 0 => Packing::Zstd,
            _ => Packing::Stored,
        };
        let (packed_size, unpacked_size) = (u32_at(rest, 16) as usize, u64_at(rest, 56));
        let (packed, size) = match packing {
            Packing::Stored => (payload, payload.len() as u64),
            _ => (payload.get(..packed_size).unwrap_or(payload), unpacked_size),
        };
        let kind = match u16_at(rest, 0) {
            1 => MemberKind::Ptx,
            2 => MemberKind::Cubin,
            8 => MemberKind::LtoIr,
            other => MemberKind::Other(other),
        };
        let (name_at, name_size) = (u32_at(rest, 32) as usize, u32_at(rest, 36) as usize);
        let name =
            name_at.checked_add(name_size).and_then(|end| rest.get(name_at..end.min(header)));
        let name = name.map(|n| String::from_utf8_lossy(n).trim_end_matches('\0').to_string());
        let name = name.filter(|n| !n.is_empty());
        all.push(Member {
            kind,
            packing,
            arch: u32_at(rest, 28),
            flags,
            name,
            offset,
            size,
            packed,
        });
        at += header + payload.len();
    }
    Ok(all)
}

impl<'a> Member<'a> {
    /// Returns the unpacked member.
    pub fn content(&self) -> Result<Cow<'a, [u8]>, Error> {
        match self.packing {
            Packing::Stored => Ok(Cow::Borrowed(self.packed)),
            Packing::Lz4 => self.unpacked(Method::Lz4),
            Packing::Zstd => self.unpacked(Method::Zstd),
        }
    }

    fn unpacked(&self, method: Method) -> Result<Cow<'a, [u8]>, Error> {
        let wrong = |problem: String| {
            let what =
                format!("{} content of {} bytes: {problem}", self.packing, self.packed.len());
            Error::malformed(
                self.offset,
                what,
                format!("content that unpacks to {} bytes", self.size),
            )
        };
        method.unpack(self.packed, self.size).map(Cow::Owned).map_err(wrong)
    }

    /// Returns the member's name in messages.
    pub fn label(&self) -> String {
        format!("{} for sm_{}", self.kind, self.arch)
    }
}

/// A member in [`visit`], and the number of fat binaries that it is nested in, from 1.
pub struct Visited<'m, 'a> {
    pub member: &'m Member<'a>,
    /// The unpacked content, if it is wanted.
    pub content: Option<Result<Cow<'a, [u8]>, Error>>,
    pub depth: usize,
    /// The number of the member's fat binary, in the order of the visit.
    pub unit: usize,
}

/// Shows every member. Nested members follow the member that holds them.
///
/// A member is unpacked and searched only if it is `wanted`: one of many members in a library may
/// be large.
pub fn visit(
    bytes: &[u8],
    format: Format,
    wanted: &dyn Fn(&Member<'_>) -> bool,
    show: &mut dyn FnMut(Visited<'_, '_>),
) -> Result<(), Error> {
    visit_level(bytes, format, (1, &mut 0), wanted, show)
}

fn visit_level(
    bytes: &[u8],
    format: Format,
    (depth, units): (usize, &mut usize),
    wanted: &dyn Fn(&Member<'_>) -> bool,
    show: &mut dyn FnMut(Visited<'_, '_>),
) -> Result<(), Error> {
    for fat in fat_binaries(bytes, format)? {
        let unit = *units;
        *units += 1;
        for member in &fat.members {
            let content = wanted(member).then(|| member.content());
            let format = content.as_ref().and_then(|c| recognise(c.as_ref().ok()?));
            let holds_more =
                format.filter(|format| matches!(format, Format::FatBinary | Format::HostElf));
            let nested = content.clone().and_then(Result::ok).zip(holds_more);
            show(Visited { member, content, depth, unit });
            let Some((content, inner)) = nested else { continue };
            let within = |source| Error::Member {
                member: member.label(),
                offset: member.offset,
                source: Box::new(source),
            };
            if depth == MAX_DEPTH {
                let expected = format!("at most {MAX_DEPTH} levels of nesting");
                return Err(within(Error::malformed(0, "fat binary", expected)));
            }
            visit_level(&content, inner, (depth + 1, units), wanted, show).map_err(within)?;
        }
    }
    Ok(())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
