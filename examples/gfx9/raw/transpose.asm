== Device
Null hardware (RADV VEGA10)
== Statistics
SGPRs: 32
VGPRs: 4
Spilled SGPRs: 0
Spilled VGPRs: 0
Code size: 268
LDS size: 1536
Scratch size: 0
Subgroups per SIMD: 10
Instructions: 52
Copies: 10
Branches: 2
Latency: 827
Inverse Throughput: 88
VMEM Clause: 2
SMEM Clause: 3
Pre-Sched SGPRs: 11
Pre-Sched VGPRs: 4
== Assembly
BB0:
	s_mov_b32 s10, s5                                           ; be8a0005
	s_mov_b32 s11, s6                                           ; be8b0006
	s_load_dword s14, s[10:11], 0x8                             ; c0020385 00000008
	s_load_dwordx2 s[12:13], s[10:11], 0x0                      ; c0060305 00000000
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_sub_i32 s0, s12, s7                                       ; 8180070c
	s_lshl4_add_u32 s0, s0, -16                                 ; 9880d000
	s_sub_i32 s1, s13, s8                                       ; 8181080d
	s_lshl4_add_u32 s1, s1, -16                                 ; 9881d001
	v_add_u32_e32 v2, s0, v0                                    ; 68040000
	v_add_u32_e32 v3, s1, v1                                    ; 68060201
	s_mov_b64 s[6:7], exec                                      ; be86017e
	v_cmpx_gt_u32_e32 vcc, s3, v2                               ; 7db80403
BB1:
	v_cmp_gt_u32_e32 vcc, s4, v3                                ; 7d980604
BB3:
	s_andn2_b64 exec, s[6:7], exec                              ; 89fe7e06
BB4:
	s_andn2_b64 vcc, vcc, exec                                  ; 89ea7e6a
BB6:
	s_mov_b64 exec, s[6:7]                                      ; befe0106
	s_and_saveexec_b64 s[6:7], vcc                              ; be86206a
	s_cbranch_execz BB12                                        ; bf880012
BB7:
	s_mov_b32 s8, s2                                            ; be880002
	s_movk_i32 s9, 0x8000                                       ; b0098000
	s_load_dwordx4 s[8:11], s[8:9], 0x0                         ; c00a0204 00000000
	v_mul_lo_u32 v3, v3, s3                                     ; d2850003 00000703
	v_add_lshl_u32 v2, v3, v2, 2                                ; d1fe0002 020a0503
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_load_dword v2, v2, s[8:11], 0 offen                  ; e0501000 80020202
	s_movk_i32 s5, 0x44                                         ; b0050044
	v_lshlrev_b32_e32 v3, 2, v0                                 ; 24060082
	v_mad_u32_u24 v3, s5, v1, v3                                ; d1c30003 040e0205
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	ds_write_b32 v3, v2                                         ; d81a0000 00000203
BB12:
	s_mov_b64 exec, s[6:7]                                      ; befe0106
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_barrier                                                   ; bf8a0000
	v_add_u32_e32 v2, s1, v0                                    ; 68040001
	v_add_u32_e32 v3, s0, v1                                    ; 68060200
	v_cmp_gt_u32_e32 vcc, s3, v3                                ; 7d980603
	v_cmp_gt_u32_e64 s[0:1], s4, v2                             ; d0cc0000 00020404
	s_and_b64 s[0:1], s[0:1], vcc                               ; 86806a00
	s_and_saveexec_b64 s[0:1], s[0:1]                           ; be802000
	s_cbranch_execz BB18                                        ; bf880010
BB13:
	s_movk_i32 s3, 0x44                                         ; b0030044
	v_lshlrev_b32_e32 v1, 2, v1                                 ; 24020282
	v_mad_u32_u24 v0, s3, v0, v1                                ; d1c30000 04060003
	ds_read_b32 v0, v0                                          ; d86c0000 00000000
	s_movk_i32 s3, 0x8000                                       ; b0038000
	s_load_dwordx4 s[8:11], s[2:3], 0x10                        ; c00a0201 00000010
	v_mul_lo_u32 v1, v3, s4                                     ; d2850001 00000903
	v_add_lshl_u32 v1, v1, v2, 2                                ; d1fe0001 020a0501
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_store_dword v0, v1, s[8:11], 0 offen glc             ; e0705000 80020001
BB18:
	s_endpgm                                                    ; bf810000

