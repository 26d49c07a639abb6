// adm-contrast.wgsl - sums of cubes of the contrast above its threshold: of the restored part masked by the additive one,
// and the other way round for AIM (spec 4.8). Rows are summed in pieces of some tiles; adm-rows.wgsl joins and rounds them.

const WIDE = 16u;
const HIGH = 8u;
const INVOCATIONS = WIDE * HIGH;
// Of a tile with its neighbours.
const SPAN = WIDE + 2u;
const BORDER = 2u * (SPAN + HIGH);

override TILES: u32;

// By parameter set: bands h, v, d of the restored part, then of the additive one; then by piece and by row.
@group(0) @binding(3) var<storage, read_write> pieces: array<vec2u>;

// What pixels mask of their neighbours: by the additive part, by the restored part.
var<workgroup> masks: array<vec2u, SPAN * (HIGH + 2u)>;
var<workgroup> totals: array<array<vec2u, 3>, INVOCATIONS>;

// Mirrored at the start, the edge repeated at the end.
fn neighbour_at(p: i32, n: u32) -> u32 {
  return u32(min(abs(p), i32(n) - 1));
}

struct Pixel {
  parts: Parts,
  // What it masks of itself, less than of its neighbours.
  centre: vec2u,
}

// Decouples the pixel of a place in the tile and its border, and leaves there what it masks.
fn prepare(tile: vec2i, place: vec2u, variant: Variant) -> Pixel {
  let x = neighbour_at(tile.x + i32(place.x), scale.size.x);
  let y = neighbour_at(tile.y + i32(place.y), scale.size.y);
  let index = y * scale.size.x + x;
  let parts = decouple(reference_at(index), distorted_at(index), variant);
  let by_additive = mask(parts.additive, variant.factors);
  let by_restored = mask(parts.restored, variant.factors);
  masks[place.y * SPAN + place.x] = vec2u(by_additive.x, by_restored.x);
  return Pixel(parts, vec2u(by_additive.y, by_restored.y));
}

// The places of a tile, then those around it: the row above, the row below, left and right of each row.
fn place_of(slot: u32) -> vec2u {
  if (slot < INVOCATIONS) {
    return vec2u(slot % WIDE, slot / WIDE) + 1u;
  }
  let above = slot - INVOCATIONS;
  if (above < 2u * SPAN) {
    return vec2u(above % SPAN, (above / SPAN) * (HIGH + 1u));
  }
  let side = above - 2u * SPAN;
  return vec2u((side & 1u) * (SPAN - 1u), 1u + (side >> 1u));
}

// Sum of what a pixel of the tile and its neighbours mask.
fn masked_around(at: vec2u) -> vec2u {
  var sum = vec2u();
  for (var y = 0u; y < 3u; y++) {
    for (var x = 0u; x < 3u; x++) {
      sum += masks[(at.y + y) * SPAN + at.x + x];
    }
  }
  return sum;
}

// Adds the cubes of what is above the threshold.
fn add_cubes(total: ptr<function, array<vec2u, 3>>, x: vec3i, threshold: u32, variant: Variant) {
  let size = sizes(x, variant.factors);
  for (var band = 0; band < 3; band++) {
    let y = i32(size[band] - (threshold << THRESHOLD_SHIFTS[band]));
    if (y > 0) {
      let square = i32(round_shr_64(mul_32(u32(y), u32(y)), SQUARE_SHIFTS[band]).x);
      let cube = round_shr_64_signed(mul_32_signed(square, y), scale.cube_shift - LESS_CUBE_SHIFTS[band]);
      (*total)[band] = add_64((*total)[band], cube);
    }
  }
}

@compute @workgroup_size(WIDE, HIGH)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) index: u32,
) {
  let variant = scale.variants[group.z];
  if (variant.measured == 0u) {
    return;
  }
  let row = group.y * HIGH + local.y;
  var restored: array<vec2u, 3>;
  var additive: array<vec2u, 3>;
  for (var i = 0u; i < TILES; i++) {
    let column = (group.x * TILES + i) * WIDE;
    if (column >= scale.count.x) {
      break;
    }
    let tile = vec2i(scale.first + vec2u(column, group.y * HIGH)) - 1;
    var pixel: Pixel;
    for (var slot = index; slot < INVOCATIONS + BORDER; slot += INVOCATIONS) {
      let prepared = prepare(tile, place_of(slot), variant);
      if (slot == index) {
        pixel = prepared;
      }
    }
    workgroupBarrier();
    if (column + local.x < scale.count.x) {
      let threshold = pixel.centre + masked_around(local.xy);
      add_cubes(&restored, pixel.parts.restored, threshold.x, variant);
      if (variant.aim != 0u) {
        add_cubes(&additive, pixel.parts.additive, threshold.y, variant);
      }
    }
    workgroupBarrier();
  }
  leave(restored, group.z * 6u, group.x, row, local.x, index);
  leave(additive, group.z * 6u + 3u, group.x, row, local.x, index);
}

// Sums the columns of each row and leaves them as a piece of it.
fn leave(mine: array<vec2u, 3>, sum: u32, piece: u32, row: u32, column: u32, index: u32) {
  totals[index] = mine;
  for (var step = WIDE / 2u; step > 0u; step >>= 1u) {
    workgroupBarrier();
    if (column < step) {
      for (var band = 0; band < 3; band++) {
        totals[index][band] = add_64(totals[index][band], totals[index + step][band]);
      }
    }
  }
  if (column == 0u && row < scale.count.y) {
    for (var band = 0u; band < 3u; band++) {
      pieces[((sum + band) * scale.segments + piece) * scale.count.y + row] = totals[index][band];
    }
  }
  workgroupBarrier();
}
