// Every item goes through the same table in constant memory, so that the table is read by scalar loads; what is read after
// that depends on the workgroup.
constant uint own[8] = {0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x165667b1, 0xd3a2646c, 0xfd7046c5, 0xb55a4f09};

kernel void table(constant uint4 *rows, uint count, global uint *out, uint items) {
  uint item = get_global_id(0), group = get_group_id(0);
  uint x = item * own[group & 7];
  for (uint k = 0; k < count; k++) {
    uint4 row = rows[k];
    x = (x ^ row.x) * (row.y | 1) + row.z;
    x ^= x >> (row.w & 15);
    x += rows[(k + group) % count].x;
  }
  if (item < items)
    out[item] = x;
}
