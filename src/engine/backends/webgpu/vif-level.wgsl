// vif-level.wgsl - the source of VIF's later steps: a level of the pyramid, both planes in one.

@group(0) @binding(1) var<storage, read> source: array<u32>;

// The samples of both planes at a place: reference below, distorted above.
fn load(at: u32) -> u32 {
  return source[at];
}
