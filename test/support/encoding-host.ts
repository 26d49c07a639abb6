/**
 * @module test/support/encoding-host
 * A machine that encodes and scores without ffmpeg: frames, bytes and scores come from curves that were recorded with real
 * encoders. Everything that searches (a search, a ladder, a comparison, shots) runs on it in milliseconds, the same each time.
 *
 * Functions of src/search take its platform; no file of that name needs to exist:
 *
 *     const host = fakeEncoding({ shots: [{ frames: 12 }, { frames: 9, ease: -6 }] });
 *     await searchQuality(host.platform, 'film.mkv', { encoder: 'libx264', targets: [{ atLeast: 85 }] });
 *     expect(host.encodes.map(({ value }) => value)).toEqual([24, 27.5]);
 *
 * The public functions, the command line in this process and the MCP tools take the platform of Node, which `install()` makes
 * encode with this host until it is disposed of. What checks paths before it searches needs a file there, of any content:
 *
 *     using host = fakeEncoding().install();
 *     await anyvmaf(['search', path, '--encoder', 'libx264', '--target', '85', '--cache', 'none']);
 *
 * It knows libx264, libx265, libsvtav1 and libvpx-vp9 by CRF, mpeg2video by bit rate, their presets below, any smaller size, and
 * the metrics of the models asked for (all with the same values), with `psnr` also `psnr_y`, and those of {@link FURTHER}. Options of {@link FakeVideo} make a
 * source; those of {@link FakeEncoder} bend curves, drop frames or fail. It writes no files. Real encoders, joined files and
 * unusual sources are tested in test/node/search.
 */
import { AnyvmafError, usageError } from '../../src/core/errors.js';
import { storedFrameBytes } from '../../src/core/frame.js';
import type { PictureSize } from '../../src/core/size.js';
import type { TrackFacts } from '../../src/media/decoder.js';
import type { VideoInput } from '../../src/media/types.js';
import { nodePlatform } from '../../src/platform/node/platform.js';
import type { EncoderFacts } from '../../src/search/encoders.js';
import {
  ACTIVITY_KEY,
  type EncodeRequest,
  type EncodeResult,
  type EncodeScores,
  type EncodingFolder,
  type EncodingHost,
  type FrameRun,
  type SearchPlatform,
  type SourceFacts,
} from '../../src/search/session.js';
import { type PointStore, scoreName } from '../../src/search/targets.js';

/** Value of CRF, bytes per frame, VMAF: of 8 frames of ffmpeg's mandelbrot with noise at 320x176, with ffmpeg 5.1.9. */
type Curve = readonly (readonly [value: number, bytes: number, quality: number])[];

/** Parses a curve: three numbers a point. */
function curve(points: string): Curve {
  return points.split(',').map((point) => point.trim().split(' ').map(Number) as unknown as Curve[number]);
}

interface Recording {
  /** Of its library. */
  readonly version: string;
  readonly options: Readonly<Record<string, string>>;
  readonly pixelFormats: readonly string[];
  /** The option that tells recordings apart, and its usual value. */
  readonly preset: readonly [option: string, usual: string];
  readonly curves: Readonly<Record<string, { readonly framesPerSecond: number; readonly points: Curve }>>;
}

const PLANAR = ['yuv420p', 'yuv422p', 'yuv444p'];
const X264_FAST: Curve = curve(`
          0 23180 98.23, 6 17917 97.91, 12 11004 97.46, 18 7248 96.43, 24 4022 94.02,
          30 1677 88.04, 36 933 77.69, 42 460 55.74, 48 295 33.67, 51 240 25`);

