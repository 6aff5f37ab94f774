== Device
Null hardware (RADV VEGA10)
== Statistics
SGPRs: 16
VGPRs: 4
Spilled SGPRs: 0
Spilled VGPRs: 0
Code size: 460
LDS size: 512
Scratch size: 0
Subgroups per SIMD: 10
Instructions: 88
Copies: 16
Branches: 5
Latency: 1262
Inverse Throughput: 210
VMEM Clause: 4
SMEM Clause: 3
Pre-Sched SGPRs: 11
Pre-Sched VGPRs: 4
== Assembly
BB0:
	s_mov_b64 s[0:1], exec                                      ; be80017e
	v_cmpx_gt_u32_e32 vcc, 32, v0                               ; 7db800a0
	s_cbranch_execz BB6                                         ; bf880004
BB1:
	v_lshlrev_b32_e32 v1, 2, v0                                 ; 24020082
	v_mov_b32_e32 v2, 0                                         ; 7e040280
	ds_write_b32 v1, v2                                         ; d81a0000 00000201
BB6:
	s_mov_b64 exec, s[0:1]                                      ; befe0100
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_barrier                                                   ; bf8a0000
	s_mulk_i32 s4, 0x60                                         ; b7840060
	v_add_u32_e32 v1, s4, v0                                    ; 68020004
	s_mov_b64 s[4:5], exec                                      ; be84017e
	v_cmpx_gt_u32_e64 s[0:1], s3, v1                            ; d0dc0000 00020203
	s_cbranch_execz BB9                                         ; bf880008
BB7:
	s_mov_b32 s6, s2                                            ; be860002
	s_movk_i32 s7, 0x8000                                       ; b0078000
	s_load_dwordx4 s[8:11], s[6:7], 0x0                         ; c00a0203 00000000
	v_lshlrev_b32_e32 v1, 2, v1                                 ; 24020282
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_load_dword v1, v1, s[8:11], 0 offen                  ; e0501000 80020101
BB9:
	s_andn2_b64 exec, s[4:5], exec                              ; 89fe7e04
BB10:
	v_mov_b32_e32 v1, 0                                         ; 7e020280
BB12:
	s_mov_b64 exec, s[4:5]                                      ; befe0104
	s_and_saveexec_b64 s[0:1], s[0:1]                           ; be802000
	s_cbranch_execz BB18                                        ; bf880006
BB13:
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	v_and_b32_e32 v2, 31, v1                                    ; 2604029f
	v_lshlrev_b32_e32 v2, 2, v2                                 ; 24040482
	v_mov_b32_e32 v3, 1                                         ; 7e060281
	ds_add_u32 v2, v3                                           ; d8000000 00000302
BB18:
	s_mov_b64 exec, s[0:1]                                      ; befe0100
	s_or_saveexec_b64 s[4:5], -1                                ; be8421c1
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	v_cndmask_b32_e64 v2, 0, v1, s[4:5]                         ; d1000002 00120280
	s_nop 1                                                     ; bf800001
	v_add_u32_dpp v2, v2, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf ; 680404fa ff00b102
	s_nop 1                                                     ; bf800001
	v_add_u32_dpp v2, v2, v2 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf ; 680404fa ff004e02
	s_nop 1                                                     ; bf800001
	v_add_u32_dpp v2, v2, v2 row_half_mirror row_mask:0xf bank_mask:0xf ; 680404fa ff014102
	s_nop 1                                                     ; bf800001
	v_add_u32_dpp v2, v2, v2 row_mirror row_mask:0xf bank_mask:0xf ; 680404fa ff014002
	s_nop 1                                                     ; bf800001
	v_add_u32_dpp v2, v2, v2 row_bcast:15 row_mask:0xa bank_mask:0xf ; 680404fa af014202
	s_nop 1                                                     ; bf800001
	v_add_u32_dpp v2, v2, v2 row_bcast:31 row_mask:0xc bank_mask:0xf ; 680404fa cf014302
	s_mov_b64 exec, s[4:5]                                      ; befe0104
	v_readlane_b32 s0, v2, 63                                   ; d2890000 00017f02
	s_or_saveexec_b64 s[4:5], -1                                ; be8421c1
	v_cndmask_b32_e64 v2, 0, v1, s[4:5]                         ; d1000002 00120280
	s_nop 1                                                     ; bf800001
	v_max_u32_dpp v2, v2, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf ; 1e0404fa ff00b102
	s_nop 1                                                     ; bf800001
	v_max_u32_dpp v2, v2, v2 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf ; 1e0404fa ff004e02
	s_nop 1                                                     ; bf800001
	v_max_u32_dpp v2, v2, v2 row_half_mirror row_mask:0xf bank_mask:0xf ; 1e0404fa ff014102
	s_nop 1                                                     ; bf800001
	v_max_u32_dpp v2, v2, v2 row_mirror row_mask:0xf bank_mask:0xf ; 1e0404fa ff014002
	s_nop 1                                                     ; bf800001
	v_max_u32_dpp v2, v2, v2 row_bcast:15 row_mask:0xa bank_mask:0xf ; 1e0404fa af014202
	s_nop 1                                                     ; bf800001
	v_max_u32_dpp v2, v2, v2 row_bcast:31 row_mask:0xc bank_mask:0xf ; 1e0404fa cf014302
	s_mov_b64 exec, s[4:5]                                      ; befe0104
	v_readlane_b32 s1, v2, 63                                   ; d2890001 00017f02
	s_ff1_i32_b64 s3, exec                                      ; be83117e
	s_lshl_b64 s[4:5], 1, s3                                    ; 8e840381
	s_and_saveexec_b64 s[4:5], s[4:5]                           ; be842004
	s_cbranch_execz BB24                                        ; bf88000b
BB19:
	s_mov_b32 s6, s2                                            ; be860002
	s_movk_i32 s7, 0x8000                                       ; b0078000
	s_load_dwordx4 s[8:11], s[6:7], 0x10                        ; c00a0203 00000010
	v_mov_b32_e32 v1, s0                                        ; 7e020200
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_atomic_add v1, off, s[8:11], 0 offset:128            ; e1080080 80020180
	v_mov_b32_e32 v1, s1                                        ; 7e020201
	buffer_atomic_umax v1, off, s[8:11], 0 offset:132           ; e11c0084 80020180
BB24:
	s_mov_b64 exec, s[4:5]                                      ; befe0104
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_barrier                                                   ; bf8a0000
	s_and_saveexec_b64 s[0:1], vcc                              ; be80206a
	s_cbranch_execz BB30                                        ; bf880009
BB25:
	v_lshlrev_b32_e32 v0, 2, v0                                 ; 24000082
	ds_read_b32 v1, v0                                          ; d86c0000 01000000
	s_movk_i32 s3, 0x8000                                       ; b0038000
	s_load_dwordx4 s[4:7], s[2:3], 0x10                         ; c00a0101 00000010
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_atomic_add v1, v0, s[4:7], 0 offen                   ; e1081000 80010100
BB30:
	s_endpgm                                                    ; bf810000

