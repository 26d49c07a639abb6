// sum.wgsl - sums of 64 bits (low word first) over a workgroup of 256 invocations.

const LANES = 256u;

var<workgroup> lane_sums: array<vec2u, LANES>;

fn add_words(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// The sum of what all invocations bring; only invocation 0 gets it. Called by all of them.
fn workgroup_sum(lane: u32, value: vec2u) -> vec2u {
  lane_sums[lane] = value;
  for (var half = LANES / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (lane < half) {
      lane_sums[lane] = add_words(lane_sums[lane], lane_sums[lane + half]);
    }
  }
  return lane_sums[0];
}
