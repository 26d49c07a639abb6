/**
 * @module media/evidence/packets
 * Tells from undecoded packets which show a frame, how many frames they hold, and whether grain is added. Sources:
 * RFC 6386, section 9.1; VP9 bitstream specification 0.6, section 6.2, annex B; AV1 specification, sections 5.3, 5.5.
 */
import { intervalsOf, medianInterval } from './rate.js';

/** Share of the median interval below which two frames are too close for both to be shown. */
const CROWDED = 0.3;

/** True if ascending times are so close that some may be those of hidden frames. */
export function isCrowded(times: ArrayLike<number>): boolean {
  const usual = medianInterval(times) ?? 0;
  return intervalsOf(times).some((step) => step < CROWDED * usual);
}

interface PacketFacts {
  /** ffmpeg's name, like `fieldOrder`. */
  readonly codec: string;
  readonly fieldOrder: string;
  /** Of packets, ascending. */
  readonly times: ArrayLike<number>;
  /** Frame interval by the stream's rate, in the unit of `times`; NaN if unknown. */
  readonly frameTime?: number;
}

/** More packets per frame than this are fields. */
const FIELDS = 1.5;
const FIELD_CODECS: readonly string[] = ['h264', 'mpeg2video', 'vc1'];

/**
 * What packets of one time hold: `frames` of their own (a coarse clock), `one` frame (two fields, or a hidden and a
 * shown frame), or `unknown` until decoded (such as fields with their own times).
 */
export function packetsOfOneTime({
  codec,
  fieldOrder,
  times,
  frameTime = Number.NaN,
}: PacketFacts): 'frames' | 'one' | 'unknown' {
  if (hidesFrames(codec)) {
    const distinct = Array.from(times).filter((time, i, all) => i === 0 || time !== all[i - 1]);
    return isCrowded(distinct) ? 'unknown' : 'one';
  }
  if (!FIELD_CODECS.includes(codec) || fieldOrder === 'progressive') return 'frames';
  let shared = 0;
  for (let i = 1; i < times.length; i++) if (times[i] === times[i - 1]) shared++;
  // Fields may have their own times: then there are twice as many packets as frames.
  const span = (times[times.length - 1] ?? 0) - (times[0] ?? 0);
  if (shared === 0) return (times.length - 1) * frameTime > FIELDS * span ? 'unknown' : 'frames';
  return 2 * shared === times.length ? 'one' : 'unknown';
}

/** True if packets may hold frames that are only references, never shown. */
export function hidesFrames(codec: string): boolean {
  return codec === 'vp8' || codec === 'vp9';
}

/** @param codec ffmpeg's name; packets of codecs other than VP8 and VP9 always show a frame */
export function showsFrame(codec: string, packet: Uint8Array): boolean {
  const [first = 0] = packet;
  if (codec === 'vp8') return packet.length === 0 || (first & 0x10) !== 0;
  // A superframe ends with an index; its last frame is always shown.
  if (codec !== 'vp9' || ((packet.at(-1) ?? 0) & 0xe0) === 0xc0) return true;
  const bit = (at: number) => (first >> (7 - at)) & 1;
  // Two marker bits, two profile bits, and a reserved bit in profile 3.
  const at = bit(2) && bit(3) ? 5 : 4;
  const showsExisting = bit(at) === 1;
  return showsExisting || bit(at + 2) === 1;
}

/** True if a sequence header of AV1 enables film grain. */
export function addsGrain(packet: Uint8Array): boolean {
  let at = 0;
  while (at < packet.length) {
    const head = packet[at++] ?? 0;
    if (head & 4) at++;
    let size = head & 2 ? 0 : packet.length - at;
    for (let unit = 1, more = (head & 2) !== 0; more && at < packet.length; unit *= 128) {
      const byte = packet[at++] ?? 0;
      size += (byte & 127) * unit;
      more = byte > 127;
    }
    if (((head >> 3) & 15) === SEQUENCE_HEADER) return bitBeforeTrailing(packet.subarray(at, at + size));
    at += size;
  }
  return false;
}

/** `OBU_SEQUENCE_HEADER`. */
const SEQUENCE_HEADER = 1;

/** The last bit before the trailing bits: sequence headers end with film_grain_params_present. */
function bitBeforeTrailing(unit: Uint8Array): boolean {
  const end = unit.findLastIndex((byte) => byte !== 0);
  const two = ((unit[end - 1] ?? 0) << 8) | (unit[end] ?? 0);
  return ((two / (two & -two)) & 2) !== 0;
}

/** SEI `display_orientation` (ITU-T H.264 and H.265, annex D). */
const ORIENTATION = 47;

/** True if a packet of H.264 or HEVC says to turn or mirror the picture. @param lengths as in MP4, else start codes */
export function turnsPicture(codec: 'h264' | 'hevc', packet: Uint8Array, lengths: boolean): boolean {
  for (const unit of lengths ? byLength(packet) : byStartCode(packet)) {
    const [first = 0] = unit;
    const hasMessages = codec === 'hevc' ? ((first >> 1) & 63) === 39 : (first & 31) === 6;
    if (hasMessages && messagesTurn(unit.subarray(codec === 'hevc' ? 2 : 1))) return true;
  }
  return false;
}

function messagesTurn(bytes: Uint8Array): boolean {
  let at = 0;
  const next = (): number => {
    let sum = 0;
    while (bytes[at] === 255) sum += bytes[at++] ?? 0;
    return sum + (bytes[at++] ?? 0);
  };
  while (at + 2 < bytes.length) {
    const [type, size] = [next(), next()];
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    // A bit that cancels it, two to mirror, sixteen of the angle.
    if (type === ORIENTATION) return a < 128 && (((a << 16) | (b << 8) | c) & 0x7fffe0) !== 0;
    at += size;
  }
  return false;
}

function* byLength(packet: Uint8Array): Generator<Uint8Array, void> {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  for (let at = 0; at + 4 <= packet.length; ) {
    const end = at + 4 + view.getUint32(at);
    yield packet.subarray(at + 4, end);
    at = end;
  }
}

function* byStartCode(packet: Uint8Array): Generator<Uint8Array, void> {
  const starts = (at: number) => packet[at] === 0 && packet[at + 1] === 0 && packet[at + 2] === 1;
  for (let at = 0; at + 3 < packet.length; at++) {
    if (!starts(at)) continue;
    let end = at + 3;
    while (end < packet.length && !starts(end)) end++;
    yield packet.subarray(at + 3, end);
    at = end - 1;
  }
}
