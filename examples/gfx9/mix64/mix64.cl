// 64-bit integers: products, high halves, rotations, counts, shifts by amounts of the lane, division.
kernel void mix64(global const ulong *in, global ulong *out, uint rounds, ulong divisor, uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  ulong x = in[i], sum = 0;
  for (uint round = 0; round < rounds; round++) {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdul;
    sum += mul_hi(x, 0xc4ceb9fe1a85ec53ul);
    x = rotate(x, (ulong)27) + (ulong)((long)x >> (x & 63));
    sum ^= (popcount(x) | clz(x) << 8) * 0x100000001ul;
    x -= sum / divisor + x % divisor;
  }
  out[i] = x ^ sum;
}
