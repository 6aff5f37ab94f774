// SHA-256 of records of 55 bytes or less, one block of it each.
__constant__ unsigned constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned rotate(unsigned x, int by) { return x >> by | x << (32 - by); }

extern "C" __global__ void sha256(const unsigned char *data, unsigned *out, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w[16];
    for (int k = 0; k < 16; k++) {
        unsigned word = 0;
        for (int b = 4 * k; b < 4 * k + 4; b++)
            word = word << 8 | (b < length ? data[i * length + b] : b == length ? 0x80 : 0);
        w[k] = word;
    }
    w[15] = 8 * length;
    unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned a = start[0], b = start[1], c = start[2], d = start[3], e = start[4], f = start[5], g = start[6], h = start[7];
    for (int k = 0; k < 64; k++) {
        if (k >= 16) {
            unsigned x = w[(k + 1) & 15], y = w[(k + 14) & 15];
            w[k & 15] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(k + 9) & 15] + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        unsigned t = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[k] + w[k & 15];
        unsigned u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }
    unsigned end[8] = {a, b, c, d, e, f, g, h};
    for (int k = 0; k < 8; k++)
        out[8 * i + k] = start[k] + end[k];
}
