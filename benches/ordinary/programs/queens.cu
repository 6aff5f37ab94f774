// Counts solutions of the n queens puzzle below a first two rows, with a stack in local arrays.
extern "C" __global__ void queens(const unsigned *first, unsigned *out, int size, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned all = (1u << size) - 1, columns[32], left[32], right[32], open[32];
    unsigned a = 1u << (first[i] & 15), b = 1u << (first[i] >> 4), count = 0;
    int row = 0;
    columns[0] = a | b;
    left[0] = (a << 1 | b) << 1;
    right[0] = (a >> 1 | b) >> 1;
    open[0] = (b & (a | a << 1 | a >> 1)) ? 0 : all & ~(columns[0] | left[0] | right[0]);
    while (row >= 0) {
        unsigned free = open[row];
        if (free == 0) {
            row--;
            continue;
        }
        unsigned bit = free & -free;
        open[row] = free ^ bit;
        if (row == size - 3) {
            count++;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        row++;
        open[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    out[i] = count;
}
