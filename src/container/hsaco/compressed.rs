//! Compressed offload bundles, which clang writes with `--offload-compress`.
//!
//! A header (magic `CCOB`, version, method, from version 2 on the size of all, the unpacked size, a hash) and a zlib or
//! Zstandard stream that unpacks to an ordinary bundle. Numbers are 32 bits, from version 3 on 64. Source: LLVM's "Clang
//! Offload Bundler", "Compression and Decompression".

use std::io::Read;

use crate::container::Error;

pub(in crate::container) const MAGIC: &[u8] = b"CCOB";
/// No bundle is larger when unpacked.
const MAX_UNPACKED: u64 = 1 << 30;
/// Deflate cannot do better than this, and code does not under Zstandard.
const MAX_RATIO: u64 = 1032;

/// Unpacks the bundle that `bytes` starts with, and says how many bytes it takes. `offset` is for messages.
pub(super) fn unpack(bytes: &[u8], offset: u64) -> Result<(Vec<u8>, usize), Error> {
    let number = |at: usize, size: usize| {
        let field = bytes.get(at..at + size).ok_or_else(|| {
            Error::malformed(offset, format!("compressed bundle of {} bytes", bytes.len()), "a whole header")
        })?;
        Ok::<u64, Error>(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    let (version, method) = (number(4, 2)?, number(6, 2)?);
    let (header, total, unpacked) = match version {
        1 => (20, bytes.len() as u64, number(8, 4)?),
        2 => (24, number(8, 4)?, number(12, 4)?),
        3 => (32, number(8, 8)?, number(16, 8)?),
        _ => {
            let what = format!("compressed bundle of version {version} (at offset {offset:#x})");
            return Err(Error::Unsupported { what, why: "versions 1 to 3 are known".into() });
        }
    };
    let packed = usize::try_from(total).ok().and_then(|total| bytes.get(header..total)).ok_or_else(|| {
        let what = format!("compressed bundle of {total} bytes");
        Error::malformed(
            offset,
            what,
            format!("at least {header}, and it to lie within the {} bytes left", bytes.len()),
        )
    })?;
    let wrong = |problem: &dyn std::fmt::Display| {
        let what = format!("compressed bundle of {total} bytes: {problem}");
        Error::malformed(offset, what, format!("a stream that unpacks to {unpacked} bytes"))
    };
    if unpacked > MAX_UNPACKED.min(MAX_RATIO * packed.len() as u64) {
        return Err(wrong(&"it cannot be that long"));
    }
    let content = match method {
        0 => {
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, unpacked as usize).map_err(|e| wrong(&e))?
        }
        1 => {
            let stream = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|e| wrong(&e))?;
            let mut content = Vec::new();
            stream.take(unpacked + 1).read_to_end(&mut content).map_err(|e| wrong(&e))?;
            content
        }
        _ => return Err(wrong(&format!("method {method}, which is neither zlib (0) nor Zstandard (1)"))),
    };
    if content.len() as u64 != unpacked {
        return Err(wrong(&format!("it unpacks to {} bytes or more", content.len())));
    }
    Ok((content, header + packed.len()))
}
