// AES-128 in counter mode: the rounds by tables in global memory, as libraries without AES instructions do it.
__device__ unsigned column(const unsigned *t, unsigned a, unsigned b, unsigned c, unsigned d, unsigned key)
{
    return t[a & 255] ^ t[256 + (b >> 8 & 255)] ^ t[512 + (c >> 16 & 255)] ^ t[768 + (d >> 24)] ^ key;
}

__device__ unsigned last(const unsigned *t, unsigned a, unsigned b, unsigned c, unsigned d, unsigned key)
{
    unsigned s0 = t[a & 255] >> 8 & 255, s1 = t[b >> 8 & 255] >> 8 & 255, s2 = t[c >> 16 & 255] >> 8 & 255;
    unsigned s3 = t[d >> 24] >> 8 & 255;
    return (s0 | s1 << 8 | s2 << 16 | s3 << 24) ^ key;
}

extern "C" __global__ void aes(const unsigned *tables, const unsigned *keys, uint4 *data, unsigned nonce, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = nonce ^ keys[0], b = keys[1], c = keys[2], d = i ^ keys[3];
    for (int round = 1; round < 10; round++) {
        const unsigned *key = keys + 4 * round;
        unsigned e = column(tables, a, b, c, d, key[0]), f = column(tables, b, c, d, a, key[1]);
        unsigned g = column(tables, c, d, a, b, key[2]), h = column(tables, d, a, b, c, key[3]);
        a = e, b = f, c = g, d = h;
    }
    uint4 v = data[i];
    v.x ^= last(tables, a, b, c, d, keys[40]);
    v.y ^= last(tables, b, c, d, a, keys[41]);
    v.z ^= last(tables, c, d, a, b, keys[42]);
    v.w ^= last(tables, d, a, b, c, keys[43]);
    data[i] = v;
}
