// An interpreter of a stack machine: a switch in a loop. Lanes run one program on different numbers.
extern "C" __global__ void bytecode(const unsigned char *code, const int *x, int *out, int limit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = x[i], b = 1, c = 0, pc = 0;
    for (int step = 0; step < limit; step++) {
        unsigned char op = code[pc], operand = code[pc + 1];
        pc += 2;
        switch (op) {
        case 0: a += operand; break;
        case 1: a *= operand; break;
        case 2: a ^= b; break;
        case 3: b += a; break;
        case 4: c = a; break;
        case 5: a = c - b; break;
        case 6: a = (int)((unsigned)a >> (operand & 31)); break;
        case 7: b = a & operand; break;
        case 8: if (b != 0) pc = operand; break;
        case 9: if (a < 0) pc = operand; break;
        case 10: { int t = a; a = b; b = t; break; }
        case 11: c += a ^ operand; break;
        case 12: pc = operand; break;
        default: step = limit; break;
        }
    }
    out[i] = a + 3 * b + 5 * c;
}
