//! Scalar instructions of one source.

family! { ($) sop1 {
    /// Move.
    SMovB32 (exact scalar_alu::s_mov_b32) "s_mov_b32 sdst:b32, src0:b32" { sop1 0x00 }
    /// Move.
    SMovB64 (exact scalar_alu::s_mov_b64) "s_mov_b64 sdst:b64, src0:b64" { sop1 0x01 }
    /// Move if SCC is set.
    SCmovB32 (exact scalar_alu::s_cmov_b32) "s_cmov_b32 sdst:b32, src0:b32" { sop1 0x02 }
    /// Move if SCC is set.
    SCmovB64 (exact scalar_alu::s_cmov_b64) "s_cmov_b64 sdst:b64, src0:b64" { sop1 0x03 }
    /// Bitwise complement.
    SNotB32 (exact scalar_alu::s_not_b32) "s_not_b32 sdst:b32, src0:b32" { sop1 0x04 }
    /// Bitwise complement.
    SNotB64 (exact scalar_alu::s_not_b64) "s_not_b64 sdst:b64, src0:b64" { sop1 0x05 }
    /// Whole quad mode: each set bit sets its group of four.
    SWqmB32 (exact scalar_bits::s_wqm_b32) "s_wqm_b32 sdst:b32, src0:b32" { sop1 0x06 }
    /// Whole quad mode: each set bit sets its group of four.
    SWqmB64 (exact scalar_bits::s_wqm_b64) "s_wqm_b64 sdst:b64, src0:b64" { sop1 0x07 }
    /// Bits in reverse order.
    SBrevB32 (exact scalar_bits::s_brev_b32) "s_brev_b32 sdst:b32, src0:b32" { sop1 0x08 }
    /// Bits in reverse order.
    SBrevB64 (exact scalar_bits::s_brev_b64) "s_brev_b64 sdst:b64, src0:b64" { sop1 0x09 }
    /// Number of clear bits.
    SBcnt0I32B32 (exact scalar_bits::s_bcnt0_i32_b32) "s_bcnt0_i32_b32 sdst:i32, src0:b32" { sop1 0x0a }
    /// Number of clear bits.
    SBcnt0I32B64 (exact scalar_bits::s_bcnt0_i32_b64) "s_bcnt0_i32_b64 sdst:i32, src0:b64" { sop1 0x0b }
    /// Number of set bits.
    SBcnt1I32B32 (exact scalar_bits::s_bcnt1_i32_b32) "s_bcnt1_i32_b32 sdst:i32, src0:b32" { sop1 0x0c }
    /// Number of set bits.
    SBcnt1I32B64 (exact scalar_bits::s_bcnt1_i32_b64) "s_bcnt1_i32_b64 sdst:i32, src0:b64" { sop1 0x0d }
    /// Index of the lowest clear bit, or -1.
    SFf0I32B32 (exact scalar_bits::s_ff0_i32_b32) "s_ff0_i32_b32 sdst:i32, src0:b32" { sop1 0x0e }
    /// Index of the lowest clear bit, or -1.
    SFf0I32B64 (exact scalar_bits::s_ff0_i32_b64) "s_ff0_i32_b64 sdst:i32, src0:b64" { sop1 0x0f }
    /// Index of the lowest set bit, or -1.
    SFf1I32B32 (exact scalar_bits::s_ff1_i32_b32) "s_ff1_i32_b32 sdst:i32, src0:b32" { sop1 0x10 }
    /// Index of the lowest set bit, or -1.
    SFf1I32B64 (exact scalar_bits::s_ff1_i32_b64) "s_ff1_i32_b64 sdst:i32, src0:b64" { sop1 0x11 }
    /// Number of bits above the highest set bit, or -1.
    SFlbitI32B32 (exact scalar_bits::s_flbit_i32_b32) "s_flbit_i32_b32 sdst:i32, src0:b32" { sop1 0x12 }
    /// Number of bits above the highest set bit, or -1.
    SFlbitI32B64 (exact scalar_bits::s_flbit_i32_b64) "s_flbit_i32_b64 sdst:i32, src0:b64" { sop1 0x13 }
    /// Number of bits above the highest bit that differs from the sign, or -1.
    SFlbitI32 (exact scalar_bits::s_flbit_i32) "s_flbit_i32 sdst:i32, src0:i32" { sop1 0x14 }
    /// Number of bits above the highest bit that differs from the sign, or -1.
    SFlbitI32I64 (exact scalar_bits::s_flbit_i32_i64) "s_flbit_i32_i64 sdst:i32, src0:i64" { sop1 0x15 }
    /// Sign extension.
    SSextI32I8 (exact scalar_bits::s_sext_i32_i8) "s_sext_i32_i8 sdst:i32, src0:i32" { sop1 0x16 }
    /// Sign extension.
    SSextI32I16 (exact scalar_bits::s_sext_i32_i16) "s_sext_i32_i16 sdst:i32, src0:i32" { sop1 0x17 }
    /// Clears a bit.
    SBitset0B32 (exact scalar_bits::s_bitset0_b32) "s_bitset0_b32 sdst:b32, src0:u32" { sop1 0x18 }
    /// Clears a bit.
    SBitset0B64 (exact scalar_bits::s_bitset0_b64) "s_bitset0_b64 sdst:b64, src0:u32" { sop1 0x19 }
    /// Sets a bit.
    SBitset1B32 (exact scalar_bits::s_bitset1_b32) "s_bitset1_b32 sdst:b32, src0:u32" { sop1 0x1a }
    /// Sets a bit.
    SBitset1B64 (exact scalar_bits::s_bitset1_b64) "s_bitset1_b64 sdst:b64, src0:u32" { sop1 0x1b }
    /// Address of the next instruction.
    SGetpcB64 (exact control::s_getpc_b64) "s_getpc_b64 sdst:b64" { sop1 0x1c }
    /// Jump.
    SSetpcB64 (exact control::s_setpc_b64) "s_setpc_b64 sreg0:b64" { sop1 0x1d }
    /// Jump; the address of the next instruction goes to the destination.
    SSwappcB64 (exact control::s_swappc_b64) "s_swappc_b64 sdst:b64, src0:b64" { sop1 0x1e }
    /// Return from a trap handler.
    SRfeB64 unimplemented "s_rfe_b64 sreg0:b64" { sop1 0x1f }
    /// Saves EXEC and combines the source with it.
    SAndSaveexecB64 (exact control::s_and_saveexec_b64) "s_and_saveexec_b64 sdst:b64, src0:b64" { sop1 0x20 }
    /// Saves EXEC and combines the source with it.
    SOrSaveexecB64 (exact control::s_or_saveexec_b64) "s_or_saveexec_b64 sdst:b64, src0:b64" { sop1 0x21 }
    /// Saves EXEC and combines the source with it.
    SXorSaveexecB64 (exact control::s_xor_saveexec_b64) "s_xor_saveexec_b64 sdst:b64, src0:b64" { sop1 0x22 }
    /// Saves EXEC and combines the source with it.
    SAndn2SaveexecB64 (exact control::s_andn2_saveexec_b64) "s_andn2_saveexec_b64 sdst:b64, src0:b64" { sop1 0x23 }
    /// Saves EXEC and combines the source with it.
    SOrn2SaveexecB64 (exact control::s_orn2_saveexec_b64) "s_orn2_saveexec_b64 sdst:b64, src0:b64" { sop1 0x24 }
    /// Saves EXEC and combines the source with it.
    SNandSaveexecB64 (exact control::s_nand_saveexec_b64) "s_nand_saveexec_b64 sdst:b64, src0:b64" { sop1 0x25 }
    /// Saves EXEC and combines the source with it.
    SNorSaveexecB64 (exact control::s_nor_saveexec_b64) "s_nor_saveexec_b64 sdst:b64, src0:b64" { sop1 0x26 }
    /// Saves EXEC and combines the source with it.
    SXnorSaveexecB64 (exact control::s_xnor_saveexec_b64) "s_xnor_saveexec_b64 sdst:b64, src0:b64" { sop1 0x27 }
    /// One bit for each group of four bits.
    SQuadmaskB32 (exact scalar_bits::s_quadmask_b32) "s_quadmask_b32 sdst:b32, src0:b32" { sop1 0x28 }
    /// One bit for each group of four bits.
    SQuadmaskB64 (exact scalar_bits::s_quadmask_b64) "s_quadmask_b64 sdst:b64, src0:b64" { sop1 0x29 }
    /// Move from the SGPR at M0 plus the source.
    SMovrelsB32 (exact control::s_movrels_b32) "s_movrels_b32 sdst:b32, sreg0:b32" { sop1 0x2a }
    /// Move from the SGPR at M0 plus the source.
    SMovrelsB64 (exact control::s_movrels_b64) "s_movrels_b64 sdst:b64, sreg0:b64" { sop1 0x2b }
    /// Move to the SGPR at M0 plus the destination.
    SMovreldB32 (exact control::s_movreld_b32) "s_movreld_b32 sdst:b32, src0:b32" { sop1 0x2c }
    /// Move to the SGPR at M0 plus the destination.
    SMovreldB64 (exact control::s_movreld_b64) "s_movreld_b64 sdst:b64, src0:b64" { sop1 0x2d }
    /// Join of forked control flow; not emitted for GFX9.
    SCbranchJoin unimplemented "s_cbranch_join sreg0:b32" { sop1 0x2e }
    /// Absolute value.
    SAbsI32 (exact scalar_alu::s_abs_i32) "s_abs_i32 sdst:i32, src0:i32" { sop1 0x30 }
    /// Sets the index of VGPR indexing.
    SSetGprIdxIdx (exact control::s_set_gpr_idx_idx) "s_set_gpr_idx_idx src0:b32" { sop1 0x32 }
    /// Saves EXEC and combines the source with it.
    SAndn1SaveexecB64 (exact control::s_andn1_saveexec_b64) "s_andn1_saveexec_b64 sdst:b64, src0:b64" { sop1 0x33 }
    /// Saves EXEC and combines the source with it.
    SOrn1SaveexecB64 (exact control::s_orn1_saveexec_b64) "s_orn1_saveexec_b64 sdst:b64, src0:b64" { sop1 0x34 }
    /// Combines the source with EXEC and writes both destinations.
    SAndn1WrexecB64 (exact control::s_andn1_wrexec_b64) "s_andn1_wrexec_b64 sdst:b64, src0:b64" { sop1 0x35 }
    /// Combines the source with EXEC and writes both destinations.
    SAndn2WrexecB64 (exact control::s_andn2_wrexec_b64) "s_andn2_wrexec_b64 sdst:b64, src0:b64" { sop1 0x36 }
    /// Writes each bit twice.
    SBitreplicateB64B32 (exact scalar_bits::s_bitreplicate_b64_b32) "s_bitreplicate_b64_b32 sdst:b64, src0:b32" { sop1 0x37 }
} }
