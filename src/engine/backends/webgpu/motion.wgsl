// motion.wgsl - sum of absolute differences of two pictures, blurred after they are subtracted, as motion_sad in
// wasm/src/motion.c. Follows motion-tile.wgsl.
//
// A difference needs 17 bits and its filter 16 more. With x = 2h + l the sum splits into two that fit 32 bits:
// (sum K*x + 2^(n-1)) >> n = (sum K*h + ((sum K*l + 2^(n-1)) >> 1)) >> (n - 1), where |sum K*h| <= 2^15 * 65536.

var<workgroup> differences: array<i32, COLUMNS * ROWS>;
var<workgroup> filtered: array<i32, COLUMNS * TILE_HEIGHT>;

// The taps add up to 65536.
fn blur(a: i32, b: i32, c: i32, d: i32, e: i32) -> i32 {
  return 3571 * (a + e) + 16004 * (b + d) + 26386 * c;
}

// Five samples blurred, and shifted by n bits with rounding.
fn blurred(a: i32, b: i32, c: i32, d: i32, e: i32, n: u32) -> i32 {
  let high = blur(a >> 1u, b >> 1u, c >> 1u, d >> 1u, e >> 1u);
  let low = blur(a & 1, b & 1, c & 1, d & 1, e & 1);
  return (high + ((low + (1 << (n - 1u))) >> 1u)) >> (n - 1u);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(num_workgroups) tiles: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let left = tile.x * TILE_WIDTH;
  let top = tile.y * TILE_HEIGHT;
  for (var i = lane; i < COLUMNS * ROWS; i += LANES) {
    let x = mirror(i32(left + i % COLUMNS) - i32(REACH), format.width);
    let y = mirror(i32(top + i / COLUMNS) - i32(REACH), format.height);
    let at = y * format.width + x;
    let word = word_of(at);
    differences[i] = i32(sample_in(earlier[word], at)) - i32(sample_in(current[word], at));
  }
  workgroupBarrier();
  for (var i = lane; i < COLUMNS * TILE_HEIGHT; i += LANES) {
    filtered[i] = blurred(differences[i], differences[i + COLUMNS], differences[i + 2u * COLUMNS],
                          differences[i + 3u * COLUMNS], differences[i + 4u * COLUMNS], format.bit_depth);
  }
  workgroupBarrier();
  // At most 16 bits each: four of them are far from filling a word.
  var sum = 0u;
  for (var i = lane; i < TILE_WIDTH * TILE_HEIGHT; i += LANES) {
    let x = i % TILE_WIDTH;
    let y = i / TILE_WIDTH;
    let at = y * COLUMNS + x;
    let value = blurred(filtered[at], filtered[at + 1u], filtered[at + 2u], filtered[at + 3u], filtered[at + 4u], 16u);
    sum += select(0u, u32(abs(value)), left + x < format.width && top + y < format.height);
  }
  let all = workgroup_sum(lane, vec2u(sum, 0u));
  if (lane == 0u) {
    partials[tile.y * tiles.x + tile.x] = all;
  }
}
