/* Kernels of the suite as C for vectors of a host with AVX-512, timed: what hand-written code of one thread reaches.

       gcc -O3 -march=native -ffast-math -o vector benches/peers/vector.c -lm
       ./vector compute | ./vector mandelbrot

   Sizes are those of benches/suite. Prints the median seconds of a call, and a sum of the results, as JSON. */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 401, N = 64 * 256, ROUNDS = 64, W = 320, H = 214, LIMIT = 256 };

static float x[N], y[N];
static uint16_t out[W * H];

/* Four chains of multiply-adds an element. Two vectors at a time: the chains of one do not fill the pipelines. */
__attribute__((noinline)) static void compute(void) {
  for (int i = 0; i < N; i += 32) {
    __m512 v[2], a[2], b[2], c[2], d[2];
    for (int k = 0; k < 2; k++) {
      v[k] = _mm512_loadu_ps(x + i + 16 * k);
      a[k] = v[k];
      b[k] = _mm512_add_ps(v[k], _mm512_set1_ps(1));
      c[k] = _mm512_add_ps(v[k], _mm512_set1_ps(2));
      d[k] = _mm512_add_ps(v[k], _mm512_set1_ps(3));
    }
    for (int r = 0; r < 4 * ROUNDS; r++) {
      for (int k = 0; k < 2; k++) {
        a[k] = _mm512_fmadd_ps(a[k], _mm512_set1_ps(0.75f), v[k]);
        b[k] = _mm512_fmadd_ps(b[k], _mm512_set1_ps(0.625f), v[k]);
        c[k] = _mm512_fmadd_ps(c[k], _mm512_set1_ps(0.5f), v[k]);
        d[k] = _mm512_fmadd_ps(d[k], _mm512_set1_ps(0.375f), v[k]);
      }
    }
    for (int k = 0; k < 2; k++)
      _mm512_storeu_ps(y + i + 16 * k, _mm512_add_ps(_mm512_add_ps(a[k], b[k]), _mm512_add_ps(c[k], d[k])));
  }
}

/* At most 256 iterations of each pixel; two vectors of a row at a time. */
__attribute__((noinline)) static void mandelbrot(void) {
  const __m512 lanes = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512 two = _mm512_set1_ps(2), four = _mm512_set1_ps(4);
  const float dx = 3.2f / W, dy = 2.0f / H;
  for (int row = 0; row < H; row++) {
    const __m512 cy = _mm512_set1_ps(row * dy - 1.0f);
    for (int column = 0; column < W; column += 32) {
      __m512 cx[2], zx[2], zy[2];
      __m512i n[2];
      __mmask16 active[2] = {0xffff, 0xffff};
      for (int k = 0; k < 2; k++) {
        __m512 px = _mm512_add_ps(_mm512_set1_ps(column + 16 * k), lanes);
        cx[k] = _mm512_fmadd_ps(px, _mm512_set1_ps(dx), _mm512_set1_ps(-2.25f));
        zx[k] = zy[k] = _mm512_setzero_ps();
        n[k] = _mm512_setzero_si512();
      }
      for (int r = 0; r < LIMIT && (active[0] | active[1]); r++) {
        for (int k = 0; k < 2; k++) {
          __m512 yy = _mm512_mul_ps(zy[k], zy[k]);
          active[k] = _mm512_mask_cmp_ps_mask(active[k], _mm512_fmadd_ps(zx[k], zx[k], yy), four, _CMP_LE_OQ);
          __m512 xy = _mm512_mul_ps(zx[k], zy[k]);
          zx[k] = _mm512_fmadd_ps(zx[k], zx[k], _mm512_sub_ps(cx[k], yy));
          zy[k] = _mm512_fmadd_ps(two, xy, cy);
          n[k] = _mm512_mask_add_epi32(n[k], active[k], n[k], _mm512_set1_epi32(1));
        }
      }
      for (int k = 0; k < 2; k++)
        _mm256_storeu_si256((__m256i *)(out + row * W + column + 16 * k), _mm512_cvtepi32_epi16(n[k]));
    }
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
  void (*kernel)(void) = argc == 2 && !strcmp(argv[1], "compute") ? compute
                         : argc == 2 && !strcmp(argv[1], "mandelbrot") ? mandelbrot : NULL;
  if (!kernel) {
    fprintf(stderr, "usage: vector compute|mandelbrot\n");
    return 1;
  }
  for (int i = 0; i < N; i++)
    x[i] = (float)i / N;
  static double times[CALLS];
  for (int call = 0; call < CALLS; call++) {
    double start = seconds();
    kernel();
    times[call] = seconds() - start;
  }
  qsort(times, CALLS, sizeof *times, ascending);
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += y[i];
  for (int i = 0; i < W * H; i++)
    sum += out[i];
  printf("{\"seconds\": %.9f, \"sum\": %.6f}\n", times[CALLS / 2], sum);
  return 0;
}
