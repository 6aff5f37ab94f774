//! Relocation types of cubins. The number at the end of a name is the place in the instruction: 20
//! for Maxwell, higher for Turing and later models. A name that ends in `_8_` and a number is for a
//! byte of an address in data.
//!
//! Numbers and names are from the vendor's tools.

use crate::{Part, RelocKind};

const fn address(part: Part, at: u8, bits: u8) -> RelocKind {
    RelocKind::Address { part, at, bits }
}

const fn generic(part: Part, bits: u8) -> RelocKind {
    RelocKind::Generic { part, at: 0, bits }
}

const fn byte(n: u8) -> RelocKind {
    address(Part::Byte(n), 0, 8)
}

const TABLE: &[(u32, &str, RelocKind)] = &[
    (1, "R_CUDA_32", address(Part::Whole, 0, 32)),
    (2, "R_CUDA_64", address(Part::Whole, 0, 64)),
    (3, "R_CUDA_G32", generic(Part::Whole, 32)),
    (4, "R_CUDA_G64", generic(Part::Whole, 64)),
    (6, "R_CUDA_TEX_HEADER_INDEX", RelocKind::Header { at: 0, bits: 20 }),
    (7, "R_CUDA_SAMP_HEADER_INDEX", RelocKind::Header { at: 20, bits: 12 }),
    (34, "R_CUDA_FUNC_DESC_32", address(Part::Whole, 0, 32)),
    (35, "R_CUDA_FUNC_DESC_64", address(Part::Whole, 0, 64)),
    (42, "R_CUDA_ABS32_20", address(Part::Whole, 20, 32)),
    (43, "R_CUDA_ABS32_LO_20", address(Part::Low, 20, 32)),
    (44, "R_CUDA_ABS32_HI_20", address(Part::High, 20, 32)),
    (45, "R_CUDA_ABS24_20", address(Part::Whole, 20, 24)),
    (46, "R_CUDA_ABS16_20", address(Part::Whole, 20, 16)),
    (47, "R_CUDA_FUNC_DESC32_20", address(Part::Whole, 20, 32)),
    (48, "R_CUDA_FUNC_DESC32_LO_20", address(Part::Low, 20, 32)),
    (49, "R_CUDA_FUNC_DESC32_HI_20", address(Part::High, 20, 32)),
    (50, "R_CUDA_CONST_FIELD19_20", RelocKind::ConstantOperand { at: 20 }),
    (52, "R_CUDA_SURF_HEADER_INDEX", RelocKind::Header { at: 0, bits: 20 }),
    (54, "R_CUDA_CONST_FIELD21_20", RelocKind::ConstantAddress { at: 20 }),
    (55, "R_CUDA_ABS32_32", address(Part::Whole, 32, 32)),
    (56, "R_CUDA_ABS32_LO_32", address(Part::Low, 32, 32)),
    (57, "R_CUDA_ABS32_HI_32", address(Part::High, 32, 32)),
    (58, "R_CUDA_ABS47_34", address(Part::Words, 34, 47)),
    (59, "R_CUDA_ABS16_32", address(Part::Whole, 32, 16)),
    (60, "R_CUDA_ABS24_32", address(Part::Whole, 32, 24)),
    (61, "R_CUDA_FUNC_DESC32_32", address(Part::Whole, 32, 32)),
    (62, "R_CUDA_FUNC_DESC32_LO_32", address(Part::Low, 32, 32)),
    (63, "R_CUDA_FUNC_DESC32_HI_32", address(Part::High, 32, 32)),
    (64, "R_CUDA_CONST_FIELD19_40", RelocKind::ConstantOperand { at: 40 }),
    (66, "R_CUDA_CONST_FIELD21_38", RelocKind::ConstantAddress { at: 38 }),
    (70, "R_CUDA_32_LO", address(Part::Low, 0, 32)),
    (71, "R_CUDA_32_HI", address(Part::High, 0, 32)),
    (74, "R_CUDA_ABS24_40", address(Part::Whole, 40, 24)),
    (76, "R_CUDA_8_0", byte(0)),
    (77, "R_CUDA_8_8", byte(1)),
    (78, "R_CUDA_8_16", byte(2)),
    (79, "R_CUDA_8_24", byte(3)),
    (80, "R_CUDA_8_32", byte(4)),
    (81, "R_CUDA_8_40", byte(5)),
    (82, "R_CUDA_8_48", byte(6)),
    (83, "R_CUDA_8_56", byte(7)),
    (84, "R_CUDA_G8_0", generic(Part::Byte(0), 8)),
    (85, "R_CUDA_G8_8", generic(Part::Byte(1), 8)),
    (86, "R_CUDA_G8_16", generic(Part::Byte(2), 8)),
    (87, "R_CUDA_G8_24", generic(Part::Byte(3), 8)),
    (88, "R_CUDA_G8_32", generic(Part::Byte(4), 8)),
    (89, "R_CUDA_G8_40", generic(Part::Byte(5), 8)),
    (90, "R_CUDA_G8_48", generic(Part::Byte(6), 8)),
    (91, "R_CUDA_G8_56", generic(Part::Byte(7), 8)),
    (92, "R_CUDA_FUNC_DESC_8_0", byte(0)),
    (93, "R_CUDA_FUNC_DESC_8_8", byte(1)),
    (94, "R_CUDA_FUNC_DESC_8_16", byte(2)),
    (95, "R_CUDA_FUNC_DESC_8_24", byte(3)),
    (96, "R_CUDA_FUNC_DESC_8_32", byte(4)),
    (97, "R_CUDA_FUNC_DESC_8_40", byte(5)),
    (98, "R_CUDA_FUNC_DESC_8_48", byte(6)),
    (99, "R_CUDA_FUNC_DESC_8_56", byte(7)),
];

/// Whether a linker may leave a place as it is: it turns YIELD into NOP, and clears its predicate, in
/// programs that need no progress of single lanes (R_CUDA_YIELD_OPCODE9_0,
/// R_CUDA_YIELD_CLEAR_PRED4_87).
pub fn is_optional(number: u32) -> bool {
    matches!(number, 68 | 69)
}

/// Returns the meaning and the name of a relocation type.
pub fn kind(number: u32) -> Option<(RelocKind, &'static str)> {
    TABLE.iter().find(|&&(n, ..)| n == number).map(|&(_, name, kind)| (kind, name))
}
