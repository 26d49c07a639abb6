// adm-wavelet-s0.wgsl - the wavelet of a picture: bands h, v, d and a of 16 bits each, two to a word.

@group(0) @binding(1) var<storage, read> picture: array<u32>;
@group(0) @binding(2) var<storage, read_write> bands: array<vec2u>;

// Samples are centred: the sum of the low-pass taps times the centre would leave 32 bits at 16-bit depth.
fn load(index: u32) -> i32 {
  let wide = u32(scale.bit_depth > 8u);
  let word = picture[index >> (2u - wide)];
  let bits = 8u << wide;
  let sample = extractBits(word, (index * bits) & 31u, bits);
  return i32(sample) - centre();
}

fn centre() -> i32 {
  return 1 << (scale.bit_depth - 1u);
}

fn vertical(x: vec4i) -> vec2i {
  return vec2i(
    narrow((dot(scale.low, x) + centre()) >> scale.bit_depth),
    narrow((dot(scale.high, x) + centre()) >> scale.bit_depth),
  );
}

fn horizontal(taps: vec4i, x: vec4i) -> i32 {
  return (dot(taps, x) + 32768) >> 16u;
}

fn store(index: u32, hvda: vec4i) {
  let half = vec4u(hvda) & vec4u(0xffffu);
  bands[index] = half.xz | (half.yw << vec2u(16u));
}
