//! The GPUs of AMD's GFX9 generation, as far as instructions go.
//!
//! Source: LLVM's disassembler (19) for each of them.

/// GPUs whose instructions are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Chip {
    /// Not said: every instruction of the table, as gfx900 has it.
    #[default]
    Any,
    /// gfx900, gfx902, gfx909, gfx90c.
    Gfx900,
    /// `v_mad_mix` and its kind are `v_fma_mix`, with the same opcodes: rounded once.
    Gfx904,
    /// The same, and dot products, `v_fmac_f32` and `v_xnor_b32`.
    Gfx906,
    /// What all of them have: no mixed precision.
    Generic,
}

/// How the names of mixed precision begin.
const MIX: &str = "v_mad_mix";
const FUSED_MIX: &str = "v_fma_mix";

impl Chip {
    /// Mixed precision rounds once.
    pub const fn fused_mix(self) -> bool {
        matches!(self, Chip::Gfx904 | Chip::Gfx906)
    }

    /// A text or mnemonic of the table's names with those of the chip.
    pub fn named(self, text: String) -> String {
        if self.fused_mix() && text.starts_with(MIX) {
            text.replacen(MIX, FUSED_MIX, 1)
        } else {
            text
        }
    }

    /// The reverse. None: the chip has another name for it.
    pub fn table_name(self, text: &str) -> Option<String> {
        let (from, other) = if self.fused_mix() { (FUSED_MIX, MIX) } else { (MIX, FUSED_MIX) };
        (!text.starts_with(other)).then(|| text.replacen(from, MIX, 1))
    }
}
