/**
 * @module web/packets/headers
 * Type and quantizer of a coded frame from the head of its first slice, without decoding. Sources: see the
 * codecs' files, and ISO/IEC 14496-15 sections 5.3 and 8.3.
 */
import { Av1Frames } from './av1.js';
import { AvcSlices } from './avc.js';
import { HevcSlices } from './hevc.js';
import { Vp9Frames } from './vp9.js';

/** By number. `inter`: predicted, in codecs whose heads say no more, or say it too late. */
export const KINDS = ['key', 'I', 'P', 'B', 'inter'] as const;
export type Kind = (typeof KINDS)[number];

export interface Head {
  readonly kind?: Kind | undefined;
  /** QP for H.264 and H.265, the index for AV1 and VP9. */
  readonly qp?: number | undefined;
}

interface Reader {
  read(packet: Uint8Array): Head;
}

/** NAL units behind their lengths or, without `lengthSize`, behind start codes. */
function* unitsOf(packet: Uint8Array, lengthSize: number | undefined): Generator<Uint8Array> {
  if (lengthSize !== undefined) {
    for (let at = 0; at + lengthSize < packet.length; ) {
      const length = packet.subarray(at, at + lengthSize).reduce((sum, byte) => 256 * sum + byte, 0);
      yield packet.subarray(at + lengthSize, at + lengthSize + length);
      at += lengthSize + length;
    }
    return;
  }
  for (let at = 0; at + 3 < packet.length; at++)
    if (packet[at] === 0 && packet[at + 1] === 0 && packet[at + 2] === 1) yield packet.subarray(at + 3);
}

class Slices implements Reader {
  readonly #lengthSize: number | undefined;
  readonly #slices: AvcSlices | HevcSlices;

  /** @param config the container's configuration; absent if frames contain it */
  constructor(codec: 'avc' | 'hevc', config: Uint8Array | undefined) {
    this.#slices = codec === 'avc' ? new AvcSlices() : new HevcSlices();
    if (!config) return;
    this.#lengthSize = ((config[codec === 'avc' ? 4 : 21] ?? 3) & 3) + 1;
    for (const unit of codec === 'avc' ? parametersOfAvc(config) : parametersOfHevc(config))
      this.#slices.take(unit);
  }

  read(packet: Uint8Array): Head {
    for (const unit of unitsOf(packet, this.#lengthSize)) {
      const head = this.#slices.take(unit);
      if (head) return head;
    }
    return {};
  }
}

/** Parts behind two-byte lengths. @returns the position after the last */
function* partsOf(config: Uint8Array, at: number, count: number): Generator<Uint8Array, number> {
  for (let left = count; left > 0 && at + 2 <= config.length; left--) {
    const length = 256 * (config[at] ?? 0) + (config[at + 1] ?? 0);
    yield config.subarray(at + 2, at + 2 + length);
    at += 2 + length;
  }
  return at;
}

function* parametersOfAvc(config: Uint8Array): Generator<Uint8Array> {
  const at = yield* partsOf(config, 6, (config[5] ?? 0) & 31);
  yield* partsOf(config, at + 1, config[at] ?? 0);
}

function* parametersOfHevc(config: Uint8Array): Generator<Uint8Array> {
  let at = 23;
  for (let arrays = config[22] ?? 0; arrays > 0 && at + 3 <= config.length; arrays--)
    at = yield* partsOf(config, at + 3, 256 * (config[at + 1] ?? 0) + (config[at + 2] ?? 0));
}

const BEFORE_UNITS = 4;

/** Reads a track's frames in stored order; `undefined` for other codecs. @param config of the container */
export function headReader(codec: string | null, config: Uint8Array | undefined): Reader | undefined {
  if (codec === 'avc' || codec === 'hevc') return new Slices(codec, config);
  if (codec === 'vp9') return new Vp9Frames();
  if (codec !== 'av1') return undefined;
  const frames = new Av1Frames();
  if (config) frames.read(config.subarray(BEFORE_UNITS));
  return frames;
}
