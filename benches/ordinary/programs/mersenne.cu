// A Mersenne twister for each lane, its 624 words in a local array.
extern "C" __global__ void mersenne(const unsigned *seeds, unsigned *out, int draws, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned state[624];
    state[0] = seeds[i];
    for (int k = 1; k < 624; k++)
        state[k] = 1812433253u * (state[k - 1] ^ state[k - 1] >> 30) + k;
    unsigned sum = 0;
    for (int d = 0, at = 0; d < draws; d++) {
        int next = at + 1 < 624 ? at + 1 : 0, middle = at + 397 < 624 ? at + 397 : at + 397 - 624;
        unsigned y = (state[at] & 0x80000000u) | (state[next] & 0x7fffffffu);
        y = state[middle] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        state[at] = y;
        at = next;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        sum = sum * 31 + (y ^ y >> 18);
    }
    out[i] = sum;
}
