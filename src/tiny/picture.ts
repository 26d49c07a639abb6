/**
 * @module tiny/picture
 * Converts planes of a video to a picture model's tensors: samples in 0..1, resized and normalised.
 */
import { LUMA_WEIGHTS } from '../core/colour.js';
import { usageError } from '../core/errors.js';
import { type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import { quoted } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { PictureBinding, Role } from './bind.js';
import { type ContentTally, contentOf } from './content.js';
import { takeScores } from './session.js';
import type { TinyResize, TinySession, TinyTensor } from './types.js';

/** @throws {AnyvmafError} `usage` if pictures are too small, lack needed chroma, or need a disabled resize */
export function checkPicture(binding: PictureBinding, format: VideoFormat): void {
  const { source, width, height, resize, channels } = binding;
  if (channels === 3 && format.chroma === '400') {
    throw usageError(
      `The tiny model ${quoted(source)} needs colour, but the pictures have only luma; leave it out.`,
    );
  }
  const [least, lowest] = binding.minSize ?? [1, 1];
  const seen = { width: width ?? format.width, height: height ?? format.height };
  if (seen.width < least || seen.height < lowest) {
    throw usageError(
      `The tiny model ${quoted(source)} needs pictures of at least ${least}x${lowest}, but these are ` +
        `${seen.width}x${seen.height}; leave it out, or score the video before it was downscaled.`,
    );
  }
  const fits = (width ?? format.width) === format.width && (height ?? format.height) === format.height;
  if (fits || resize !== 'disabled') return;
  throw usageError(
    `The tiny model ${quoted(source)} takes pictures of ${width ?? 'any width'}x${height ?? 'any height'}, but ` +
      `these are ${format.width}x${format.height}; set tiny_resize to bilinear, bicubic or nearest.`,
  );
}

export function pictureShapes(
  { inputs, channels, width, height }: PictureBinding,
  format: VideoFormat,
): Record<string, readonly number[]> {
  const dims = [1, channels, height ?? format.height, width ?? format.width];
  return Object.fromEntries(inputs.map(({ tensor }) => [tensor, dims]));
}

export class TinyPictureScorer {
  readonly #binding: PictureBinding;
  readonly #session: TinySession;
  readonly #format: VideoFormat;
  readonly #size: PictureSize;
  readonly #resampler: Resampler | null;
  /** One per input, reused for every frame. */
  readonly #tensors: ReadonlyMap<Role, TinyTensor>;
  /** One channel before resizing. */
  readonly #plane: Float32Array;
  #tally: ContentTally = { frames: 0, flat: 0, noise: 0 };

  /** @throws {AnyvmafError} as {@link checkPicture} */
  constructor(binding: PictureBinding, session: TinySession, format: VideoFormat) {
    checkPicture(binding, format);
    this.#binding = binding;
    this.#session = session;
    this.#format = format;
    this.#size = { width: binding.width ?? format.width, height: binding.height ?? format.height };
    const { width, height } = this.#size;
    const resizes = width !== format.width || height !== format.height;
    this.#resampler =
      resizes && binding.resize !== 'disabled' ? new Resampler(format, this.#size, binding.resize) : null;
    this.#plane = new Float32Array(resizes && binding.channels === 3 ? format.width * format.height : 0);
    this.#tensors = new Map(
      binding.inputs.map(({ role }) => [
        role,
        {
          data: new Float32Array(binding.channels * width * height),
          dims: [1, binding.channels, height, width],
        },
      ]),
    );
  }

  /** `undefined` if the model does not need it. */
  get content(): ContentTally | undefined {
    return this.#binding.needsScene ? this.#tally : undefined;
  }

  /** Copies the pictures; the caller may reuse the planes. */
  take(reference: FramePlanes, distorted: FramePlanes): void {
    if (this.#binding.needsScene) this.#count(distorted);
    for (const { role } of this.#binding.inputs) {
      const tensor = this.#tensors.get(role);
      if (tensor) this.#fill(role === 'reference' ? reference : distorted, tensor.data);
    }
  }

  /**
   * Scores the pictures of the last {@link take}.
   * @param into receives one value per output, from `offset`
   * @throws {AnyvmafError} `model` if the graph fails or its output is not a score
   */
  async score(frame: number, into: Float64Array, offset: number): Promise<void> {
    const feeds: Record<string, TinyTensor> = {};
    for (const { tensor, role } of this.#binding.inputs) {
      const input = this.#tensors.get(role);
      if (input) feeds[tensor] = input;
    }
    const results = await this.#session.run(feeds);
    takeScores(this.#binding, results, 1, into.subarray(offset), () => frame);
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #count(planes: FramePlanes): void {
    const { width, height, bitDepth } = this.#format;
    const content = contentOf(samplesOf(planes.y, bitDepth), width, height, bitDepth);
    const { frames, flat, noise } = this.#tally;
    this.#tally = {
      frames: frames + 1,
      flat: flat + (content === 'flat' ? 1 : 0),
      noise: noise + (content === 'noise' ? 1 : 0),
    };
  }

  #fill(planes: FramePlanes, into: Float32Array): void {
    const { channels, mean, std } = this.#binding;
    const { bitDepth } = this.#format;
    const luma = samplesOf(planes.y, bitDepth);
    const size = this.#size.width * this.#size.height;
    if (channels === 1) {
      const peak = 2 ** bitDepth - 1;
      if (this.#resampler) this.#resampler.plane(luma, into);
      const scale = 1 / (std[0]! * peak);
      const shift = mean[0]! / std[0]!;
      const from: ArrayLike<number> = this.#resampler ? into : luma;
      for (let i = 0; i < size; i++) into[i] = from[i]! * scale - shift;
      return;
    }
    const cb = samplesOf(planes.cb ?? new Uint8Array(), bitDepth);
    const cr = samplesOf(planes.cr ?? new Uint8Array(), bitDepth);
    for (let channel = 0; channel < 3; channel++) {
      const target = into.subarray(channel * size, (channel + 1) * size);
      const plane = this.#resampler ? this.#plane : target;
      this.#rgb(channel, luma, cb, cr, plane);
      this.#resampler?.plane(plane, target);
      const deviation = std[channel]!;
      const middle = mean[channel]!;
      for (let i = 0; i < size; i++) target[i] = (target[i]! / 255 - middle) / deviation;
    }
  }

  /** Converts BT.709 limited range to one channel of 8-bit RGB, repeating chroma. */
  #rgb(
    channel: number,
    luma: ArrayLike<number>,
    cb: ArrayLike<number>,
    cr: ArrayLike<number>,
    into: Float32Array,
  ): void {
    const { width, height, bitDepth, chroma } = this.#format;
    const [right, down] = chroma === '444' ? [0, 0] : chroma === '422' ? [1, 0] : [1, 1];
    const chromaWidth = right === 1 ? width >> 1 : width;
    const chromaHeight = down === 1 ? height >> 1 : height;
    const unit = 2 ** (bitDepth - 8);
    const [ofCb, ofCr] = RGB[channel]!;
    for (let y = 0; y < height; y++) {
      // Odd luma sizes have one chroma sample less than needed.
      const chromaRow = Math.min(y >> down, chromaHeight - 1) * chromaWidth;
      for (let x = 0; x < width; x++) {
        const at = chromaRow + Math.min(x >> right, chromaWidth - 1);
        const value =
          LUMA_GAIN * (luma[y * width + x]! / unit - 16) +
          ofCb * (cb[at]! / unit - 128) +
          ofCr * (cr[at]! / unit - 128);
        into[y * width + x] = Math.min(255, Math.max(0, Math.round(value)));
      }
    }
  }
}

/** Weights of Cb and Cr in red, green and blue: BT.709, limited range, 8 bit. */
const { kr: KR, kb: KB } = LUMA_WEIGHTS.bt709;
const KG = 1 - KR - KB;
const LUMA_GAIN = 255 / 219;
const CHROMA_GAIN = 255 / 112;
const RGB: readonly (readonly [number, number])[] = [
  [0, CHROMA_GAIN * (1 - KR)],
  [(-CHROMA_GAIN * (1 - KB) * KB) / KG, (-CHROMA_GAIN * (1 - KR) * KR) / KG],
  [CHROMA_GAIN * (1 - KB), 0],
];

interface Taps {
  readonly size: number;
  /** Source positions, `size` for each output sample. */
  readonly at: Uint32Array;
  /** Parallel to {@link at}; the weights of an output sample sum to 1. */
  readonly weights: Float64Array;
}

/** Parameter of the bicubic kernel: Catmull-Rom. */
const A = -0.5;

function cubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return ((A + 2) * x - (A + 3)) * x * x + 1;
  return x < 2 ? A * (((x - 5) * x + 8) * x - 4) : 0;
}

