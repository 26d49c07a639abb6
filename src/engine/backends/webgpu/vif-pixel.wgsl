// vif-pixel.wgsl - what a pixel adds to the sums of VIF (spec 3.5), equal to the core's doubles. Follows wide.wgsl.
//
// With N = s12, g = N / (s1 + e), e = 65536e-10, the core truncates s2 - g * N and g^2 * s1, both less than 2^31, after
// roundings that move them by less than 2^-19. With N^2 = Q * s1 + R they are s2 - (Q + f) and Q + h, where
// f = R / s1 - g^2 * e and h = R / s1 - 2 * g^2 * e lie in -1/4..1 and an f32 has them to 2^-20. So Q alone tells the integers
// unless f or h is next to 0 or 1; only then are the doubles computed.
//
// Q < 2^31 holds for the variances of filtered samples: rounded means move s1 and N by less than 2^16, and s2 < 2^30.

// Sums over pixels, up to ROWS * LANES of them, in words.
const DEN_LOG = 0u;
const DEN_NON_LOG = 1u;
// Lower and upper halves, added up by themselves.
const NUM_NON_LOG = 2u;
// One for each gain limit.
const NUM_LOG = 4u;
alias Sums = array<u32, 20>;

// How many of them there are.
override SUMS: u32;

// A gain limit: the middle between it and the double before it, its square as a double, and what an f32 makes of it.
struct Limit {
  middle: Float53,
  square: Float53,
  // 48 bytes in all, as uniforms need.
  @size(16) estimate: f32,
}

// 2048 * log2 of 32768..65535 is a line and these bytes, four a word (the core's VifTables.offsets).
@group(0) @binding(4) var<storage, read> log_offsets: array<u32>;
@group(0) @binding(5) var<uniform> limits: array<Limit, 16>;

const NSQ = 131072u;
// 65536e-10 * 2^70: the mantissa of that double.
const EPSILON = vec2u(0xd9d7bdbbu, 0x1b7cdfu);
const EPSILON_ESTIMATE = 6.5536e-6;
// Closer to an integer than this an estimate does not tell on which side a number is.
const MARGIN = 3.8146973e-6;

// 2048 * log2 of x >= 2^16, low bits truncated.
fn fixed_log2(x: u32) -> u32 {
  let k = bits_32(x) - 16u;
  let m = (x >> k) - 32768u;
  let offset = (log_offsets[m >> 2u] >> (8u * (m & 3u))) & 0xffu;
  return 30720u + (m >> 4u) + offset + 2048u * k;
}

fn add_pixel(s1: i32, s2_signed: i32, s12: i32, sums: ptr<function, Sums>) {
  let s2 = u32(max(s2_signed, 0));
  if (s1 < i32(NSQ)) {
    (*sums)[NUM_NON_LOG] += s2 & 0xffffu;
    (*sums)[NUM_NON_LOG + 1u] += s2 >> 16u;
    (*sums)[DEN_NON_LOG] += 1u;
    return;
  }
  (*sums)[DEN_LOG] += fixed_log2(NSQ + u32(s1)) - 2048u * 17u;
  if (s12 <= 0 || s2 == 0u) {
    return;
  }
  let gain = gain_of(u32(s1), s2, u32(s12));
  let noise = gain.rest + NSQ;
  let noise_log = fixed_log2(noise);
  for (var k = NUM_LOG; k < SUMS; k++) {
    (*sums)[k] += fixed_log2(limited(gain, limits[k - NUM_LOG]) + noise) - noise_log;
  }
}

// How much of the distorted pixel's variance the reference explains.
struct Gain {
  s1: u32,
  s12: u32,
  // g, about
  estimate: f32,
  // trunc(g^2 * s1)
  explained: u32,
  // max(0, trunc(s2 - g * s12))
  rest: u32,
}

fn gain_of(s1: u32, s2: u32, s12: u32) -> Gain {
  let square = div_64_32(mul_32(s12, s12), s1);
  let estimate = f32(s12) / f32(s1);
  let correction = EPSILON_ESTIMATE * estimate * estimate;
  let f = f32(square.y) / f32(s1) - correction;
  let h = f - correction;
  if (min(abs(f), abs(h)) < MARGIN || max(f, h) > 1.0 - MARGIN) {
    return exact_gain(s1, s2, s12, estimate);
  }
  let whole = square.x - u32(f < 0.0);
  let rest = select(0u, s2 - whole - 1u, s2 > whole);
  return Gain(s1, s12, estimate, square.x - u32(h < 0.0), rest);
}

fn whole_53(a: u32) -> Float53 {
  let bits = bits_32(a);
  return Float53(shl_64(vec2u(a, 0u), 53u - bits), i32(bits) - 53);
}

// s1 + e as a double.
fn divisor(s1: u32) -> Float53 {
  return round_53(vec4u(EPSILON, s1 << 6u, s1 >> 26u), -70);
}

fn exact_gain(s1: u32, s2: u32, s12: u32, estimate: f32) -> Gain {
  let g = div_53(whole_53(s12), divisor(s1));
  let explained = trunc_53(mul_53(mul_53(g, g), whole_53(s1))).x;
  // s2 - g * s12 in steps of 2^-96: the product is below 2^31 and not below 2^-32.
  let product = mul_53(g, whole_53(s12));
  let difference = sub_128(vec4u(0u, 0u, 0u, s2), shl_128(vec4u(product.mantissa, 0u, 0u), u32(product.exponent + 96)));
  let rest = select(trunc_53(round_53(difference, -96)).x, 0u, (difference.w >> 31u) != 0u);
  return Gain(s1, s12, estimate, explained, rest);
}

// trunc(min(g, limit)^2 * s1)
fn limited(gain: Gain, limit: Limit) -> u32 {
  let below = gain.estimate - limit.estimate;
  var under = below < 0.0;
  if (abs(below) < limit.estimate * 1e-5) {
    under = exactly_under(gain, limit);
  }
  if (under) {
    return gain.explained;
  }
  // The product has 70 to 84 bits, of which a double keeps 53. Half of what it drops, added, reaches the integer part exactly
  // when rounding does: a tie at a fraction of ones rounds up.
  let product = mul_64_32(limit.square.mantissa, gain.s1);
  let half = 1u << (bits_32(product.z) + 10u);
  let carry = u32(product.x + half < half);
  return shr_64(add_64(product.yz, vec2u(carry, 0u)), u32(-32 - limit.square.exponent)).x;
}

// Whether the double g is below the limit: the exact quotient is below the middle that separates them. It never lies on
// it, since the middle has more odd bits than s12.
fn exactly_under(gain: Gain, limit: Limit) -> bool {
  let d = divisor(gain.s1);
  let most = mul_64(limit.middle.mantissa, d.mantissa);
  let scaled = shl_128(vec4u(gain.s12, 0u, 0u, 0u), u32(-limit.middle.exponent - d.exponent));
  return (sub_128(scaled, most).w >> 31u) != 0u;
}
