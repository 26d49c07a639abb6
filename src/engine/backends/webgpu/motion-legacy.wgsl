// motion-legacy.wgsl - sum of absolute differences of two pictures that are blurred each by itself, as libvmaf up to 3.0 has
// it: motion_sad_legacy in wasm/src/motion.c. Follows motion-tile.wgsl.
//
// Two blurred pictures share a word: samples have 16 bits at every step, and a filter's sum fits 32.

var<workgroup> pairs: array<u32, COLUMNS * ROWS>;
var<workgroup> filtered: array<u32, COLUMNS * TILE_HEIGHT>;

// The two samples of a word: of the earlier picture and of the current one.
fn unpack(pair: u32) -> vec2u {
  return vec2u(pair & 0xffffu, pair >> 16u);
}

fn pack(samples: vec2u) -> u32 {
  return samples.x | (samples.y << 16u);
}

// Five samples blurred by taps that add up to 65536, and shifted by n bits with rounding.
fn blurred(a: u32, b: u32, c: u32, d: u32, e: u32, n: u32) -> vec2u {
  let sum = 3571u * (unpack(a) + unpack(e)) + 16004u * (unpack(b) + unpack(d)) + 26386u * unpack(c);
  return ((sum + vec2u(1u << (n - 1u))) >> vec2u(n)) & vec2u(0xffffu);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(num_workgroups) tiles: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let left = tile.x * TILE_WIDTH;
  let top = tile.y * TILE_HEIGHT;
  for (var i = lane; i < COLUMNS * ROWS; i += LANES) {
    let x = mirror_repeat_end(i32(left + i % COLUMNS) - i32(REACH), format.width);
    let y = mirror_repeat_end(i32(top + i / COLUMNS) - i32(REACH), format.height);
    let at = y * format.width + x;
    let word = word_of(at);
    pairs[i] = pack(vec2u(sample_in(earlier[word], at), sample_in(current[word], at)));
  }
  workgroupBarrier();
  for (var i = lane; i < COLUMNS * TILE_HEIGHT; i += LANES) {
    filtered[i] = pack(blurred(pairs[i], pairs[i + COLUMNS], pairs[i + 2u * COLUMNS], pairs[i + 3u * COLUMNS],
                               pairs[i + 4u * COLUMNS], format.bit_depth));
  }
  workgroupBarrier();
  var sum = 0u;
  for (var i = lane; i < TILE_WIDTH * TILE_HEIGHT; i += LANES) {
    let x = i % TILE_WIDTH;
    let y = i / TILE_WIDTH;
    let at = y * COLUMNS + x;
    let value = blurred(filtered[at], filtered[at + 1u], filtered[at + 2u], filtered[at + 3u], filtered[at + 4u], 16u);
    let difference = max(value.x, value.y) - min(value.x, value.y);
    sum += select(0u, difference, left + x < format.width && top + y < format.height);
  }
  let all = workgroup_sum(lane, vec2u(sum, 0u));
  if (lane == 0u) {
    partials[tile.y * tiles.x + tile.x] = all;
  }
}
