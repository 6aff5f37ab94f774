#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void atomic_max_u64(global const ulong *x, global ulong *greatest, int n) {
  int i = get_global_id(0);
  if (i < n)
    atom_max(&greatest[x[i] & 4095], x[i]);
}
