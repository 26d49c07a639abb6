// samples.wgsl - samples of a packed plane, and what stands for those beyond its edges (wasm/src/filters.h).

// Bytes of a sample: 1 or 2.
override SAMPLE_BYTES: u32;

struct Format {
  width: u32,
  height: u32,
  bit_depth: u32,
}

// The word of a plane that holds sample i.
fn word_of(i: u32) -> u32 {
  return select(i >> 2u, i >> 1u, SAMPLE_BYTES == 2u);
}

// Sample i, cut out of its word.
fn sample_in(word: u32, i: u32) -> u32 {
  return select((word >> (8u * (i & 3u))) & 0xffu, (word >> (16u * (i & 1u))) & 0xffffu, SAMPLE_BYTES == 2u);
}

// Whole-sample mirror: -1 -> 1, n -> n - 2. Clamped for what a tile has beyond its picture, which no result uses.
fn mirror(i: i32, n: u32) -> u32 {
  let size = i32(n);
  return u32(clamp(select(abs(i), 2 * size - 2 - i, i >= size), 0, size - 1));
}

// Mirror of legacy motion: -1 -> 1 at the start, the edge sample repeated at the end: n -> n - 1.
fn mirror_repeat_end(i: i32, n: u32) -> u32 {
  let size = i32(n);
  return u32(clamp(select(abs(i), 2 * size - 1 - i, i >= size), 0, size - 1));
}
