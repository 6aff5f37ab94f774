from numba import cuda, float32


def matmul(a, b, c):
    sa = cuda.shared.array((8, 8), float32)
    sb = cuda.shared.array((8, 8), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for k in range((a.shape[1] + 7) // 8):
        sa[tx, ty] = a[x, ty + k * 8] if x < a.shape[0] and ty + k * 8 < a.shape[1] else float32(0)
        sb[tx, ty] = b[tx + k * 8, y] if y < b.shape[1] and tx + k * 8 < b.shape[0] else float32(0)
        cuda.syncthreads()
        for j in range(8):
            s += sa[tx, j] * sb[j, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = s
