/**
 * @module platform/mediabunny/source
 * Frames decoded by mediabunny in presentation order, a few ahead of the reader, and losslessly turned upright.
 */
import type { VideoSample } from 'mediabunny';
import { messageOf } from '../../core/errors.js';
import type { FramePlanes, VideoFormat } from '../../core/frame.js';
import { chromaSize, sampleBytes, storedChromaSize } from '../../core/frame.js';
import { clause, shown } from '../../core/printable.js';
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { type EarlyEnd, MediaError } from '../../media/errors.js';
import type { MediabunnyHost, OpenedTrack, Orientation } from './track.js';
import { DECODING, decodingError, firstShown, orientation, SAME, samplePixelFormat } from './track.js';

/** Half the seconds between frames with distinct times. */
const NEAR = 5e-5;

/** The requested frames of a track; frame 0 is the first of them. */
export class TrackFrames {
  readonly #host: MediabunnyHost;
  readonly #opened: OpenedTrack;
  readonly #facts: TrackFacts;
  readonly #request: DecodeRequest;
  readonly #samples: AsyncGenerator<VideoSample, void, unknown>;
  readonly #copier: SampleCopier;
  /** Time of the track's first frame, on the file's clock. */
  readonly #zero: number;
  /** Seconds from the first frame to the first wanted one, if requested by time. */
  readonly #from: number | undefined;
  /** Frames to skip before the first wanted one. */
  #before: number;
  #ended = false;
  /** Seconds from the track's first frame, of the frames read so far. */
  readonly times: number[] = [];

  private constructor(
    host: MediabunnyHost,
    opened: OpenedTrack,
    facts: TrackFacts,
    request: DecodeRequest,
    upright: Orientation,
    zero: number,
  ) {
    const { frames, time } = request;
    this.#host = host;
    this.#opened = opened;
    this.#facts = facts;
    this.#request = request;
    this.#zero = zero;
    this.#copier = new SampleCopier(facts, upright);
    this.#before = frames?.at === undefined ? (frames?.start ?? 0) : 0;
    this.#from = time?.start ?? (frames?.at === undefined ? undefined : frames.at - NEAR);
    const sink = new opened.library.VideoSampleSink(opened.track, DECODING);
    this.#samples = sink.samples(
      this.#from !== undefined && this.#from > 0 ? this.#from + zero - SAME : undefined,
      time && Number.isFinite(time.end) ? time.end + zero - SAME : Number.POSITIVE_INFINITY,
    );
  }

  /** @param opened owned by the frames from now on */
  static async start(host: MediabunnyHost, opened: OpenedTrack, facts: TrackFacts, request: DecodeRequest) {
    try {
      const zero = await firstShown(host, opened);
      return new TrackFrames(host, opened, facts, request, await orientation(opened.track), zero);
    } catch (error) {
      throw decodingError(facts.name, error);
    }
  }

  /** Reads a frame after the latest one. @returns false at the end; why the video ends early */
  async read(index: number, into: FramePlanes): Promise<boolean | EarlyEnd> {
    const { frames } = this.#request;
    if (frames && index >= frames.end - frames.start) {
      await this.close();
      return false;
    }
    for (;;) {
      const sample = await this.#sample();
      if (sample === false || 'cutOff' in sample) return sample;
      try {
        const number = this.times.push(sample.timestamp - this.#zero) - 1;
        if (number < index) continue;
        this.#check(sample, number);
        await this.#copier.copy(sample, into);
        return true;
      } catch (error) {
        throw decodingError(this.#facts.name, error);
      } finally {
        sample.close();
      }
    }
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#opened.close();
    // Releases the decoder, ignoring its errors.
    await this.#samples.return().catch(() => {});
  }

  /** The next sample of the range, which the caller closes; otherwise as {@link read}. */
  async #sample(): Promise<VideoSample | EarlyEnd | false> {
    while (!this.#ended) {
      let result: IteratorResult<VideoSample, void>;
      try {
        result = await this.#samples.next();
      } catch (error) {
        return this.#broken(reasonOf(error));
      }
      const sample = result.value;
      this.#host.progress();
      if (!sample) {
        if (await this.#isCutOff()) return this.#broken('the container lists frames after it', true);
        await this.close();
        return false;
      }
      const failure = this.#host.failureAt?.(sample);
      const patched = this.#host.isPatched?.(sample);
      const at = sample.timestamp;
      // The first sample may start before the range.
      const from = this.#from;
      const within = from === undefined || at - this.#zero >= from - SAME;
      const sound = failure === undefined && !patched;
      if (sound && at >= -SAME && within && this.#before-- <= 0) {
        this.#before = 0;
        return sample;
      }
      sample.close();
      if (failure !== undefined) return this.#broken(reasonOf(failure));
      if (patched) return this.#broken('only a part of it could be decoded');
    }
    return false;
  }

  /** Whether the container lists frames after the last readable one. */
  async #isCutOff(): Promise<boolean> {
    const { time } = this.#request;
    if (time && Number.isFinite(time.end)) return false;
    const { library, track } = this.#opened;
    const last = await new library.EncodedPacketSink(track).getPacket(Number.POSITIVE_INFINITY, {
      metadataOnly: true,
    });
    const read = this.times.at(-1);
    return last !== null && read !== undefined && last.timestamp - this.#zero > read + SAME;
  }

  #check(sample: VideoSample, number: number): void {
    const { name, rotation, pixelFormat, width, height } = this.#facts;
    const { visibleRect } = sample;
    const turned = rotation === 90 || rotation === 270;
    const size = turned ? [visibleRect.height, visibleRect.width] : [visibleRect.width, visibleRect.height];
    const found = samplePixelFormat(sample.format);
    if (size[0] === width && size[1] === height && found === pixelFormat) return;
    throw new MediaError(
      'damaged',
      number,
      `the pictures of ${shown(name)} change at frame ${number} from ${width}x${height} ` +
        `${pixelFormat} to ${size.join('x')} ${found ?? 'RGB'}; only videos of one format ` +
        'can be scored.',
    );
  }

  async #broken(text: string, cutOff = false): Promise<EarlyEnd> {
    await this.close();
    return { frames: this.times.length, lastTime: this.times.at(-1), cutOff, text };
  }
}

