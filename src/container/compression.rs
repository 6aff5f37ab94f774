//! Compressed content of containers: members of fat binaries, and offload bundles.

use std::io::Read;

/// The most bytes of unpacked content.
const MAX_UNPACKED: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Lz4,
    Zlib,
    Zstd,
}

impl Method {
    /// Returns the most bytes that one packed byte unpacks to.
    ///
    /// Zstandard's extreme is a repeated byte: four bytes for a block of 128 KiB.
    const fn max_ratio(self) -> u64 {
        match self {
            Method::Lz4 => 255,
            Method::Zlib => 1032,
            Method::Zstd => 32 << 10,
        }
    }

    /// Unpacks the content, which has `size` bytes.
    ///
    /// # Errors
    ///
    /// A message describes the error in the packed bytes or the size.
    pub fn unpack(self, packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
        if size > MAX_UNPACKED.min(self.max_ratio().saturating_mul(packed.len() as u64)) {
            return Err("it cannot be that long".into());
        }
        let content = match self {
            Method::Lz4 => {
                lz4_flex::block::decompress(packed, size as usize).map_err(|e| e.to_string())?
            }
            Method::Zlib => {
                miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, size as usize)
                    .map_err(|e| e.to_string())?
            }
            Method::Zstd => {
                let stream =
                    ruzstd::decoding::StreamingDecoder::new(packed).map_err(|e| e.to_string())?;
                let mut content = Vec::new();
                stream.take(size + 1).read_to_end(&mut content).map_err(|e| e.to_string())?;
                content
            }
        };
        match content.len() as u64 {
            bytes if bytes == size => Ok(content),
            bytes => Err(format!(
                "it unpacks to {bytes} bytes{}",
                if bytes > size { " or more" } else { "" }
            )),
        }
    }
}
