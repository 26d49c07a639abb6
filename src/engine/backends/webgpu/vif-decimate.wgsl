// vif-decimate.wgsl - the next level of VIF's pyramid: low-pass filtered, every other row and column (spec 3.2).
// Follows vif.wgsl and a source.

@group(0) @binding(3) var<storage, read_write> next_level: array<u32>;

// A lane filters one source column downwards first.
var<workgroup> filtered: array<u32, LANES * ROWS>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let outputs = LANES / 2u - level.reach;
  let left = group.x * outputs;
  let top = (group.y + level.first_row) * ROWS;
  filter_column(lane, mirror(i32(2u * left + lane) - i32(level.reach), level.width), top);
  workgroupBarrier();
  let size = vec2u(level.width, level.height) / 2u;
  for (var i = lane; i < outputs * ROWS; i += LANES) {
    let row = i / outputs;
    let column = i % outputs;
    let at = vec2u(left + column, top + row);
    if (all(at < size)) {
      next_level[at.y * size.x + at.x] = filter_row(row * LANES + 2u * column);
    }
  }
}

// Four outputs of a source column, every other row.
fn filter_column(lane: u32, x: u32, top: u32) {
  var reference = vec4u();
  var distorted = vec4u();
  for (var k = 0u; k <= 2u * (level.reach + ROWS - 1u); k++) {
    let y = mirror(i32(2u * top + k) - i32(level.reach), level.height);
    let pair = load(y * level.width + x);
    reference += level.weights[k] * (pair & 0xffffu);
    distorted += level.weights[k] * (pair >> 16u);
  }
  for (var row = 0u; row < ROWS; row++) {
    filtered[row * LANES + lane] = round_pair(reference[row], distorted[row]);
  }
}

fn filter_row(start: u32) -> u32 {
  var reference = 0u;
  var distorted = 0u;
  for (var k = 0u; k <= 2u * level.reach; k++) {
    let pair = filtered[start + k];
    reference += level.weights[k].x * (pair & 0xffffu);
    distorted += level.weights[k].x * (pair >> 16u);
  }
  return round_pair(reference, distorted);
}
