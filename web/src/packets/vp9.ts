/**
 * @module web/packets/vp9
 * The quantizer of a frame of VP9. Source: VP9 bitstream specification 0.6, sections 6.2 and 7.2, and annex B.
 */
import { Ended, Fields, unlessDamaged } from './fields.js';
import type { Head } from './headers.js';

const RGB = 7;

export class Vp9Frames {
  /** Quantizers of the eight reference slots. */
  readonly #slots: (number | undefined)[] = [];

  /** The last frame of a packet is the shown one. */
  read(packet: Uint8Array): Head {
    let qp: number | undefined;
    for (const frame of framesOf(packet)) qp = this.#frame(frame);
    return { qp };
  }

  #frame(frame: Uint8Array): number | undefined {
    const fields = new Fields(frame);
    // It is unknown which slots a damaged frame refreshes.
    const found = unlessDamaged(() => this.#header(fields));
    if (!found) this.#slots.length = 0;
    return found?.qp;
  }

  #header(fields: Fields): Head {
    if (fields.bits(2) !== 2) throw new Ended();
    const profile = fields.bits(1) + 2 * fields.bits(1);
    if (profile === 3) fields.bit();
    if (fields.bit()) return { qp: this.#slots[fields.bits(3)] };
    const isKey = !fields.bit();
    const shown = fields.bit();
    const isResilient = fields.bit();
    const isIntra = isKey || (!shown && fields.bit());
    if (!isKey && !isResilient) fields.bits(2);
    if (isIntra) fields.bits(24);
    if (isKey || (isIntra && profile > 0)) passColours(fields, profile);
    const refreshed = isKey ? 255 : fields.bits(8);
    if (!isIntra) fields.bits(12);
    // Its own size, or that of a reference.
    if (isIntra || !(fields.bit() || fields.bit() || fields.bit())) fields.bits(32);
    if (fields.bit()) fields.bits(32);
    if (!isIntra) {
      fields.bit();
      if (!fields.bit()) fields.bits(2);
    }
    fields.bits(isResilient ? 2 : 4);
    passLoopFilter(fields);
    const qp = fields.bits(8);
    for (let i = 0; i < 8; i++) if ((refreshed >> i) & 1) this.#slots[i] = qp;
    return { qp };
  }
}

/** Several frames end with a superframe index. */
function framesOf(packet: Uint8Array): Uint8Array[] {
  const mark = packet.at(-1) ?? 0;
  const [count, size] = [(mark & 7) + 1, ((mark >> 3) & 3) + 1];
  const index = packet.length - count * size - 2;
  if ((mark & 0xe0) !== 0xc0 || packet[index] !== mark) return [packet];
  let at = 0;
  return Array.from({ length: count }, (_, i) => {
    const from = index + 1 + i * size;
    const length = packet.subarray(from, from + size).reduceRight((sum, byte) => 256 * sum + byte, 0);
    at += length;
    return packet.subarray(at - length, at);
  }).filter(({ length }) => length > 0);
}

function passColours(fields: Fields, profile: number): void {
  if (profile >= 2) fields.bit();
  const isRgb = fields.bits(3) === RGB;
  if (!isRgb) fields.bit();
  if (profile % 2 === 1) fields.bits(isRgb ? 1 : 3);
}

function passLoopFilter(fields: Fields): void {
  fields.bits(9);
  if (!fields.bit() || !fields.bit()) return;
  for (let i = 0; i < 6; i++) if (fields.bit()) fields.bits(7);
}
