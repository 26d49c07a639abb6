// adm-wavelet.wgsl - one level of the wavelet of one picture: columns of the source first, then its rows (spec 4.3).
//
// Another file says how samples are loaded, summed and stored at its scales: load, vertical, horizontal and store.

const WIDE = 32u;
const HIGH = 2u;
// Columns of the source that a tile needs.
const SPAN = 2u * WIDE + 2u;

// Low-pass and high-pass sums of the columns, row after row of the tile.
var<workgroup> lines: array<vec2i, SPAN * HIGH>;

// Mirrored at the start, the edge sample repeated at the end. What lies further out is not used.
fn source_at(p: i32, n: u32) -> u32 {
  return u32(max(select(abs(p), 2 * i32(n) - 1 - p, p >= i32(n)), 0));
}

@compute @workgroup_size(WIDE, HIGH)
fn main(
  @builtin(workgroup_id) tile: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) index: u32,
) {
  let first = tile.xy * vec2u(WIDE, HIGH);
  for (var slot = index; slot < SPAN * HIGH; slot += WIDE * HIGH) {
    let column = source_at(2 * i32(first.x) + i32(slot % SPAN) - 1, scale.source.x);
    let row = 2 * i32(first.y + slot / SPAN) - 1;
    var samples: vec4i;
    for (var k = 0; k < 4; k++) {
      samples[k] = load(source_at(row + k, scale.source.y) * scale.source.x + column);
    }
    lines[slot] = vertical(samples);
  }
  workgroupBarrier();
  let at = first + local.xy;
  if (any(at >= scale.size)) {
    return;
  }
  let line = local.y * SPAN + 2u * local.x;
  let low = vec4i(lines[line].x, lines[line + 1u].x, lines[line + 2u].x, lines[line + 3u].x);
  let high = vec4i(lines[line].y, lines[line + 1u].y, lines[line + 2u].y, lines[line + 3u].y);
  let bands = vec4i(
    horizontal(scale.low, high),
    horizontal(scale.high, low),
    horizontal(scale.high, high),
    horizontal(scale.low, low),
  );
  store(at.y * scale.size.x + at.x, bands);
}
