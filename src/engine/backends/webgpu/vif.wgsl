// vif.wgsl - what the passes over VIF's levels share. A level's samples have 16 bits; a pair of them is one word.
//
// For a filter F that sums to 65536 and X = 2^16 H + L: (sum F*X + 2^15) >> 16 = sum F*H + ((sum F*L + 2^15) >> 16), so
// no sum needs more than 32 bits.

const LANES = 128u;
// Rows of outputs of a workgroup.
const ROWS = 4u;

struct Level {
  width: u32,
  height: u32,
  // Of a picture: log2 of the samples in a word, and what brings a sample to 16 bits.
  word_shift: u32,
  sample_shift: u32,
  // Samples that the filter reaches to either side.
  reach: u32,
  // Where this dispatch begins: rows of workgroups.
  first_row: u32,
  // Where the sums of this level begin, and how many its workgroups leave of each.
  partials: u32,
  workgroups: u32,
  // For each sample of a run: its weight in four outputs. Of four rows, or of two columns one after the other.
  weights: array<vec4u, 20>,
}

@group(0) @binding(0) var<uniform> level: Level;

// Whole-sample mirror at both ends; what no output needs may be any place.
fn mirror(i: i32, n: u32) -> u32 {
  return u32(clamp(min(abs(i), abs(2 * i32(n) - 2 - i)), 0, i32(n) - 1));
}

// Rounds the sums of lower halves of a packed pair's filter: (L + 2^15) >> 16 of both.
fn round_pair(reference: u32, distorted: u32) -> u32 {
  return ((reference + 0x8000u) >> 16u) | ((distorted + 0x8000u) & 0xffff0000u);
}
