// y = A x of a sparse matrix in compressed rows, one item a row: rows differ in length, so lanes leave the loop at
// different times, and x is read in any order.
kernel void spmv(global const uint *starts, global const uint *columns, global const float *values, global const float *x,
                 global float *y, uint rows) {
  uint row = get_global_id(0);
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (uint k = starts[row]; k < starts[row + 1]; k++)
    sum = fma(values[k], x[columns[k]], sum);
  y[row] = sum;
}
