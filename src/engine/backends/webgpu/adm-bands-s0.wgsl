// adm-bands-s0.wgsl - bands h, v, d of scale 0, as adm-wavelet-s0.wgsl stores them.

@group(0) @binding(1) var<storage, read> reference: array<vec2u>;
@group(0) @binding(2) var<storage, read> distorted: array<vec2u>;

fn unpacked(words: vec2u) -> vec3i {
  let x = vec2i(words);
  return vec3i(narrow(x.x), x.x >> 16u, narrow(x.y));
}

fn reference_at(index: u32) -> vec3i {
  return unpacked(reference[index]);
}

fn distorted_at(index: u32) -> vec3i {
  return unpacked(distorted[index]);
}