const ENCODERS: Readonly<Record<string, Recording>> = {
  libx264: {
    version: '164 r3095',
    options: { crf: 'float', qp: 'int', preset: 'string', tune: 'string', 'x264-params': 'dictionary' },
    pixelFormats: [...PLANAR, 'nv12', 'yuv420p10le'],
    preset: ['-preset', 'medium'],
    curves: {
      ultrafast: { framesPerSecond: 400, points: X264_FAST },
      medium: {
        framesPerSecond: 90,
        points: curve(`
          0 19409 98.23, 6 10387 97.77, 12 6618 96.98, 18 3832 94.2, 24 1577 89.66,
          30 669 80.72, 36 384 60.32, 42 266 32.2, 51 160 0`),
      },
    },
  },
  libx265: {
    version: '3.5+1-f0c1022b6',
    options: { crf: 'float', qp: 'int', preset: 'string', 'x265-params': 'dictionary' },
    pixelFormats: [...PLANAR, 'yuv420p10le', 'yuv420p12le'],
    preset: ['-preset', 'ultrafast'],
    curves: {
      ultrafast: {
        framesPerSecond: 60,
        points: curve(`
          0 15864 97.92, 6 10777 97.46, 12 7050 96.3, 18 4042 93.69, 24 1646 88.5,
          30 638 77.32, 36 272 56.01, 42 141 33.79, 48 72 9.36, 51 60 1`),
      },
    },
  },
  libsvtav1: {
    version: '1.4.1',
    options: { crf: 'int', preset: 'int', 'svtav1-params': 'dictionary' },
    pixelFormats: ['yuv420p', 'yuv420p10le'],
    preset: ['-preset', '10'],
    curves: {
      '10': {
        framesPerSecond: 120,
        points: curve(`
          3 11079 97.79, 13 7178 96.04, 23 4863 93.52, 33 2830 91.02,
          43 1127 86.83, 53 589 82.94, 63 236 66.72`),
      },
    },
  },
  'libvpx-vp9': {
    version: '1.12.0',
    options: { crf: 'int', deadline: 'int', 'cpu-used': 'int' },
    pixelFormats: PLANAR,
    preset: ['-cpu-used', '8'],
    curves: {
      '8': {
        framesPerSecond: 150,
        points: curve(`
          3 13139 97.83, 13 7287 96.58, 23 5266 95.53, 33 3085 92.88,
          43 1285 88.26, 53 574 78.45, 63 261 58.16`),
      },
    },
  },
  // Hardware frames only, none in ordinary memory.
  h264_vaapi: { version: '1', options: {}, pixelFormats: ['vaapi'], preset: ['-', ''], curves: {} },
  mpeg2video: {
    version: '59.37.100',
    options: {},
    pixelFormats: ['yuv420p', 'yuv422p'],
    preset: ['-', ''],
    curves: { '': { framesPerSecond: 500, points: X264_FAST } },
  },
};

/** Further metrics by feature, roughly as measured for those frames of mandelbrot. */
const FURTHER: Readonly<Record<string, (vmaf: number) => Readonly<Record<string, number>>>> = {
  psnr: (vmaf) => ({ psnr_y: 20 + vmaf / 4 }),
  xpsnr: (vmaf) => ({ xpsnr_y: 20 + vmaf / 4, xpsnr_min: 18 + vmaf / 4 }),
  ssimulacra2: (vmaf) => ({ ssimulacra2: 100 - 4 * (100 - vmaf) ** 0.8 }),
  butteraugli: (vmaf) => ({
    butteraugli: 0.5 * (100 - vmaf) ** 0.8,
    butteraugli_3norm: 0.25 * (100 - vmaf) ** 0.8,
  }),
  cvvdp: (vmaf) => ({ cvvdp_q: (100 - vmaf) ** 1.2 }),
};

/** The area at which curves were recorded. */
const RECORDED_AREA = 320 * 176;
/** Share of the source's height, and the points of quality that libx264 loses with it. */
const SIZE_COSTS: Curve = curve('0.25 0 46, 0.5 0 20.5, 0.75 0 10.5, 1 0 0');
/** Offsets of frame scores from the quality of their encode; their sum is 0. */
const WOBBLE = [0.4, -0.2, -0.4, 0.3, -0.1];
/** Frames of a group, whose first takes more bytes; the mean of the shares is 1. */
const GROUP = 12;
const [KEY_SHARE, OTHER_SHARE] = [3.2, 0.8];

