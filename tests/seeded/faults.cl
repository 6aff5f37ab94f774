// Kernels with one fault each, and a twin without it behind each. Compiled for all guests by make.py.
// A comment `// FAULT` marks the line of the fault, `// OTHER` the other access of a race. Blocks have
// 128 threads, so that items 64 apart are in different warps everywhere.
#include "faults.h"

KERNEL void past_store(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[ITEM() + 1] = in[ITEM()]; // FAULT
}

KERNEL void past_store_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    if (ITEM() + 1 < n)
        out[ITEM() + 1] = in[ITEM()];
}

KERNEL void past_load(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[ITEM()] = in[ITEM() + 1]; // FAULT
}

KERNEL void past_load_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[ITEM()] = ITEM() + 1 < n ? in[ITEM() + 1] : 0;
}

// The buffer ends within the last vector.
KERNEL void past_wide(GLOBAL int *out, GLOBAL const int *in, int n) {
    if (ITEM() <= n / 4)
        ((GLOBAL wide *)out)[ITEM()] = *(GLOBAL const wide *)in; // FAULT
}

KERNEL void past_wide_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    if (ITEM() < n / 4)
        ((GLOBAL wide *)out)[ITEM()] = *(GLOBAL const wide *)in;
}

KERNEL void past_atomic(GLOBAL int *out, GLOBAL const int *in, int n) {
    ADD(&out[n], in[ITEM()]); // FAULT
}

KERNEL void past_atomic_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    ADD(&out[n - 1], in[ITEM()]);
}

KERNEL void read_after_write(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    s[LOCAL()] = in[ITEM()]; // OTHER
    out[ITEM()] = s[LOCAL() ^ 64]; // FAULT
}

KERNEL void read_after_write_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    s[LOCAL()] = in[ITEM()];
    BARRIER();
    out[ITEM()] = s[LOCAL() ^ 64];
}

KERNEL void write_after_read(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    s[LOCAL()] = in[ITEM()];
    BARRIER();
    int value = s[LOCAL() ^ 64]; // OTHER
    s[LOCAL()] = value; // FAULT
    BARRIER();
    out[ITEM()] = s[LOCAL()];
}

KERNEL void write_after_read_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    s[LOCAL()] = in[ITEM()];
    BARRIER();
    int value = s[LOCAL() ^ 64];
    BARRIER();
    s[LOCAL()] = value;
    BARRIER();
    out[ITEM()] = s[LOCAL()];
}

KERNEL void both_write(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[64];
    s[LOCAL() % 64] = in[ITEM()]; // FAULT OTHER
    BARRIER();
    out[ITEM()] = s[LOCAL() % 64];
}

KERNEL void both_write_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[64];
    if (LOCAL() < 64)
        s[LOCAL()] = in[ITEM()];
    BARRIER();
    out[ITEM()] = s[LOCAL() % 64];
}

// The counter is cleared while others count.
KERNEL void clear_and_count(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int count;
    if (LOCAL() == 0)
        count = 0; // OTHER
    ADD(&count, in[ITEM()]); // FAULT
    BARRIER();
    out[ITEM()] = count;
}

KERNEL void clear_and_count_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int count;
    if (LOCAL() == 0)
        count = 0;
    BARRIER();
    ADD(&count, in[ITEM()]);
    BARRIER();
    out[ITEM()] = count;
}

KERNEL void blocks_write(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[LOCAL()] = in[ITEM()]; // FAULT OTHER
}

KERNEL void blocks_write_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[ITEM()] = in[ITEM()];
}

// Each block reads what the block before it writes.
KERNEL void blocks_read(GLOBAL int *out, GLOBAL const int *in, int n) {
    int before = GROUP() > 0 ? out[ITEM() - 128] : 0; // FAULT
    out[ITEM()] = in[ITEM()] + before; // OTHER
}

KERNEL void blocks_read_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    int before = GROUP() > 0 ? in[ITEM() - 128] : 0;
    out[ITEM()] = in[ITEM()] + before;
}

KERNEL void plain_and_atomic(GLOBAL int *out, GLOBAL const int *in, int n) {
    ADD(&out[0], in[ITEM()]); // OTHER
    out[1 + ITEM() % (n - 1)] = out[0]; // FAULT
}

KERNEL void plain_and_atomic_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    ADD(&out[0], in[ITEM()]);
    if (ITEM() > 0)
        out[ITEM()] = in[0];
}

// A message without fences: block 1 reads what block 0 writes, if it sees the flag.
KERNEL void no_fence(GLOBAL int *out, GLOBAL const int *in, int n) {
    if (LOCAL() == 0) {
        if (GROUP() == 0) {
            out[1] = in[0]; // OTHER
            STORE_RELAXED(&out[0], 1);
        } else if (LOAD_RELAXED(&out[0]) == 1) {
            out[1 + GROUP()] = out[1]; // FAULT
        }
    }
}

KERNEL void no_fence_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    if (LOCAL() == 0) {
        if (GROUP() == 0) {
            out[1] = in[0];
            STORE_RELEASE(&out[0], 1);
        } else if (ACQUIRE(&out[0]) == 1) {
            out[1 + GROUP()] = out[1];
        }
    }
}

// Global memory within a block.
KERNEL void warps_exchange(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[ITEM()] = in[ITEM()]; // OTHER
    int other = out[ITEM() ^ 64]; // FAULT
    BARRIER();
    out[ITEM()] = other;
}

KERNEL void warps_exchange_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    out[ITEM()] = in[ITEM()];
    BARRIER();
    int other = out[ITEM() ^ 64];
    BARRIER();
    out[ITEM()] = other;
}

KERNEL void unwritten_shared(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    if (LOCAL() > 0)
        s[LOCAL()] = in[ITEM()];
    BARRIER();
    out[ITEM()] = s[LOCAL() ^ 64]; // FAULT
}

KERNEL void unwritten_shared_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    s[LOCAL()] = LOCAL() > 0 ? in[ITEM()] : 0;
    BARRIER();
    out[ITEM()] = s[LOCAL() ^ 64];
}

// One byte of each word is missing.
KERNEL void unwritten_byte(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    IN_SHARED char *bytes = (IN_SHARED char *)s;
    bytes[4 * LOCAL()] = in[ITEM()];
    bytes[4 * LOCAL() + 1] = 0;
    bytes[4 * LOCAL() + 3] = 0;
    BARRIER();
    out[ITEM()] = s[LOCAL() ^ 64]; // FAULT
}

KERNEL void unwritten_byte_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    SHARED int s[128];
    IN_SHARED char *bytes = (IN_SHARED char *)s;
    bytes[4 * LOCAL()] = in[ITEM()];
    bytes[4 * LOCAL() + 1] = 0;
    bytes[4 * LOCAL() + 2] = 0;
    bytes[4 * LOCAL() + 3] = 0;
    BARRIER();
    out[ITEM()] = s[LOCAL() ^ 64];
}

KERNEL void unwritten_local(GLOBAL int *out, GLOBAL const int *in, int n) {
    volatile int a[8];
    for (int i = 0; i < 4; i++)
        a[(in[ITEM()] + i) & 7] = i;
    out[ITEM()] = a[(in[ITEM()] + 4) & 7]; // FAULT
}

KERNEL void unwritten_local_clean(GLOBAL int *out, GLOBAL const int *in, int n) {
    volatile int a[8];
    for (int i = 0; i < 8; i++)
        a[(in[ITEM()] + i) & 7] = i;
    out[ITEM()] = a[(in[ITEM()] + 4) & 7];
}
