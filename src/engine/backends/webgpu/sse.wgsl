// sse.wgsl - squared error of two planes, as wasm/src/sse.c; the same zeros pad both. Follows samples.wgsl and sum.wgsl.

@group(0) @binding(0) var<storage, read> reference: array<u32>;
@group(0) @binding(1) var<storage, read> distorted: array<u32>;
@group(0) @binding(2) var<storage, read_write> partials: array<vec2u>;

// The squared error of one sample fits 32 bits at every depth.
fn square_of(i: u32, r: u32, d: u32) -> vec2u {
  let error = i32(sample_in(r, i)) - i32(sample_in(d, i));
  let magnitude = u32(abs(error));
  return vec2u(magnitude * magnitude, 0u);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let words = arrayLength(&reference);
  var sum = vec2u();
  for (var i = group.x * LANES + lane; i < words; i += groups.x * LANES) {
    let r = reference[i];
    let d = distorted[i];
    for (var k = 0u; k < 4u / SAMPLE_BYTES; k++) {
      sum = add_words(sum, square_of(k, r, d));
    }
  }
  let all = workgroup_sum(lane, sum);
  if (lane == 0u) {
    partials[group.x] = all;
  }
}
