// wide.wgsl - integers of 64 to 128 bits and the mantissas of IEEE numbers, made of 32-bit words.
//
// Words stand lowest first: vec2u is 64 bits, vec3u 96, vec4u 128; signed ones are two's complement. An f32 only estimates
// a digit of a quotient, which the integer remainder corrects: WGSL's f32 is not reproducible.

fn mul_32(a: u32, b: u32) -> vec2u {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let middle = ah * bl + ((al * bl) >> 16u);
  let cross = al * bh + (middle & 0xffffu);
  return vec2u(a * b, ah * bh + (middle >> 16u) + (cross >> 16u));
}

fn mul_32_signed(a: i32, b: i32) -> vec2u {
  let product = mul_32(u32(a), u32(b));
  return vec2u(product.x, product.y - select(0u, u32(b), a < 0) - select(0u, u32(a), b < 0));
}

fn add_64(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + u32(low < a.x));
}

fn sub_64(a: vec2u, b: vec2u) -> vec2u {
  return vec2u(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn negate_64(a: vec2u) -> vec2u {
  return sub_64(vec2u(), a);
}

fn negative_64(a: vec2u) -> bool {
  return (a.y >> 31u) != 0u;
}

// The magnitude of a signed number, as an unsigned one.
fn abs_64(a: vec2u) -> vec2u {
  return select(a, negate_64(a), negative_64(a));
}

fn extend_64(a: i32) -> vec2u {
  return vec2u(u32(a), u32(a >> 31u));
}

fn less_64(a: vec2u, b: vec2u) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn less_64_signed(a: vec2u, b: vec2u) -> bool {
  return less_64(a ^ vec2u(0u, 0x80000000u), b ^ vec2u(0u, 0x80000000u));
}

// Shifts by 0..63. A word that moves by 32 - n moves by 31 - n and by 1, so that n may be 0.
fn shl_64(a: vec2u, n: u32) -> vec2u {
  let m = n & 31u;
  let low = a.x << m;
  let high = (a.y << m) | ((a.x >> (31u - m)) >> 1u);
  return select(vec2u(low, high), vec2u(0u, low), n >= 32u);
}

fn shr_64(a: vec2u, n: u32) -> vec2u {
  let m = n & 31u;
  let high = a.y >> m;
  let low = (a.x >> m) | ((a.y << (31u - m)) << 1u);
  return select(vec2u(low, high), vec2u(high, 0u), n >= 32u);
}

fn shr_64_signed(a: vec2u, n: u32) -> vec2u {
  let m = n & 31u;
  let high = u32(i32(a.y) >> m);
  let low = (a.x >> m) | ((a.y << (31u - m)) << 1u);
  return select(vec2u(low, high), vec2u(high, u32(i32(a.y) >> 31u)), n >= 32u);
}

// (a + 2^(n-1)) >> n in wrapping 64 bits, unsigned and signed, n in 0..63; a itself for n = 0.
fn round_shr_64(a: vec2u, n: u32) -> vec2u {
  return shr_64(add_64(a, shr_64(shl_64(vec2u(1u, 0u), n), 1u)), n);
}

fn round_shr_64_signed(a: vec2u, n: u32) -> vec2u {
  return shr_64_signed(add_64(a, shr_64(shl_64(vec2u(1u, 0u), n), 1u)), n);
}

// a / 2^n rounded to nearest, ties to even; n in 0..63.
fn round_shr_even_64(a: vec2u, n: u32) -> vec2u {
  let whole = shr_64(a, n);
  let rest = shl_64(shl_64(a, 63u - n), 1u);
  let half = vec2u(0u, 0x80000000u);
  let up = less_64(half, rest) || (all(rest == half) && (whole.x & 1u) != 0u);
  return add_64(whole, vec2u(u32(up), 0u));
}

fn mul_64_32(a: vec2u, b: u32) -> vec3u {
  let low = mul_32(a.x, b);
  let high = add_64(mul_32(a.y, b), vec2u(low.y, 0u));
  return vec3u(low.x, high);
}

fn mul_64(a: vec2u, b: vec2u) -> vec4u {
  let low = mul_64_32(a, b.x);
  let high = mul_64_32(a, b.y);
  let middle = add_64(low.yz, high.xy);
  let carry = u32(less_64(middle, low.yz));
  return vec4u(low.x, middle, high.z + carry);
}

// The lower 64 bits of a product.
fn mul_64_low(a: vec2u, b: vec2u) -> vec2u {
  return mul_32(a.x, b.x) + vec2u(0u, a.x * b.y + a.y * b.x);
}

// Significant bits: 0 for 0.
fn bits_32(a: u32) -> u32 {
  return 32u - countLeadingZeros(a);
}

fn bits_64(a: vec2u) -> u32 {
  return select(bits_32(a.x), 32u + bits_32(a.y), a.y != 0u);
}

fn bits_128(a: vec4u) -> u32 {
  return select(bits_64(a.xy), 64u + bits_64(a.zw), any(a.zw != vec2u()));
}

fn sub_128(a: vec4u, b: vec4u) -> vec4u {
  let borrow = u32(less_64(a.xy, b.xy));
  return vec4u(sub_64(a.xy, b.xy), sub_64(sub_64(a.zw, b.zw), vec2u(borrow, 0u)));
}

// a << n for n in 0..127.
fn shl_128(a: vec4u, n: u32) -> vec4u {
  let m = n & 63u;
  let low = shl_64(a.xy, m);
  let high = shl_64(a.zw, m) | shr_64(shr_64(a.xy, 63u - m), 1u);
  return select(vec4u(low, high), vec4u(0u, 0u, low), n >= 64u);
}

// An unsigned number, mantissa * 2^exponent, with the highest of the mantissa's 53 (or 24) bits set; 0 has mantissa 0 and an
// exponent below all others.
struct Float53 {
  mantissa: vec2u,
  exponent: i32,
}

struct Float24 {
  mantissa: u32,
  exponent: i32,
}

const ZERO_EXPONENT = -65536;

// a * 2^exponent rounded to 53 bits, ties to even: as a double has it within its range.
fn round_53(a: vec4u, exponent: i32) -> Float53 {
  let bits = bits_128(a);
  if (bits == 0u) {
    return Float53(vec2u(), ZERO_EXPONENT);
  }
  let top = shl_128(a, 128u - bits);
  let whole = shr_64(top.zw, 11u);
  let rest = vec3u(top.xy, top.z & 0x7ffu);
  let more = rest.z > 0x400u || (rest.z == 0x400u && any(rest.xy != vec2u()));
  let tie = rest.z == 0x400u && all(rest.xy == vec2u());
  let mantissa = add_64(whole, vec2u(u32(more || (tie && (whole.x & 1u) != 0u)), 0u));
  let carried = mantissa.y >> 21u;
  return Float53(shr_64(mantissa, carried), exponent + i32(bits) - 53 + i32(carried));
}

// a * 2^exponent rounded to 24 bits, ties to even: as an f32 ought to have it.
fn round_24(a: vec2u, exponent: i32) -> Float24 {
  let bits = bits_64(a);
  if (bits == 0u) {
    return Float24(0u, ZERO_EXPONENT);
  }
  let top = shl_64(a, 64u - bits);
  let whole = top.y >> 8u;
  let rest = vec2u(top.x, top.y & 0xffu);
  let more = rest.y > 0x80u || (rest.y == 0x80u && rest.x != 0u);
  let tie = rest.y == 0x80u && rest.x == 0u;
  let mantissa = whole + u32(more || (tie && (whole & 1u) != 0u));
  let carried = mantissa >> 24u;
  return Float24(mantissa >> carried, exponent + i32(bits) - 24 + i32(carried));
}

fn less_53(a: Float53, b: Float53) -> bool {
  return a.exponent < b.exponent || (a.exponent == b.exponent && less_64(a.mantissa, b.mantissa));
}

// The integer part of a number below 2^64.
fn trunc_53(a: Float53) -> vec2u {
  if (a.exponent >= 0) {
    return shl_64(a.mantissa, u32(a.exponent));
  }
  return select(shr_64(a.mantissa, u32(-a.exponent)), vec2u(), a.exponent <= -64);
}

// Product and quotient of two numbers as doubles have them, for a divisor that is not 0.
fn mul_53(a: Float53, b: Float53) -> Float53 {
  return round_53(mul_64(a.mantissa, b.mantissa), a.exponent + b.exponent);
}

fn div_53(a: Float53, b: Float53) -> Float53 {
  if (all(a.mantissa == vec2u())) {
    return a;
  }
  // The quotient of the mantissas, shifted to lie in 1..2: a first digit of 1 and three of 18 bits, then whether more follows.
  let shift = u32(less_64(a.mantissa, b.mantissa));
  var rest = sub_64(shl_64(a.mantissa, shift), b.mantissa);
  var quotient = vec2u(1u, 0u);
  let reciprocal = 262144.0 / estimate_64(b.mantissa);
  for (var i = 0; i < 3; i++) {
    // A quarter too small: the true digit or the one before it. What is left is below 2^54, so 64 bits may wrap.
    var digit = u32(max(estimate_64(rest) * reciprocal - 0.25, 0.0));
    rest = sub_64(shl_64(rest, 18u), mul_64_low(b.mantissa, vec2u(digit, 0u)));
    if (!less_64(rest, b.mantissa)) {
      rest = sub_64(rest, b.mantissa);
      digit++;
    }
    quotient = add_64(shl_64(quotient, 18u), vec2u(digit, 0u));
  }
  let sticky = u32(any(rest != vec2u()));
  let wide = shl_64(quotient, 1u) | vec2u(sticky, 0u);
  return round_53(vec4u(wide, 0u, 0u), a.exponent - b.exponent - 55 - i32(shift));
}

fn estimate_64(a: vec2u) -> f32 {
  return f32(a.y) * 4294967296.0 + f32(a.x);
}

// Quotient and remainder of a / b for 0 < b < 2^31 and a quotient below 2^32.
fn div_64_32(a: vec2u, b: u32) -> vec2u {
  let reciprocal = 1.0 / f32(b);
  // Too small by 2^-16 of itself at most, then by less than 1.
  let first = u32(estimate_64(a) * reciprocal * 0.99999);
  let left = sub_64(a, mul_32(first, b));
  let second = u32(max(estimate_64(left) * reciprocal - 0.25, 0.0));
  let rest = left.x - second * b;
  let more = u32(rest >= b);
  return vec2u(first + second + more, rest - more * b);
}
