// Base64 of records: 3 bytes become 4 characters of a table.
__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

extern "C" __global__ void base64(const unsigned char *data, unsigned char *text, int groups, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *in = data + i * groups * 3;
    unsigned char *out = text + i * groups * 4;
    for (int k = 0; k < groups; k++) {
        unsigned bits = in[3 * k] << 16 | in[3 * k + 1] << 8 | in[3 * k + 2];
        for (int c = 0; c < 4; c++)
            out[4 * k + c] = alphabet[bits >> (18 - 6 * c) & 63];
    }
}
