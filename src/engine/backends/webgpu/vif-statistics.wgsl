// vif-statistics.wgsl - means, variances and covariance around each pixel of a level, and the sums of what follows from
// them (spec 3.3, 3.5). Follows wide.wgsl, vif.wgsl, a source and vif-pixel.wgsl.

// For each sum (see vif-reduce.wgsl): one value of each workgroup.
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

// A lane filters one column downwards, ROWS outputs; then four pixels of a row.
const QUARTER = LANES / 4u + 1u;

// Of each column and row, filtered downwards: both means, packed, and the second moments rr, dd, rd.
var<workgroup> signals: array<vec4u, ROWS * 4u * QUARTER>;
var<workgroup> totals: array<atomic<u32>, SUMS>;

// Neighbours in a row stand QUARTER apart, so that lanes that read every fourth column meet no bank twice.
fn place(row: u32, column: u32) -> u32 {
  return (row * 4u + (column & 3u)) * QUARTER + (column >> 2u);
}

// The sums of four outputs' filters, of lower and upper halves of four signals.
struct Outputs {
  low0: vec4u,
  low1: vec4u,
  low2: vec4u,
  low3: vec4u,
  high0: vec4u,
  high1: vec4u,
  high2: vec4u,
  high3: vec4u,
}

fn add_sample(outputs: Outputs, signal: vec4u, weights: vec4u) -> Outputs {
  let low = signal & vec4u(0xffffu);
  let high = signal >> vec4u(16u);
  return Outputs(
    outputs.low0 + weights.x * low, outputs.low1 + weights.y * low, outputs.low2 + weights.z * low,
    outputs.low3 + weights.w * low, outputs.high0 + weights.x * high, outputs.high1 + weights.y * high,
    outputs.high2 + weights.z * high, outputs.high3 + weights.w * high);
}

// The outputs after the first one.
fn next(all: Outputs) -> Outputs {
  return Outputs(all.low1, all.low2, all.low3, all.low3, all.high1, all.high2, all.high3, all.high3);
}

fn join_halves(high: vec3u, low: vec3u) -> vec3u {
  return high + ((low + vec3u(0x8000u)) >> vec3u(16u));
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32,
        @builtin(num_workgroups) groups: vec3u) {
  let outputs = LANES - 2u * level.reach;
  let left = group.x * outputs;
  let top = (group.y + level.first_row) * ROWS;
  if (lane < SUMS) {
    atomicStore(&totals[lane], 0u);
  }
  filter_column(lane, mirror(i32(left + lane) - i32(level.reach), level.width), top);
  workgroupBarrier();

  // As many lanes a row as it has outputs by four; with a reach of 1 the last of them has two.
  let lanes = (outputs + 3u) / 4u;
  let row = lane / lanes;
  let column = 4u * (lane % lanes);
  if (row < ROWS && top + row < level.height) {
    var sums = Sums();
    let end = min(level.width, left + outputs);
    add_pixels(row, column, end - min(end, left + column), &sums);
    for (var i = 0u; i < SUMS; i++) {
      atomicAdd(&totals[i], sums[i]);
    }
  }
  workgroupBarrier();
  if (lane < SUMS) {
    let workgroup_index = (group.y + level.first_row) * groups.x + group.x;
    partials[level.partials + lane * level.workgroups + workgroup_index] = atomicLoad(&totals[lane]);
  }
}

fn filter_column(lane: u32, x: u32, top: u32) {
  var outputs = Outputs();
  for (var k = 0u; k < 2u * level.reach + ROWS; k++) {
    let y = mirror(i32(top + k) - i32(level.reach), level.height);
    let pair = load(y * level.width + x);
    let r = pair & 0xffffu;
    let d = pair >> 16u;
    outputs = add_sample(outputs, vec4u(pair, r * r, d * d, r * d), level.weights[k]);
  }
  for (var row = 0u; row < ROWS; row++) {
    let low = outputs.low0;
    let high = outputs.high0;
    signals[place(row, lane)] = vec4u(round_pair(low.x, high.x), join_halves(high.yzw, low.yzw));
    outputs = next(outputs);
  }
}

// Up to `count` of four pixels.
fn add_pixels(row: u32, column: u32, count: u32, sums: ptr<function, Sums>) {
  var outputs = Outputs();
  for (var k = 0u; k < 2u * level.reach + 4u; k++) {
    // What lies beyond the columns has no weight in outputs that count.
    let at = min(column + k, LANES - 1u);
    outputs = add_sample(outputs, signals[place(row, at)], level.weights[k]);
  }
  for (var i = 0u; i < min(count, 4u); i++) {
    let low = outputs.low0;
    let high = outputs.high0;
    let moments = join_halves(high.yzw, low.yzw);
    let means = vec3u(round_product(low.x, low.x), round_product(high.x, high.x), round_product(low.x, high.x));
    let v = vec3i(moments - means);
    add_pixel(v.x, v.y, v.z, sums);
    outputs = next(outputs);
  }
}

// (a * b + 2^31) >> 32
fn round_product(a: u32, b: u32) -> u32 {
  let product = mul_32(a, b);
  return product.y + (product.x >> 31u);
}
