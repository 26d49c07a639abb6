// adm-decouple.wgsl - the restored part of the distorted picture's detail, and the additive rest (spec 4.5).
//
// Another file says what its scales have: the parallel gradients, and restored coefficients before their enhancement.

struct Parts {
  restored: vec3i,
  additive: vec3i,
}

fn decouple(o: vec3i, t: vec3i, variant: Variant) -> Parts {
  let same_angle = parallel(o.xy, t.xy);
  var restored: vec3i;
  for (var band = 0; band < 3; band++) {
    restored[band] = restore(o[band], t[band], same_angle, variant);
  }
  return Parts(restored, additive_part(t, restored));
}

// A restored coefficient, enhanced by at most the gain limit: of the sign of the reference's, and of the distorted one's.
fn enhance(r: i32, t: i32, variant: Variant) -> i32 {
  let most = i32(min(times_limit(u32(abs(r)), variant), u32(abs(t))));
  return select(most, -most, t < 0);
}

// The integer part of a magnitude times the gain limit as a double has it; what is above 32 bits becomes the largest.
fn times_limit(r: u32, variant: Variant) -> u32 {
  var product = vec2u();
  if (variant.whole_limit > 0u) {
    product = mul_32(r, variant.whole_limit);
  } else {
    let exact = mul_64_32(variant.limit, r);
    let bits = bits_128(vec4u(exact, 0u));
    // Rounding to 53 bits can reach the next integer: from half a unit below it.
    let half = select(0u, 1u << (max(bits, 54u) - 54u), bits > 53u);
    let carry = u32(exact.x + half < half);
    product = shr_64(add_64(exact.yz, vec2u(carry, 0u)), variant.limit_shift - 32u);
  }
  return select(product.x, 0xffffffffu, product.y > 0u);
}
