/**
 * @module web/setup/link
 * Settings in the part of a link after `#`, which is never sent to a server. A link holds only what differs from the
 * defaults, and not the decoder, which depends on the browser that opens the link.
 */
import type { PictureSize, RawVideoFormat, ScaleTo } from 'anyvmaf';
import { formatSize, parseSize } from 'anyvmaf/view';
import { DEFAULT_SETTINGS, type Settings } from '../session.js';
import { formatRange, parseArea, parseRange } from './fixes.js';
import { TINY_NO_REFERENCE } from './models.js';

/** No VMAF model: tiny models only. */
const NONE = 'none';
/** A tiny model from the user's files. */
const OWN = 'own';

/** What a link restores. */
export interface Linked {
  readonly settings: Settings;
  readonly raw: RawVideoFormat | null;
  /** Whether the page's own tiny model scores. */
  readonly guess: boolean;
  /** Whether a tiny model from the user's files scores. A link never holds file names. */
  readonly ownTiny: boolean;
}

/** All that a link may hold: settings, then what web/linked reads. */
export const LINK_KEYS = [
  ...['model', 'feature', 'tiny', 'scale', 'scale-to', 'rate', 'pair-by', 'offset', 'range', 'subsample'],
  ...[
    'threads',
    'damaged',
    'crop',
    'crop-ref',
    'crop-dis',
    'color-range',
    'pix-fmt',
    'track-ref',
    'track-dis',
  ],
  ...['raw', 'ref', 'dis', 'frame', 'encode'],
] as const;

/** The hash without `#`; empty if everything is at its default. */
export function toHash({ settings, raw, guess, ownTiny }: Linked): string {
  const pairs = new URLSearchParams();
  const {
    models,
    features,
    scale,
    scaleTo,
    frameRatePolicy,
    pairBy,
    offset,
    range,
    subsample,
    threads,
    allowDamaged,
  } = settings;
  const pictures = {
    crop: settings.crop,
    'crop-ref': settings.cropReference,
    'crop-dis': settings.cropDistorted,
    'color-range': settings.colorRange,
    'pix-fmt': settings.pixelFormat,
    'track-ref': settings.trackReference,
    'track-dis': settings.trackDistorted,
  };
  if (models.join('|') !== DEFAULT_SETTINGS.models.join('|'))
    for (const model of models.length > 0 ? models : [NONE]) pairs.append('model', model);
  for (const feature of features) pairs.append('feature', feature);
  if (guess) pairs.append('tiny', TINY_NO_REFERENCE);
  if (ownTiny) pairs.append('tiny', OWN);
  if (scale !== 'default') pairs.set('scale', scale);
  if (scaleTo !== 'ref') pairs.set('scale-to', formatSize(scaleTo));
  if (frameRatePolicy !== 'default') pairs.set('rate', frameRatePolicy);
  if (pairBy !== 'reference') pairs.set('pair-by', pairBy);
  if (offset !== 0) pairs.set('offset', String(offset));
  if (range) pairs.set('range', formatRange(range));
  if (subsample !== 1) pairs.set('subsample', String(subsample));
  if (threads !== null) pairs.set('threads', String(threads));
  if (allowDamaged) pairs.set('damaged', 'allow');
  for (const [name, value] of Object.entries(pictures))
    if (value !== undefined) pairs.set(name, String(value));
  if (raw) pairs.set('raw', `${raw.width}x${raw.height},${raw.bitDepth},${raw.chroma}`);
  return pairs.toString().replaceAll('%3D', '=').replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** Settings of a hash, with or without `#`. Missing and invalid values are defaults; models of other hosts are left out. */
export function fromHash(hash: string): Linked {
  const pairs = new URLSearchParams(hash.replace(/^#/, ''));
  const models = pairs.getAll('model').filter((model) => model !== '' && isOwn(model));
  const scale = pairs.get('scale');
  const rate = pairs.get('rate');
  const settings: Settings = {
    models: models.length === 0 ? DEFAULT_SETTINGS.models : models.filter((model) => model !== NONE),
    features: pairs.getAll('feature').filter((feature) => feature !== ''),
    scale: (['bicubic', 'bilinear', 'lanczos', 'none'] as const).find((one) => one === scale) ?? 'default',
    scaleTo: parseScaleTo(pairs.get('scale-to')),
    frameRatePolicy: rate === 'nearest' || rate === 'strict' ? rate : 'default',
    pairBy: pairs.get('pair-by') === 'distorted' ? 'distorted' : 'reference',
    offset: pairs.get('offset') === 'auto' ? 'auto' : (whole(pairs.get('offset'), -1e6, 1e6) ?? 0),
    range: parseRange(pairs.get('range') ?? '') ?? null,
    subsample: whole(pairs.get('subsample'), 1, 1e6) ?? 1,
    threads: whole(pairs.get('threads'), 0, 64) ?? null,
    allowDamaged: pairs.get('damaged') === 'allow',
    ...picturesOf(pairs),
    decoder: DEFAULT_SETTINGS.decoder,
  };
  return {
    settings,
    raw: parseRaw(pairs.get('raw')),
    guess: pairs.getAll('tiny').includes(TINY_NO_REFERENCE),
    ownTiny: pairs.getAll('tiny').includes(OWN),
  };
}

function picturesOf(pairs: URLSearchParams): Partial<Settings> {
  const range = pairs.get('color-range');
  const crop = pairs.get('crop') === 'auto' ? 'auto' : undefined;
  const area = (name: string) => (crop ? undefined : parseArea(pairs.get(name) ?? ''));
  return {
    crop,
    cropReference: area('crop-ref'),
    cropDistorted: area('crop-dis'),
    colorRange: range === 'limited' || range === 'full' ? range : undefined,
    pixelFormat: /^(?:yuv4|gray)[\w]{1,12}$/.exec(pairs.get('pix-fmt') ?? '')?.[0],
    trackReference: whole(pairs.get('track-ref'), 0, 999),
    trackDistorted: whole(pairs.get('track-dis'), 0, 999),
  };
}

/** Where the page may stand, to tell its own addresses from others. */
const HERE = 'https://page.invalid/folder/';

/** Whether a model comes with the page or lies where it does: a link must not have the page ask another host. */
function isOwn(model: string): boolean {
  const path = /(?:^|:)path=([^:]*)/.exec(model)?.[1];
  if (path === undefined) return true;
  return URL.canParse(path, HERE) && new URL(path, HERE).origin === new URL(HERE).origin;
}

function whole(text: string | null, min: number, max: number): number | undefined {
  if (text === null || !/^-?\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}

/** Largest side that the library takes. */
const LARGEST = 16384;

function sizeOf(text: string): PictureSize | undefined {
  const size = parseSize(text);
  return size && Math.max(size.width, size.height) <= LARGEST ? size : undefined;
}

function parseScaleTo(text: string | null): ScaleTo {
  return sizeOf(text ?? '') ?? (text === 'dis' ? 'dis' : 'ref');
}

function parseRaw(text: string | null): RawVideoFormat | null {
  const [size = '', depth = '', sampling = '', more] = (text ?? '').split(',');
  const chroma = (['420', '422', '444', '400'] as const).find((one) => one === sampling);
  const [picture, bitDepth] = [sizeOf(size), Number(depth)];
  if (!picture || !chroma || more !== undefined || !/^\d{1,2}$/.test(depth)) return null;
  return bitDepth >= 8 && bitDepth <= 16 ? { ...picture, bitDepth, chroma } : null;
}
