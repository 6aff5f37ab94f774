// y = a x + b + c d + bias, where a to d are one of four vectors of a uniform buffer, by workgroup.
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint n; float bias; } push;
layout(set = 0, binding = 0) uniform Factors { vec4 factors[4]; };
layout(set = 0, binding = 1) readonly buffer In { float x[]; };
layout(set = 0, binding = 2) buffer Out { float y[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < push.n) {
    vec4 f = factors[gl_WorkGroupID.x & 3u];
    y[i] = f.x * x[i] + f.y + f.z * f.w + push.bias;
  }
}
