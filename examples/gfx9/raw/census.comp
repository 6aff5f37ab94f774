// Counts numbers by their low 5 bits in shared memory, then in global memory; and sums them by subgroups.
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 96) in;
layout(push_constant) uniform Push { uint n; } push;
layout(set = 0, binding = 0) readonly buffer In { uint numbers[]; };
layout(set = 0, binding = 1) buffer Counts { uint counts[32]; uint sum; uint most; };
shared uint here[32];

void main() {
  if (gl_LocalInvocationIndex < 32u)
    here[gl_LocalInvocationIndex] = 0u;
  barrier();
  uint i = gl_GlobalInvocationID.x;
  uint x = i < push.n ? numbers[i] : 0u;
  if (i < push.n)
    atomicAdd(here[x & 31u], 1u);
  uint total = subgroupAdd(x), greatest = subgroupMax(x);
  if (subgroupElect()) {
    atomicAdd(sum, total);
    atomicMax(most, greatest);
  }
  barrier();
  if (gl_LocalInvocationIndex < 32u)
    atomicAdd(counts[gl_LocalInvocationIndex], here[gl_LocalInvocationIndex]);
}
