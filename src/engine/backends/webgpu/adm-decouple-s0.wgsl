// adm-decouple-s0.wgsl - decoupling of scale 0, in 16 bits.

fn parallel(o: vec2i, t: vec2i) -> bool {
  let dp = dot(o, t);
  // Of the sums only 2^31 is no i32, and no other sum has its bits.
  let high = select(0u, 0xffffffffu, dp < 0 && u32(dp) != 0x80000000u);
  return similar(vec2u(u32(dp), high), vec2u(u32(dot(o, o)), 0u), vec2u(u32(dot(t, t)), 0u));
}

fn restore(o: i32, t: i32, same_angle: bool, variant: Variant) -> i32 {
  var r: i32;
  var gained: bool;
  if (abs(o) <= 16384) {
    // The gain in 15 bits times a coefficient this small, rounded, is the distorted coefficient itself between 0 and o.
    r = clamp(t, min(o, 0), max(o, 0));
    gained = r != 0;
  } else {
    let reciprocal = i32(0x40000000u / u32(abs(o))) * sign(o);
    let k = clamp((reciprocal * t + 16384) >> 15u, 0, 32768);
    r = narrow((k * o + 16384) >> 15u);
    gained = k > 0;
  }
  if (same_angle && gained) {
    r = narrow(enhance(r, t, variant));
  }
  return r;
}

fn additive_part(t: vec3i, r: vec3i) -> vec3i {
  let rest = t - r;
  return vec3i(narrow(rest.x), narrow(rest.y), narrow(rest.z));
}
