//! Clang's offload bundles: code objects for several GPUs in one file.
//!
//! A bundle stands alone or in `.hip_fatbin` sections of a host's ELF file. It is a magic text, a
//! number of entries, and for each entry an offset (from the bundle's start), a size and an id, for
//! example `hipv4-amdgcn-amd-amdhsa--gfx906:xnack-`. A section may hold several bundles, with zeros
//! between them. A whole bundle may be compressed: see `compressed`. Source: LLVM's "Clang Offload
//! Bundler".

use std::borrow::Cow;

use super::compressed;
use crate::{Error, Format, fatbin};

pub(crate) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Sections of a host's ELF file that hold bundles.
const HOST_SECTIONS: &[&[u8]] = &[b".hip_fatbin"];

/// A bundle and its entries.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    /// The offset in the file.
    pub offset: u64,
    pub compressed: bool,
    pub entries: Vec<Entry<'a>>,
}

/// Code for one GPU, or for the host.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Kind, target triple and target id, joined by `-`.
    pub id: String,
    /// The offset in the file, or in the unpacked content of a compressed bundle.
    pub offset: u64,
    pub content: Cow<'a, [u8]>,
}

impl Entry<'_> {
    /// Returns the target id, for example `gfx906:xnack-`.
    ///
    /// If the entry is not for a GPU, the result is arbitrary text.
    pub fn target_id(&self) -> &str {
        let triple = self.id.find(':').unwrap_or(self.id.len());
        let start = self.id[..triple].rfind('-').map_or(0, |at| at + 1);
        &self.id[start..]
    }
}

/// Reads the bundles of a host's ELF file, or of a file that starts with one.
pub fn bundles(bytes: &[u8], format: Format) -> Result<Vec<Bundle<'_>>, Error> {
    match format {
        Format::OffloadBundle => sequence(bytes, 0),
        Format::HostElf => {
            let mut all = Vec::new();
            for (offset, section) in fatbin::host_sections(bytes, HOST_SECTIONS)? {
                all.extend(sequence(section, offset)?);
            }
            Ok(all)
        }
        _ => Ok(vec![]),
    }
}

/// Reads consecutive bundles with zeros between them. `base` is the offset of `bytes` in the file.
fn sequence(bytes: &[u8], base: u64) -> Result<Vec<Bundle<'_>>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(zeros) = bytes[at..].iter().position(|&byte| byte != 0) {
        at += zeros;
        let (rest, offset) = (&bytes[at..], base + at as u64);
        let (bundle, length) = if rest.starts_with(compressed::MAGIC) {
            let (unpacked, length) = compressed::unpack(rest, offset)?;
            let (bundle, _) = bundle(&unpacked, 0)?;
            let owned = |entry: Entry<'_>| Entry {
                content: Cow::Owned(entry.content.into_owned()),
                ..entry
            };
            let entries = bundle.entries.into_iter().map(owned).collect();
            (Bundle { offset, compressed: true, entries }, length)
        } else {
            bundle(rest, offset)?
        };
        all.push(bundle);
        at += length;
    }
    Ok(all)
}

/// Reads the bundle at the start of `bytes`, and returns its length.
fn bundle(bytes: &[u8], offset: u64) -> Result<(Bundle<'_>, usize), Error> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(Error::malformed(
            offset,
            "offload bundle",
            "__CLANG_OFFLOAD_BUNDLE__ or zeros",
        ));
    };
    let mut header = Header { bytes, left: rest, offset };
    let count = header.number()?;
    let mut entries = Vec::new();
    let mut end = 0;
    for _ in 0..count {
        let (start, size, id) = (header.number()?, header.number()?, header.number()?);
        let id = String::from_utf8_lossy(header.take(id)?).into_owned();
        let range = start
            .checked_add(size)
            .and_then(|end| Some(usize::try_from(start).ok()?..end.try_into().ok()?));
        let content = range.clone().and_then(|range| bytes.get(range)).ok_or_else(|| {
            let what = format!("{id} at {start:#x} of {size:#x} bytes");
            Error::malformed(
                offset,
                what,
                format!("it to lie within the {:#x} bytes from there", bytes.len()),
            )
        })?;
        end = end.max(range.map_or(0, |range| range.end));
        entries.push(Entry { id, offset: offset + start, content: Cow::Borrowed(content) });
    }
    let header_end = bytes.len() - header.left.len();
    Ok((Bundle { offset, compressed: false, entries }, end.max(header_end)))
}

/// The unread part of a bundle's header.
struct Header<'a> {
    bytes: &'a [u8],
    left: &'a [u8],
    offset: u64,
}

impl<'a> Header<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8], Error> {
        let split =
            usize::try_from(length).ok().and_then(|length| self.left.split_at_checked(length));
        let (taken, left) = split.ok_or_else(|| {
            let what = format!(
                "header of an offload bundle that goes past its {} bytes",
                self.bytes.len()
            );
            Error::malformed(self.offset, what, "entries of offset, size and id")
        })?;
        self.left = left;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, Error> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}
