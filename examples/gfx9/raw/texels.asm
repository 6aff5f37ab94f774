== Device
Null hardware (RADV VEGA10)
== Statistics
SGPRs: 32
VGPRs: 8
Spilled SGPRs: 0
Spilled VGPRs: 0
Code size: 108
LDS size: 0
Scratch size: 0
Subgroups per SIMD: 10
Instructions: 20
Copies: 3
Branches: 1
Latency: 924
Inverse Throughput: 92
VMEM Clause: 3
SMEM Clause: 2
Pre-Sched SGPRs: 12
Pre-Sched VGPRs: 5
== Assembly
BB0:
	s_mov_b32 s0, s3                                            ; be800003
	s_movk_i32 s3, 0x8000                                       ; b0038000
	s_load_dwordx4 s[4:7], s[2:3], 0x20                         ; c00a0101 00000020
	v_lshl_add_u32 v0, s0, 6, v0                                ; d1fd0000 04010c00
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	s_mov_b32 s0, s6                                            ; be800006
	s_lshr_b32 s0, s0, 4                                        ; 8f008400
	v_cmp_gt_u32_e32 vcc, s0, v0                                ; 7d980000
	s_and_saveexec_b64 s[0:1], vcc                              ; be80206a
	s_cbranch_execz BB6                                         ; bf88000e
BB1:
	s_load_dwordx4 s[8:11], s[2:3], 0x0                         ; c00a0201 00000000
	s_load_dwordx4 s[12:15], s[2:3], 0x10                       ; c00a0301 00000010
	s_waitcnt lgkmcnt(0)                                        ; bf8cc07f
	buffer_load_format_x v1, v0, s[8:11], 0 idxen               ; e0002000 80020100
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	buffer_load_format_xyzw v[4:7], v1, s[12:15], 0 idxen       ; e00c2000 80030401
	v_lshlrev_b32_e32 v0, 4, v0                                 ; 24000084
	s_waitcnt vmcnt(0)                                          ; bf8c3f70
	buffer_store_dwordx4 v[4:7], v0, s[4:7], 0 offen glc        ; e07c5000 80010400
BB6:
	s_endpgm                                                    ; bf810000

