// As for sm_50. s[4:5] words, s[6:7] who has arrived, s[8:9] what was read, s10 bytes of a block's words, s11 the workgroup.
.target gfx900
    s_mov_b32 s12, 0
    v_mov_b32_e32 v1, 1
    s_mul_i32 s13, s11, s10
    s_sub_u32 s14, s10, s13
.Lround:
    v_mov_b32_e32 v2, s12
    global_atomic_add v2, v1, s[6:7]
    s_waitcnt vmcnt(0)
.Lwait:
    global_load_dword v3, v2, s[6:7] glc
    s_waitcnt vmcnt(0)
    v_cmp_gt_u32_e32 vcc, 2, v3
    s_cbranch_vccnz .Lwait
    s_add_u32 s15, s12, s13
    s_add_u32 s16, s12, s14
    v_mov_b32_e32 v4, s15
    v_mov_b32_e32 v5, s16
    global_store_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(0)
    buffer_wbinvl1_vol
    global_load_dword v6, v5, s[4:5] glc
    s_waitcnt vmcnt(0)
    s_lshl_b32 s17, s12, 1
    s_lshl_b32 s18, s11, 2
    s_add_u32 s17, s17, s18
    v_mov_b32_e32 v7, s17
    global_store_dword v7, v6, s[8:9]
    s_add_u32 s12, s12, 4
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Lround
    s_endpgm
