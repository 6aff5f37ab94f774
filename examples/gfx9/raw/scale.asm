== Device
Null hardware (RADV VEGA10)
== Statistics
SGPRs: 32
VGPRs: 4
Spilled SGPRs: 0
Spilled VGPRs: 0
Code size: 120
LDS size: 0
Scratch size: 0
Subgroups per SIMD: 10
Instructions: 23
Copies: 3
Branches: 1
Latency: 641
Inverse Throughput: 64
VMEM Clause: 2
SMEM Clause: 3
Pre-Sched SGPRs: 10
Pre-Sched VGPRs: 3
== Assembly
BB0:
	v_lshl_add_u32 v0, s5, 6, v0                                ; d1fd0000 04010c05
	s_mov_b64 s[0:1], exec                                      ; be80017e
	v_cmpx_gt_u32_e32 vcc, s3, v0                               ; 7db80003
	s_cbranch_execz BB6                                         ; bf880018
BB1:
	s_movk_i32 s3, 0x8000                                       ; b0038000
	s_load_dwordx4 s[8:11], s[2:3], 0x10                        ; c00a0201 00000010
	s_load_dwordx4 s[12:15], s[2:3], 0x0                        ; c00a0301 00000000
	v_lshlrev_b32_e32 v0, 2, v0                                 ; 24000082
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_load_dword v1, v0, s[8:11], 0 offen                  ; e0501000 80020100
	s_load_dwordx4 s[8:11], s[2:3], 0x20                        ; c00a0201 00000020
	s_and_b32 s2, s5, 3                                         ; 86028305
	s_lshl_b32 s2, s2, 4                                        ; 8e028402
	s_buffer_load_dwordx4 s[12:15], s[12:15], s2                ; c0280306 00000002
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	v_mov_b32_e32 v2, s15                                       ; 7e04020f
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	v_mul_f32_e32 v1, s12, v1                                   ; 0a02020c
	v_add_f32_e32 v1, s13, v1                                   ; 0202020d
	v_mac_f32_e32 v1, s14, v2                                   ; 2c02040e
	v_add_f32_e32 v1, s4, v1                                    ; 02020204
	buffer_store_dword v1, v0, s[8:11], 0 offen glc             ; e0705000 80020100
BB6:
	s_endpgm                                                    ; bf810000

