//! The arguments of a kernel, as OpenCL's host side describes them.
//!
//! The structure is a header of 0xe0 bytes or more, two or three strings, entries of 0x58 bytes and
//! one of zeros, then each argument's name and type. The runtime provides the first six arguments.
//! Entries do not say where an argument lies. Each lies behind the arguments before it, at a
//! multiple of its size; a vector at a multiple of its element's size. A structure is passed by
//! address.

use crate::Error;
use crate::hsaco::KernelDescriptor;
use crate::hsaco::kernel::{AddressSpace, Arg, HiddenArg, HiddenKind, HsaKernel, ValueKind};
use crate::hsaco::metadata::{Kernel, MAX_KERNARG_BYTES};

const HEADER_BYTES: u64 = 0xe0;
/// The header size from which headers end in hints, and a third string follows.
const HEADER_WITH_HINTS: u64 = 0x110;
const ENTRY_BYTES: u64 = 0x58;
/// Offsets of fields of the header.
const REQD_WORKGROUP: usize = 0x38;
const NAME_LENGTHS: [usize; 2] = [0x60, 0x68];
const ARGUMENTS: usize = 0xa0;
const HINT_LENGTH: usize = 0x100;
/// The start of the names of arguments that the runtime provides.
const HIDDEN: &str = "_.";
const POINTER_BYTES: u32 = 8;

/// The runtime's arguments by name.
const HIDDEN_KINDS: [(&str, HiddenKind); 6] = [
    ("global_offset_0", HiddenKind::GlobalOffset(0)),
    ("global_offset_1", HiddenKind::GlobalOffset(1)),
    ("global_offset_2", HiddenKind::GlobalOffset(2)),
    ("printf_buffer", HiddenKind::PrintfBuffer),
    ("vqueue_pointer", HiddenKind::DefaultQueue),
    ("aqlwrap_pointer", HiddenKind::CompletionAction),
];

struct Reader<'a> {
    kernel: &'a str,
    bytes: &'a [u8],
    /// The offset in the file.
    at: u64,
}

