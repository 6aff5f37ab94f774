// Edit distances of pairs of words: a table of dynamic programming, one row of it in a local array.
#define LENGTH 24
extern "C" __global__ void distance(const unsigned char *words, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *a = words + i * LENGTH, *b = a + LENGTH;
    int row[LENGTH + 1];
    for (int k = 0; k <= LENGTH; k++)
        row[k] = k;
    for (int r = 1; r <= LENGTH; r++) {
        int corner = row[0];
        row[0] = r;
        for (int k = 1; k <= LENGTH; k++) {
            int change = corner + (a[r - 1] != b[k - 1]);
            corner = row[k];
            int shift = min(row[k], row[k - 1]) + 1;
            row[k] = min(change, shift);
        }
    }
    out[i] = row[LENGTH];
}
