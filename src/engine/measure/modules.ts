/**
 * @module engine/measure/modules
 * Loads the WebAssembly modules that a run needs: the core while models load, and perceptual.wasm only for metrics of colour.
 */
import type { CoreModules } from '../../core/module.js';
import type { Platform } from '../contract/platform.js';
import type { Requested } from '../plan/plan.js';

/**
 * @param loading the run's models and features
 * @throws {AnyvmafError} as loading them, `io` or `internal` if a module cannot be loaded
 */
export async function loadModules(
  platform: Pick<Platform, 'loadCore'>,
  loading: Promise<Requested>,
): Promise<readonly [Requested, CoreModules]> {
  const [requested, core] = await Promise.all([loading, platform.loadCore()]);
  const colour = requested.extractors.some(({ spec }) => spec.module === 'perceptual');
  return [requested, { core, ...(colour && { perceptual: await platform.loadCore('perceptual') }) }];
}
