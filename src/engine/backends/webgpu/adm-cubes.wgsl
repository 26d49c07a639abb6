// adm-cubes.wgsl - the denominator: for each row the sums of cubes of the reference's bands, rounded (spec 4.9).

const INVOCATIONS = 64u;

// By band and by row.
@group(0) @binding(3) var<storage, read_write> rows: array<vec2u>;

var<workgroup> totals: array<array<vec2u, 3>, INVOCATIONS>;

fn cube(z: u32) -> vec2u {
  // A full unit is added before the shift, not a half: as the reference does. Scale 0 shifts nothing.
  let unit = select(0u, 1u << scale.cubes.x, scale.cubes.x > 0u);
  let square = shr_64(add_64(mul_32(z, z), vec2u(unit, 0u)), scale.cubes.x).x;
  return round_shr_64(mul_32(square, z), scale.cubes.y);
}

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  let at_first = (scale.first.y + group.x) * scale.size.x + scale.first.x;
  var mine: array<vec2u, 3>;
  for (var column = index; column < scale.count.x; column += INVOCATIONS) {
    let z = vec3u(abs(reference_at(at_first + column)));
    for (var band = 0; band < 3; band++) {
      mine[band] = add_64(mine[band], cube(z[band]));
    }
  }
  totals[index] = mine;
  for (var step = INVOCATIONS / 2u; step > 0u; step >>= 1u) {
    workgroupBarrier();
    if (index < step) {
      for (var band = 0; band < 3; band++) {
        totals[index][band] = add_64(totals[index][band], totals[index + step][band]);
      }
    }
  }
  workgroupBarrier();
  if (index < 3u) {
    rows[index * scale.count.y + group.x] = round_shr_64(totals[0][index], scale.cubes.z);
  }
}
