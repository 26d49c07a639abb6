/**
 * @module engine/backends/webgpu/wgsl.d
 * Shader files, which the build joins in as text.
 */
declare module '*.wgsl' {
  const source: string;
  export default source;
}
