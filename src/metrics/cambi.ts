/**
 * @module metrics/cambi
 * CAMBI of the distorted video, of the reference, and its increase, each capped (metrics spec D.9).
 */
import { featureError } from '../core/errors.js';
import type { HeatmapFile } from '../core/module.js';
import type { PictureSize } from '../core/size.js';
import { leaveOut } from './checks.js';
import {
  callEach,
  choiceOption,
  type ExtractorInstance,
  eachFrame,
  flagOption,
  type Metric,
  numberOption,
} from './metric.js';
import { choice, extractor, feature, flag, folder, integer, real } from './spec.js';

const EOTFS = ['bt1886', 'pq'] as const;
/** Default of topk and cambi_topk; cambi_topk applies only if topk has this value. */
const DEFAULT_TOPK = 0.6;
/** Pictures with both sides shorter than this are rejected. */
const LEAST_SIDE = 216;
/** In samples of the measured picture. */
const LARGEST_WINDOW = 65;

/** For each cambi_high_res_speedup (lines of a 16:9 picture), the columns from which it halves the picture. */
const SPEEDUP_COLUMNS: ReadonlyMap<number, number> = new Map([
  [1080, 1920],
  [1440, 2560],
  [2160, 3840],
]);

function sizes(instance: ExtractorInstance, own: PictureSize): { enc: PictureSize; src: PictureSize } {
  const size = (side: string): PictureSize => ({
    width: numberOption(instance, `${side}_width`),
    height: numberOption(instance, `${side}_height`),
  });
  const enc = size('enc');
  const src = size('src');
  const encoded = enc.width > 0 && enc.height > 0 && enc.width <= own.width && enc.height <= own.height;
  return { enc: encoded ? enc : own, src: src.width > 0 && src.height > 0 ? src : own };
}

function isHalved(instance: ExtractorInstance, enc: PictureSize): boolean {
  const lines = numberOption(instance, 'cambi_high_res_speedup');
  const columns = SPEEDUP_COLUMNS.get(lines);
  return columns !== undefined && enc.width * enc.height >= columns * lines;
}

/** Measured scales, each half the size of the one before. */
const SCALES = 5;

const half = ({ width, height }: PictureSize): PictureSize => ({
  width: (width + 1) >> 1,
  height: (height + 1) >> 1,
});

/** As in libvmaf, names state sizes without the speed-up, while pictures have those with it. */
function heatmapFiles(instance: ExtractorInstance, own: PictureSize): readonly HeatmapFile[] | undefined {
  const folder = choiceOption(instance, 'heatmaps_path');
  if (folder === '') return undefined;
  let { enc: named } = sizes(instance, own);
  let measured = isHalved(instance, named) ? half(named) : named;
  return Array.from({ length: SCALES }, (_, scale) => {
    const name = `cambi_heatmap_scale_${scale}_${named.width}x${named.height}_16b.gray`;
    const file = { folder, name, samples: measured.width * measured.height };
    named = half(named);
    measured = half(measured);
    return file;
  });
}

/** Why pictures of a size cannot be measured, as a sentence; `undefined` if they can. */
export function cambiProblem(instance: ExtractorInstance, own: PictureSize): string | undefined {
  const { enc, src } = sizes(instance, own);
  const text = ({ width, height }: PictureSize) => `${width}x${height}`;
  for (const size of [enc, src]) {
    if (size.width >= LEAST_SIDE || size.height >= LEAST_SIDE) continue;
    return (
      `The cambi extractor needs pictures of at least ${LEAST_SIDE} columns or rows but this one is ${text(size)}; ` +
      leaveOut('cambi')
    );
  }
  if ((src.width - enc.width) * (src.height - enc.height) < 0)
    return (
      `The cambi extractor has a source of ${text(src)} for an encode of ${text(enc)}, larger on one side and ` +
      'smaller on the other; correct src_width and src_height, or enc_width and enc_height.'
    );
  const halved = isHalved(instance, enc);
  for (const size of [enc, src]) {
    const full = Math.floor((numberOption(instance, 'window_size') * (size.width + size.height)) / 375) >> 4;
    const window = (halved ? (full + 1) >> 1 : full) | 1;
    if (window <= LARGEST_WINDOW) continue;
    return (
      `The cambi extractor's window has ${window} columns for ${text(size)}, but at most ${LARGEST_WINDOW} are ` +
      'supported; choose a smaller window_size or set cambi_high_res_speedup.'
    );
  }
  return undefined;
}

