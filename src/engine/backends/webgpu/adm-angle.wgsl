// adm-angle.wgsl - do two gradients point the same way, within one degree (spec 4.5)?

// The mantissa of cos^2 of one degree in single precision, 24 bits (wasm/src/adm.h).
const COS_SQUARED = 0xffec0au;

// dp^2 >= cos^2 * om * tm where dp, om and tm are rounded to binary32 and the right side to binary64. dp is signed; om and
// tm are the squared lengths of the gradients.
fn similar(dp: vec2u, om: vec2u, tm: vec2u) -> bool {
  if (all(om == vec2u()) || all(tm == vec2u())) {
    return true;
  }
  if (negative_64(dp) || all(dp == vec2u())) {
    return false;
  }
  // Estimates decide, wrong by 2^-19 at most, unless both sides are near each other.
  let x = estimate_64(dp) * 0x1p-32;
  let limit = f32(COS_SQUARED) * 0x1p-24 * (estimate_64(om) * 0x1p-32) * (estimate_64(tm) * 0x1p-32);
  let more = x * x - limit;
  if (abs(more) > limit * 0x1p-16) {
    return more > 0.0;
  }
  return similar_exactly(dp, om, tm);
}

fn similar_exactly(dp: vec2u, om: vec2u, tm: vec2u) -> bool {
  let x = round_24(dp, 0);
  let o = round_24(om, 0);
  let t = round_24(tm, 0);
  let shift = 2 * x.exponent - (o.exponent + t.exponent - 24);
  // A square has 47 or 48 bits, the product on the right 70 to 72.
  if (shift < 20 || shift > 27) {
    return shift > 27;
  }
  // Rounding the right side to 53 bits gives the square, whose last bit is 0, up to half a unit above it. So this half is
  // added to the square, and the product stays as it is.
  let square = mul_32(x.mantissa, x.mantissa);
  let half = 1u + (square.y >> 15u);
  let left = shl_128(vec4u(add_64(shl_64(square, 7u), vec2u(half, 0u)), 0u, 0u), u32(shift - 7));
  let right = mul_64_32(mul_32(COS_SQUARED, o.mantissa), t.mantissa);
  return left.z > right.z || (left.z == right.z && !less_64(left.xy, right.xy));
}
