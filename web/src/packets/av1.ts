/**
 * @module web/packets/av1
 * The quantizer of a frame of AV1. Source: AV1 bitstream specification, sections 5.3, 5.5, 5.9 and 7.20.
 */
import { Ended, Fields, unlessDamaged } from './fields.js';
import type { Head } from './headers.js';

/** Types of OBUs and of frames, and the value by which a sequence leaves a choice to frames. */
const UNIT = { sequence: 1, frameHeader: 3, frame: 6 } as const;
const FRAME = { key: 0, intraOnly: 2, switching: 3 } as const;
const FRAMES_CHOOSE = 2;

/** Fields of the sequence header that frame headers depend on. */
interface Sequence {
  readonly isReduced: boolean;
  readonly hasDecoderModel: boolean;
  readonly timeBits: number;
  readonly removalBits: number;
  /** Layers of each operating point with a decoder model. */
  readonly points: readonly number[];
  readonly sizeBits: readonly [number, number];
  readonly size: readonly [number, number];
  /** Bits of a frame's number and of a difference of two; 0 without numbers. */
  readonly numberBits: number;
  readonly differenceBits: number;
  readonly isLarge: boolean;
  readonly motion: boolean;
  readonly orderBits: number;
  readonly hasOrder: boolean;
  readonly screen: number;
  readonly integerMotion: number;
  readonly superres: boolean;
}

/** A reference frame slot. */
interface Slot {
  readonly qp: number;
  readonly isKey: boolean;
  readonly size: readonly [number, number];
}

export class Av1Frames {
  #sequence: Sequence | undefined;
  readonly #slots: (Slot | undefined)[] = [];

  /** Reads a packet, or the container's configuration; the last shown frame counts. */
  read(packet: Uint8Array): Head {
    let qp: number | undefined;
    for (const { type, layers, bytes } of unitsOf(packet)) {
      const fields = new Fields(bytes);
      if (type === UNIT.sequence) this.#sequence = unlessDamaged(() => sequenceOf(fields));
      if (type !== UNIT.frame && type !== UNIT.frameHeader) continue;
      const sequence = this.#sequence;
      const frame = sequence && unlessDamaged(() => this.#frame(fields, sequence, layers));
      // It is unknown which slots a damaged frame refreshes.
      if (!frame) this.#slots.length = 0;
      if (!frame || frame.shown) qp = frame?.slot?.qp;
    }
    return { qp };
  }

  #frame(fields: Fields, sequence: Sequence, layers: number): { slot: Slot | undefined; shown: boolean } {
    const start = startOf(fields, sequence);
    if ('repeats' in start) {
      const slot = this.#slots[start.repeats];
      // A key frame that is shown again refreshes all slots.
      if (slot?.isKey) this.#slots.splice(0, 8, ...new Array<Slot>(8).fill(slot));
      return { slot, shown: true };
    }
    const { type, shown, isResilient } = start;
    const isIntra = type === FRAME.key || type === FRAME.intraOnly;
    const keepsContext = fields.bit();
    const isScreen = chosen(fields, sequence.screen) === 1;
    const isInteger = isScreen && chosen(fields, sequence.integerMotion) === 1;
    fields.bits(sequence.numberBits);
    const hasSize = type === FRAME.switching || (!sequence.isReduced && fields.bit());
    fields.bits(sequence.orderBits);
    if (!isIntra && !isResilient) fields.bits(3);
    if (sequence.hasDecoderModel && fields.bit())
      for (const point of sequence.points)
        if (point === 0 || (point & layers) === layers) fields.bits(sequence.removalBits);
    const refreshesAll = type === FRAME.switching || (type === FRAME.key && shown);
    const refreshed = refreshesAll ? 255 : fields.bits(8);
    if ((!isIntra || refreshed !== 255) && isResilient) fields.skip(8 * sequence.orderBits);
    const size = isIntra
      ? ownSize(fields, sequence, hasSize)
      : this.#referringSize(fields, sequence, { hasSize, isResilient });
    if (isIntra && isScreen && size.whole[0] === size.coded[0]) fields.bit();
    if (!isIntra) {
      if (!isInteger) fields.bit();
      if (!fields.bit()) fields.bits(2);
      fields.bit();
      if (!isResilient && sequence.motion) fields.bit();
    }
    if (!sequence.isReduced && !keepsContext) fields.bit();
    passTiles(fields, size.coded, sequence.isLarge);
    const slot = { qp: fields.bits(8), isKey: type === FRAME.key, size: size.whole };
    for (let i = 0; i < 8; i++) if ((refreshed >> i) & 1) this.#slots[i] = slot;
    return { slot, shown };
  }

