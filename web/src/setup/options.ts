/**
 * @module web/setup/options
 * Settings as options of the library, in which a default is an absence, so that a run here is the run of whoever asks
 * for nothing.
 */
import type { InspectOptions, RawVideoFormat } from 'anyvmaf';
import type { ChosenTiny, RunOptions, Settings } from '../session.js';

/** What decides which frames go together, for looking and for scoring. */
function pairing(settings: Settings): Omit<InspectOptions, 'signal'> {
  const { scale, scaleTo, frameRatePolicy, offset, range, decoder, models, allowDamaged } = settings;
  return {
    decoder,
    models,
    ...(scale !== 'default' && { scale }),
    ...(scaleTo !== 'ref' && { scaleTo }),
    ...(frameRatePolicy !== 'default' && { frameRatePolicy }),
    ...(offset !== 0 && { offset }),
    ...(range && { range }),
    ...(allowDamaged && { allowDamaged }),
  };
}

/** Options of a look at a pair. */
export function lookOptions(settings: Settings): Omit<InspectOptions, 'signal'> {
  return pairing(settings);
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
export function aloneOptions(
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
    ...pairing(settings),
    ...tinyOptions(tiny),
    ...(features.length > 0 && { features }),
    ...(subsample !== 1 && { subsample }),
    ...(threads !== null && { threads }),
    ...(backend !== 'cpu' && { backend }),
    ...(raw && { raw }),
  };
}
