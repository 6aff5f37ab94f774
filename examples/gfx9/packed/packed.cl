// Half precision, two to a register: packed sums, products, fused multiply-adds, minima and conversions.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void packed(global const half2 *a, global const half2 *b, global const half2 *c, global half2 *out, uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  half2 x = a[i], y = b[i], z = c[i];
  global half2 *o = out + 6 * i;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = fma(x, y, z);
  o[3] = fmin(x, fmax(y, z));
  o[4] = (half2)(x.y, -z.x);
  o[5] = convert_half2(convert_float2(x) * convert_float2(y) * 0.125f);
}

// The same in 16-bit integers.
kernel void packed_integers(global const short2 *a, global const short2 *b, global short2 *out, uint n) {
  uint i = get_global_id(0);
  if (i >= n)
    return;
  short2 x = a[i], y = b[i];
  global short2 *o = out + 4 * i;
  o[0] = x + y;
  o[1] = x * y - (short2)(7, -9);
  o[2] = min(x, y) + (max(x, y) >> (short2)3);
  o[3] = (x << (y & (short2)15)) | (short2)1;
}
