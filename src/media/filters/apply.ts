/**
 * @module media/filters/apply
 * Filters both videos before comparison: in ffmpeg if it decodes, else with this package's own filters.
 */
import { usualMatrix } from '../../core/colour.js';
import { type InputRole, usageError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { FilterOptions } from '../../core/options.js';
import { quoted, shown } from '../../core/printable.js';
import { type Decoder, stillKnown, type TrackFacts } from '../decoder.js';
import {
  type Delivery,
  delivery,
  EXACT,
  pixelFormat,
  pixelFormatName,
  repeating,
  type SampleFormat,
  scaleMatrix,
} from '../delivery.js';
import { deinterlacer } from '../evidence/fields.js';
import { stepsOf } from '../evidence/framing.js';
import { filteredDecoding, filteredFormat, filteredSource } from '../own-filters.js';
import { factsOf, type Side } from '../pair.js';
import type { CropArea, DecoderFilters, OwnFilters, SideFilters } from '../types.js';
import { checkChain } from './chain.js';

type Facts = VideoFormat &
  Partial<
    Pick<
      TrackFacts,
      'name' | 'colorRange' | 'matrix' | 'fieldOrder' | 'pixelFormat' | 'rotation' | 'mirrored'
    >
  >;

/**
 * @param foreign true for a remote user
 * @throws {AnyvmafError} `usage`
 */
export function checkFilters(options: FilterOptions, foreign: boolean): void {
  for (const name of ['vfReference', 'vfDistorted'] as const) {
    if (options[name] !== undefined) checkChain(name, options[name], foreign);
  }
  for (const name of ['cropReference', 'cropDistorted'] as const) {
    if (options[name] === undefined) continue;
    parseArea(name, options[name]);
    if (options.crop !== undefined)
      throw usageError('conflicts with crop auto; leave one of them out.', { about: name });
  }
  if (options.pixelFormat !== undefined) targetFormat(options.pixelFormat);
}

/**
 * Filters of one video, without those of `crop: 'auto'`.
 * @throws {AnyvmafError} `usage` if an option does not suit the video
 */
export function filtersFor(role: InputRole, facts: Facts, options: FilterOptions): SideFilters {
  const reference = role === 'reference';
  const crop = reference ? options.cropReference : options.cropDistorted;
  const vf = reference ? options.vfReference : options.vfDistorted;
  const { colorRange, matrix, pixelFormat: named } = options;
  const name = reference ? 'cropReference' : 'cropDistorted';
  const fields = facts.fieldOrder === 'top-first' || facts.fieldOrder === 'bottom-first';
  const from = facts.colorRange ?? 'limited';
  const known = facts.matrix === undefined ? usualMatrix(facts) : scaleMatrix(facts.matrix);
  if (matrix !== undefined && known === undefined)
    throw usageError(
      `the ${role} has the matrix ${shown(String(facts.matrix))}, which cannot be converted to ${matrix}; convert the video ` +
        'losslessly with ffmpeg first.',
    );
  return {
    ...(options.deinterlace && fields && { deinterlace: 'labelled' as const }),
    ...(crop !== undefined && { crop: areaIn(name, crop, facts) }),
    ...(vf !== undefined && { vf }),
    ...(colorRange && colorRange !== from && { range: { from, to: colorRange } }),
    ...(matrix && known && matrix !== known && { matrix: { from: known, to: matrix } }),
    ...(named !== undefined && { format: targetFormat(named) }),
  };
}

/** `WIDTH:HEIGHT:X:Y`, as in hints. */
export function areaText({ width, height, x, y }: CropArea): string {
  return `${width}:${height}:${x}:${y}`;
}

function isIdle(facts: VideoFormat, filters: SideFilters): boolean {
  const { format, ...others } = filters;
  return Object.keys(others).length === 0 && (!format || sameFormat(format, facts));
}

function sameFormat(a: SampleFormat, b: SampleFormat): boolean {
  return a.bitDepth === b.bitDepth && a.chroma === b.chroma;
}

/** Why these filters need ffmpeg; `undefined` if this package can apply them. */
function beyondOwn(facts: VideoFormat, { deinterlace, vf, matrix, format }: SideFilters): string | undefined {
  if (deinterlace) return 'deinterlacing needs ffmpeg (bwdif)';
  if (vf !== undefined) return `the filters ${quoted(vf)} need ffmpeg`;
  if (matrix) return 'matrix conversion needs ffmpeg (scale)';
  if (format && (format.chroma !== facts.chroma || format.bitDepth < facts.bitDepth))
    return `conversion from ${nameOfFormat(facts)} to ${nameOfFormat(format)} needs ffmpeg (scale)`;
  return undefined;
}

export function isOwn(facts: VideoFormat, filters: SideFilters): boolean {
  return beyondOwn(facts, filters) === undefined;
}

function nameOfFormat(format: SampleFormat): string {
  return pixelFormatName({ bitDepth: format.bitDepth, chroma: format.chroma });
}

/** @throws {AnyvmafError} `usage` if the decoder cannot apply the filters */
export async function filterSide(
  role: InputRole,
  side: Side,
  filters: SideFilters,
  signal?: AbortSignal,
): Promise<Side> {
  const facts = factsOf(side);
  if (isIdle(facts, filters)) return side;
  const applied = [...(side.applied ?? []), ...phrases(facts, filters, notedBy(side))];
  const done = {
    applied,
    storedDepth: side.storedDepth ?? facts.bitDepth,
    ...((side.reshaped || filters.vf !== undefined) && { reshaped: true as const }),
  };
  if (side.kind === 'encoded' && side.video.decoder.withFilters) {
    const { video } = side;
    const stages: DecoderFilters[] = [];
    let { decoder, facts: probed } = video;
    for (const stage of stagesOf(filters)) {
      stages.push(decoderFilters(probed, stage));
      decoder = side.video.decoder.withFilters(stages);
      probed = stillKnown(await decoder.probe(video.input, signal), video.facts);
    }
    const { times = null } = (await decoder.timestamps(video.input, signal, probed.track?.index)) ?? {};
    const filtered = {
      ...probed,
      ...described(filters),
      bitrate: video.facts.bitrate,
      ...(times && video.cutOff === undefined && { frameCount: times.length }),
    };
    const { setBacks, ...rest } = side;
    return {
      ...rest,
      video: { ...video, decoder, facts: filtered, others: [], filters: applied.join('; ') },
      times,
      ...(times && setBacks && { setBacks }),
      ...done,
    };
  }
  const problem = beyondOwn(facts, filters);
  if (problem !== undefined) throw notHere(role, side, problem);
  const own = ownFilters(facts, filters);
  if (side.kind === 'frames') return { ...side, source: filteredSource(side.source, own), ...done };
  const decoder = ownFilterDecoder(side.video.decoder, own);
  const filtered = filteredFacts(side.video.facts, own);
  const video = { ...side.video, decoder, facts: filtered, others: [], filters: applied.join('; ') };
  return { ...side, video, ...done };
}

/** What ffmpeg does to chroma before the filters, which its facts no longer show after them. */
function notedBy(side: Side): string | undefined {
  if (side.kind !== 'encoded' || !side.video.decoder.withFilters) return undefined;
  return storedDelivery(side.video.facts).note;
}

function storedDelivery(facts: Facts): Delivery {
  return delivery(facts.pixelFormat ?? nameOfFormat(facts), facts.rotation ?? 0, facts.name ?? '', facts);
}

/** Conversions are a stage of their own after a chain of the user: they start from what it outputs. */
function stagesOf(filters: SideFilters): readonly SideFilters[] {
  const { deinterlace, crop, vf, ...conversions } = filters;
  if (vf === undefined || Object.keys(conversions).length === 0) return [filters];
  return [{ ...(deinterlace && { deinterlace }), ...(crop && { crop }), vf }, conversions];
}

/** Facts that follow from the filters; some versions of ffmpeg do not report them. */
function described({ deinterlace, range, matrix }: SideFilters): Partial<TrackFacts> {
  return {
    ...(deinterlace && { fieldOrder: 'progressive' as const }),
    ...(range && { colorRange: range.to }),
    ...(matrix && { matrix: STATED[matrix.to] }),
  };
}

/** Matrix names of video streams. */
const STATED = { bt601: 'smpte170m', bt709: 'bt709', bt2020: 'bt2020nc' } as const;

function ownFilters(facts: VideoFormat, { crop, range, format }: SideFilters): OwnFilters {
  return {
    ...(crop && { crop }),
    ...(range && { range }),
    ...(format && !sameFormat(format, facts) && { format }),
  };
}

function notHere(role: string, side: Side, problem: string): Error {
  const who =
    side.kind === 'encoded'
      ? `the ${role} is decoded by ${side.video.decoder.id}`
      : `the ${role} is ${side.source.info.container === 'y4m' ? 'Y4M that is not read from a file' : 'not encoded'}`;
  return usageError(
    `${who}, but ${problem}; install ffmpeg to decode the video with it, or convert the video losslessly with it first.`,
  );
}

/** By itself, ffmpeg makes labelled full range limited when it converts the format, and takes unlabelled grey for full. */
const stays = (range: 'limited' | 'full'): string =>
  `scale=in_range=${range}:out_range=${range}:flags=bicubic,`;

/** swscale ignores ranges between formats of grey, so this converts grey as the luma of a video. */
function greyRange(facts: Facts, { from, to }: NonNullable<SideFilters['range']>): string {
  const video = nameOfFormat({ bitDepth: facts.bitDepth, chroma: '444' });
  const step = (out: string) => `scale=in_range=${from}:out_range=${out}:flags=${EXACT},format=${video}`;
  return `${step(from)},${step(to)},extractplanes=y`;
}

function decoderFilters(facts: Facts, filters: SideFilters): DecoderFilters {
  const { deinterlace, crop, vf, matrix, format } = filters;
  const isFull = facts.colorRange === 'full';
  const { range = isFull ? ({ from: 'full', to: 'full' } as const) : undefined } = filters;
  const isGrey = facts.chroma === '400';
  const kept = range?.to === 'full' ? 'full' : isGrey ? 'limited' : undefined;
  const as = (name: string) => `${kept ? stays(kept) : ''}format=${name}`;
  const stored = storedDelivery(facts);
  const chain = stored.fromRgb === undefined ? [...repeating(stored, facts)] : [stored.fromRgb];
  if (deinterlace) chain.push(deinterlacer(deinterlace));
  if (crop) chain.push(`crop=${areaText(crop)}`);
  if (vf !== undefined) chain.push(vf);
  if (filters.range && isGrey) chain.push(greyRange(facts, filters.range));
  else if (filters.range || matrix) {
    const ends = [
      ...(range ? [`in_range=${range.from}:out_range=${range.to}`] : []),
      ...(matrix ? [`in_color_matrix=${matrix.from}:out_color_matrix=${matrix.to}`] : []),
    ];
    // Name the format, so that lowering the depth is a separate step.
    chain.push(`scale=${ends.join(':')}:flags=${EXACT},format=${nameOfFormat(facts)}`);
  }
  // swscale takes grey as full range and would expand the luma.
  if (format?.chroma === '400' && facts.chroma !== '400')
    chain.push(as(nameOfFormat({ ...format, chroma: facts.chroma })), 'extractplanes=y');
  else if (format) chain.push(as(nameOfFormat(format)));
  const checked = vf === undefined ? undefined : checkChain('vfDistorted', vf, false);
  const { keepsFrames = true, remembers = false } = checked ?? {};
  return { chain: chain.join(','), keepsFrames, remembers, rotates: stored.note !== undefined };
}

function phrases(facts: Facts, filters: SideFilters, note?: string): string[] {
  const { deinterlace, crop, vf, range, matrix, format } = filters;
  const said = note === undefined ? [] : [note];
  if (deinterlace) {
    const stated = deinterlace === 'labelled' ? '' : ', as its pictures show';
    said.push(`deinterlaced by ${deinterlacer(deinterlace)}${stated}`);
  }
  if (crop)
    said.push(
      `cropped to ${crop.width}x${crop.height} at ${crop.x},${crop.y} of ${facts.width}x${facts.height}`,
    );
  if (vf !== undefined) said.push(`filtered by ffmpeg's ${vf}`);
  if (range) {
    const stated = facts.colorRange ? '' : ' (assumed)';
    said.push(`colour range ${range.from}${stated} to ${range.to}`);
  }
  if (matrix) {
    const stated = facts.matrix ? '' : ' (assumed)';
    said.push(`matrix ${matrix.from}${stated} to ${matrix.to}`);
  }
  if (format && !sameFormat(format, facts))
    said.push(`${nameOfFormat(facts)} to ${nameOfFormat(format)}, as requested`);
  return said;
}

function ownFilterDecoder(decoder: Decoder, filters: OwnFilters): Decoder {
  return {
    id: decoder.id,
    availability: () => decoder.availability(),
    probe: async (input, signal) => filteredFacts(await decoder.probe(input, signal), filters),
    timestamps: (input, signal, track) => decoder.timestamps(input, signal, track),
    async open(input, facts, request) {
      // The caller scales, since scaling comes after cropping.
      const { size: _, ...rest } = request;
      const stored = stillKnown(await decoder.probe(input, request.signal), facts);
      return filteredDecoding(await decoder.open(input, stored, rest), facts, filters);
    },
  };
}

function filteredFacts(facts: TrackFacts, filters: OwnFilters): TrackFacts {
  const filtered = filteredFormat(facts, filters);
  return { ...filtered, ...(filters.format && { pixelFormat: nameOfFormat(filtered) }) };
}

/** @throws {AnyvmafError} `usage` */
function targetFormat(name: string): SampleFormat {
  const format = typeof name === 'string' && /^(?:yuv4|gray)/.test(name) ? pixelFormat(name) : undefined;
  if (format && pixelFormatName(format) === name) return format;
  throw usageError(
    `is ${quoted(String(name))}, but it must be one of ffmpeg's planar formats: yuv420p, yuv422p or yuv444p, ` +
      'with 10le, 12le, 14le or 16le for more than 8 bits, or gray.',
    { about: 'pixelFormat' },
  );
}

type CropOption = 'cropReference' | 'cropDistorted';

function parseArea(option: CropOption, text: string) {
  const found = /^(\d{1,5}):(\d{1,5})(?::(\d{1,5}):(\d{1,5}))?$/.exec(String(text));
  const [width = 0, height = 0, x, y] = (found?.slice(1) ?? []).map((part) =>
    part === undefined ? undefined : Number(part),
  );
  if (found && width > 0 && height > 0)
    return { width, height, ...(x !== undefined && y !== undefined && { at: { x, y } }) };
  throw usageError(
    `is ${quoted(String(text))}, but it must be WIDTH:HEIGHT or WIDTH:HEIGHT:X:Y in samples, such as 1920:800:0:140.`,
    { about: option },
  );
}

/** @throws {AnyvmafError} `usage` if the area exceeds the picture or splits chroma samples */
function areaIn(option: CropOption, text: string, facts: Facts): CropArea {
  const { width, height, at } = parseArea(option, text);
  const steps = stepsOf(facts.chroma);
  const middle = (all: number, part: number, step: number) =>
    Math.floor(Math.max(0, (all - part) / 2) / step) * step;
  const x = at?.x ?? middle(facts.width, width, steps.x);
  const y = at?.y ?? middle(facts.height, height, steps.y);
  const whole = `${facts.width}x${facts.height}`;
  if (x + width > facts.width || y + height > facts.height)
    throw usageError(`is ${quoted(text)}, which goes beyond the picture of ${whole}.`, { about: option });
  if (width % steps.x || x % steps.x || height % steps.y || y % steps.y)
    throw usageError(
      `is ${quoted(text)}, but ${[...facts.chroma].join(':')} chroma requires even numbers` +
        `${steps.y === 1 ? ' for WIDTH and X' : ''}.`,
      { about: option },
    );
  return { width, height, x, y };
}
