/**
 * @module engine/measure/open
 * Opens the backend of a run: this package's core or an installed program. Prepares it while inputs are opened.
 */
import { type AnyvmafError, usageError } from '../../core/errors.js';
import { isOwnBackend } from '../backends/native/types.js';
import type { CoreOptions, ModelOptions, ProgramOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import type { ScoreOptions } from '../contract/types.js';
import type { Steering } from '../live/steering.js';
import { formatOf, lightOf, type Pair } from '../pair/pair.js';
import { scoredSize } from '../plan/model-texts.js';
import { loadModules, loadRequested } from '../plan/plan.js';
import type { BackendChosen } from './choice.js';
import { openCore } from './core.js';
import type { OpenBackend } from './measurement.js';

/** The run to open a backend for. */
interface BackendRun {
  readonly platform: Platform;
  readonly checked: CoreOptions & ProgramOptions & ModelOptions;
  readonly options: Pick<ScoreOptions, 'onFrame' | 'signal' | 'gate'>;
  /** Of which the format is scored. */
  readonly pair: Promise<Pair>;
  /** Aborts programs. */
  readonly signal: AbortSignal;
  /** Absent where nobody steers. */
  readonly steering?: Steering;
}

/**
 * Starts to load models and the core, or to search for a program.
 * @returns a function that opens the backend for the pair and throws errors of loading or choosing
 */
export function prepareBackend({
  platform,
  checked,
  options,
  pair,
  signal,
  steering,
}: BackendRun): () => Promise<OpenBackend> {
  const { backend } = checked;
  const format = async () => scoredSize(await pair);
  const load = () => loadModules(platform, loadRequested(checked, platform, format));
  const loading = isOwnBackend(backend) ? load() : undefined;
  const choosing = loading ? undefined : choose();
  for (const early of [loading, choosing]) early?.catch(() => {});

  async function choose(): Promise<BackendChosen> {
    const { chooseBackend } = await import('./choice.js');
    return chooseBackend(platform, checked, signal);
  }

  return async () => {
    const known = await pair;
    const { native, notes } = (await choosing) ?? { notes: [] };
    const run = { platform, checked, options, steering, light: lightOf(known) };
    if (!native) return openCore(await (loading ?? load()), { ...run, notes });
    if (steering) throw steerless(native.backend);
    const { nativeProblem, openNative } = await import('./native.js');
    const problem = backend === 'auto' ? nativeProblem(native, formatOf(known)) : undefined;
    if (problem !== undefined) {
      const why = `The backend ${native.backend} was not used: ${problem}.`;
      return openCore(await load(), { ...run, notes: [...notes, why] });
    }
    const stored = known.plan === undefined;
    const { onFrame } = options;
    return openNative(platform, native, checked, { stored, notes, onFrame, size: format, signal });
  };
}

function steerless(backend: string): AnyvmafError {
  return usageError(
    `The backend ${backend} gives all frames at its end, so a run on it cannot be watched; use cpu, webgpu or hybrid.`,
  );
}
