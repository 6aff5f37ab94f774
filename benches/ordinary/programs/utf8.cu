// Decodes UTF-8 records: a sum of code points, and how many bytes were wrong.
extern "C" __global__ void utf8(const unsigned char *text, unsigned *sums, unsigned *errors, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *s = text + i * length, *end = s + length;
    unsigned sum = 0, wrong = 0;
    while (s < end) {
        unsigned c = *s++;
        int more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : -1;
        if (more < 0) {
            wrong++;
            continue;
        }
        unsigned point = more == 0 ? c : c & 0x3f >> more;
        int k = 0;
        while (k < more && s < end && (*s & 0xc0) == 0x80) {
            point = point << 6 | (*s++ & 0x3f);
            k++;
        }
        if (k < more)
            wrong++;
        else
            sum = sum * 33 + point;
    }
    sums[i] = sum;
    errors[i] = wrong;
}
