//! Operands and modifiers that warploom does not execute: each is a fault with its own text.

use warploom_gfx9::lift::{Kernel, lift_kernel};
use warploom_gfx9::{Instruction, assemble};
use warploom_ir::{Terminator, TrapKind};

/// Tells whether a wave that reaches the instruction stops there as at an unimplemented
/// instruction.
fn is_fault(bytes: &[u8]) -> bool {
    const END: u32 = 0xbf81_0000;
    let code = [bytes, &END.to_le_bytes()].concat();
    let function =
        lift_kernel(&Kernel { plain: true, ..Kernel::new("probe", &code) }).expect("a function");
    let is_trap =
        |term: &Terminator| matches!(term, Terminator::Trap { kind: TrapKind::Unimplemented, .. });
    function.blocks.iter().any(|block| is_trap(&block.term))
}

fn check(texts: &[&str], fault: bool) {
    for text in texts {
        let bytes = assemble(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(is_fault(&bytes), fault, "{text}");
    }
}

#[test]
fn operands() {
    check(
        &[
            "v_mov_b32_e32 v0, src_pops_exiting_wave_id",
            "s_mov_b32 s0, src_pops_exiting_wave_id",
            "s_mov_b64 s[0:1], src_pops_exiting_wave_id",
            // The low halves of the apertures are broken.
            "s_mov_b32 s0, src_shared_base",
            "v_mov_b32_e32 v0, src_private_base",
            "v_add_u32_e32 v0, src_shared_limit, v1",
            "v_add_u32_e64 v0, v1, src_private_limit",
            // The registers of the trap handler, and a reserved number.
            "s_mov_b32 s0, ttmp0",
            "s_mov_b32 ttmp15, s0",
            "v_add_u32_e32 v0, ttmp3, v1",
            "s_load_dword s0, ttmp[2:3], 0x0",
            "s_load_dword ttmp4, s[0:1], 0x0",
            "s_load_dword s0, s[0:1], ttmp4",
            "s_load_dword s0, s[0:1], null",
            "s_mov_b32 s0, null",
            "s_mov_b32 null, s0",
            "global_load_dword v0, v1, null",
            "buffer_load_dword v0, off, s[4:7], null",
            "buffer_load_dword v0, off, ttmp[4:7], s0",
            // `flat_scratch` is not part of a descriptor.
            "buffer_load_dword v0, off, s[100:103], s0",
            "s_buffer_load_dword s0, s[100:103], 0x0",
            "image_load v0, v0, s[96:103] dmask:0x1 unorm",
            // LLVM refuses these operands.
            "v_add_u32_e64 v0, v1, src_lds_direct",
            "v_lshlrev_b32_e32 v0, src_lds_direct, v1",
            "v_subrev_f32_e32 v0, src_lds_direct, v1",
            "v_pk_lshlrev_b16 v0, src_lds_direct, v1",
            "s_movrels_b32 s0, vcc_lo",
        ],
        true,
    );
    check(
        &[
            "s_mov_b64 s[0:1], src_shared_base",
            "v_cmp_eq_u64_e32 vcc, src_private_limit, v[0:1]",
            "v_mov_b32_e32 v0, src_vccz",
            "s_mov_b32 s0, src_execz",
            "v_add_u32_e64 v0, v1, src_scc",
            "v_mov_b32_e32 v0, src_lds_direct",
            "v_bfrev_b32_e32 v0, src_lds_direct",
            "v_cmp_eq_f16_e64 s[0:1], src_lds_direct, v1",
            "v_pk_add_u16 v0, src_lds_direct, v1",
            "v_readfirstlane_b32 s0, src_lds_direct",
            "s_mov_b64 s[0:1], flat_scratch",
            "s_mov_b64 s[0:1], xnack_mask",
            "s_mov_b32 s0, m0",
        ],
        false,
    );
}

#[test]
fn modifiers() {
    check(
        &[
            "v_and_b32_sdwa v0, v1, v2 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
            "v_pack_b32_f16 v0, v1, v2 clamp",
            "v_pack_b32_f16 v0, v1, v2 op_sel:[0,0,1]",
            "v_mad_u32_u16 v0, v1, v2, v3 op_sel:[0,0,0,1]",
            "v_cvt_i32_f32_e64 v0, v1 mul:2",
            "v_dot4_i32_i8 v0, v1, v2, v3 op_sel:[1,0,0]",
            "v_dot2_u32_u16 v0, v1, v2, v3 op_sel:[0,0,1]",
            "v_pk_add_u16 v0, v1, v2 neg_lo:[1,0]",
            "ds_swizzle_b32 v0, v1 gds",
            "ds_append v0 gds",
            "buffer_load_dword v[0:1], off, s[4:7], s0 tfe",
            "buffer_load_format_x off, s[4:7], s0 lds",
            "image_load v[0:1], v0, s[4:11] dmask:0x1 unorm tfe",
            "image_load v0, v0, s[4:11] dmask:0x1 unorm lwe",
            "image_load v0, v0, s[4:11] dmask:0x1 unorm a16",
            "image_atomic_cmpswap v[0:1], v0, s[4:11] dmask:0x7 unorm",
            "s_set_gpr_idx_mode 0x10",
        ],
        true,
    );
    // LLVM prints none of these bits.
    let words: [(&str, [u32; 2]); 4] = [
        ("neg of v_add_i16", [0xd29e_0000, 0x2000_0501 | 2 << 29]),
        ("abs of v_mad_u16", [0xd204_0100, 0x040e_0501]),
        ("op_sel of v_add_u32", [0xd134_0800, 0x0002_0501]),
        ("abs of the exponent of v_ldexp_f32", [0xd288_0200, 0x0002_0501]),
    ];
    for (what, words) in words {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(Instruction::decode(&bytes).is_some(), "{what}");
        assert!(is_fault(&bytes), "{what}");
    }
}

#[test]
fn hardware_registers() {
    check(
        &[
            "s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS)",
            // Reads of STATUS that include the priorities.
            "s_getreg_b32 s0, hwreg(HW_REG_STATUS)",
            "s_getreg_b32 s0, hwreg(HW_REG_STATUS, 1, 2)",
            "s_getreg_b32 s0, hwreg(HW_REG_TBA_LO)",
            "s_getreg_b32 s0, hwreg(20)",
            // The mode bits for exceptions, `f16` overflow, indexing and skipping.
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 1",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1",
            "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s0",
            "s_setreg_b32 hwreg(HW_REG_LDS_ALLOC), s0",
            "s_sendmsg sendmsg(MSG_GET_DOORBELL)",
            "s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_REG_RD)",
            "s_sendmsg sendmsg(0, 0, 0)",
        ],
        true,
    );
    check(
        &[
            "s_getreg_b32 s0, hwreg(HW_REG_STATUS, 9, 2)",
            "s_getreg_b32 s0, hwreg(HW_REG_HW_ID)",
            "s_getreg_b32 s0, hwreg(HW_REG_IB_STS)",
            "s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES, 16, 16)",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 0",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xc0",
        ],
        false,
    );
}
