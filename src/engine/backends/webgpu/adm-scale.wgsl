// adm-scale.wgsl - what the steps of ADM need to know of a scale and of the parameter sets.

// A parameter set at this scale.
struct Variant {
  // Contrast sensitivity in fixed point, of bands h and v and of band d.
  factors: vec2u,
  // The gain limit, an integer, or 0; otherwise a mantissa of 53 bits, to be shifted right.
  whole_limit: u32,
  limit_shift: u32,
  limit: vec2u,
  measured: u32,
  aim: u32,
}

struct Scale {
  // Wavelet taps, low-pass and high-pass.
  low: vec4i,
  high: vec4i,
  // Columns and rows: of the source, of the bands, the first that are measured and how many.
  source: vec2u,
  size: vec2u,
  first: vec2u,
  count: vec2u,
  // Of scales 1 to 3: words of a coefficient of the source, shifts of the sums of columns and of rows.
  source_words: u32,
  line_shift: u32,
  band_shift: u32,
  bit_depth: u32,
  // Shifts of a denominator's squares, of its cubes and of the sum of a row.
  cubes: vec3u,
  // Shifts of a numerator's cubes and of the sum of a row.
  cube_shift: u32,
  row_shift: u32,
  // Pieces that rows are measured in.
  segments: u32,
  // Where the sums of the scale stand among the results.
  results: u32,
  variants: array<Variant, 64>,
}

@group(0) @binding(0) var<uniform> scale: Scale;

// Sign-extends the lower half of a word.
fn narrow(x: i32) -> i32 {
  return extractBits(x, 0u, 16u);
}
