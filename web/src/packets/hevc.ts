/**
 * @module web/packets/hevc
 * Type and quantizer of a slice of H.265. Source: ITU-T H.265, sections 7.3.2.2, 7.3.2.3, 7.3.3, 7.3.4, 7.3.6, 7.3.7 and 7.4.8.
 */
import { Ended, Fields, unlessDamaged } from './fields.js';
import type { Head } from './headers.js';

/** An entry of a short-term reference picture set. */
interface Reference {
  readonly delta: number;
  readonly used: boolean;
}

/** Fields of the SPS that slice headers depend on. */
interface Sequence {
  readonly hasColourPlanes: boolean;
  readonly hasChroma: boolean;
  readonly orderBits: number;
  readonly offset: boolean;
  readonly sets: readonly (readonly Reference[])[];
  /** used_by_curr_pic of long-term references; `undefined` without them. */
  readonly far: readonly boolean[] | undefined;
  readonly hasMotion: boolean;
}

/** The same of the PPS. */
interface Picture {
  readonly sequence: number;
  readonly hasOutput: boolean;
  readonly hasCabac: boolean;
  readonly references: readonly [number, number];
  readonly qp: number;
  readonly weighsP: boolean;
  readonly weighsB: boolean;
  readonly canReorder: boolean;
}

/** Screen content profiles, whose slices have other fields. */
const SCREEN = [9, 11];
/** Limits of the standard: pictures per set, sets, references of a slice, tiles per side. */
const [SET_SIZE, SETS, REFERENCES, TILES] = [16, 64, 16, 22];
/** Valid quantizers, 16 bits included. */
const [LEAST, MOST] = [-48, 51];
const TYPES = ['B', 'P', 'I'] as const;
type SliceType = (typeof TYPES)[number];

export class HevcSlices {
  readonly #sequences = new Map<number, Sequence>();
  readonly #pictures = new Map<number, Picture>();
  /** num_extra_slice_header_bits by PPS number. */
  readonly #extra = new Map<number, number>();

  /** Takes a NAL unit; returns the frame's head if it is its first slice. */
  take(unit: Uint8Array): Head | undefined {
    const [first = 0, second = 0] = unit;
    const type = (first >> 1) & 63;
    // Other layers are other pictures.
    if ((first & 1) !== 0 || second >> 3 !== 0) return undefined;
    const fields = new Fields(unit.subarray(2), true);
    if (type === 33) unlessDamaged(() => this.#takeSequence(fields));
    if (type === 34) unlessDamaged(() => this.#takePicture(fields));
    // Slices are types 0 to 9, and 16 to 21 for random access; the first of a frame is flagged.
    if (type > 21 || (type > 9 && type < 16) || !unlessDamaged(() => fields.bit())) return undefined;
    let number = -1;
    const kind = unlessDamaged(() => {
      if (type >= 16) fields.bit();
      number = fields.code();
      fields.bits(this.#extra.get(number) ?? Number.NaN);
      return TYPES[fields.code()];
    });
    const qp = kind && unlessDamaged(() => this.#quantizer(fields, kind, number, type === 19 || type === 20));
    return { kind, qp: qp !== undefined && qp >= LEAST && qp <= MOST ? qp : undefined };
  }

  #takeSequence(fields: Fields): void {
    fields.bits(4);
    const layers = fields.bits(3);
    fields.bit();
    const isScreen = passProfile(fields, layers);
    const number = fields.code();
    // Without valid fields, slices have no quantizer.
    this.#sequences.delete(number);
    if (isScreen) return;
    const chroma = fields.atMost(3);
    const hasColourPlanes = chroma === 3 && fields.bit();
    fields.codes(2);
    if (fields.bit()) fields.codes(4);
    fields.codes(2);
    const orderBits = fields.code() + 4;
    fields.codes(3 * (fields.bit() ? layers + 1 : 1));
    fields.codes(6);
    if (fields.bit() && fields.bit()) passScaling(fields);
    fields.bit();
    const offset = fields.bit();
    if (fields.bit()) {
      fields.bits(8);
      fields.codes(2);
      fields.bit();
    }
    const sets: Reference[][] = [];
    const count = fields.atMost(SETS);
    while (sets.length < count) sets.push(setOf(fields, sets, count));
    const far = fields.bit() ? farOf(fields, orderBits) : undefined;
    const hasMotion = fields.bit();
    const hasChroma = chroma !== 0 && !hasColourPlanes;
    this.#sequences.set(number, { hasColourPlanes, hasChroma, orderBits, offset, sets, far, hasMotion });
  }

  #takePicture(fields: Fields): void {
    const number = fields.code();
    this.#pictures.delete(number);
    const sequence = fields.code();
    fields.bit();
    const hasOutput = fields.bit();
    this.#extra.set(number, fields.bits(3));
    fields.bit();
    const hasCabac = fields.bit();
    const references = [fields.code() + 1, fields.code() + 1] as const;
    const qp = 26 + fields.signed();
    fields.bits(2);
    if (fields.bit()) fields.code();
    fields.codes(2);
    fields.bit();
    const [weighsP, weighsB] = [fields.bit(), fields.bit()];
    fields.bit();
    const hasTiles = fields.bit();
    fields.bit();
    if (hasTiles) {
      const sides = fields.atMost(TILES) + fields.atMost(TILES);
      if (!fields.bit()) fields.codes(sides);
      fields.bit();
    }
    fields.bit();
    if (fields.bit()) {
      fields.bit();
      if (!fields.bit()) fields.codes(2);
    }
    if (fields.bit()) passScaling(fields);
    const canReorder = fields.bit();
    const known = { sequence, hasOutput, hasCabac, references, qp, weighsP, weighsB, canReorder };
    this.#pictures.set(number, known);
  }

  #quantizer(fields: Fields, kind: SliceType, number: number, isIdr: boolean): number | undefined {
    const picture = this.#pictures.get(number);
    const sequence = picture && this.#sequences.get(picture.sequence);
    if (!sequence) return undefined;
    if (picture.hasOutput) fields.bit();
    if (sequence.hasColourPlanes) fields.bits(2);
    const { used, hasMotion } = isIdr ? { used: 0, hasMotion: false } : referencesOf(fields, sequence);
    if (sequence.offset) fields.bits(sequence.hasChroma ? 2 : 1);
    if (kind !== 'I') passPrediction(fields, { picture, sequence, isB: kind === 'B', used, hasMotion });
    return picture.qp + fields.signed();
  }
}

/** @returns true for a screen content profile */
function passProfile(fields: Fields, layers: number): boolean {
  const profile = fields.bits(8) & 31;
  fields.skip(88);
  const has = Array.from({ length: layers > 0 ? 8 : 0 }, () => fields.bits(2));
  for (const flags of has.slice(0, layers)) fields.skip((flags & 2 ? 88 : 0) + (flags & 1 ? 8 : 0));
  return SCREEN.includes(profile);
}

function passScaling(fields: Fields): void {
  for (let size = 0; size < 4; size++)
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (!fields.bit()) fields.code();
      else fields.codes(Math.min(64, 1 << (4 + 2 * size)) + (size > 1 ? 1 : 0));
    }
}