  /** Size of an inter frame, which may be that of a reference. */
  #referringSize(
    fields: Fields,
    sequence: Sequence,
    { hasSize, isResilient }: { readonly hasSize: boolean; readonly isResilient: boolean },
  ): FrameSize {
    const isShort = sequence.hasOrder && fields.bit();
    if (isShort) fields.bits(6);
    const references = Array.from({ length: 7 }, () => {
      const reference = isShort ? undefined : fields.bits(3);
      if (sequence.numberBits > 0) fields.bits(sequence.differenceBits);
      return reference;
    });
    if (hasSize && !isResilient)
      for (const reference of references) {
        if (!fields.bit()) continue;
        const whole = this.#slots[reference ?? -1]?.size;
        // Short reference lists are not resolved.
        if (!whole) throw new Ended();
        return { whole, coded: codedSize(fields, sequence, whole) };
      }
    return ownSize(fields, sequence, hasSize);
  }
}

interface FrameSize {
  readonly whole: readonly [number, number];
  /** Narrower if the decoder upscales it (superres). */
  readonly coded: readonly [number, number];
}

interface Unit {
  readonly type: number;
  /** One bit for the temporal layer and one for the spatial layer. */
  readonly layers: number;
  readonly bytes: Uint8Array;
}

function* unitsOf(packet: Uint8Array): Generator<Unit> {
  for (let at = 0; at < packet.length; ) {
    const head = packet[at++] ?? 0;
    const extension = head & 4 ? (packet[at++] ?? 0) : 0;
    let size = head & 2 ? 0 : packet.length - at;
    for (let unit = 1, more = (head & 2) !== 0; more && at < packet.length; unit *= 128) {
      const byte = packet[at++] ?? 0;
      size += (byte & 127) * unit;
      more = byte > 127;
    }
    const layers = (1 << (extension >> 5)) | (256 << ((extension >> 3) & 3));
    yield { type: (head >> 3) & 15, layers, bytes: packet.subarray(at, at + size) };
    at += size;
  }
}

function chosen(fields: Fields, value: number): number {
  return value === FRAMES_CHOOSE ? fields.bits(1) : value;
}

function sequenceOf(fields: Fields): Sequence {
  fields.bits(4);
  const isReduced = fields.bit();
  if (isReduced) fields.bits(5);
  const timing = isReduced ? WITHOUT_TIMING : timingOf(fields);
  const sizeBits = [fields.bits(4) + 1, fields.bits(4) + 1] as const;
  const size = [fields.bits(sizeBits[0]) + 1, fields.bits(sizeBits[1]) + 1] as const;
  const hasNumbers = !isReduced && fields.bit();
  const differenceBits = hasNumbers ? fields.bits(4) + 2 : 0;
  const numberBits = hasNumbers ? differenceBits + fields.bits(3) + 1 : 0;
  const isLarge = fields.bit();
  fields.bits(2);
  const tools = isReduced
    ? { hasOrder: false, motion: false, orderBits: 0, screen: FRAMES_CHOOSE, integerMotion: FRAMES_CHOOSE }
    : toolsOf(fields);
  const numbers = { numberBits, differenceBits };
  return { isReduced, ...timing, sizeBits, size, ...numbers, isLarge, ...tools, superres: fields.bit() };
}

const WITHOUT_TIMING = { hasDecoderModel: false, timeBits: 0, removalBits: 0, points: [] };

function timingOf(fields: Fields): Pick<Sequence, keyof typeof WITHOUT_TIMING> {
  const hasTiming = fields.bit();
  if (hasTiming) fields.bits(32);
  if (hasTiming) fields.bits(32);
  const isEven = hasTiming && fields.bit();
  if (isEven) fields.code();
  const hasDecoderModel = hasTiming && fields.bit();
  const delayBits = hasDecoderModel ? fields.bits(5) + 1 : 0;
  if (hasDecoderModel) fields.bits(32);
  const removalBits = hasDecoderModel ? fields.bits(5) + 1 : 0;
  const timeBits = hasDecoderModel ? fields.bits(5) + 1 : 0;
  const hasDelays = fields.bit();
  const points: number[] = [];
  for (let left = fields.bits(5) + 1; left > 0; left--) {
    const layers = fields.bits(12);
    if (fields.bits(5) > 7) fields.bit();
    if (hasDecoderModel && fields.bit()) {
      fields.skip(2 * delayBits + 1);
      points.push(layers);
    }
    if (hasDelays && fields.bit()) fields.bits(4);
  }
  return { hasDecoderModel, timeBits: isEven ? 0 : timeBits, removalBits, points };
}

