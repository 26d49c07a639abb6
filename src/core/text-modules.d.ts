/**
 * @module core/text-modules.d
 * Modules that the build (scripts/lib/text-modules.mjs) turns into text: shaders, and scripts of single-file pages.
 */
declare module '*.wgsl' {
  const source: string;
  export default source;
}
declare module '*.js?script' {
  const script: string;
  export default script;
}
