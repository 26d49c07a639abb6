/**
 * @module tiny/features
 * Inputs of a feature model: the extractor of each column, and the codec block of codec-aware models: the encoder
 * (one-hot), its preset and its rate factor.
 */
import { encoderName } from '../core/choices.js';
import { type AnyvmafError, modelError, usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { EXTRACTORS, type ExtractorSpec, type FeatureSpec } from '../metrics/extractors.js';
import { createExtractor, type ExtractorInstance, logName, refuseFolders } from '../metrics/options.js';
import type { CodecBlockSpec, TinyScaler, TinySidecar } from './types.js';

/** Default columns of an input of width six. */
export const CANONICAL_FEATURES: readonly string[] = [
  'adm2',
  'vif_scale0',
  'vif_scale1',
  'vif_scale2',
  'vif_scale3',
  'motion2',
];

export interface TinyColumn {
  readonly feature: string;
  readonly instance: ExtractorInstance;
  /** Name of its values in a run. */
  readonly logName: string;
}

/**
 * @param width `null` if the graph does not state it
 * @throws {AnyvmafError} `model` for a missing list, another length, an unknown feature; `feature` for an unknown option
 */
export function bindColumns(
  { features, featureOptions }: Pick<TinySidecar, 'features' | 'featureOptions'>,
  width: number | null,
  source: string,
): readonly TinyColumn[] {
  const model = `The tiny model ${quoted(source)}`;
  const names = features ?? (width === CANONICAL_FEATURES.length ? CANONICAL_FEATURES : undefined);
  if (!names)
    throw modelError(
      `${model} takes ${width ?? 'any number of'} features, but no sidecar names them; list them as feature_order in ` +
        'a JSON file beside it.',
    );
  if (width !== null && names.length !== width)
    throw modelError(
      `${model} takes ${width} features, but its sidecar lists ${names.length} (${names.join(', ')}).`,
    );
  return names.map((feature, i) => {
    const { extractor, spec } = provider(feature, source);
    const options = featureOptions?.[i] ?? {};
    refuseFolders(options, `tiny model ${quoted(source)}`);
    const instance = createExtractor(extractor, options, `tiny model ${quoted(source)}`);
    return { feature, instance, logName: logName(spec, instance.suffix) };
  });
}

/** Finds a feature by its report name, its internal name, or either without `integer_`. */
function provider(name: string, source: string): { extractor: ExtractorSpec; spec: FeatureSpec } {
  for (const wanted of [`integer_${name}`, name]) {
    for (const extractor of EXTRACTORS) {
      const spec = extractor.features.find(
        (feature) => (feature.alias === wanted || feature.name === wanted) && feature.emitted !== 'sequence',
      );
      if (spec) return { extractor, spec };
    }
  }
  const known = EXTRACTORS.flatMap(({ features }) => features.map(({ alias }) => alias));
  const close = nearest(name, [...known, ...known.map((alias) => alias.replace(/^integer_/, ''))]);
  throw modelError(
    `The tiny model ${quoted(source)} reads the feature ${quoted(name)}, which no extractor provides` +
      `${close === undefined ? '' : ` (did you mean ${close}?)`}; docs/metrics.md lists the features.`,
  );
}

/** The scaler to apply before the graph. */
export function scalerBefore({ scaler }: TinySidecar): TinyScaler | undefined {
  return scaler?.inGraph ? undefined : scaler;
}

/** Encoders by names of codecs. */
const ALIASES: Readonly<Record<string, string>> = {
  h264: 'libx264',
  avc: 'libx264',
  hevc: 'libx265',
  h265: 'libx265',
  av1: 'libsvtav1',
  vp9: 'libvpx-vp9',
  vvc: 'libvvenc',
  h266: 'libvvenc',
};

/** Presets of an encoder on a scale from 0 (fastest) to 9. */
type Ladder = Readonly<Record<string, number>>;

function ladder(names: string, first = 0): Ladder {
  return Object.fromEntries(names.split(' ').map((name, i) => [name, first + i]));
}

const X26X = ladder('ultrafast superfast veryfast faster fast medium slow slower veryslow placebo');
const NVENC: Ladder = { p1: 0, p2: 2, p3: 3, p4: 5, p5: 6, p6: 7, p7: 9 };
const QSV = ladder('veryfast faster fast medium slow slower veryslow', 2);
const LADDERS: readonly { readonly of: RegExp; readonly presets: Ladder }[] = [
  { of: /^libx26[45]$/, presets: X26X },
  { of: /^libvvenc$/, presets: { faster: 1, fast: 3, medium: 5, slow: 7, slower: 8 } },
  { of: /^libvpx/, presets: { realtime: 0, good: 5, best: 9 } },
  { of: /_nvenc$/, presets: NVENC },
  { of: /_qsv$/, presets: QSV },
];

const MIDDLE = 5;
const HIGHEST = 9;
const MAX_CRF = 63;

export interface CodecFacts {
  readonly codec?: string;
  readonly preset?: string;
  readonly crf?: number;
}

/**
 * @param width of the input: of the vocabulary, or 2 more with preset and rate factor
 * @throws {AnyvmafError} `usage` if codec or crf is missing or unknown; `model` if the width fits neither
 */
export function codecBlock(
  spec: CodecBlockSpec,
  width: number,
  facts: CodecFacts,
  source: string,
): Float32Array {
  const { vocabulary } = spec;
  const model = `The tiny model ${quoted(source)}`;
  if (width !== vocabulary.length && width !== vocabulary.length + 2)
    throw modelError(
      `${model} takes a codec block of ${width} numbers, but its sidecar lists ${vocabulary.length} encoders, which ` +
        `need ${vocabulary.length} or, with preset and rate factor, ${vocabulary.length + 2}.`,
    );
  const { codec, crf } = facts;
  if (codec === undefined || crf === undefined)
    throw usageError(
      `${model} needs the encoder of the distorted video (tiny_codec) and its rate factor (tiny_crf); it supports ` +
        `${vocabulary.join(', ')}.`,
    );
  const slot = slotOf(vocabulary, codec);
  if (slot === undefined) {
    const close = nearest(codec.toLowerCase(), [...vocabulary, ...Object.keys(ALIASES)]);
    throw usageError(
      `tiny_codec is ${quoted(codec)}, which ${quoted(source)} does not support; it supports ` +
        `${vocabulary.join(', ')}${close === undefined ? '' : ` (did you mean ${close}?)`}.`,
    );
  }
  const block = new Float32Array(width);
  block[slot] = 1;
  if (width > vocabulary.length) {
    const encoder = vocabulary[slot] ?? '';
    block[vocabulary.length] =
      spec.presetNorm.kind === 'constant'
        ? spec.presetNorm.value
        : presetOrdinal(encoder === 'unknown' ? canonical(codec) : encoder, facts.preset) / HIGHEST;
    const bounded = Math.min(MAX_CRF, Math.max(0, crf));
    block[vocabulary.length + 1] =
      spec.crfNorm.kind === 'minmax'
        ? (bounded - spec.crfNorm.min) / (spec.crfNorm.max - spec.crfNorm.min)
        : bounded / MAX_CRF;
  }
  return block;
}

function canonical(codec: string): string {
  const name = codec.trim().toLowerCase();
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : encoderName(name);
}

function slotOf(vocabulary: readonly string[], codec: string): number | undefined {
  const names = vocabulary.map((name) => name.toLowerCase());
  // The vocabulary may contain an alias.
  for (const name of [codec.trim().toLowerCase(), canonical(codec)]) {
    const slot = names.indexOf(name);
    if (slot >= 0) return slot;
  }
  return undefined;
}

/** From 0 (fastest) to 9. @throws {AnyvmafError} `usage` if the encoder has no such preset */
export function presetOrdinal(encoder: string, preset: string | undefined): number {
  if (preset === undefined || preset === '') return MIDDLE;
  const name = preset.trim().toLowerCase();
  if (/^lib(svtav1|aom)/.test(encoder)) {
    // These encoders number presets from 0, the slowest. The reference implementation uses the numbers unchanged.
    if (/^-?\d{1,2}$/.test(name)) return Math.min(HIGHEST, Math.max(0, Number(name)));
    throw unknownPreset(encoder, preset, 'a number from 0 to 13');
  }
  const presets = LADDERS.find(({ of }) => of.test(encoder))?.presets;
  // Encoders without their own scale accept the names of x264.
  const names = presets ?? X26X;
  const place = Object.hasOwn(names, name) ? names[name] : undefined;
  if (place !== undefined) return place;
  throw unknownPreset(encoder, preset, Object.keys(names).join(', '));
}

function unknownPreset(encoder: string, preset: string, known: string): AnyvmafError {
  return usageError(`tiny_preset is ${quoted(preset)}, which ${encoder} does not have; it has ${known}.`);
}
