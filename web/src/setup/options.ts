/**
 * @module web/setup/options
 * Turns settings into options of the library. Defaults are left out, so that the library's own apply.
 */
import type { InspectOptions, RawVideoFormat } from 'anyvmaf';
import {
  type ChosenTiny,
  DEFAULT_PAIRING,
  PAIRING_SETTINGS,
  type RunOptions,
  type Settings,
} from '../session.js';

/** Options that decide how frames are paired, for inspecting and scoring. */
export function pairingOptions(settings: Settings): Omit<InspectOptions, 'signal'> {
  const { decoder, models } = settings;
  const changed = PAIRING_SETTINGS.filter((name) => settings[name] !== DEFAULT_PAIRING[name]);
  return { decoder, models, ...Object.fromEntries(changed.map((name) => [name, settings[name]])) };
}

/** Tiny models as options. */
function tinyOptions(tiny: readonly ChosenTiny[]): Pick<RunOptions, 'tiny'> {
  if (tiny.length === 0) return {};
  return {
    tiny: tiny.map(({ model, files, resizes }) => ({
      model,
      ...(files && { files }),
      ...(resizes && { resize: 'bilinear' }),
    })),
  };
}

/** Options of a run without a reference. */
export function noReferenceOptions(
  { decoder, subsample, threads, range, allowDamaged }: Settings,
  raw: RawVideoFormat | null,
  tiny: readonly ChosenTiny[],
): RunOptions {
  return {
    noReference: true,
    decoder,
    ...tinyOptions(tiny),
    ...(range && { range }),
    ...(subsample !== 1 && { subsample }),
    ...(threads !== null && { threads }),
    ...(allowDamaged && { allowDamaged }),
    ...(raw && { raw }),
  };
}

/** Options of a run. */
export function runOptions(
  settings: Settings,
  raw: RawVideoFormat | null,
  tiny: readonly ChosenTiny[] = [],
): RunOptions {
  const { features, subsample, threads, backend = 'cpu' } = settings;
  return {
    ...pairingOptions(settings),
    ...tinyOptions(tiny),
    ...(features.length > 0 && { features }),
    ...(subsample !== 1 && { subsample }),
    ...(threads !== null && { threads }),
    ...(backend !== 'cpu' && { backend }),
    ...(raw && { raw }),
  };
}

/** Options that are equal, once, with the places where they stand. */
export function alike<T extends object>(
  options: readonly T[],
): (readonly [options: T, of: readonly number[]])[] {
  const groups = new Map<string, readonly [T, number[]]>();
  for (const [i, one] of options.entries()) {
    // Files of tiny models are the same for all.
    const key = JSON.stringify(one);
    const group = groups.get(key) ?? ([one, []] as const);
    group[1].push(i);
    groups.set(key, group);
  }
  return [...groups.values()];
}
