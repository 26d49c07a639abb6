/**
 * @module metrics/cvvdp
 * ColorVideoVDP 0.5.6 (Mantiuk et al., 2024): visible differences of colour and time on a display. The core returns Q
 * per frame; pooled over the clip, it becomes just-objectionable differences (JOD), 10 for none.
 */
import type { Colour, ScoredFormat } from '../core/colour.js';
import { featureError, internalError } from '../core/errors.js';
import { quotientOf } from '../core/numbers.js';
import { leaveOut, requireSide } from './checks.js';
import { COLOUR_OPTIONS, colourParameters, coloursOf } from './colour.js';
import { jodOf, power } from './jod.js';
import {
  choiceOption,
  doubles,
  type Emit,
  type ExtractorInstance,
  type Fields,
  type Finisher,
  type Metric,
  numberOption,
} from './metric.js';
import { choice, extractor, feature, real } from './spec.js';

export interface Display {
  readonly signal: 'sdr' | 'pq' | 'hlg';
  /** Luminance of white, cd/m2. */
  readonly peak: number;
  readonly contrast: number;
  /** Ambient light, lux. */
  readonly ambient: number;
  /** Fraction of the ambient light that the screen reflects. */
  readonly reflectivity: number;
  /** Pixels per degree of the visual field. */
  readonly pixelsPerDegree: number;
}

/** Metres. */
const INCH = 0.0254;

/** @param diagonal in inches @param distance of the viewer in metres */
function display(
  signal: Display['signal'],
  [columns, rows]: readonly [number, number],
  diagonal: number,
  distance: number,
  peak: number,
  contrast: number,
  ambient: number,
): Display {
  const pixel = (diagonal * INCH) / Math.hypot(columns, rows);
  const degrees = (2 * Math.atan(pixel / 2 / distance) * 180) / Math.PI;
  return { signal, peak, contrast, ambient, reflectivity: 0.005, pixelsPerDegree: 1 / degrees };
}

/**
 * ColorVideoVDP's displays, the default first, without headsets and displays for linear light. Numbers from
 * display_models.json in gfxdisp/ColorVideoVDP 0.5.6, MIT licence (THIRD-PARTY-NOTICES.md).
 */
export const DISPLAYS = {
  standard_4k: display('sdr', [3840, 2160], 30, 0.7472, 200, 1000, 250),
  standard_fhd: display('sdr', [1920, 1080], 24, 0.6, 200, 1000, 250),
  standard_hdr_pq: display('pq', [3840, 2160], 30, 0.7472, 1500, 1e6, 10),
  standard_hdr_hlg: display('hlg', [3840, 2160], 30, 0.7472, 1500, 1e6, 10),
  standard_phone: display('sdr', [2400, 1080], 6, 0.4, 500, 500 / 0.05, 250),
  sdr_4k_30: display('sdr', [3840, 2160], 30, 0.6, 100, 1000, 250),
  sdr_fhd_24: display('sdr', [1920, 1080], 24, 0.6, 100, 1000, 250),
  iphone_12_pro: display('sdr', [2532, 1170], 6.1, 20 * INCH, 825, 825 / 0.0004, 250),
  iphone_14_pro: display('sdr', [2532, 1170], 6.1, 20 * INCH, 1025, 1025 / 0.0004, 250),
  iphone_14_pro_vert: display('sdr', [1170, 2532], 6.1, 20 * INCH, 1025, 1025 / 0.0004, 250),
  iphone_14_pro_hdr: display('hlg', [2532, 1170], 6.1, 20 * INCH, 1590, 1590 / 0.0004, 10),
  iphone_14_pro_hdr_vert: display('hlg', [1170, 2532], 6.1, 20 * INCH, 1590, 1590 / 0.0004, 10),
  ipad_pro_12_9: display('sdr', [2732, 2048], 12.9, 20 * INCH, 600, 600 / 0.37, 250),
  macbook_pro_16: display('sdr', [3072, 1920], 16, 25 * INCH, 500, 500 / 0.37, 250),
  lg_oled_2017_sdr: display('sdr', [3840, 2160], 64.5, 101 * INCH, 272, 272 / 0.014, 100),
  // Bright, but its authors give it no HDR signal.
  lg_oled_2017_hdr: display('sdr', [3840, 2160], 64.5, 101 * INCH, 754, 754 / 0.038, 100),
  eizo_CG3146: display('sdr', [4096, 2160], 31.063, 0.73406, 300, 3000, 0),
} as const satisfies Readonly<Record<string, Display>>;

/** As in wasm/include/perceptual.h. */
const LEAST_SIDE = 2;
const HIGHEST_RATE = 240;
/** The first parameters, which are the colours of both videos. */
const COLOUR_NUMBERS = 12;

