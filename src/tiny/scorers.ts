/**
 * @module tiny/scorers
 * Scores frames with a session: rows of features, scaled by the sidecar; or pictures, as samples in 0..1, resized and
 * normalised, which are counted if flat or noise.
 */
import { LUMA_WEIGHTS } from '../core/colour.js';
import { usageError } from '../core/errors.js';
import { type FramePlanes, samplesOf, type VideoFormat } from '../core/frame.js';
import { quoted } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { FeatureBinding, PictureBinding, Role } from './bind.js';
import { takeScores } from './session.js';
import type { TinyResize, TinySession, TinyTensor } from './types.js';

const MAX_ROWS = 4096;

/** Largest shapes of a feature model's inputs, by name. */
export function featureShapes({
  input,
  columns,
  codec,
  batch,
}: FeatureBinding): Record<string, readonly number[]> {
  const rows = batch ?? MAX_ROWS;
  return { [input]: [rows, columns.length], ...(codec && { [codec.input]: [rows, codec.block.length] }) };
}

export class TinyRegressor {
  constructor(
    readonly binding: FeatureBinding,
    readonly session: TinySession,
  ) {}

  /**
   * @param rows unscaled features, row-major, in the order of the binding's columns
   * @param frameOf maps rows to frame numbers, for messages
   * @returns scores, row-major, one column per output
   * @throws {AnyvmafError} `model` if the graph fails or its output is not a score
   */
  async predict(
    rows: Float64Array,
    frameOf: (row: number) => number = (row) => row,
  ): Promise<Float64Array<ArrayBuffer>> {
    const { columns, outputs, batch } = this.binding;
    const count = rows.length / columns.length;
    const scores = new Float64Array(count * outputs.length);
    const step = batch ?? MAX_ROWS;
    for (let first = 0; first < count; first += step) {
      const size = Math.min(step, count - first);
      const results = await this.session.run(this.#feeds(rows, first, size));
      const into = scores.subarray(first * outputs.length, (first + size) * outputs.length);
      takeScores(this.binding, results, size, into, (row) => frameOf(first + row));
    }
    return scores;
  }

  #feeds(rows: Float64Array, first: number, size: number): Record<string, TinyTensor> {
    const { columns, scaler, input, codec } = this.binding;
    const width = columns.length;
    const data = new Float32Array(size * width);
    for (let i = 0; i < data.length; i++) {
      const value = rows[first * width + i]!;
      const column = i % width;
      data[i] = scaler ? (value - scaler.mean[column]!) / scaler.std[column]! : value;
    }
    const feeds: Record<string, TinyTensor> = { [input]: { data, dims: [size, width] } };
    if (codec) {
      const block = new Float32Array(size * codec.block.length);
      for (let row = 0; row < size; row++) block.set(codec.block, row * codec.block.length);
      feeds[codec.input] = { data: block, dims: [size, codec.block.length] };
    }
    return feeds;
  }
}

