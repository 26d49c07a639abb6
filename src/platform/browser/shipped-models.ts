/**
 * @module platform/browser/shipped-models
 * Addresses of the package's `model/` files in a page, each in one expression, so that bundlers find and ship the file.
 */
const SHIPPED: ReadonlyMap<string, () => URL> = new Map([
  ['registry.json', () => new URL('../../../model/registry.json', import.meta.url)],
  ['vmaf_4k_v0.6.1.json', () => new URL('../../../model/vmaf_4k_v0.6.1.json', import.meta.url)],
  ['vmaf_4k_v0.6.1neg.json', () => new URL('../../../model/vmaf_4k_v0.6.1neg.json', import.meta.url)],
  ['vmaf_b_v0.6.3.json', () => new URL('../../../model/vmaf_b_v0.6.3.json', import.meta.url)],
  ['vmaf_v0.6.1.json', () => new URL('../../../model/vmaf_v0.6.1.json', import.meta.url)],
  ['vmaf_v0.6.1neg.json', () => new URL('../../../model/vmaf_v0.6.1neg.json', import.meta.url)],
  ['tiny/registry.json', () => new URL('../../../model/tiny/registry.json', import.meta.url)],
  ['tiny/fr_vmaf_v0.6.1.json', () => new URL('../../../model/tiny/fr_vmaf_v0.6.1.json', import.meta.url)],
  ['tiny/fr_vmaf_v0.6.1.onnx', () => new URL('../../../model/tiny/fr_vmaf_v0.6.1.onnx', import.meta.url)],
  [
    'tiny/fr_vmaf_v1.0.16_3d0h.json',
    () => new URL('../../../model/tiny/fr_vmaf_v1.0.16_3d0h.json', import.meta.url),
  ],
  [
    'tiny/fr_vmaf_v1.0.16_3d0h.onnx',
    () => new URL('../../../model/tiny/fr_vmaf_v1.0.16_3d0h.onnx', import.meta.url),
  ],
  ['tiny/nr_vmaf_v0.6.1.json', () => new URL('../../../model/tiny/nr_vmaf_v0.6.1.json', import.meta.url)],
  ['tiny/nr_vmaf_v0.6.1.onnx', () => new URL('../../../model/tiny/nr_vmaf_v0.6.1.onnx', import.meta.url)],
]);

/**
 * Address of a built-in model's file; `undefined` if it does not ship.
 * @param file path within `model/`, such as `tiny/registry.json`
 * @param folder the host's own folder of the models, ending in `/`
 */
export function shippedModel(file: string, folder: string | URL | undefined): URL | undefined {
  return folder === undefined ? SHIPPED.get(file)?.() : new URL(file, new URL(folder, location.href));
}

export function shippedModels(): readonly string[] {
  return [...SHIPPED.keys()];
}
