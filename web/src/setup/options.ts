/**
 * @module web/setup/options
 * Turns settings into options of the library, without defaults, so that the library's own apply.
 */
import type { InspectOptions, RawVideoFormat } from 'anyvmaf';
import {
  type ChosenTiny,
  DEFAULT_PAIRING,
  PAIRING_SETTINGS,
  type RunOptions,
  type Settings,
} from '../session.js';

/** Pairing options for inspecting and scoring. */
export function pairingOptions(settings: Settings): Omit<InspectOptions, 'signal'> {
  const { decoder, models } = settings;
  const changed = PAIRING_SETTINGS.filter((name) => settings[name] !== DEFAULT_PAIRING[name]);
  return { decoder, models, ...Object.fromEntries(changed.map((name) => [name, settings[name]])) };
}

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

export function noReferenceOptions(
  settings: Settings,
  raw: RawVideoFormat | null,
  tiny: readonly ChosenTiny[],
): RunOptions {
  const { subsample, threads } = settings;
  const { decoder, range, allowDamaged, crop, cropDistorted, colorRange, pixelFormat, trackDistorted } =
    pairingOptions(settings);
  const pictures = { range, allowDamaged, crop, cropDistorted, colorRange, pixelFormat, trackDistorted };
  const given = Object.entries(pictures).filter(([, value]) => value !== undefined);
  return {
    noReference: true,
    decoder,
    ...tinyOptions(tiny),
    ...Object.fromEntries(given),
    ...(subsample !== 1 && { subsample }),
    ...(threads !== null && { threads }),
    ...(raw && { raw }),
  };
}

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

/** The settings that affect a pair's numbers. @param alike both videos have the same size, so scaling has no effect */
export function deciding(settings: Settings, alike: boolean): unknown {
  // Threads and backends do not change numbers.
  const { threads, backend, scale, scaleTo, ...others } = settings;
  const set = Object.entries(others).filter(([, value]) => value !== undefined);
  return [set.sort(), !(alike && typeof scaleTo === 'string') && [scale, scaleTo]];
}

/** Groups equal options. @returns `of`: their indices */
export function alike<T extends object>(options: readonly T[]): (readonly [options: T, of: number[]])[] {
  const groups = new Map<string, readonly [T, number[]]>();
  for (const [i, option] of options.entries()) {
    // Files of tiny models do not serialize, but are the same for all.
    const key = JSON.stringify(option);
    const group = groups.get(key) ?? ([option, []] as const);
    group[1].push(i);
    groups.set(key, group);
  }
  return [...groups.values()];
}
