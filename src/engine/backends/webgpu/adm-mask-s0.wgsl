// adm-mask-s0.wgsl - contrast of scale 0, and what it masks (spec 4.7, 4.8). Products wrap as 16 and 32 bits do.

// Shifts of the threshold, of squares, and of cubes, by band.
const THRESHOLD_SHIFTS = vec3u(10u, 10u, 12u);
const SQUARE_SHIFTS = vec3u(29u, 29u, 30u);
const LESS_CUBE_SHIFTS = vec3u(4u, 4u, 3u);

// A thirtieth and a fifteenth in 12 bits after the point.
const THIRTIETH = 4369;
const FIFTEENTH = 8738;

// What a pixel masks of its neighbours, and what of itself less than that.
fn mask(x: vec3i, factors: vec2u) -> vec2u {
  var sums = vec2i();
  for (var band = 0; band < 3; band++) {
    let diagonal = band == 2;
    // 65535, not 65536, is the reference's rounding of the diagonal band.
    let product = i32(select(factors.x, factors.y, diagonal)) * x[band] + select(16384, 65535, diagonal);
    let c = abs(narrow(product >> select(15u, 17u, diagonal)));
    sums += vec2i(narrow((THIRTIETH * c + 2048) >> 12u), narrow((FIFTEENTH * c + 2048) >> 12u));
  }
  return vec2u(u32(sums.x), u32(sums.y - sums.x));
}

fn sizes(x: vec3i, factors: vec2u) -> vec3u {
  return vec3u(abs(x * vec3i(factors.xxy)));
}