/** Without its full stop. */
const reasonOf = (error: unknown): string => clause(messageOf(error));

export class SampleCopier {
  readonly #format: VideoFormat;
  readonly #orientation: Orientation;
  #buffer = new Uint8Array(0);

  /** @param format of the upright picture */
  constructor(format: VideoFormat, orientation: Orientation) {
    this.#format = format;
    this.#orientation = orientation;
  }

  /** Leaves the sample open. */
  async copy(sample: VideoSample, into: FramePlanes): Promise<void> {
    const bytes = sample.allocationSize();
    if (this.#buffer.length !== bytes) this.#buffer = new Uint8Array(bytes);
    const layout = await sample.copyTo(this.#buffer);
    const interleaved = sample.format === 'NV12';
    this.#plane(layout, 0, 1, 0, true, into.y);
    if (into.cb) this.#plane(layout, 1, interleaved ? 2 : 1, 0, false, into.cb);
    if (into.cr)
      this.#plane(layout, interleaved ? 1 : 2, interleaved ? 2 : 1, interleaved ? 1 : 0, false, into.cr);
  }

  /** @param step distance of this plane's samples, from the sample `first` */
  #plane(
    layout: readonly PlaneLayout[],
    index: number,
    step: number,
    first: number,
    luma: boolean,
    into: Uint8Array,
  ): void {
    const format = this.#format;
    const { rotation, flip } = this.#orientation;
    const used = luma ? format : chromaSize(format);
    if (used.width === 0) return;
    const plane = layout[index];
    if (!plane) throw new Error(`a sample has no plane ${index}`);
    const { offset, stride } = plane;
    const size = sampleBytes(format.bitDepth);
    const source = this.#buffer;
    if (rotation === 0 && !flip && step === 1) {
      const row = used.width * size;
      if (stride === row) {
        into.set(source.subarray(offset, offset + row * used.height));
        return;
      }
      for (let y = 0; y < used.height; y++) {
        const from = offset + y * stride;
        into.set(source.subarray(from, from + row), y * row);
      }
      return;
    }
    const [bytes, target] = [viewOf(source), viewOf(into)];
    // Stored sizes are rounded up, scored ones down.
    const stored = luma ? format : storedChromaSize(format);
    const turned = rotation === 90 || rotation === 270;
    const width = turned ? stored.height : stored.width;
    const height = turned ? stored.width : stored.height;
    for (let y = 0; y < used.height; y++) {
      for (let x = 0; x < used.width; x++) {
        const u = flip ? stored.width - 1 - x : x;
        const [sx, sy] =
          rotation === 90
            ? [y, height - 1 - u]
            : rotation === 180
              ? [width - 1 - u, height - 1 - y]
              : rotation === 270
                ? [width - 1 - y, u]
                : [u, y];
        const from = offset + sy * stride + (sx * step + first) * size;
        const to = (y * used.width + x) * size;
        if (size === 1) target.setUint8(to, bytes.getUint8(from));
        else target.setUint16(to, bytes.getUint16(from));
      }
    }
  }
}

/** A view that throws for an index out of range. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
