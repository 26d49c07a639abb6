// adm-mask-s123.wgsl - contrast of scales 1 to 3, and what it masks (spec 4.7, 4.8). Sums wrap as 32 bits do.

const THRESHOLD_SHIFTS = vec3u(0u);
const SQUARE_SHIFTS = vec3u(30u);
const LESS_CUBE_SHIFTS = vec3u(0u);

// A thirtieth and a fifteenth in 32 bits after the point.
const THIRTIETH = 143165577u;
const FIFTEENTH = 286331153u;

fn mask(x: vec3i, factors: vec2u) -> vec2u {
  let size = sizes(x, factors);
  var sums = vec2u();
  for (var band = 0; band < 3; band++) {
    sums += vec2u(part(size[band], THIRTIETH), part(size[band], FIFTEENTH));
  }
  return vec2u(sums.x, sums.y - sums.x);
}

// The reference's rounding constant is minus a half: zero gives -1.
fn part(size: u32, factor: u32) -> u32 {
  let product = mul_32(size, factor);
  return product.y - u32(product.x < 0x80000000u);
}

fn sizes(x: vec3i, factors: vec2u) -> vec3u {
  return vec3u(weight(factors.x, x.x), weight(factors.x, x.y), weight(factors.y, x.z));
}

// The lower 32 bits of the rounded product, as a magnitude.
fn weight(factor: u32, x: i32) -> u32 {
  let product = mul_32(factor, u32(x)) - vec2u(0u, select(0u, factor, x < 0));
  let rounded = add_64(product, vec2u(1u << 27u, 0u));
  return u32(abs(i32((rounded.x >> 28u) | (rounded.y << 4u))));
}
