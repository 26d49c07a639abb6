// adm-decouple-s123.wgsl - decoupling of scales 1 to 3, in 32 bits.

fn dot_64(a: vec2i, b: vec2i) -> vec2u {
  return add_64(mul_32_signed(a.x, b.x), mul_32_signed(a.y, b.y));
}

fn parallel(o: vec2i, t: vec2i) -> bool {
  return similar(dot_64(o, t), dot_64(o, o), dot_64(t, t));
}

fn restore(o: i32, t: i32, same_angle: bool, variant: Variant) -> i32 {
  // A gain of 0 where the signs differ.
  if (o == 0 || t == 0 || (o ^ t) < 0) {
    return 0;
  }
  let k = gain(u32(abs(o)), u32(abs(t)));
  let upper = o >> 16u;
  let lower = o & 0xffff;
  let r = ((k * upper) << 1u) + ((k * lower + 16384) >> 15u);
  if (same_angle && k > 0) {
    return enhance(r, t, variant);
  }
  return r;
}

// How much of o there is in t, both magnitudes, at most 1: in 15 bits.
fn gain(o: u32, t: u32) -> i32 {
  let bits = bits_32(o);
  let shift = max(bits, 15u) - 15u;
  let divisor = (o + ((1u << shift) >> 1u)) >> shift;
  let k = round_shr_64(mul_32(0x40000000u / divisor, t), 15u + shift);
  return select(i32(min(k.x, 32768u)), 32768, k.y > 0u);
}

fn additive_part(t: vec3i, r: vec3i) -> vec3i {
  return t - r;
}
