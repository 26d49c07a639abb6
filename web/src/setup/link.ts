/**
 * @module web/setup/link
 * Settings in a link's hash, which no server sees: non-defaults only, and not the decoder, as browsers differ.
 */
import type { PictureSize, RawVideoFormat } from 'anyvmaf';
import { CHROMA_FORMATS } from 'anyvmaf/core/choices';
import { formatRange, MAX_SIDE } from 'anyvmaf/core/frame';
import { modelPath } from 'anyvmaf/core/names';
import { formatSize, parseSize } from 'anyvmaf/core/size';
import { DEFAULT_SETTINGS, MOST_THREADS, type Settings } from '../session.js';
import { parseArea, parseRange } from './fixes.js';
import { TINY_NO_REFERENCE } from './models.js';

const NONE = 'none';
const OWN = 'own';

export interface Linked {
  readonly settings: Settings;
  readonly raw: RawVideoFormat | null;
  /** A built-in tiny model scores. */
  readonly guess: boolean;
  /** A tiny model from the user's files scores; links never hold file names. */
  readonly ownTiny: boolean;
}

const oneOf =
  <T extends string>(...all: readonly T[]) =>
  (text: string): T | undefined =>
    all.find((choice) => choice === text);

const whole =
  (min: number, max: number) =>
  (text: string): number | undefined => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };

/** A setting's name in links, its parser (`undefined` for invalid text) and its formatter. */
function row<K extends keyof Settings>(
  name: string,
  key: K,
  read: (text: string) => Settings[K] | undefined,
  write: (value: Settings[K]) => string = String,
) {
  return {
    name,
    /** Absent at the default. */
    textOf: (settings: Settings) =>
      settings[key] === DEFAULT_SETTINGS[key] ? undefined : write(settings[key]),
    /** Missing and invalid values become the default. */
    settingOf(text: string | null): Partial<Settings> {
      const value = text === null ? undefined : read(text);
      return value === undefined ? {} : { [key]: value };
    },
  };
}

/** Settings in their order in links. */
const ROWS = [
  row('scale', 'scale', oneOf('bicubic', 'bilinear', 'lanczos', 'none')),
  row('scale-to', 'scaleTo', (text) => sizeOf(text) ?? oneOf('dis')(text), formatSize),
  row('rate', 'frameRatePolicy', oneOf('nearest', 'strict')),
  row('pair-by', 'pairBy', oneOf('distorted')),
  row('offset', 'offset', (text) => oneOf('auto')(text) ?? whole(-1e6, 1e6)(text)),
  row('range', 'range', parseRange, formatRange),
  row('subsample', 'subsample', whole(1, 1e6)),
  row('threads', 'threads', whole(1, MOST_THREADS)),
  row(
    'damaged',
    'allowDamaged',
    (text) => text === 'allow',
    () => 'allow',
  ),
  row('crop', 'crop', oneOf('auto')),
  row('crop-ref', 'cropReference', parseArea),
  row('crop-dis', 'cropDistorted', parseArea),
  row('color-range', 'colorRange', oneOf('limited', 'full')),
  row('pix-fmt', 'pixelFormat', (text) => /^(?:yuv4|gray)[\w]{1,12}$/.exec(text)?.[0]),
  row('track-ref', 'trackReference', whole(0, 999)),
  row('track-dis', 'trackDistorted', whole(0, 999)),
];

/** Keys of settings, then those that web/linked reads. */
export const LINK_KEYS: readonly string[] = [
  ...['model', 'feature', 'tiny', ...ROWS.map(({ name }) => name)],
  ...['raw', 'ref', 'dis', 'frame', 'encode'],
];

/** The hash without `#`; empty if everything has its default. */
export function toHash({ settings, raw, guess, ownTiny }: Linked): string {
  const pairs = new URLSearchParams();
  const { models, features } = settings;
  if (models.join('|') !== DEFAULT_SETTINGS.models.join('|'))
    for (const model of models.length > 0 ? models : [NONE]) pairs.append('model', model);
  for (const feature of features) pairs.append('feature', feature);
  if (guess) pairs.append('tiny', TINY_NO_REFERENCE);
  if (ownTiny) pairs.append('tiny', OWN);
  for (const { name, textOf } of ROWS) {
    const text = textOf(settings);
    if (text !== undefined) pairs.set(name, text);
  }
  if (raw) pairs.set('raw', `${raw.width}x${raw.height},${raw.bitDepth},${raw.chroma}`);
  return pairs.toString().replaceAll('%3D', '=').replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** Parses a hash with or without `#`. Models on other hosts are left out. */
export function fromHash(hash: string): Linked {
  const pairs = new URLSearchParams(hash.replace(/^#/, ''));
  const models = pairs.getAll('model').filter((model) => model !== '' && isOwn(model));
  const settings: Settings = Object.assign(
    { ...DEFAULT_SETTINGS },
    models.length > 0 && { models: models.filter((model) => model !== NONE) },
    { features: pairs.getAll('feature').filter((feature) => feature !== '') },
    ...ROWS.map(({ name, settingOf }) => settingOf(pairs.get(name))),
    // Automatic and explicit cropping exclude each other.
    pairs.get('crop') === 'auto' && { cropReference: undefined, cropDistorted: undefined },
  );
  return {
    settings,
    raw: parseRaw(pairs.get('raw')),
    guess: pairs.getAll('tiny').includes(TINY_NO_REFERENCE),
    ownTiny: pairs.getAll('tiny').includes(OWN),
  };
}

/** Stands for the page's address, to tell its own models from others. */
const HERE = 'https://page.invalid/folder/';

/** A link must not make the page contact another host. */
function isOwn(model: string): boolean {
  return model.split(':').every((item, place) => {
    const path = modelPath(item, place);
    if (path === undefined) return true;
    return URL.canParse(path, HERE) && new URL(path, HERE).origin === new URL(HERE).origin;
  });
}

function sizeOf(text: string): PictureSize | undefined {
  const size = parseSize(text);
  return size && Math.max(size.width, size.height) <= MAX_SIDE ? size : undefined;
}

function parseRaw(text: string | null): RawVideoFormat | null {
  const [size = '', depth = '', sampling = '', more] = (text ?? '').split(',');
  const chroma = CHROMA_FORMATS.find((format) => format === sampling);
  const [picture, bitDepth] = [sizeOf(size), Number(depth)];
  if (!picture || !chroma || more !== undefined || !/^\d{1,2}$/.test(depth)) return null;
  return bitDepth >= 8 && bitDepth <= 16 ? { ...picture, bitDepth, chroma } : null;
}