function makeTaps(from: number, to: number, filter: Exclude<TinyResize, 'disabled'>): Taps {
  const size = { nearest: 1, bilinear: 2, bicubic: 4 }[filter];
  const at = new Uint32Array(to * size);
  const weights = new Float64Array(to * size);
  for (let i = 0; i < to; i++) {
    const centre = ((i + 0.5) * from) / to - 0.5;
    const first = filter === 'nearest' ? Math.floor(centre + 0.5) : Math.floor(centre) - (size / 2 - 1);
    for (let tap = 0; tap < size; tap++) {
      const distance = centre - (first + tap);
      at[i * size + tap] = Math.min(from - 1, Math.max(0, first + tap));
      weights[i * size + tap] =
        filter === 'nearest' ? 1 : filter === 'bilinear' ? 1 - Math.abs(distance) : cubic(distance);
    }
  }
  return { size, at, weights };
}

/** Resamples planes with precomputed weights: half-pixel centres, repeated edges, no anti-aliasing. */
export class Resampler {
  readonly #rows: Taps;
  readonly #columns: Taps;
  readonly #width: number;

  constructor(
    from: PictureSize,
    readonly to: PictureSize,
    filter: Exclude<TinyResize, 'disabled'>,
  ) {
    this.#width = from.width;
    this.#rows = makeTaps(from.height, to.height, filter);
    this.#columns = makeTaps(from.width, to.width, filter);
  }

  /** @param into `to.width * to.height` numbers */
  plane(source: ArrayLike<number>, into: Float32Array): void {
    const { width, height } = this.to;
    const rows = this.#rows;
    const columns = this.#columns;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        let sum = 0;
        for (let j = 0; j < rows.size; j++) {
          const row = rows.at[y * rows.size + j]! * this.#width;
          let part = 0;
          for (let i = 0; i < columns.size; i++) {
            const tap = x * columns.size + i;
            part += source[row + columns.at[tap]!]! * columns.weights[tap]!;
          }
          sum += part * rows.weights[y * rows.size + j]!;
        }
        into[y * width + x] = sum;
      }
    }
  }
}
