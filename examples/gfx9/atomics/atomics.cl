// Atomics whose result does not depend on their order, in LDS and in global memory, 32 and 64 bits. `cells` has 16 numbers of
// each kind for each of 7 bins; `wide` has 3.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define BINS 7
#define KINDS 8

kernel void atomics(global const int *in, global int *cells, global ulong *wide, uint n) {
  local int here[KINDS * BINS];
  for (uint k = get_local_id(0); k < KINDS * BINS; k += get_local_size(0))
    here[k] = k % KINDS == 3 ? -1 : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint i = get_global_id(0);
  if (i < n) {
    int x = in[i];
    local int *bin = here + KINDS * (i % BINS);
    atomic_add(bin, x);
    atomic_min(bin + 1, x);
    atomic_max((local uint *)bin + 2, (uint)x);
    atomic_and(bin + 3, x | 0xff);
    atomic_or(bin + 4, x & 0xff00);
    atomic_xor(bin + 5, x);
    atomic_inc(bin + 6);
    // A compare and swap that goes on until it is done: the sum of squares.
    for (int seen = bin[7], old;; seen = old) {
      old = atomic_cmpxchg(bin + 7, seen, seen + x * x);
      if (old == seen)
        break;
    }
    global ulong *total = wide + 3 * (i % BINS);
    atom_add(total, (ulong)(long)x * x);
    atom_max(total + 1, (ulong)(long)x);
    atom_xor(total + 2, (ulong)x << 32 | i);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = get_local_id(0); k < KINDS * BINS; k += get_local_size(0))
    switch (k % KINDS) {
    case 1: atomic_min(cells + k, here[k]); break;
    case 2: atomic_max((global uint *)cells + k, (uint)here[k]); break;
    case 3: atomic_and(cells + k, here[k]); break;
    case 4: atomic_or(cells + k, here[k]); break;
    case 5: atomic_xor(cells + k, here[k]); break;
    default: atomic_add(cells + k, here[k]);
    }
}