function toolsOf(fields: Fields) {
  fields.bits(4);
  const hasOrder = fields.bit();
  if (hasOrder) fields.bit();
  const motion = hasOrder && fields.bit();
  const screen = fields.bit() ? FRAMES_CHOOSE : fields.bits(1);
  const integerMotion = screen === 0 || fields.bit() ? FRAMES_CHOOSE : fields.bits(1);
  const orderBits = hasOrder ? fields.bits(3) + 1 : 0;
  return { hasOrder, motion, orderBits, screen, integerMotion };
}

type Start =
  | { readonly repeats: number }
  | { readonly type: number; readonly shown: boolean; readonly isResilient: boolean };

/** The first fields of a frame: its type, or the slot that it shows again. */
function startOf(fields: Fields, { isReduced, timeBits }: Sequence): Start {
  if (isReduced) return { type: FRAME.key, shown: true, isResilient: true };
  if (fields.bit()) return { repeats: fields.bits(3) };
  const type = fields.bits(2);
  const shown = fields.bit();
  if (shown) fields.bits(timeBits);
  else fields.bit();
  const isResilient = type === FRAME.switching || (type === FRAME.key && shown) || fields.bit();
  return { type, shown, isResilient };
}

/** Also skips the render size. */
function ownSize(fields: Fields, sequence: Sequence, hasSize: boolean): FrameSize {
  const [across, down] = sequence.sizeBits;
  const whole = hasSize ? ([fields.bits(across) + 1, fields.bits(down) + 1] as const) : sequence.size;
  const coded = codedSize(fields, sequence, whole);
  if (fields.bit()) fields.bits(32);
  return { whole, coded };
}

function codedSize(
  fields: Fields,
  { superres }: Sequence,
  [width, height]: readonly [number, number],
): readonly [number, number] {
  const eighths = superres && fields.bit() ? fields.bits(3) + 9 : 8;
  return [Math.floor((8 * width + (eighths >> 1)) / eighths), height];
}

/** tile_log2 of the specification. */
function doublings(size: number, target: number): number {
  let count = 0;
  while (size * 2 ** count < target) count++;
  return count;
}

/** Tiles are at most 4096 samples wide and 4096 x 2304 large. */
function passTiles(fields: Fields, [width, height]: readonly [number, number], isLarge: boolean): void {
  const shift = isLarge ? 7 : 6;
  // Rounds up to 8 samples, then counts superblocks.
  const blocks = (samples: number) => Math.ceil((8 * ((samples + 7) >> 3)) / 2 ** shift);
  const [columns, rows] = [blocks(width), blocks(height)];
  const widest = 4096 >> shift;
  const [leastColumns, mostColumns] = [doublings(widest, columns), doublings(1, Math.min(columns, 64))];
  const least = Math.max(leastColumns, doublings((4096 * 2304) >> (2 * shift), rows * columns));
  const even = fields.bit();
  const across = even ? counted(fields, leastColumns, mostColumns) : tilesOf(fields, columns, widest);
  const area = least > 0 ? (rows * columns) >> (least + 1) : rows * columns;
  const down = even
    ? counted(fields, Math.max(least - across.log, 0), doublings(1, Math.min(rows, 64)))
    : tilesOf(fields, rows, Math.max(1, Math.floor(area / across.largest)));
  if (across.log + down.log > 0) fields.bits(across.log + down.log + 2);
}

interface Tiles {
  readonly log: number;
  /** In superblocks. */
  readonly largest: number;
}

function counted(fields: Fields, least: number, most: number): Tiles {
  let log = least;
  while (log < most && fields.bit()) log++;
  return { log, largest: 1 };
}

function tilesOf(fields: Fields, all: number, most: number): Tiles {
  let [count, largest] = [0, 1];
  for (let at = 0; at < all; count++) {
    const size = below(fields, Math.min(all - at, most)) + 1;
    largest = Math.max(largest, size);
    at += size;
  }
  return { log: doublings(1, count), largest };
}

/** ns(n): a number below `count`. */
function below(fields: Fields, count: number): number {
  const bits = 32 - Math.clz32(count);
  const few = 2 ** bits - count;
  const value = fields.bits(bits - 1);
  return value < few ? value : 2 * value - few + fields.bits(1);
}
