// Looks colours up: indices and colours are typed buffers.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform usamplerBuffer indices;
layout(set = 0, binding = 1) uniform samplerBuffer colours;
layout(set = 0, binding = 2) writeonly buffer Out { vec4 texels[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < texels.length())
    texels[i] = texelFetch(colours, int(texelFetch(indices, int(i)).x));
}
