// The nearest of a table of centres for every point, and how many steps of halving its distance takes until it is below 1.
#version 450
layout(local_size_x = 100) in;
layout(set = 0, binding = 0) uniform Centres { vec4 centres[100]; uint count; };
layout(set = 1, binding = 3) readonly buffer Points { vec2 points[]; };
layout(set = 1, binding = 4) writeonly buffer Nearest { uvec2 nearest[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= points.length())
    return;
  vec2 p = points[i];
  float least = 1e30;
  uint which = 0u;
  for (uint k = 0u; k < count; k++) {
    vec2 d = centres[k].xy - p;
    precise float distance = d.x * d.x + d.y * d.y;
    if (distance < least) {
      least = distance;
      which = k;
    }
  }
  uint steps = 0u;
  while (least >= 1.0) {
    least *= 0.5;
    steps++;
  }
  nearest[i] = uvec2(which, steps);
}
