== Device
Null hardware (RADV VEGA10)
== Statistics
SGPRs: 16
VGPRs: 8
Spilled SGPRs: 0
Spilled VGPRs: 0
Code size: 244
LDS size: 0
Scratch size: 0
Subgroups per SIMD: 10
Instructions: 53
Copies: 16
Branches: 5
Latency: 2781
Inverse Throughput: 445
VMEM Clause: 2
SMEM Clause: 5
Pre-Sched SGPRs: 12
Pre-Sched VGPRs: 7
== Assembly
BB0:
	s_mov_b32 s0, s3                                            ; be800003
	s_movk_i32 s1, 0x8000                                       ; b0018000
	s_load_dwordx4 s[8:11], s[0:1], 0x0                         ; c00a0200 00000000
	s_mulk_i32 s4, 0x64                                         ; b7840064
	v_add_u32_e32 v0, s4, v0                                    ; 68000004
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_mov_b32 s3, s10                                           ; be83000a
	s_lshr_b32 s3, s3, 3                                        ; 8f038303
	s_mov_b64 s[4:5], exec                                      ; be84017e
	v_cmpx_gt_u32_e32 vcc, s3, v0                               ; 7db80003
	s_cbranch_execz BB21                                        ; bf880030
BB1:
	v_lshlrev_b32_e32 v0, 3, v0                                 ; 24000083
	buffer_load_dwordx2 v[2:3], v0, s[8:11], 0 offen            ; e0541000 80020200
	v_mov_b32_e32 v1, 0x7149f2ca                                ; 7e0202ff 7149f2ca
	v_mov_b32_e32 v4, 0                                         ; 7e080280
	s_mov_b32 s3, 0                                             ; be830080
BB2:
	s_mov_b32 s6, s2                                            ; be860002
	s_movk_i32 s7, 0x8000                                       ; b0078000
	s_load_dwordx4 s[8:11], s[6:7], 0x0                         ; c00a0203 00000000
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_buffer_load_dword s6, s[8:11], 0x640                      ; c0220184 00000640
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_cmp_ge_u32 s3, s6                                         ; bf090603
	s_cbranch_scc1 BB6                                          ; bf85000e
BB5:
	s_lshl_b32 s6, s3, 4                                        ; 8e068403
	s_buffer_load_dwordx2 s[6:7], s[8:11], s6                   ; c0240184 00000006
	v_mov_b32_e32 v5, s3                                        ; 7e0a0203
	s_add_u32 s3, s3, 1                                         ; 80038103
	s_waitcnt vmcnt(0) lgkmcnt(0)                               ; bf8c0070
	v_sub_f32_e32 v6, s6, v2                                    ; 040c0406
	v_sub_f32_e32 v7, s7, v3                                    ; 040e0607
	v_mul_f32_e32 v6, v6, v6                                    ; 0a0c0d06
	v_mac_f32_e32 v6, v7, v7                                    ; 2c0c0f07
	v_cmp_lt_f32_e32 vcc, v6, v1                                ; 7c820306
	v_cndmask_b32_e32 v4, v4, v5, vcc                           ; 00080b04
	v_cndmask_b32_e32 v1, v1, v6, vcc                           ; 00020d01
	s_branch BB2                                                ; bf82ffe8
BB6:
	s_mov_b64 s[2:3], exec                                      ; be82017e
	s_mov_b32 s6, 0                                             ; be860080
BB7:
	s_mov_b64 s[8:9], exec                                      ; be88017e
	v_cmpx_nle_f32_e32 vcc, 1.0, v1                             ; 7cb802f2
BB8:
	v_mov_b32_e32 v5, s6                                        ; 7e0a0206
	s_andn2_b64 s[8:9], s[8:9], exec                            ; 89887e08
	s_cbranch_scc0 BB16                                         ; bf840004
BB15:
	s_mov_b64 exec, s[8:9]                                      ; befe0108
	v_mul_f32_e32 v1, 0.5, v1                                   ; 0a0202f0
	s_add_u32 s6, s6, 1                                         ; 80068106
	s_branch BB7                                                ; bf82fff7
BB16:
	s_mov_b64 exec, s[2:3]                                      ; befe0102
	s_load_dwordx4 s[0:3], s[0:1], 0x10                         ; c00a0000 00000010
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_store_dwordx2 v[4:5], v0, s[0:3], 0 offen glc        ; e0745000 80000400
BB21:
	s_endpgm                                                    ; bf810000

