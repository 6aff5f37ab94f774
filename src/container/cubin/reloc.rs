//! Relocation types of cubins for the instruction layout of Maxwell.
//!
//! Numbers and names are from the vendor's tools.

use crate::{Half, RelocKind};

const fn address(half: Half, at: u8, bits: u8) -> RelocKind {
    RelocKind::Address { half, at, bits }
}

const TABLE: &[(u32, &str, RelocKind)] = &[
    (1, "R_CUDA_32", address(Half::Whole, 0, 32)),
    (2, "R_CUDA_64", address(Half::Whole, 0, 64)),
    (3, "R_CUDA_G32", RelocKind::Generic { at: 0, bits: 32 }),
    (4, "R_CUDA_G64", RelocKind::Generic { at: 0, bits: 64 }),
    (6, "R_CUDA_TEX_HEADER_INDEX", RelocKind::Header { at: 0, bits: 20 }),
    (7, "R_CUDA_SAMP_HEADER_INDEX", RelocKind::Header { at: 20, bits: 12 }),
    (34, "R_CUDA_FUNC_DESC_32", address(Half::Whole, 0, 32)),
    (35, "R_CUDA_FUNC_DESC_64", address(Half::Whole, 0, 64)),
    (42, "R_CUDA_ABS32_20", address(Half::Whole, 20, 32)),
    (43, "R_CUDA_ABS32_LO_20", address(Half::Low, 20, 32)),
    (44, "R_CUDA_ABS32_HI_20", address(Half::High, 20, 32)),
    (45, "R_CUDA_ABS24_20", address(Half::Whole, 20, 24)),
    (46, "R_CUDA_ABS16_20", address(Half::Whole, 20, 16)),
    (47, "R_CUDA_FUNC_DESC32_20", address(Half::Whole, 20, 32)),
    (48, "R_CUDA_FUNC_DESC32_LO_20", address(Half::Low, 20, 32)),
    (49, "R_CUDA_FUNC_DESC32_HI_20", address(Half::High, 20, 32)),
    (50, "R_CUDA_CONST_FIELD19_20", RelocKind::ConstantOperand { at: 20 }),
    (52, "R_CUDA_SURF_HEADER_INDEX", RelocKind::Header { at: 0, bits: 20 }),
    (54, "R_CUDA_CONST_FIELD21_20", RelocKind::ConstantAddress { at: 20 }),
];

/// Returns the meaning and the name of a relocation type.
pub fn kind(number: u32) -> Option<(RelocKind, &'static str)> {
    TABLE.iter().find(|&&(n, ..)| n == number).map(|&(_, name, kind)| (kind, name))
}