impl Reader<'_> {
    fn wrong(&self, what: impl std::fmt::Display, expected: impl Into<String>) -> Error {
        Error::malformed(self.at, format!("metadata of kernel {}: {what}", self.kernel), expected)
    }

    fn field<const N: usize>(&self, at: u64) -> Result<[u8; N], Error> {
        let field = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)?.first_chunk());
        field.copied().ok_or_else(|| {
            self.wrong(format!("{} bytes", self.bytes.len()), format!("more than {at}"))
        })
    }

    fn long(&self, at: u64) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.field(at)?))
    }

    fn word(&self, at: u64) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.field(at)?))
    }

    /// Reads a string of `length` bytes and a zero.
    fn string(&self, at: &mut u64, length: u64) -> Result<String, Error> {
        let range = usize::try_from(*at).ok().zip(usize::try_from(length).ok());
        let text = range.and_then(|(at, length)| self.bytes.get(at..)?.get(..length));
        let text = text.ok_or_else(|| {
            self.wrong(format!("a string of {length} bytes at {at:#x}"), "it to lie within")
        })?;
        *at += length + 1;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

/// Reads the structure at an offset of the file.
pub(super) fn read(kernel: &str, bytes: &[u8], at: u64) -> Result<Kernel, Error> {
    let reader = Reader { kernel, bytes, at };
    let header = reader.long(0)?;
    if !(HEADER_BYTES..bytes.len() as u64).contains(&header) {
        return Err(reader.wrong(
            format!("a header of {header} bytes"),
            format!("{HEADER_BYTES} or more of {}", bytes.len()),
        ));
    }
    let mut entry = header;
    for length in NAME_LENGTHS {
        let length = reader.long(length as u64)?;
        reader.string(&mut entry, length)?;
    }
    if header >= HEADER_WITH_HINTS && reader.long(entry)? != ENTRY_BYTES {
        let length = reader.long(HINT_LENGTH as u64)?;
        reader.string(&mut entry, length)?;
    }
    let count = reader.long(ARGUMENTS as u64)?;
    let strings =
        count.checked_add(1).and_then(|count| count.checked_mul(ENTRY_BYTES)?.checked_add(entry));
    let mut string = strings.filter(|&strings| strings <= bytes.len() as u64).ok_or_else(|| {
        reader.wrong(
            format!("{count} arguments"),
            format!("as many as fit into {} bytes", bytes.len()),
        )
    })?;
    let mut hsa = HsaKernel::without_metadata(KernelDescriptor::default());
    let mut end = 0_u32;
    for number in 0..count {
        let entry = entry + number * ENTRY_BYTES;
        if reader.long(entry)? != ENTRY_BYTES {
            return Err(reader.wrong(
                format!("argument {} at {entry:#x}", number + 1),
                "an entry of 0x58 bytes",
            ));
        }
        let (name, type_name) = (reader.long(entry + 8)?, reader.long(entry + 16)?);
        let (name, type_name) =
            (reader.string(&mut string, name)?, reader.string(&mut string, type_name)?);
        let layout = layout(&reader, entry, &name)?;
        let offset = end.checked_next_multiple_of(layout.align);
        // A pointer to LDS takes half of its place.
        let place = layout.size.max(layout.align);
        let next = offset
            .and_then(|offset| offset.checked_add(place))
            .filter(|&end| end <= MAX_KERNARG_BYTES);
        let (Some(offset), Some(next)) = (offset, next) else {
            return Err(reader.wrong(
                format!("argument {name} of {} bytes", layout.size),
                "64 KiB of arguments at most",
            ));
        };
        end = next;
        let size = layout.size;
        match name.strip_prefix(HIDDEN) {
            Some(hidden) => {
                let known = HIDDEN_KINDS.iter().find(|(known, _)| *known == hidden);
                hsa.hidden.push(HiddenArg {
                    kind: known.map_or(HiddenKind::None, |&(_, kind)| kind),
                    offset,
                    size,
                });
            }
            None => hsa.args.push(Arg {
                name: Some(name),
                type_name: Some(type_name),
                offset,
                size,
                kind: layout.kind,
                address_space: layout.space,
                pointee_align: layout.pointee_align,
            }),
        }
    }
    let mut shape = [0; 3];
    for (axis, at) in shape.iter_mut().zip((REQD_WORKGROUP as u64..).step_by(8)) {
        *axis = u32::try_from(reader.long(at)?).unwrap_or(u32::MAX);
    }
    hsa.reqd_workgroup_size = Some(shape).filter(|shape| !shape.contains(&0));
    hsa.kernarg_bytes = end;
    Ok(Kernel::of_arguments(kernel.into(), at, hsa))
}

/// The layout of an argument in the kernarg segment. It begins at a multiple of `align`.
struct Layout {
    kind: ValueKind,
    size: u32,
    align: u32,
    space: Option<AddressSpace>,
    pointee_align: u32,
}

/// Returns the layout of the argument of an entry.
fn layout(reader: &Reader<'_>, entry: u64, name: &str) -> Result<Layout, Error> {
    let word = |at: u64| reader.word(entry + at);
    let (length, ty, pointee, space) = (word(0x28)?, word(0x34)?, word(0x38)?, word(0x40)?);
    let (points, kind) = (word(0x44)? != 0, word(0x4c)?);
    let [_, _, pipe, _] = word(0x48)?.to_le_bytes();
    let pointer = |kind, space| {
        let size = if kind == ValueKind::DynamicSharedPointer { 4 } else { POINTER_BYTES };
        Layout { kind, size, align: POINTER_BYTES, space, pointee_align: pointee }
    };
    let value = |size, align| Layout {
        kind: ValueKind::ByValue,
        size,
        align,
        space: None,
        pointee_align: 0,
    };
    let unknown = || {
        let what = format!(
            "argument {name}: type {ty}, kind {kind}, length {length}, address space {space}"
        );
        reader.wrong(what, "a combination that drivers write")
    };
    if points {
        return Ok(match (pipe, space) {
            (0, 3) => pointer(ValueKind::DynamicSharedPointer, Some(AddressSpace::Local)),
            (0, 4) => pointer(ValueKind::GlobalBuffer, Some(AddressSpace::Global)),
            (0, 5) => pointer(ValueKind::GlobalBuffer, Some(AddressSpace::Constant)),
            (1.., _) => pointer(ValueKind::Pipe, Some(AddressSpace::Global)),
            _ => return Err(unknown()),
        });
    }
    let element = match (kind, ty) {
        (1, 0) => return Ok(pointer(ValueKind::Sampler, None)),
        (2, 1..=3) => return Ok(pointer(ValueKind::Image, None)),
        (7, 18) => return Ok(pointer(ValueKind::Queue, None)),
        // A structure lies in memory of its own: the argument is its address.
        (4, 15) => return Ok(pointer(ValueKind::GlobalBuffer, Some(AddressSpace::Constant))),
        (4, 2 | 6) => 1,
        (4, 3 | 7 | 10) => 2,
        (4, 4 | 8 | 11) => 4,
        (4, 5 | 9 | 12) => 8,
        _ => return Err(unknown()),
    };
    match length {
        1 | 2 | 4 | 8 | 16 => Ok(value(element * length, element)),
        // A vector of three has the size of four.
        3 => Ok(value(element * 4, element)),
        _ => Err(unknown()),
    }
}
