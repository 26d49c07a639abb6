// reduce.wgsl - the last pass of a sum over a picture: adds what its workgroups left. Follows sum.wgsl.

@group(0) @binding(0) var<storage, read> partials: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> total: vec2u;

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) lane: u32) {
  var sum = vec2u();
  let count = arrayLength(&partials);
  for (var i = lane; i < count; i += LANES) {
    sum = add_words(sum, partials[i]);
  }
  let all = workgroup_sum(lane, sum);
  if (lane == 0u) {
    total = all;
  }
}
