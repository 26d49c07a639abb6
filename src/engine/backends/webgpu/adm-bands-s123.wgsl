// adm-bands-s123.wgsl - bands h, v, d of scales 1 to 3, as adm-wavelet-s123.wgsl stores them.

@group(0) @binding(1) var<storage, read> reference: array<vec4i>;
@group(0) @binding(2) var<storage, read> distorted: array<vec4i>;

fn reference_at(index: u32) -> vec3i {
  return reference[index].xyz;
}

fn distorted_at(index: u32) -> vec3i {
  return distorted[index].xyz;
}