/** Consecutive frames that show one scene. */
export interface FakeShot {
  readonly frames: number;
  /** Points of quality that it scores above the recorded curve. Default: 0, -6 and 5 in turn. */
  readonly ease?: number;
  /** Bytes that it takes, of those recorded. Default: 1, 1.8 and 0.4 in turn. */
  readonly cost?: number;
}

const EASES = [0, -6, 5];
const COSTS = [1, 1.8, 0.4];

/** The source, whatever its name. */
export interface FakeVideo {
  /** Default: one of 24 frames. */
  readonly shots?: readonly FakeShot[];
  /** Default 25. */
  readonly perSecond?: number;
  /** Default: 8-bit 4:2:0 of 320x176. */
  readonly track?: Partial<TrackFacts>;
  /** Tracks beside the video. */
  readonly others?: SourceFacts['others'];
  readonly hdr?: SourceFacts['hdr'];
}

export interface FakeEncoder {
  /** Changes the quality of an encode. */
  readonly bend?: (quality: number, value: number, request: EncodeRequest) => number;
  /** Frames that encoders drop from the end. */
  readonly drops?: number | ((request: EncodeRequest) => number);
  /** An error of an encode. */
  readonly fails?: (encode: FakeEncode) => Error | undefined;
  /** Frames at the end of the source that cannot be decoded. */
  readonly damaged?: number;
}

export interface FakeEncode {
  readonly request: EncodeRequest;
  /** Value of CRF, or bits per second. */
  readonly value: number;
}

export interface FakeHost extends Disposable {
  readonly host: EncodingHost;
  /** A platform whose encoding is this. */
  readonly platform: SearchPlatform;
  /** Encodes in the order in which they were made. */
  readonly encodes: readonly FakeEncode[];
  /** Lines of points by folder (`''`: the user's cache) and key; a test may damage them. */
  readonly stores: ReadonlyMap<string, Map<string, string[]>>;
  /** Names of files in folders that are not closed. */
  files(): readonly string[];
  /** Encodes that were written where the user asked for them. */
  written(): readonly string[];
  /** Folders that are not closed. */
  readonly folders: number;
  /** Makes the platform of Node encode with this host. */
  install(): FakeHost;
}

/** A luma picture of a scene: waves that move with `time`, by a pattern of the scene's own. */
export function scenePicture(
  { width, height }: PictureSize,
  scene: number,
  time: number,
  light = 1,
): Uint8Array {
  return Uint8Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [(i % width) + time, Math.floor(i / width)];
    const wave = Math.sin((x * (scene + 2)) / 11 + scene * 2) * Math.cos((y * (scene + 1)) / 7 - scene);
    return Math.max(0, Math.min(255, (128 + 100 * wave) * light));
  });
}

/** What sources of these shots show, by key: finding cuts takes far longer than all else, and gives the same. */
const ACTIVITIES = new Map<string, readonly string[]>();

export function fakeEncoding(video: FakeVideo = {}, behaviour: FakeEncoder = {}): FakeHost {
  return new Fake(video, behaviour);
}

/** A frame of the source: its shot, its index in the shot, and how hard the shot is to encode. */
interface Place {
  readonly shot: number;
  readonly at: number;
  readonly look: Required<Pick<FakeShot, 'ease' | 'cost'>>;
}

interface EncodedFrames {
  readonly quality: number;
  /** Bytes per frame before what the frame shows. */
  readonly bytes: number;
  readonly framesPerSecond: number;
}

