// Every lane tells what it found: the lanes whose number is prime print it with its last divisor's square root.

extern "C" __global__ void primes(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 || i >= n)
        return;
    for (int d = 2; d * d <= i; d++)
        if (i % d == 0)
            return;
    printf("%4d is prime: %s, root %8.4f, %#06x, 2^i mod 64 = %llu\n", i, i & 1 ? "odd" : "even", sqrt((double)i), i,
           1ull << (i & 63));
}
