// vif-picture.wgsl - the source of VIF's first steps: the luma planes of a pair, 8 or 16 bits a sample.

@group(0) @binding(1) var<storage, read> reference: array<u32>;
@group(0) @binding(2) var<storage, read> distorted: array<u32>;

// The samples of both planes at a place, brought to 16 bits: reference below, distorted above.
fn load(at: u32) -> u32 {
  let word = at >> level.word_shift;
  let shift = (at & ((1u << level.word_shift) - 1u)) * (32u >> level.word_shift);
  let r = ((reference[word] >> shift) << level.sample_shift) & 0xffffu;
  let d = (distorted[word] >> shift) << level.sample_shift;
  return r | (d << 16u);
}
