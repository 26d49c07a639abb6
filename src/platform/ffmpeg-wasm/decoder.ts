/**
 * @module platform/ffmpeg-wasm/decoder
 * The decoder that needs no installed program: FFmpeg in WebAssembly (`@ffmpeg/core`), in its own thread.
 */
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type {
  DecodedSource,
  DecodeRequest,
  Decoder,
  DecoderAvailability,
  TrackFacts,
} from '../../media/decoder.js';
import { delivery } from '../../media/delivery.js';
import { DECLARE_RAW } from '../../media/errors.js';
import { chooseTrack } from '../../media/evidence/track.js';
import { parseProbe, videoTracks } from '../../media/facts.js';
import type { VideoInput } from '../../media/types.js';
import type { ToolSource } from '../ffmpeg/access.js';
import { decodedBy, probeArgs } from '../ffmpeg/commands.js';
import { readTrackTimes, TimesMemory, type TrackTimes } from '../ffmpeg/packet-times.js';
import { planPart } from '../ffmpeg/plan.js';
import type { OpenedInput, WasmHost } from './protocol.js';
import { type RunResult, runTool } from './run.js';
import { sourceOf, WasmSource } from './source.js';

/** The version of FFmpeg inside `@ffmpeg/core` 0.12.10. */
const FFMPEG_VERSION = '5.1.4';

export class WasmDecoder implements Decoder {
  readonly id = 'wasm';
  readonly obtain: Decoder['obtain'];
  readonly #host: WasmHost;
  readonly #times = new TimesMemory();

  constructor(host: WasmHost) {
    this.#host = host;
    this.obtain = host.obtain;
  }

  async availability(): Promise<DecoderAvailability> {
    const found = this.#host.core();
    if (typeof found === 'string') return { id: 'wasm', usable: false, reason: found };
    return { id: 'wasm', usable: true, version: FFMPEG_VERSION };
  }

  probe(input: VideoInput, signal?: AbortSignal): Promise<TrackFacts> {
    return this.#withInput(input, async (opened) => {
      const ask = async (track?: number) => {
        const { stdout, stderr } = await this.#ffprobe(opened, (source) => probeArgs(source, track), signal);
        return parseOutput(this.#host, stdout, stderr, opened);
      };
      const json = await ask();
      const track = chooseTrack(videoTracks(json), this.#host.track, opened.name);
      return parseProbe(track ? await ask(track.index) : json, opened.name, true, track).facts;
    });
  }

  timestamps(input: VideoInput, signal?: AbortSignal, track?: number): Promise<Float64Array | null> {
    return this.#withInput(
      input,
      async (opened) => (await this.#readTimes(input, opened, track, signal))?.times ?? null,
    );
  }

  setBacks(input: VideoInput, track?: number): Promise<readonly number[]> {
    return this.#withInput(
      input,
      async (opened) => this.#times.get(keyOf(input, opened), track)?.setBack ?? [],
    );
  }

  trackBytes(input: VideoInput, track?: number): Promise<number | undefined> {
    return this.#withInput(input, async (opened) => this.#times.get(keyOf(input, opened), track)?.bytes);
  }

  async open(input: VideoInput, facts: TrackFacts, request: DecodeRequest): Promise<DecodedSource> {
    const { signal } = request;
    signal?.throwIfAborted();
    const opened = await this.#host.openInput(input);
    try {
      const track = facts.track?.index;
      const plan = await planPart(facts, request, {
        remembered: this.#times.get(keyOf(input, opened), track),
        read: () => this.#readTimes(input, opened, track, signal),
      });
      const planes = delivery(facts.pixelFormat, facts.rotation, facts.name, facts);
      const source = new WasmSource(this.#host, opened, {
        inputName: inputName(opened),
        version: FFMPEG_VERSION,
        decodedBy: decodedBy(`ffmpeg.wasm ${FFMPEG_VERSION}`, facts, planes),
        facts,
        request,
        plan,
        planes,
      });
      await source.start(plan.part);
      return source;
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  async #withInput<T>(input: VideoInput, use: (opened: OpenedInput) => Promise<T>): Promise<T> {
    const opened = await this.#host.openInput(input);
    try {
      return await use(opened);
    } finally {
      opened.close();
    }
  }

  #ffprobe(
    opened: OpenedInput,
    args: (source: ToolSource) => string[],
    signal: AbortSignal | undefined,
  ): Promise<RunResult> {
    const name = inputName(opened);
    const job = { tool: 'ffprobe', args: args(sourceOf(name)), inputName: name } as const;
    return runTool(this.#host, opened, job, signal);
  }

  async #readTimes(
    input: VideoInput,
    opened: OpenedInput,
    track: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TrackTimes | null> {
    const key = keyOf(input, opened);
    const known = this.#times.get(key, track);
    if (known !== undefined) return known;
    const found = await readTrackTimes(async (args, onLine) => {
      const { stdout } = await this.#ffprobe(opened, (source) => args(source, track), signal);
      stdout.forEach(onLine);
    });
    this.#times.set(key, found, track);
    return found;
  }
}

function keyOf(input: VideoInput, { name, version }: OpenedInput): object | string | undefined {
  if (version !== undefined) return `${name}\n${version}`;
  return typeof input === 'object' && !(input instanceof URL) ? input : undefined;
}

/** FFmpeg recognizes some formats by the extension only. */
function inputName({ extension }: OpenedInput): string {
  return extension === undefined ? 'input' : `input.${extension}`;
}

/** The part of ffprobe's JSON that is read here; media/facts reads the rest. */
interface ProbeOutput {
  readonly streams?: readonly {
    readonly codec_name?: string;
    readonly pix_fmt?: string;
  }[];
  readonly format?: object;
}

/** @throws {AnyvmafError} `media` if FFmpeg does not recognize the file, or has no decoder for its codec */
function parseOutput(
  host: WasmHost,
  stdout: readonly string[],
  stderr: readonly string[],
  { name }: OpenedInput,
): ProbeOutput {
  let json: ProbeOutput;
  try {
    json = JSON.parse(stdout.join('\n')) as ProbeOutput;
  } catch {
    json = {};
  }
  if (!json.format) {
    const why = stderr.at(-1)?.replace(/^.*: /, '') ?? 'it gave no reason';
    throw new AnyvmafError('media', `${shown(name)} is not a video that ffmpeg.wasm knows: ${shown(why)}`, {
      hints: [DECLARE_RAW],
      file: name,
    });
  }
  const stream = json.streams?.[0];
  // This FFmpeg names AV1 but has no software decoder for it.
  const undecodable =
    stream?.codec_name === 'av1' || stderr.some((line) => /unsupported codec|no decoder/i.test(line));
  if (stream && !stream.pix_fmt && undecodable) {
    const codec = stream.codec_name ?? 'of an unknown codec';
    throw new AnyvmafError(
      'media',
      `the video of ${shown(name)} is ${codec}, which ffmpeg.wasm cannot decode; ${host.remedy}.`,
    );
  }
  return json;
}
