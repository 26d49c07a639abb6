/**
 * @module engine/backends/webgpu/wgsl.d
 * Shader files; the build includes them as text.
 */
declare module '*.wgsl' {
  const source: string;
  export default source;
}
