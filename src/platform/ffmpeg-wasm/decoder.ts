/**
 * @module platform/ffmpeg-wasm/decoder
 * The decoder that needs nothing installed: FFmpeg compiled to WebAssembly (`@ffmpeg/core`), in a thread of its own.
 */
import { AnyvmafError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import type { Decoder, TrackFacts } from '../../media/decoder.js';
import { delivery } from '../../media/delivery.js';
import { DECLARE_RAW } from '../../media/errors.js';
import { parseProbe } from '../../media/facts.js';
import type { VideoInput } from '../../media/types.js';
import { packetsArgs, probeArgs } from '../ffmpeg/commands.js';
import { PacketTimes, type TrackTimes } from '../ffmpeg/packet-times.js';
import type { OpenedInput, WasmHost } from './host.js';
import { planPart } from './plan.js';
import { type RunResult, runTool } from './run.js';
import { sourceOf, WasmSource } from './source.js';

/** The version of FFmpeg inside `@ffmpeg/core` 0.12.10. */
export const FFMPEG_VERSION = '5.1.4';

/** @param host Node, or a browser */
export function createWasmDecoder(host: WasmHost): Decoder {
  function ffprobe(opened: OpenedInput, args: string[], signal: AbortSignal | undefined): Promise<RunResult> {
    return runTool(host, opened, { tool: 'ffprobe', args, inputName: inputName(opened) }, signal);
  }

  const memory = new TimesMemory();

  async function readTimes(
    input: VideoInput,
    opened: OpenedInput,
    signal: AbortSignal | undefined,
  ): Promise<TrackTimes | null> {
    const known = memory.get(input, opened);
    if (known !== undefined) return known;
    const packets = new PacketTimes();
    const { stdout } = await ffprobe(opened, packetsArgs(sourceOf(inputName(opened))), signal);
    for (const line of stdout) packets.take(line);
    const found = packets.finish();
    memory.set(input, opened, found);
    return found;
  }

  async function withInput<T>(input: VideoInput, use: (opened: OpenedInput) => Promise<T>): Promise<T> {
    const opened = await host.openInput(input);
    try {
      return await use(opened);
    } finally {
      opened.close();
    }
  }

  return {
    id: 'wasm',
    availability: () => host.availability(),

    probe: (input, signal) =>
      withInput(input, async (opened) => {
        const { stdout, stderr } = await ffprobe(opened, probeArgs(sourceOf(inputName(opened))), signal);
        return parseProbe(parseOutput(host, stdout, stderr, opened), opened.name).facts;
      }),

    timestamps: (input, signal) =>
      withInput(input, async (opened) => (await readTimes(input, opened, signal))?.times ?? null),

    setBacks: (input) => withInput(input, async (opened) => memory.get(input, opened)?.setBack ?? []),

    async open(input, facts, request) {
      const { signal } = request;
      signal?.throwIfAborted();
      const opened = await host.openInput(input);
      try {
        const remembered = memory.get(input, opened);
        const plan = await planPart(facts, request, () => readTimes(input, opened, signal), remembered);
        const source = new WasmSource(host, opened, {
          inputName: inputName(opened),
          version: FFMPEG_VERSION,
          decodedBy: decodedBy(facts),
          facts,
          request,
          plan,
        });
        await source.start(plan.part);
        return source;
      } catch (error) {
        opened.close();
        throw error;
      }
    },
  };
}

/** Files named by paths whose times are remembered. */
const REMEMBERED = 8;

/** Times that were read, by input and its state. */
class TimesMemory {
  readonly #objects = new WeakMap<object, TrackTimes | null>();
  readonly #named = new Map<string, TrackTimes | null>();

  get(input: VideoInput, opened: OpenedInput): TrackTimes | null | undefined {
    const key = keyOf(input, opened);
    return typeof key === 'object' ? this.#objects.get(key) : this.#named.get(key ?? '');
  }

  set(input: VideoInput, opened: OpenedInput, times: TrackTimes | null): void {
    const key = keyOf(input, opened);
    if (key === undefined) return;
    if (typeof key === 'object') {
      this.#objects.set(key, times);
      return;
    }
    const [oldest] = this.#named.keys();
    if (this.#named.size >= REMEMBERED && oldest !== undefined) this.#named.delete(oldest);
    this.#named.set(key, times);
  }
}

function keyOf(input: VideoInput, { name, version }: OpenedInput): object | string | undefined {
  if (version !== undefined) return `${name}\n${version}`;
  return typeof input === 'object' && !(input instanceof URL) ? input : undefined;
}

function decodedBy({ codec, rotation, pixelFormat, name }: TrackFacts): string {
  const { note } = delivery(pixelFormat, rotation, name);
  const turned = rotation === 0 || note?.startsWith('turned') ? '' : `, turned by ${rotation} degrees`;
  return `ffmpeg.wasm ${FFMPEG_VERSION} (${codec}${turned}${note === undefined ? '' : `, ${note}`})`;
}

/** Name of the input inside the core: FFmpeg knows some formats by the ending only. */
function inputName({ extension }: OpenedInput): string {
  return extension === undefined ? 'input' : `input.${extension}`;
}

/** What is read of ffprobe's JSON here; everything else is for media/facts. */
interface ProbeOutput {
  readonly streams?: readonly {
    readonly codec_name?: string;
    readonly pix_fmt?: string;
  }[];
  readonly format?: object;
}

/** @throws {AnyvmafError} `media` when FFmpeg does not know the file, or has no decoder for its codec */
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
    const why = stderr.at(-1)?.replace(/^.*: /, '') ?? 'it says nothing about it';
    throw new AnyvmafError('media', `${shown(name)} is not a video that ffmpeg.wasm knows: ${shown(why)}`, {
      hints: [DECLARE_RAW],
      file: name,
    });
  }
  const stream = json.streams?.[0];
  // This FFmpeg names AV1 but has no decoder for it that works without hardware.
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
