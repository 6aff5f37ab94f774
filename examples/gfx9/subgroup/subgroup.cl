// What lanes of a wave can do together. The last wave of a workgroup may have fewer than 64 lanes.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

// Reductions and scans by DPP, votes, broadcasts: eight numbers for each item.
kernel void collective(global const int *in, global int *out) {
  size_t i = get_global_id(0);
  int x = in[i];
  global int *o = out + 8 * i;
  o[0] = sub_group_reduce_add(x);
  o[1] = sub_group_reduce_max(x);
  o[2] = sub_group_scan_inclusive_add(x);
  o[3] = sub_group_scan_exclusive_add(x);
  o[4] = sub_group_broadcast(x, 5);
  o[5] = sub_group_all(x > -900) * 2 + sub_group_any(x > 900);
  o[6] = (int)get_sub_group_local_id() + 64 * (int)get_sub_group_id();
  o[7] = (int)get_sub_group_size();
}

// Permutations, DPP and swizzles as the hardware has them; all 64 lanes are there.
kernel void permute(global const uint *in, global uint *out) {
  size_t i = get_global_id(0);
  uint x = in[i], lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  global uint *o = out + 12 * i;
  o[0] = __builtin_amdgcn_ds_bpermute((lane * 5 & 63) << 2, x);
  o[1] = __builtin_amdgcn_ds_permute((63 - lane) << 2, x);
  o[2] = __builtin_amdgcn_ds_swizzle(x, 0x041f);                         // xor 1 within 32 lanes
  o[3] = __builtin_amdgcn_ds_swizzle(x, 0x801b);                         // quads reversed
  o[4] = __builtin_amdgcn_update_dpp(777, (int)x, 0x111, 0xf, 0xf, false); // row_shr:1
  o[5] = __builtin_amdgcn_mov_dpp((int)x, 0x1b, 0xf, 0xf, true);         // quad_perm:[3,2,1,0]
  o[6] = __builtin_amdgcn_mov_dpp((int)x, 0x140, 0xf, 0xf, true);        // row_mirror
  o[7] = __builtin_amdgcn_update_dpp(5, (int)x, 0x142, 0xa, 0xf, false); // row_bcast:15 in rows 1 and 3
  o[8] = __builtin_amdgcn_readlane((int)x, 37);
  o[9] = lane & 1 ? (uint)__builtin_amdgcn_readfirstlane((int)x) : 1u;
  ulong even = __builtin_amdgcn_uicmp(x & 1, 0u, 32);                    // ballot of x & 1 == 0
  o[10] = (uint)even;
  o[11] = (uint)(even >> 32) + popcount(even);
}
