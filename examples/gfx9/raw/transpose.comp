// Transposes a picture of any size by tiles of 16 x 16 in shared memory; the tiles are taken in the opposite order.
#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant) uniform Push { uint w, h; } push;
layout(set = 0, binding = 0) readonly buffer In { uint from[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint to[]; };
shared uint tile[16][17];

void main() {
  uvec2 lane = gl_LocalInvocationID.xy, first = (gl_NumWorkGroups.xy - 1u - gl_WorkGroupID.xy) * 16u;
  uvec2 at = first + lane;
  if (at.x < push.w && at.y < push.h)
    tile[lane.y][lane.x] = from[at.y * push.w + at.x];
  barrier();
  at = first.yx + lane;
  if (at.x < push.h && at.y < push.w)
    to[at.y * push.h + at.x] = tile[lane.x][lane.y];
}
