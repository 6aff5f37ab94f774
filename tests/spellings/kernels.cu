// A dozen small kernels whose spelling macros choose: the type of indices, the form of loops, whether pointers move, the order of parameters.
// All have the same parameters: two inputs, an output, the number of items, and the number of rounds or the width of a row.

#ifndef INDEX
#define INDEX int
#endif

#ifdef REVERSED
#define PARAMETERS(X, Y, OUT) (INDEX m, INDEX n, OUT *out, const Y *y, const X *x)
#else
#define PARAMETERS(X, Y, OUT) (const X *x, const Y *y, OUT *out, INDEX n, INDEX m)
#endif

#ifdef UNROLLED
#define UNROLL _Pragma("unroll 4")
#else
#define UNROLL
#endif

// A loop from FOR to DONE; `i` goes from `first` to `last` in steps of `by`.
#ifdef DO_WHILE
#define FOR(i, first, last, by) { INDEX i = (first); if (i < (last)) do {
#define DONE(i, last, by) } while ((i += (by)) < (last)); }
#else
#define FOR(i, first, last, by) UNROLL for (INDEX i = (first); i < (last); i += (by)) {
#define DONE(i, last, by) }
#endif

// What a loop reads one after the other, from an element of an array on: in round `k` the value after `k` times `step` others.
#ifdef MOVING
#define FROM(T, name, pointer) const T *name = (pointer);
#define IN_ROUND(name, k, step) (*name)
#define MOVE(name, step) name += (step);
#else
#define FROM(T, name, pointer) const T *name = (pointer);
#define IN_ROUND(name, k, step) name[(k) * (step)]
#define MOVE(name, step)
#endif

#define KERNEL extern "C" __global__ void
#define ITEM (INDEX)(blockIdx.x * blockDim.x + threadIdx.x)

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;

KERNEL saxpy PARAMETERS(float, float, float)
{
    INDEX i = ITEM;
    if (i < n)
        out[i] = 3.0f * x[i] + y[i];
}

KERNEL stride PARAMETERS(u32, u32, u32)
{
    FOR(i, ITEM, n, (INDEX)(gridDim.x * blockDim.x))
        out[i] = x[i] ^ y[i] + 5;
    DONE(i, n, (INDEX)(gridDim.x * blockDim.x))
}

KERNEL rows PARAMETERS(u32, u32, u32)
{
    INDEX i = ITEM;
    if (i >= n)
        return;
    u32 sum = y[i];
    FROM(u32, row, x + i * m)
    FOR(k, 0, m, 1)
        sum = sum * 3 + IN_ROUND(row, k, 1);
        MOVE(row, 1)
    DONE(k, m, 1)
    out[i] = sum;
}

KERNEL columns PARAMETERS(u32, u32, u32)
{
    INDEX i = ITEM;
    if (i >= n)
        return;
    u32 sum = y[i];
    FROM(u32, column, x + i)
    FOR(k, 0, m, 1)
        sum = sum * 3 + IN_ROUND(column, k, n);
        MOVE(column, n)
    DONE(k, m, 1)
    out[i] = sum;
}

KERNEL stencil PARAMETERS(double, double, double)
{
    INDEX i = ITEM;
    if (i >= 1 && i + 1 < n)
        out[i] = (x[i - 1] + 2.0 * x[i] + x[i + 1]) * 0.25 + y[i];
}

KERNEL plane PARAMETERS(float, float, float)
{
    INDEX column = ITEM, row = (INDEX)blockIdx.y;
    if (column < 1 || column + 1 >= m || row < 1 || row + 1 >= n / m)
        return;
    INDEX i = row * m + column;
    out[i] = x[i] + 0.25f * (x[i - 1] + x[i + 1] + x[i - m] + x[i + m]);
}

KERNEL gather PARAMETERS(u32, u32, u32)
{
    INDEX i = ITEM;
    if (i < n)
        out[i] = x[y[i]] + 1;
}

KERNEL ragged PARAMETERS(u32, u32, u32)
{
    INDEX i = ITEM;
    if (i >= n)
        return;
    INDEX first = (INDEX)y[i], last = (INDEX)y[i + 1];
    u32 sum = 0;
    FROM(u32, number, x + first)
    FOR(k, first, last, 1)
        sum = sum * 3 + IN_ROUND(number, k - first, 1);
        MOVE(number, 1)
    DONE(k, last, 1)
    out[i] = sum;
}

KERNEL table PARAMETERS(u32, u32, u32)
{
    INDEX i = ITEM;
    if (i >= n)
        return;
    u32 state = y[i];
    FOR(k, 0, m, 1)
        state = state * 1664525 + x[state >> 24 & 63];
    DONE(k, m, 1)
    out[i] = state;
}

KERNEL bytes PARAMETERS(u8, u32, u32)
{
    INDEX i = ITEM;
    if (i >= n)
        return;
    u32 sum = y[i];
    FROM(u8, text, x + i * m)
    FOR(k, 0, m, 1)
        sum = sum * 33 + IN_ROUND(text, k, 1);
        MOVE(text, 1)
    DONE(k, m, 1)
    out[i] = sum;
}

KERNEL halves PARAMETERS(u16, u16, u16)
{
    INDEX i = ITEM;
    if (i < n)
        out[n - 1 - i] = x[i] + y[i];
}

KERNEL matmul PARAMETERS(float, float, float)
{
    INDEX column = ITEM, row = (INDEX)blockIdx.y;
    if (column >= m)
        return;
    float sum = 0;
    FROM(float, a, x + row * m)
    FROM(float, b, y + column)
    FOR(k, 0, m, 1)
        sum += IN_ROUND(a, k, 1) * IN_ROUND(b, k, m);
        MOVE(a, 1)
        MOVE(b, m)
    DONE(k, m, 1)
    out[row * m + column] = sum;
}

KERNEL reverse PARAMETERS(u32, u32, u32)
{
    __shared__ u32 held[128];
    INDEX i = ITEM, lane = (INDEX)threadIdx.x, last = (INDEX)blockDim.x - 1;
    held[lane] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = held[last - lane] + y[i];
}

KERNEL steps PARAMETERS(u32, u32, u32)
{
    INDEX i = ITEM;
    if (i >= n)
        return;
    u32 number = x[i] & 1023, count = y[i];
    FOR(k, 0, m, 1)
        if (number <= 1)
            break;
        number = number & 1 ? 3 * number + 1 : number >> 1;
        count++;
    DONE(k, m, 1)
    out[i] = count;
}
