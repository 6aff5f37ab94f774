// The Buddhabrot: orbits that leave the Mandelbrot set's neighbourhood are followed a second time, and each texel that they come by is counted, by
// TYPED_ATOMIC, which OpenCL C reaches by assembly alone. Then, behind a barrier, the lanes make a picture of the counts. Numbers have 13 binary places.
#define WIDTH 144
#define HEIGHT 144
#define LANES 1024
#define SAMPLES 32
#define ROUNDS 64
#define PLACES 13
#define ONE (1 << PLACES)

// Counts the texel of a point; what is outside of the image is dropped. The image is at index 1 of the binding table: the first argument.
static void count(int x, int y) {
  uint u = (uint)((y * 48 >> PLACES) + WIDTH / 2), v = (uint)((x * 48 >> PLACES) + 93);
  __asm__ volatile("{\n.decl COUNTS v_type=T num_elts=1\nmovs (M1_NM, 1) COUNTS(0) 0x1:ud\n"
                   "typed_atomic.inc (M1, 8) COUNTS %0.0 %1.0 %%null.0 %%null.0 %%null.0 %%null.0 %%null.0\n}"
                   : : "rw"(u), "rw"(v));
}

__attribute__((intel_reqd_sub_group_size(8)))
__attribute__((reqd_work_group_size(LANES, 1, 1)))
kernel void buddhabrot(read_write image2d_t counts, write_only image2d_t picture) {
  uint lane = get_local_id(0), random = lane * 0x9e3779b9u + 12345u;
  #pragma unroll 1
  for (int sample = 0; sample < SAMPLES; sample++) {
    // From -2 to 1 and from -1.5 to 1.5.
    random = random * 1664525u + 1013904223u;
    int cx = (int)((random >> 16) * 3u >> 3) - 2 * ONE;
    random = random * 1664525u + 1013904223u;
    int cy = (int)((random >> 16) * 3u >> 3) - 3 * ONE / 2;
    int x = 0, y = 0, round = 0;
    #pragma unroll 1
    while (round < ROUNDS && (x * x >> PLACES) + (y * y >> PLACES) < 4 * ONE) {
      int next = (x * x >> PLACES) - (y * y >> PLACES) + cx;
      y = (x * y >> (PLACES - 1)) + cy;
      x = next;
      round++;
    }
    if (round < ROUNDS) {
      x = 0;
      y = 0;
      #pragma unroll 1
      for (int again = 0; again < round; again++) {
        int next = (x * x >> PLACES) - (y * y >> PLACES) + cx;
        y = (x * y >> (PLACES - 1)) + cy;
        x = next;
        // The set is its own mirror image.
        count(x, y);
        count(x, -y);
      }
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_IMAGE_MEM_FENCE);
  #pragma unroll 1
  for (uint texel = lane; texel < WIDTH * HEIGHT; texel += LANES) {
    int2 at = (int2)(texel % WIDTH, texel / WIDTH);
    uint n = read_imageui(counts, at).x;
    write_imageui(picture, at, (uint4)(min(n * 5u, 255u), min(n * 7u, 255u), min(n * 12u, 255u), 255u));
  }
}