/** Frames of the last quarter of a second, including the current one. */
function windowOf(frameRate: number): number {
  return frameRate === 0 ? 1 : 2 * Math.ceil(frameRate / 8) + 1;
}

/** Frames per second; 0 for stills. */
function frameRateOf(instance: ExtractorInstance, { frameRate }: ScoredFormat): number {
  return numberOption(instance, 'fps') || (quotientOf(frameRate) ?? 0);
}

function displayOf(instance: ExtractorInstance): Display {
  const name = choiceOption(instance, 'display');
  const found = Object.entries(DISPLAYS).find(([known]) => known === name);
  if (!found) throw internalError(`There is no display ${name}.`);
  return found[1];
}

function signalOf({ transfer }: Colour): Display['signal'] {
  return transfer === 'pq' || transfer === 'hlg' ? transfer : 'sdr';
}

function requireSignal(instance: ExtractorInstance, colours: NonNullable<ScoredFormat['colours']>): void {
  const { signal } = displayOf(instance);
  for (const side of ['reference', 'distorted'] as const) {
    const found = signalOf(colours[side]);
    if (found === signal) continue;
    const fitting = Object.entries(DISPLAYS).flatMap(([name, { signal }]) => (signal === found ? name : []));
    throw featureError(
      `The cvvdp extractor's display ${choiceOption(instance, 'display')} shows ${signal.toUpperCase()} but the ` +
        `${side} video is ${found.toUpperCase()}; choose another display, for example ${fitting[0]}.`,
    );
  }
}

export const CVVDP: Metric = {
  spec: extractor({
    name: 'cvvdp',
    beyondLibvmaf: true,
    module: 'perceptual',
    source: 'wasm/perceptual/cvvdp.c',
    description:
      'ColorVideoVDP 0.5.6: differences of colour and time that are visible on a display. cvvdp is the quality of the ' +
      'whole clip in JOD, up to 10; cvvdp_q the visible difference of a frame, from 0.',
    options: [
      choice('display', Object.keys(DISPLAYS), {
        description:
          'Display model, by its name in ColorVideoVDP; one pixel of the video is one of the display.',
      }),
      real('fps', 0, 0, HIGHEST_RATE, {
        description:
          'Frames per second; 0 takes the rate of the reference. Without a rate, each frame is treated as a still.',
      }),
      ...COLOUR_OPTIONS,
    ],
    features: [
      feature('cvvdp_q', 'cvvdp_q', { worse: 'high' }),
      feature('cvvdp', 'cvvdp', { stills: true, worse: 'low' }),
      feature('cvvdp', 'cvvdp', { emitted: 'sequence', worse: 'low' }),
    ],
    temporal: true,
  }),
  measure: (instance, format) => {
    requireSide('cvvdp', format, LEAST_SIDE);
    const rate = frameRateOf(instance, format);
    if (rate > HIGHEST_RATE)
      throw featureError(
        `The cvvdp extractor supports up to ${HIGHEST_RATE} frames per second but the video has ` +
          `${rate}; ${leaveOut('cvvdp')}`,
      );
    requireSignal(instance, coloursOf(instance, format));
    const { peak, contrast, ambient, reflectivity, pixelsPerDegree } = displayOf(instance);
    const viewing = [rate, peak, contrast, ambient, reflectivity, pixelsPerDegree];
    return { options: [...colourParameters(instance, format), ...viewing], extent: [] };
  },
  calls: (variants) =>
    variants.map(({ options }) => {
      const frames = windowOf(options[COLOUR_NUMBERS] ?? 0);
      return {
        run: 'cvvdp',
        args: ['frames', 'history', 'parameters'],
        parameters: doubles(options),
        fields: 1,
        back: frames - 1,
        padded: true,
        chroma: true,
        cost: 70 + 12 * frames,
      };
    }),
  finish: (instance, format) => new Clip(frameRateOf(instance, format) === 0 ? stillPower : power),
};

/** Stills are not pooled over time, so a single one keeps its own Q. */
const stillPower = (x: number, exponent: number): number => x ** exponent;

class Clip implements Finisher {
  readonly #power: typeof power;
  #frames = 0;
  /** Sum of the squares of Q. */
  #sum = 0;

  constructor(ofTime: typeof power) {
    this.#power = ofTime;
  }

  push(frame: number, fields: Fields, emit: Emit): void {
    const q = fields(0);
    this.#frames++;
    this.#sum += this.#power(q, 2);
    emit(frame, 'cvvdp_q', q);
    emit(frame, 'cvvdp', jodOf(q));
  }

  aggregates(): Readonly<Record<string, number>> {
    return this.#frames === 0 ? {} : { cvvdp: jodOf(this.#power(this.#sum / this.#frames, 0.5)) };
  }
}
