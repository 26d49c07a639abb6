/**
 * @module metrics/cvvdp
 * ColorVideoVDP 0.5.6 (Mantiuk et al., 2024): visible differences of colour and time on a display, in just-objectionable
 * differences (JOD); 10 is no difference. The core gives each frame's Q, the size of the visible difference; JOD follow
 * from Q pooled over the clip.
 */
import type { Colour, ScoredFormat } from '../core/colour.js';
import { AnyvmafError } from '../core/errors.js';
import { quotientOf } from '../core/rational.js';
import { leaveOut, requireSide } from './checks.js';
import { COLOUR_OPTIONS, colourParameters, coloursOf } from './colour.js';
import { DISPLAYS, type Display } from './cvvdp-displays.js';
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

/** As in wasm/include/perceptual.h. */
const LEAST_SIDE = 2;
const HIGHEST_RATE = 240;
/** Numbers that parameters begin with: the colours of both videos. */
const COLOUR_NUMBERS = 12;

/** Frames that a frame is seen with, itself included: those of the last quarter of a second. */
function windowOf(frameRate: number): number {
  return frameRate === 0 ? 1 : 2 * Math.ceil(frameRate / 8) + 1;
}

/** Frames per second; 0 for stills. */
function rateOf(instance: ExtractorInstance, { frameRate }: ScoredFormat): number {
  return numberOption(instance, 'fps') || (quotientOf(frameRate) ?? 0);
}

function displayOf(instance: ExtractorInstance): Display {
  const name = choiceOption(instance, 'display');
  const found = Object.entries(DISPLAYS).find(([known]) => known === name);
  if (!found) throw new AnyvmafError('internal', `There is no display ${name}.`);
  return found[1];
}

/** The signal of a video. */
function signalOf({ transfer }: Colour): Display['signal'] {
  return transfer === 'pq' || transfer === 'hlg' ? transfer : 'sdr';
}

/** Refuses a video that the display does not show as it is meant. */
function requireSignal(instance: ExtractorInstance, colours: NonNullable<ScoredFormat['colours']>): void {
  const { signal } = displayOf(instance);
  for (const side of ['reference', 'distorted'] as const) {
    const found = signalOf(colours[side]);
    if (found === signal) continue;
    const fitting = Object.entries(DISPLAYS).flatMap(([name, one]) => (one.signal === found ? name : []));
    throw new AnyvmafError(
      'feature',
      `The cvvdp extractor's display ${choiceOption(instance, 'display')} shows ${signal.toUpperCase()} but the ` +
        `${side} video is ${found.toUpperCase()}; choose another display, for example ${fitting[0]}.`,
    );
  }
}

/** The cvvdp extractor. */
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
        description: 'The display, as ColorVideoVDP names it; videos are shown on it pixel by pixel.',
      }),
      real('fps', 0, 0, HIGHEST_RATE, {
        description:
          'Frames per second; 0 takes the rate of the reference. Without a rate, each frame is seen as a still.',
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
    const rate = rateOf(instance, format);
    if (rate > HIGHEST_RATE) {
      throw new AnyvmafError(
        'feature',
        `The cvvdp extractor takes up to ${HIGHEST_RATE} frames per second but the video has ` +
          `${rate}; ${leaveOut('cvvdp')}`,
      );
    }
    requireSignal(instance, coloursOf(instance, format));
    const { peak, contrast, ambient, reflectivity, pixelsPerDegree } = displayOf(instance);
    return {
      options: [
        ...colourParameters(instance, format),
        ...[rate, peak, contrast, ambient, reflectivity, pixelsPerDegree],
      ],
      extent: [],
    };
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
  finish: (instance, format) => new Clip(rateOf(instance, format) === 0 ? stillPower : power),
};

/** Stills are not pooled over time, so that one has its own Q. */
const stillPower = (x: number, exponent: number): number => x ** exponent;

class Clip implements Finisher {
  readonly #power: typeof power;
  #frames = 0;
  /** Of the squares of Q. */
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
