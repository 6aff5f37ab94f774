// Three bodies that attract each other, in double precision; each lane has a system of its own.
extern "C" __global__ void bodies(const double *start, double *end, double step, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double px[3], py[3], vx[3], vy[3];
    for (int b = 0; b < 3; b++) {
        px[b] = start[(4 * b + 0) * n + i];
        py[b] = start[(4 * b + 1) * n + i];
        vx[b] = start[(4 * b + 2) * n + i];
        vy[b] = start[(4 * b + 3) * n + i];
    }
    for (int k = 0; k < steps; k++) {
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                if (a == b)
                    continue;
                double dx = px[b] - px[a], dy = py[b] - py[a], square = dx * dx + dy * dy + 0.01;
                double pull = step / (square * sqrt(square));
                vx[a] += pull * dx;
                vy[a] += pull * dy;
            }
        for (int b = 0; b < 3; b++) {
            px[b] += step * vx[b];
            py[b] += step * vy[b];
        }
    }
    for (int b = 0; b < 3; b++) {
        end[(4 * b + 0) * n + i] = px[b];
        end[(4 * b + 1) * n + i] = py[b];
        end[(4 * b + 2) * n + i] = vx[b];
        end[(4 * b + 3) * n + i] = vy[b];
    }
}