export const CAMBI: Metric = {
  spec: extractor({
    name: 'cambi',
    source: 'wasm/src/cambi.c',
    description: 'Visible banding of the distorted video, no reference needed; 0 is none.',
    options: [
      real('cambi_max_val', 1000, 0, 1000, { alias: 'cmxv', description: 'Upper limit of the values.' }),
      integer('enc_width', 0, 180, 7680, { alias: 'encw', description: 'Width of the encode.' }),
      integer('enc_height', 0, 150, 7680, { alias: 'ench', description: 'Height of the encode.' }),
      integer('enc_bitdepth', 0, 6, 16, { alias: 'encbd', description: 'Bit depth of the encode.' }),
      integer('src_width', 0, 320, 7680, { alias: 'srcw', description: 'Width of the source.' }),
      integer('src_height', 0, 200, 4320, { alias: 'srch', description: 'Height of the source.' }),
      integer('window_size', 65, 15, 127, {
        alias: 'ws',
        description: 'Side of the neighbourhood at 3840x2160, scaled with the picture.',
      }),
      real('topk', 0.6, 0.0001, 1, {
        description: 'Share of the pixels that are pooled, the most banded ones.',
      }),
      real('cambi_topk', 0.6, 0.0001, 1, { alias: 'ctpk', description: 'The same; topk takes precedence.' }),
      real('tvi_threshold', 0.019, 0.0001, 1, {
        alias: 'tvit',
        description: 'Relative luminance step that is visible.',
      }),
      real('cambi_vis_lum_threshold', 0, 0, 300, {
        alias: 'vlt',
        description: 'Luminance in cd/m2 below which banding is invisible.',
      }),
      integer('max_log_contrast', 2, 0, 5, {
        alias: 'mlc',
        description: 'Largest contrast step to detect, as a power of two in 10-bit levels.',
      }),
      folder('heatmaps_path', {
        description:
          'Folder for pictures of the banding: cambi_heatmap_scale_K_WxH_16b.gray for five scales.',
      }),
      flag('full_ref', false, { description: 'Also measure the reference, and the increase over it.' }),
      choice('eotf', EOTFS, { alias: 'eotf', description: 'Transfer function from code values to light.' }),
      choice('cambi_eotf', EOTFS, { alias: 'ceot', description: 'The same; takes precedence over eotf.' }),
      integer('cambi_high_res_speedup', 0, 0, 2160, {
        alias: 'hrs',
        description:
          'Measure at half size from this height on: 1080, 1440 or 2160; any other value disables it.',
      }),
    ],
    features: [
      feature('Cambi_feature_cambi_score', 'cambi', { worse: 'high' }),
      // The reference's banding says nothing about the encode.
      feature('cambi_source', 'cambi_source', { when: ['full_ref'], plainName: true }),
      feature('cambi_full_reference', 'cambi_full_reference', {
        when: ['full_ref'],
        plainName: true,
        worse: 'high',
      }),
    ],
  }),
  measure: (instance, format) => {
    const problem = cambiProblem(instance, format);
    if (problem !== undefined) throw featureError(problem);
    const number = (name: string) => numberOption(instance, name);
    const topk = number('topk');
    const eotfs = [choiceOption(instance, 'cambi_eotf'), choiceOption(instance, 'eotf')];
    const options = [
      ...['enc_width', 'enc_height', 'enc_bitdepth', 'src_width', 'src_height', 'window_size'].map(number),
      topk === DEFAULT_TOPK ? number('cambi_topk') : topk,
      ...['tvi_threshold', 'cambi_vis_lum_threshold', 'max_log_contrast'].map(number),
      Number(eotfs.includes('pq')),
      number('cambi_high_res_speedup'),
      Number(flagOption(instance, 'full_ref')),
    ];
    const heatmaps = heatmapFiles(instance, format);
    return { options, extent: [], ...(heatmaps && { heatmaps }) };
  },
  calls: callEach('cambi', { fields: 2, cost: 10 }),
  finish: (instance) => {
    const maximum = numberOption(instance, 'cambi_max_val');
    return eachFrame((frame, fields, emit) => {
      const [distorted, reference] = [fields(0), fields(1)];
      emit(frame, 'Cambi_feature_cambi_score', Math.min(distorted, maximum));
      emit(frame, 'cambi_source', Math.min(reference, maximum));
      emit(frame, 'cambi_full_reference', Math.min(Math.max(0, distorted - reference), maximum));
    });
  },
};
