// vif-reduce.wgsl - adds what the workgroups of each scale left: a workgroup for each sum of a scale. Follows wide.wgsl.
//
// Sums of a scale: den_log, den_non_log, lower and upper halves of num_non_log, num_log for each gain limit.

override SUMS: u32;

const LANES = 256u;

// Of each scale: where its first sum begins, and how many values each sum has.
@group(0) @binding(0) var<uniform> scales: array<vec4u, 4>;
@group(0) @binding(1) var<storage, read> partials: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<vec2u>;

var<workgroup> totals: array<vec2u, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let count = scales[group.y].y;
  let first = scales[group.y].x + group.x * count;
  var total = vec2u();
  for (var i = lane; i < count; i += LANES) {
    total = add_64(total, vec2u(partials[first + i], 0u));
  }
  totals[lane] = total;
  for (var n = LANES / 2u; n > 0u; n >>= 1u) {
    workgroupBarrier();
    if (lane < n) {
      totals[lane] = add_64(totals[lane], totals[lane + n]);
    }
  }
  if (lane == 0u) {
    results[group.y * SUMS + group.x] = totals[0];
  }
}
