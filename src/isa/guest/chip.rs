//! The GPUs of AMD's GFX9 generation, distinguished by their instructions.
//!
//! Source: LLVM's disassembler (19) for each of them.

/// A class of GPUs with equal instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Chip {
    /// No chip is named: every instruction of the table, with gfx900's meaning.
    #[default]
    Any,
    /// gfx900, gfx902, gfx909, gfx90c.
    Gfx900,
    /// As gfx900, but `v_fma_mix` replaces `v_mad_mix` and its kind at equal opcodes, and rounds
    /// once.
    Gfx904,
    /// As gfx904, with dot products, `v_fmac_f32` and `v_xnor_b32`.
    Gfx906,
    /// The common instructions of all these chips: no mixed precision.
    Generic,
}

/// The prefix of mixed precision names.
const MIX: &str = "v_mad_mix";
const FUSED_MIX: &str = "v_fma_mix";

impl Chip {
    /// Whether mixed precision rounds once.
    pub const fn fused_mix(self) -> bool {
        matches!(self, Chip::Gfx904 | Chip::Gfx906)
    }

    /// Replaces the table's names in a text or mnemonic by the chip's names.
    pub fn named(self, text: String) -> String {
        if self.fused_mix() && text.starts_with(MIX) {
            text.replacen(MIX, FUSED_MIX, 1)
        } else {
            text
        }
    }

    /// Replaces the chip's names by the table's names. None: the chip has another name for it.
    pub fn table_name(self, text: &str) -> Option<String> {
        let (from, other) = if self.fused_mix() { (FUSED_MIX, MIX) } else { (MIX, FUSED_MIX) };
        (!text.starts_with(other)).then(|| text.replacen(from, MIX, 1))
    }
}
