/**
 * @module web/packets/avc
 * Type and quantizer of a slice of H.264. Source: ITU-T H.264, sections 7.3.2.1, 7.3.2.2, 7.3.3 and 7.4.3.
 */
import { Fields, unlessDamaged } from './fields.js';
import type { Head } from './headers.js';

/** Fields of the SPS that slice headers depend on. */
interface Sequence {
  readonly hasColourPlanes: boolean;
  /** Slices code chroma together with luma. */
  readonly hasChroma: boolean;
  readonly frameBits: number;
  /** pic_order_cnt_type. */
  readonly order: 0 | 1 | 2;
  readonly orderBits: number;
  readonly isOrderFixed: boolean;
  readonly framesOnly: boolean;
}

/** The same of the PPS. */
interface Picture {
  readonly sequence: number;
  readonly isCabac: boolean;
  readonly hasBottomOrder: boolean;
  /** Number of references per list. */
  readonly references: readonly [number, number];
  readonly weighsP: boolean;
  readonly weighsB: boolean;
  readonly qp: number;
  readonly hasRedundant: boolean;
}

/** Profiles with fields for chroma and scaling. */
const HIGH = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
/** Valid quantizers, 14 bits included. */
const [LEAST, MOST] = [-36, 51];
const TYPES = ['P', 'B', 'I', 'P', 'I'] as const;
type SliceType = (typeof TYPES)[number];

export class AvcSlices {
  readonly #sequences = new Map<number, Sequence>();
  readonly #pictures = new Map<number, Picture>();

  /** Takes a NAL unit; returns the frame's head if it is a slice. */
  take(unit: Uint8Array): Head | undefined {
    const type = (unit[0] ?? 0) & 31;
    const fields = new Fields(unit.subarray(1), true);
    if (type === 7) unlessDamaged(() => this.#takeSequence(fields));
    if (type === 8) unlessDamaged(() => this.#takePicture(fields));
    if (type !== 1 && type !== 5) return undefined;
    const kind = unlessDamaged(() => {
      // first_mb_in_slice.
      fields.code();
      return TYPES[fields.code() % 5];
    });
    const referred = ((unit[0] ?? 0) & 0x60) !== 0;
    const qp = kind && unlessDamaged(() => this.#quantizer(fields, kind, type === 5, referred));
    return { kind, qp: qp !== undefined && qp >= LEAST && qp <= MOST ? qp : undefined };
  }

  #takeSequence(fields: Fields): void {
    const isHigh = HIGH.includes(fields.bits(8));
    fields.bits(16);
    const number = fields.code();
    // Without valid fields, slices have no quantizer.
    this.#sequences.delete(number);
    let [chroma, hasColourPlanes] = [1, false];
    if (isHigh) {
      chroma = fields.code();
      hasColourPlanes = chroma === 3 && fields.bit();
      fields.codes(2);
      fields.bit();
      const lists = fields.bit() ? (chroma === 3 ? 12 : 8) : 0;
      for (let i = 0; i < lists; i++) if (fields.bit()) passScaling(fields, i < 6 ? 16 : 64);
    }
    const frameBits = fields.code() + 4;
    const order = fields.atMost(2) as Sequence['order'];
    const orderBits = order === 0 ? fields.code() + 4 : 0;
    const isOrderFixed = order === 1 && fields.bit();
    if (order === 1) {
      fields.codes(2);
      fields.codes(fields.atMost(255));
    }
    fields.code();
    fields.bit();
    fields.codes(2);
    const hasChroma = chroma !== 0 && !hasColourPlanes;
    const framesOnly = fields.bit();
    const known = { hasColourPlanes, hasChroma, frameBits, order, orderBits, isOrderFixed, framesOnly };
    this.#sequences.set(number, known);
  }

  #takePicture(fields: Fields): void {
    const number = fields.code();
    this.#pictures.delete(number);
    const sequence = fields.code();
    const [isCabac, hasBottomOrder] = [fields.bit(), fields.bit()];
    // Slice groups exist only in the Extended profile, which no encoder writes: no quantizer.
    fields.atMost(0);
    const references = [fields.code() + 1, fields.code() + 1] as const;
    const weighsP = fields.bit();
    const weighsB = fields.bits(2) === 1;
    const qp = 26 + fields.signed();
    fields.codes(2);
    fields.bits(2);
    const hasRedundant = fields.bit();
    const known = { sequence, isCabac, hasBottomOrder, references, weighsP, weighsB, qp, hasRedundant };
    this.#pictures.set(number, known);
  }

  #quantizer(fields: Fields, kind: SliceType, isIdr: boolean, referred: boolean): number | undefined {
    const picture = this.#pictures.get(fields.code());
    const sequence = picture && this.#sequences.get(picture.sequence);
    if (!sequence) return undefined;
    passPlace(fields, picture, sequence, isIdr);
    if (kind === 'B') fields.bit();
    if (kind !== 'I') {
      const lists = kind === 'B' ? [0, 1] : [0];
      const own = fields.bit();
      const counts = lists.map((list) => (own ? fields.code() + 1 : (picture.references[list] ?? 1)));
      for (const _ of lists) if (fields.bit()) while (fields.code() !== 3) fields.code();
      if (kind === 'B' ? picture.weighsB : picture.weighsP) passWeights(fields, counts, sequence.hasChroma);
    }
    if (referred) passMarking(fields, isIdr);
    if (picture.isCabac && kind !== 'I') fields.code();
    return picture.qp + fields.signed();
  }
}

function passScaling(fields: Fields, size: number): void {
  for (let i = 0, last = 8, next = 8; i < size; i++) {
    if (next !== 0) next = (last + fields.signed() + 256) % 256;
    last = next === 0 ? last : next;
  }
}

function passPlace(fields: Fields, picture: Picture, sequence: Sequence, isIdr: boolean): void {
  if (sequence.hasColourPlanes) fields.bits(2);
  fields.bits(sequence.frameBits);
  const isField = !sequence.framesOnly && fields.bit();
  if (isField) fields.bit();
  if (isIdr) fields.code();
  const bottom = picture.hasBottomOrder && !isField ? 1 : 0;
  if (sequence.order === 0) fields.bits(sequence.orderBits);
  if (sequence.order === 0 || (sequence.order === 1 && !sequence.isOrderFixed))
    fields.codes(sequence.order + bottom);
  if (picture.hasRedundant) fields.code();
}

function passWeights(fields: Fields, counts: readonly number[], hasChroma: boolean): void {
  fields.codes(hasChroma ? 2 : 1);
  for (const count of counts)
    for (let i = 0; i < count; i++) {
      if (fields.bit()) fields.codes(2);
      if (hasChroma && fields.bit()) fields.codes(4);
    }
}

/** dec_ref_pic_marking. */
function passMarking(fields: Fields, isIdr: boolean): void {
  if (isIdr) fields.bits(2);
  else if (fields.bit())
    for (let operation = fields.code(); operation !== 0; operation = fields.code())
      fields.codes([0, 1, 1, 2, 1, 0, 1][operation] ?? 0);
}
