//! Shared parts of the instruction set crates: table notation, search for blocks, divergence,
//! images, and code sequences that several of them lift to.

pub mod bits;
pub mod brain;
pub mod chip;
mod table;
pub mod video;
pub mod words;

pub mod discover;
pub mod divergence;
pub mod errors;
pub mod fidelity;
pub mod header;
pub mod if_conversion;
pub mod images;
pub mod matrix;
pub mod places;
pub mod platform;
pub mod service;
pub mod shader;
pub mod suggest;
pub mod tanh;

use discover::MAX_BLOCK;
use warploom_ir::BuildError;
use warploom_ir::parse::ParseError;

/// Why a kernel has no IR. An instruction that cannot be lifted becomes a trap instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LiftError {
    #[error(
        "kernel `{kernel}` starts at {entry:#x}, which is no instruction of its {len} bytes of code"
    )]
    NoEntry { kernel: String, entry: u64, len: usize },
    #[error("kernel `{kernel}`: a thread of {lanes} lanes; there are 1, 8, 16 or 32")]
    Width { kernel: String, lanes: u32 },
    #[error("kernel `{kernel}`, pc {pc:#x}, `{text}`: {problem}")]
    NotGiven { kernel: String, pc: u64, text: String, problem: String },
    #[error("kernel `{kernel}`: lanes may wait at too many places")]
    Places { kernel: String },
    #[error("kernel `{kernel}`: {error}")]
    Build { kernel: String, error: BuildError },
    #[error("kernel `{kernel}`: {error}")]
    Text { kernel: String, error: ParseError },
}

/// Cuts blocks that are longer than [`MAX_BLOCK`], where the whole code is known. `starts` are the
/// starts of blocks, in ascending order; the code ends at `end`.
pub fn cut_long_blocks(starts: &mut Vec<u32>, end: u32) {
    let ends = starts.iter().copied().skip(1).chain([end]);
    let pieces = starts
        .iter()
        .zip(ends)
        .flat_map(|(&start, end)| (start..end.max(start + 1)).step_by(MAX_BLOCK));
    *starts = pieces.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_block_is_longer_than_allowed() {
        let cut = |starts: &[u32], end| {
            let mut starts = starts.to_vec();
            cut_long_blocks(&mut starts, end);
            starts
        };
        let longest = MAX_BLOCK as u32;
        assert!(cut(&[], 0).is_empty());
        assert_eq!(cut(&[0], 0), [0]);
        assert_eq!(cut(&[0, 5], 5 + longest), [0, 5]);
        assert_eq!(cut(&[0, 5], 6 + longest), [0, 5, 5 + longest]);
        assert_eq!(
            cut(&[0, 2 * longest + 1], 2 * longest + 1),
            [0, longest, 2 * longest, 2 * longest + 1]
        );
    }
}
