// adm-wavelet-s123.wgsl - the wavelet of a low band: bands h, v, d and a of 32 bits each.

@group(0) @binding(1) var<storage, read> source: array<i32>;
@group(0) @binding(2) var<storage, read_write> bands: array<vec4i>;

fn load(index: u32) -> i32 {
  // Band a is the upper half of the last word of two at scale 0, the last of four above it.
  let words = scale.source_words;
  return source[index * words + words - 1u] >> select(0u, 16u, words == 2u);
}

// The lower 32 bits of the rounded sum. The sum has more: x = 2^16 * upper + lower, both signed, and the sums of their
// products fit 32 bits.
fn filtered(taps: vec4i, x: vec4i, shift: u32) -> i32 {
  let lower = vec4i(narrow(x.x), narrow(x.y), narrow(x.z), narrow(x.w));
  let upper = (x >> vec4u(16u)) + ((x >> vec4u(15u)) & vec4i(1));
  let half = (1 << shift) >> 1u;
  return (dot(taps, upper) << (16u - shift)) + ((dot(taps, lower) + half) >> shift);
}

fn vertical(x: vec4i) -> vec2i {
  return vec2i(filtered(scale.low, x, scale.line_shift), filtered(scale.high, x, scale.line_shift));
}

fn horizontal(taps: vec4i, x: vec4i) -> i32 {
  return filtered(taps, x, scale.band_shift);
}

fn store(index: u32, hvda: vec4i) {
  bands[index] = hvda;
}
