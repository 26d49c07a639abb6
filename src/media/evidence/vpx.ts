/**
 * @module media/evidence/vpx
 * What packets say before they are decoded. VP8 and VP9: encoders store frames that are only referred to as packets of their
 * own, with a time but never shown. AV1: whether decoders add film grain. All: whether packets of one time are one frame.
 * Source: RFC 6386, section 9.1; VP9 bitstream specification 0.6, section 6.2 and annex B; AV1 specification, sections 5.3 and 5.5.
 */

/** Whether a packet of a codec may hold a frame that is never shown. */
export function hidesFrames(codec: string): boolean {
  return codec === 'vp8' || codec === 'vp9';
}

/** Whether a packet shows a frame. @param codec by ffmpeg's name; those other than VP8 and VP9 show each */
export function showsFrame(codec: string, packet: Uint8Array): boolean {
  const [first = 0] = packet;
  if (codec === 'vp8') return packet.length === 0 || (first & 0x10) !== 0;
  // One packet of several frames ends with an index of them; it is made so that the last is shown.
  if (codec !== 'vp9' || ((packet.at(-1) ?? 0) & 0xe0) === 0xc0) return true;
  const bit = (at: number) => (first >> (7 - at)) & 1;
  // Two bits of a marker, two of the profile, one that is reserved in the highest profile.
  const at = bit(2) && bit(3) ? 5 : 4;
  const repeats = bit(at) === 1;
  return repeats || bit(at + 2) === 1;
}

/** Whether a packet of AV1 has a sequence header by which decoders add film grain. */
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

/** The type of the unit that describes a sequence. */
const SEQUENCE_HEADER = 1;

/** The last bit of a unit, which a set bit and zeros follow: a sequence header ends with film_grain_params_present. */
function bitBeforeTrailing(unit: Uint8Array): boolean {
  const end = unit.findLastIndex((byte) => byte !== 0);
  const two = ((unit[end - 1] ?? 0) << 8) | (unit[end] ?? 0);
  return ((two / (two & -two)) & 2) !== 0;
}

/** Share of the usual interval below which two frames lie too near each other for both to be shown. */
const CROWDED = 0.3;

/** Whether times are so near each other that some may be of frames that are never shown. @param times ascending, distinct or not */
export function isCrowded(times: ArrayLike<number>): boolean {
  const steps = Float64Array.from({ length: Math.max(0, times.length - 1) }, (_, i) => {
    return (times[i + 1] ?? Number.NaN) - (times[i] ?? Number.NaN);
  });
  const usual = steps.slice().sort()[steps.length >> 1] ?? 0;
  return steps.some((step) => step < CROWDED * usual);
}

/** What a container says of packets that may hold less or more than a frame. */
interface PacketFacts {
  /** ffmpeg's names. */
  readonly codec: string;
  readonly fieldOrder: string;
  /** Times of packets, ascending. */
  readonly times: ArrayLike<number>;
  /** Time of a frame by the rate of the stream, in the unit of `times`; NaN where it is not known. */
  readonly frameTime?: number;
}

/** Least packets for each frame where they are fields. */
const FIELDS = 1.5;

/** Codecs whose packets may hold single fields, two of which make a frame. */
const FIELD_CODECS: readonly string[] = ['h264', 'mpeg2video', 'vc1'];

/**
 * What packets of one time are: frames of their own, as where a clock is coarse; the two fields of one frame, or a frame that
 * is never shown beside the one that is; or only decoding tells, as of fields that have a time each.
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
  // Fields may have times of their own: then there are twice as many packets as frames.
  const span = (times[times.length - 1] ?? 0) - (times[0] ?? 0);
  if (shared === 0) return (times.length - 1) * frameTime > FIELDS * span ? 'unknown' : 'frames';
  return 2 * shared === times.length ? 'one' : 'unknown';
}
