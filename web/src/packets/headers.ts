/**
 * @module web/packets/headers
 * The type of a coded frame by the head of its first slice. Reads a few bytes of each packet and decodes nothing.
 * Sources: ITU-T H.264 sections 7.3.3 and 7.4.3, ITU-T H.265 sections 7.3.2.3 and 7.3.6, ISO/IEC 14496-15 sections 5.3 and 8.3.
 */

/** Types of frames, by their numbers. `inter`: predicted from others, in a codec whose frames say no more, or too late. */
export const KINDS = ['key', 'I', 'P', 'B', 'inter'] as const;
export type Kind = (typeof KINDS)[number];

/** Bytes that hold the fields before the type of a slice. */
const HEAD = 40;

/** Reads the fields of a NAL unit, without the bytes that only keep it free of start codes. */
class Fields {
  readonly #bytes: number[] = [];
  #at = 0;

  constructor(unit: Uint8Array) {
    for (const [i, byte] of unit.subarray(0, HEAD).entries())
      if (!(byte === 3 && i >= 2 && unit[i - 1] === 0 && unit[i - 2] === 0)) this.#bytes.push(byte);
  }

  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, this.#at++)
      value = 2 * value + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1);
    return value;
  }

  /** An Exp-Golomb code; NaN where the unit ends before it. */
  code(): number {
    let zeros = 0;
    while (zeros < 32 && this.bits(1) === 0) zeros++;
    return zeros < 32 ? 2 ** zeros - 1 + this.bits(zeros) : Number.NaN;
  }
}

/** The NAL units of a packet: each behind its length, or, without `lengthSize`, behind a start code. */
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

/** Reads the types of the frames of one track, in the order in which they are stored. */
export class KindReader {
  readonly #codec: string;
  readonly #lengthSize: number | undefined;
  /** Of H.265: bits of a slice's head that an encoder may use as it likes, by the number of the picture's parameters. */
  readonly #extra = new Map<number, number>();

  /** @param config what the container says before the first frame; absent where frames bring it along */
  constructor(codec: string | null, config: Uint8Array | undefined) {
    this.#codec = codec ?? '';
    const sizeAt = { avc: 4, hevc: 21 }[this.#codec];
    if (!config || sizeAt === undefined) return;
    this.#lengthSize = ((config[sizeAt] ?? 3) & 3) + 1;
    if (this.#codec === 'hevc') this.#takeConfig(config);
  }

  /** Whether packets say more than their container does. */
  get reads(): boolean {
    return this.#codec === 'avc' || this.#codec === 'hevc';
  }

  /** The type of a frame that is no key frame. */
  kindOf(packet: Uint8Array): Kind {
    for (const unit of unitsOf(packet, this.#lengthSize)) {
      const found = this.#codec === 'avc' ? sliceOfAvc(unit) : this.#sliceOfHevc(unit);
      if (found) return found;
    }
    return 'inter';
  }

  #takeConfig(config: Uint8Array): void {
    const view = new DataView(config.buffer, config.byteOffset, config.length);
    let at = 23;
    for (let arrays = config[22] ?? 0; arrays > 0 && at + 3 <= config.length; arrays--) {
      let units = view.getUint16(at + 1);
      at += 3;
      for (; units > 0 && at + 2 <= config.length; units--) {
        const length = view.getUint16(at);
        this.#sliceOfHevc(config.subarray(at + 2, at + 2 + length));
        at += 2 + length;
      }
    }
  }

  #sliceOfHevc(unit: Uint8Array): Kind | undefined {
    const type = ((unit[0] ?? 0) >> 1) & 63;
    const fields = new Fields(unit.subarray(2));
    if (type === 34) {
      const number = fields.code();
      fields.code();
      fields.bits(2);
      this.#extra.set(number, fields.bits(3));
    }
    // Slices are 0 to 9 and, of frames at which decoding can begin, 16 to 21. The first of a frame says so.
    if (type > 21 || (type > 9 && type < 16) || fields.bits(1) === 0) return undefined;
    if (type >= 16) fields.bits(1);
    const extra = this.#extra.get(fields.code());
    if (extra === undefined) return 'inter';
    fields.bits(extra);
    return (['B', 'P', 'I'] as const)[fields.code()];
  }
}

function sliceOfAvc(unit: Uint8Array): Kind | undefined {
  const type = (unit[0] ?? 0) & 31;
  if (type !== 1 && type !== 5) return undefined;
  const fields = new Fields(unit.subarray(1));
  // The number of the slice's first macroblock.
  fields.code();
  return (['P', 'B', 'I', 'P', 'I'] as const)[fields.code() % 5];
}
