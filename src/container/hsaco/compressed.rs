//! Compressed offload bundles, which clang writes with `--offload-compress`.
//!
//! A bundle is a header (magic `CCOB`, version, method, from version 2 on the size of all, the
//! unpacked size, a hash) and a zlib or Zstandard stream that unpacks to an ordinary bundle.
//! Numbers have 32 bits, from version 3 on 64. Source: LLVM's "Clang Offload Bundler", "Compression
//! and Decompression".

use crate::Error;
use crate::compression::Method;

pub(crate) const MAGIC: &[u8] = b"CCOB";

/// Unpacks the bundle at the start of `bytes`, and returns its packed length. `offset` is for
/// messages.
pub(super) fn unpack(bytes: &[u8], offset: u64) -> Result<(Vec<u8>, usize), Error> {
    let number = |at: usize, size: usize| {
        let field = bytes.get(at..at + size).ok_or_else(|| {
            Error::malformed(
                offset,
                format!("compressed bundle of {} bytes", bytes.len()),
                "a whole header",
            )
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
    let packed = usize::try_from(total)
        .ok()
        .and_then(|total| bytes.get(header..total))
        .ok_or_else(|| {
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
    let method = match method {
        0 => Method::Zlib,
        1 => Method::Zstd,
        _ => {
            return Err(wrong(&format!(
                "method {method}, which is neither zlib (0) nor Zstandard (1)"
            )));
        }
    };
    let content = method.unpack(packed, unpacked).map_err(|problem| wrong(&problem))?;
    Ok((content, header + packed.len()))
}