/** @throws {AnyvmafError} `usage` if pictures are too small, lack chroma, or need resizing, which is disabled */
export function checkPicture(binding: PictureBinding, format: VideoFormat): void {
  const { source, width, height, resize, channels } = binding;
  if (channels === 3 && format.chroma === '400')
    throw usageError(
      `The tiny model ${quoted(source)} needs colour, but the pictures have only luma; leave it out.`,
    );
  const [least, lowest] = binding.minSize ?? [1, 1];
  const seen = { width: width ?? format.width, height: height ?? format.height };
  if (seen.width < least || seen.height < lowest)
    throw usageError(
      `The tiny model ${quoted(source)} needs pictures of at least ${least}x${lowest}, but these are ` +
        `${seen.width}x${seen.height}; leave it out, or score the video before it was downscaled.`,
    );
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
    const { channels } = binding;
    const blank = () => ({
      data: new Float32Array(channels * width * height),
      dims: [1, channels, height, width],
    });
    this.#tensors = new Map(binding.inputs.map(({ role }) => [role, blank()]));
  }

  /** `undefined` if the model does not need it. */
  get content(): ContentTally | undefined {
    return this.#binding.needsScene ? this.#tally : undefined;
  }

  /** Copies the pictures; the caller may reuse the planes. */
  take(reference: FramePlanes, distorted: FramePlanes): void {
    if (this.#binding.needsScene) this.#count(distorted);
    for (const [role, { data }] of this.#tensors)
      this.#fill(role === 'reference' ? reference : distorted, data);
  }

  /**
   * Scores the pictures of the last {@link take}.
   * @param into receives one value per output, from `offset`
   * @throws {AnyvmafError} `model` if the graph fails or its output is not a score
   */
  async score(frame: number, into: Float64Array, offset: number): Promise<void> {
    const feeds = this.#binding.inputs.map(({ tensor, role }) => [tensor, this.#tensors.get(role)!] as const);
    const results = await this.#session.run(Object.fromEntries(feeds));
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
      // Odd luma sizes have one chroma sample too few.
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

/** `flat`: one tone; `noise`: neighbouring samples are uncorrelated; `scene`: all others. */
type Content = 'flat' | 'noise' | 'scene';

export interface ContentTally {
  readonly frames: number;
  readonly flat: number;
  readonly noise: number;
}

/** Luma with a smaller standard deviation is flat; in 8-bit levels, below film grain. */
const FLAT_DEVIATION = 2;
/** Luma with less correlation of neighbours is noise. Scenes have 0.8 or more, unless noise is 2/3 of their energy. */
const NOISE_CORRELATION = 0.35;

/** @param luma rows of `width` samples without gaps */
export function contentOf(luma: ArrayLike<number>, width: number, height: number, bitDepth: number): Content {
  const unit = 2 ** (bitDepth - 8);
  const pixels = width * height;
  const sums: Sums = [0, 0, 0, 0];
  // The squares of this many samples sum to less than 2^32.
  const most32 = Math.max(1, Math.floor((2 ** 32 - 1) / (2 ** bitDepth - 1) ** 2));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x += most32)
      addSamples(luma, y * width + x, Math.min(most32, width - x), Math.min(x, 1), y > 0 ? width : 0, sums);
  }
  const [sum, squares, across, down] = sums;
  const variance = squares / pixels - (sum / pixels) ** 2;
  if (variance < (FLAT_DEVIATION * unit) ** 2) return 'flat';
  // The mean squared difference of neighbours with correlation r is 2 (1 - r) variance.
  const most = 2 * (1 - NOISE_CORRELATION) * variance;
  return across / ((width - 1) * height) > most && down / (width * (height - 1)) > most ? 'noise' : 'scene';
}

/** Sums of samples, of their squares, and of squared differences from the left and upper neighbours. */
type Sums = [sum: number, squares: number, across: number, down: number];

/**
 * Adds samples of a row in 32 bits, three times faster than in doubles.
 * @param left distance of the first one's left neighbour; 0 if it has none
 * @param above distance of the upper neighbours; 0 if there are none
 */
function addSamples(
  luma: ArrayLike<number>,
  first: number,
  count: number,
  left: number,
  above: number,
  sums: Sums,
): void {
  let [sum, squares, across, down] = [0, 0, 0, 0];
  let before = luma[first - left]!;
  for (let at = first; at < first + count; at++) {
    const value = luma[at]!;
    const right = value - before;
    const below = value - luma[at - above]!;
    before = value;
    sum = (sum + value) | 0;
    squares = (squares + Math.imul(value, value)) | 0;
    across = (across + Math.imul(right, right)) | 0;
    down = (down + Math.imul(below, below)) | 0;
  }
  sums[0] += sum >>> 0;
  sums[1] += squares >>> 0;
  sums[2] += across >>> 0;
  sums[3] += down >>> 0;
}
