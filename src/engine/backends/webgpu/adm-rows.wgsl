// adm-rows.wgsl - sums of the rows of a scale: of the denominator's bands, then of each parameter set's numerators. The
// pieces of a row are joined first, since each row is rounded by itself (spec 4.8).

const INVOCATIONS = 256u;

@group(0) @binding(1) var<storage, read> pieces: array<vec2u>;
@group(0) @binding(2) var<storage, read> denominator: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> results: array<vec2u>;

var<workgroup> totals: array<vec2u, INVOCATIONS>;

fn row_sum(sum: u32, row: u32) -> vec2u {
  if (sum < 3u) {
    return denominator[sum * scale.count.y + row];
  }
  var total = vec2u();
  for (var piece = 0u; piece < scale.segments; piece++) {
    total = add_64(total, pieces[((sum - 3u) * scale.segments + piece) * scale.count.y + row]);
  }
  return round_shr_64_signed(total, scale.row_shift);
}

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  var mine = vec2u();
  for (var row = index; row < scale.count.y; row += INVOCATIONS) {
    mine = add_64(mine, row_sum(group.x, row));
  }
  totals[index] = mine;
  for (var step = INVOCATIONS / 2u; step > 0u; step >>= 1u) {
    workgroupBarrier();
    if (index < step) {
      totals[index] = add_64(totals[index], totals[index + step]);
    }
  }
  if (index == 0u) {
    results[scale.results + group.x] = totals[0];
  }
}