class Fake implements FakeHost {
  readonly encodes: FakeEncode[] = [];
  readonly stores = new Map<string, Map<string, string[]>>();
  folders = 0;
  readonly host: EncodingHost;
  readonly platform: SearchPlatform;
  readonly #behaviour: FakeEncoder;
  readonly #track: TrackFacts;
  readonly #tracks: Pick<SourceFacts, 'others' | 'hdr'>;
  readonly #perSecond: number;
  readonly #places: readonly Place[];
  /** Frames of the shots, and of what cannot be decoded. */
  readonly #lengths: string;
  /** Frames of the source in files that were cut, by path. */
  readonly #cuts = new Map<string, readonly number[]>();
  /** Encodes by path: runs of the source's frames. */
  readonly #made = new Map<string, readonly (EncodedFrames & { readonly frames: readonly number[] })[]>();
  #uninstall = () => {};

  constructor(
    { shots = [{ frames: 24 }], perSecond = 25, track = {}, others = [], hdr = [] }: FakeVideo,
    behaviour: FakeEncoder,
  ) {
    this.#tracks = { others, hdr };
    this.#behaviour = behaviour;
    this.#perSecond = perSecond;
    this.#lengths = [...shots.map(({ frames }) => frames), behaviour.damaged].join();
    this.#places = shots.flatMap(({ frames, ...own }, shot) => {
      const look = { ease: EASES[shot % EASES.length] ?? 0, cost: COSTS[shot % COSTS.length] ?? 1, ...own };
      return Array.from({ length: frames }, (_, at) => ({ shot, at, look }));
    });
    this.#track = {
      ...{ name: 'film.mkv', container: 'matroska,webm', codec: 'ffv1', pixelFormat: 'yuv420p' },
      ...{ width: 320, height: 176, bitDepth: 8, chroma: '420', rotation: 0, fieldOrder: 'progressive' },
      ...{ frameRate: { num: perSecond, den: 1 }, frameCount: this.#places.length, startTime: 0 },
      ...{ duration: this.#places.length / perSecond, bitrate: null, fileSize: null },
      ...track,
    };
    this.host = this.#makeHost();
    const platform = { ...nodePlatform, encoding: async () => this.host };
    this.platform = Object.assign(platform, { ofOrigin: () => platform });
  }

  files(): readonly string[] {
    return [...this.#cuts.keys(), ...this.#made.keys()].filter((path) => path.startsWith(ROOT));
  }

  written(): readonly string[] {
    return [...this.#made.keys()].filter((path) => !path.startsWith(ROOT));
  }

  install(): this {
    const { encoding, ofOrigin } = nodePlatform;
    const own = { encoding: this.platform.encoding };
    Object.assign(nodePlatform, own, {
      ofOrigin: (origin: Parameters<NonNullable<typeof ofOrigin>>[0]) => ({ ...ofOrigin?.(origin), ...own }),
    });
    this.#uninstall = () => Object.assign(nodePlatform, { encoding, ofOrigin });
    return this;
  }

  [Symbol.dispose](): void {
    this.#uninstall();
  }

  #makeHost(): EncodingHost {
    return {
      encoder: async (name) => encoderFacts(name),
      source: async (input) => ({
        track: { ...this.#track, name: String(input) },
        times: Float64Array.from(this.#places, (_, i) => i / this.#perSecond),
        sizes: Float64Array.from(this.#places, (_, i) => this.#bytesOf(i, 20_000)),
        ...this.#tracks,
        identity: `${input} ${this.#places.length}`,
      }),
      thumbnails: async (_input, _track, size, onFrame, signal) => {
        const decoded = this.#places.slice(0, this.#places.length - (this.#behaviour.damaged ?? 0));
        for (const [i, { shot, at }] of decoded.entries()) {
          signal?.throwIfAborted();
          onFrame(scenePicture(size, shot, at), i);
        }
        return decoded.length;
      },
      openFolder: async (limit) => this.#openFolder(limit),
      points: (folder = '') => this.#store(folder),
      score: async (reference, distorted, options) => {
        options.signal?.throwIfAborted();
        return this.#score(reference, distorted, options.models, options.features);
      },
    };
  }

  #openFolder(limit: number): EncodingFolder {
    this.folders++;
    const path = (name: string) => `${ROOT}${name}`;
    const check = async (source: VideoInput, output: string) => {
      if (!/\.(mp4|m4v|mov|mkv|webm)$/.test(output))
        throw usageError(`${output} must end in .mp4, .m4v, .mov, .mkv, .webm.`);
      if (String(source) === output)
        throw usageError(`${output} is the source; name another file for the encode.`);
    };
    return {
      root: ROOT,
      path,
      cut: async (_source, { track }, runs, name, signal) => {
        signal?.throwIfAborted();
        const frames = runs.flatMap(framesOf);
        if (frames.length * storedFrameBytes(track) > limit)
          throw new AnyvmafError('io', 'the samples take more than is allowed of temporary files.');
        this.#cuts.set(path(name), frames);
      },
      encode: async (request) => this.#encode(request, request.whole ? request.output : path(request.output)),
      checkOutput: check,
      join: async ({ segments, source, output, check: look, signal }) => {
        await check(source, output);
        signal?.throwIfAborted();
        const parts = segments.flatMap(({ name }) => this.#made.get(path(name)) ?? []);
        this.#made.set(output, parts);
        try {
          await look(output);
        } catch (error) {
          this.#made.delete(output);
          throw error;
        }
        const sizes = parts.flatMap(({ frames, bytes }) => frames.map((at) => this.#bytesOf(at, bytes)));
        return { sizes: Float64Array.from(sizes), seconds: 0.01 };
      },
      frames: async (name) => {
        throw new Error(`${name} has scores and no pictures`);
      },
      remove: async (name) => {
        this.#cuts.delete(path(name));
        this.#made.delete(path(name));
      },
      close: async () => {
        this.folders--;
        for (const one of this.files()) {
          this.#cuts.delete(one);
          this.#made.delete(one);
        }
      },
    };
  }

  async #encode(request: EncodeRequest, output: string): Promise<EncodeResult> {
    request.signal?.throwIfAborted();
    const value = valueIn(request.args);
    const encode = { request, value };
    this.encodes.push(encode);
    const failure = this.#behaviour.fails?.(encode);
    if (failure) throw failure;
    const given = this.#framesIn(request.input);
    const { first, count } = request.frames ?? { first: 0, count: given.length };
    const { drops = 0 } = this.#behaviour;
    const frames = given.slice(first, first + count - (typeof drops === 'number' ? drops : drops(request)));
    const made = { ...this.#measured(request, value), frames };
    this.#made.set(output, [made]);
    const sizes = Float64Array.from(frames, (at, i) =>
      this.#bytesOf(at, made.bytes, request.keys?.includes(i)),
    );
    request.onFrames?.(frames.length);
    const result = { sizes, seconds: frames.length / made.framesPerSecond };
    try {
      if (request.whole && (await request.check?.(output, result)) === false) this.#made.delete(output);
    } catch (error) {
      this.#made.delete(output);
      throw error;
    }
    return result;
  }

  #measured(request: EncodeRequest, value: number): EncodedFrames {
    const { encoder, args, size = this.#track } = request;
    const { preset, curves } = ENCODERS[encoder] as Recording;
    const asked = args[args.indexOf(preset[0]) + 1];
    const { points, framesPerSecond } = curves[asked ?? ''] ?? (curves[preset[1]] as (typeof curves)[string]);
    const area = (size.width * size.height) / RECORDED_AREA;
    const rate = value / 8 / this.#perSecond;
    const [bytes, quality] = args.includes('-crf')
      ? [
          area * Math.exp(between(points, 0, value, (point) => Math.log(point[1]))),
          between(points, 0, value, (point) => point[2]),
        ]
      : [rate, between(points, 1, rate / area, (point) => point[2])];
    const { bend = (plain: number) => plain } = this.#behaviour;
    const lost = between(SIZE_COSTS, 0, size.height / this.#track.height, (point) => point[2]);
    return { bytes, quality: bend(quality - lost, value, request), framesPerSecond };
  }

  #score(
    reference: VideoInput,
    distorted: VideoInput,
    models: readonly string[] | undefined,
    features: readonly string[] = [],
  ): EncodeScores {
    const parts = this.#made.get(String(distorted));
    if (!parts) throw new Error(`${distorted} was not encoded`);
    const names = (models ?? ['version=vmaf_v0.6.1']).map((model) => scoreName([model]));
    const qualities = new Map(
      parts.flatMap(({ frames, quality }) => frames.map((at) => [at, this.#qualityOf(at, quality)] as const)),
    );
    const frames = this.#framesIn(reference).map((at, frameNum) => {
      // Priming frames around an encode: their scores do not count.
      const value = qualities.get(at) ?? 100;
      return {
        frameNum,
        metrics: {
          ...Object.assign({}, ...features.map((feature) => FURTHER[feature]?.(value))),
          integer_adm2: value / 100,
          ...Object.fromEntries(names.map((name) => [name, value])),
        },
      };
    });
    return { frames, models: names.map((name) => ({ name })) };
  }

  /** Frames of the source that an input has. */
  #framesIn(input: VideoInput): readonly number[] {
    return this.#cuts.get(String(input)) ?? this.#places.map((_, i) => i);
  }

  #qualityOf(at: number, quality: number): number {
    const { ease } = (this.#places[at] as Place).look;
    return Math.max(0, Math.min(100, quality + ease + (WOBBLE[at % WOBBLE.length] as number)));
  }

  #bytesOf(at: number, bytes: number, key = false): number {
    const { look, at: within } = this.#places[at] as Place;
    return Math.round(bytes * look.cost * (key || within % GROUP === 0 ? KEY_SHARE : OTHER_SHARE));
  }

  #store(folder: string): PointStore {
    const lines = this.stores.get(folder) ?? new Map<string, string[]>();
    this.stores.set(folder, lines);
    const ofShots = (key: string) => `${key} ${this.#lengths}`;
    return {
      read: async (key) => [...(lines.get(key) ?? ACTIVITIES.get(ofShots(key)) ?? [])],
      add: async (key, line) => {
        lines.set(key, [...(lines.get(key) ?? []), line]);
        if (key.startsWith(ACTIVITY_KEY)) ACTIVITIES.set(ofShots(key), [line]);
      },
      clear: async () => {
        const searches = [...lines.keys()].filter((key) => !key.startsWith(ACTIVITY_KEY));
        lines.clear();
        return searches.length;
      },
    };
  }
}

const ROOT = '/private/encodes/';

function framesOf({ first, count }: FrameRun): readonly number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

function encoderFacts(name: string): EncoderFacts {
  const found = Object.hasOwn(ENCODERS, name) ? ENCODERS[name] : undefined;
  if (!found) {
    const known = Object.keys(ENCODERS).join(', ');
    throw usageError(`the installed ffmpeg has no video encoder "${name}"; it has ${known}.`);
  }
  return {
    name,
    version: `ffmpeg 5.1.9, libavcodec 59.37.100, ${name} ${found.version}`,
    options: new Map(Object.entries(found.options)),
    pixelFormats: found.pixelFormats,
  };
}

/** The value of the parameter among an encoder's arguments. */
function valueIn(args: readonly string[]): number {
  const at = Math.max(args.indexOf('-crf'), args.indexOf('-qp'));
  return Number(args[(at < 0 ? args.indexOf('-b:v') : at) + 1]);
}

/** Linear interpolation on a curve. @param by the column of `x` */
function between(points: Curve, by: 0 | 1, x: number, of: (point: Curve[number]) => number): number {
  const sorted = points.toSorted((a, b) => a[by] - b[by]);
  const next = sorted.findIndex((point) => point[by] >= x);
  const [low, high] = [sorted[Math.max(0, next - 1)], sorted[next]];
  if (!low || !high) return of(sorted.at(-1) as Curve[number]);
  const share = high === low ? 0 : (x - low[by]) / (high[by] - low[by]);
  return of(low) + share * (of(high) - of(low));
}