/** st_ref_pic_set, explicit or predicted from an earlier set. @param count of sets in the sequence */
function setOf(fields: Fields, sets: readonly (readonly Reference[])[], count: number): Reference[] {
  const index = sets.length;
  if (index > 0 && fields.bit()) {
    const back = index === count ? fields.code() + 1 : 1;
    const by = (fields.bit() ? -1 : 1) * (fields.code() + 1);
    const from = sets[index - back];
    if (!from) throw new Ended();
    const moved = [...from, { delta: 0 }].flatMap(({ delta }): Reference[] => {
      const used = fields.bit();
      return (used || fields.bit()) && delta + by !== 0 ? [{ delta: delta + by, used }] : [];
    });
    const side = (sign: 1 | -1) =>
      moved.filter(({ delta }) => sign * delta > 0).sort((a, b) => sign * (a.delta - b.delta));
    if (moved.length > SET_SIZE) throw new Ended();
    return [...side(-1), ...side(1)];
  }
  const counts = [fields.atMost(SET_SIZE), fields.atMost(SET_SIZE)];
  return counts.flatMap((length, after) => {
    let delta = 0;
    return Array.from({ length }, () => {
      delta += (after ? 1 : -1) * (fields.code() + 1);
      return { delta, used: fields.bit() };
    });
  });
}

function farOf(fields: Fields, orderBits: number): boolean[] {
  return Array.from({ length: fields.atMost(32) }, () => {
    fields.bits(orderBits);
    return fields.bit();
  });
}

/** Counts the references of a slice, and reads whether it uses temporal motion vectors. */
function referencesOf(fields: Fields, { orderBits, sets, far, hasMotion }: Sequence) {
  fields.bits(orderBits);
  const own = !fields.bit();
  const index = own ? 0 : fields.bits(bitsFor(sets.length));
  const set = own ? setOf(fields, sets, sets.length) : (sets[index] ?? []);
  let used = set.filter((reference) => reference.used).length;
  if (far) {
    const known = far.length > 0 ? fields.atMost(32) : 0;
    const all = known + fields.atMost(32);
    for (let i = 0; i < all; i++) {
      const at = i < known ? fields.bits(bitsFor(far.length)) : fields.bits(orderBits);
      if (i < known ? far[at] : fields.bit()) used++;
      if (fields.bit()) fields.code();
    }
  }
  return { used, hasMotion: hasMotion && fields.bit() };
}

function bitsFor(count: number): number {
  return count < 2 ? 0 : 32 - Math.clz32(count - 1);
}

/** Fields of P and B slices only. */
function passPrediction(
  fields: Fields,
  about: {
    readonly picture: Picture;
    readonly sequence: Sequence;
    readonly isB: boolean;
    /** Number of references. */
    readonly used: number;
    readonly hasMotion: boolean;
  },
): void {
  const { picture, sequence, isB, used } = about;
  const own = fields.bit();
  const counts = (isB ? [0, 1] : [0]).map((list) =>
    own ? fields.atMost(REFERENCES - 1) + 1 : (picture.references[list] ?? 1),
  );
  if (picture.canReorder && used > 1)
    for (const count of counts) if (fields.bit()) fields.skip(count * bitsFor(used));
  if (isB) fields.bit();
  if (picture.hasCabac) fields.bit();
  if (about.hasMotion) {
    const list = isB && !fields.bit() ? 1 : 0;
    if ((counts[list] ?? 1) > 1) fields.code();
  }
  if (isB ? picture.weighsB : picture.weighsP) passWeights(fields, counts, sequence.hasChroma);
  fields.code();
}

function passWeights(fields: Fields, counts: readonly number[], hasChroma: boolean): void {
  fields.codes(hasChroma ? 2 : 1);
  for (const length of counts) {
    const luma = Array.from({ length: Math.min(length, REFERENCES) }, () => fields.bit());
    const chroma = luma.map(() => hasChroma && fields.bit());
    for (const [i, has] of luma.entries()) fields.codes((has ? 2 : 0) + (chroma[i] ? 4 : 0));
  }
}
