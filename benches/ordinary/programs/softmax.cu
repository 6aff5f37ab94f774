// The logarithm of a row's softmax: an exponential for each number and a logarithm for each row.
extern "C" __global__ void softmax(const float *x, float *out, int columns, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *in = x + row * columns;
    float top = in[0];
    for (int k = 1; k < columns; k++)
        top = fmaxf(top, in[k]);
    float sum = 0.0f;
    for (int k = 0; k < columns; k++)
        sum += expf(in[k] - top);
    float shift = top + logf(sum);
    for (int k = 0; k < columns; k++)
        out[row * columns + k] = logf(1.0f + expf(in[k] - shift));
}
