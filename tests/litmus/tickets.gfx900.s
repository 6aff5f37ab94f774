// As for sm_50. s[4:5] the next ticket, s[6:7] how often each was drawn, s10 rounds.
.target gfx900
    s_mov_b32 s12, 0
    v_mov_b32_e32 v0, 0
    v_mov_b32_e32 v1, 1
.Lround:
    global_atomic_add v2, v0, v1, s[4:5] glc
    s_waitcnt vmcnt(0)
    s_barrier
    v_lshlrev_b32_e32 v2, 2, v2
    global_atomic_add v2, v1, s[6:7]
    s_add_u32 s12, s12, 1
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Lround
    s_endpgm
