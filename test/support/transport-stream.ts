/**
 * @module test/support/transport-stream
 * MPEG transport streams with losses, as reception makes them.
 */

const PACKET = 188;
const VIDEO = 256;

/** A stream without one packet in the middle of a frame. @param frame its number in the order of decoding */
export function withoutPacket(stream: Uint8Array, frame: number): Uint8Array {
  let frames = -1;
  let within = 0;
  for (let at = 0; at < stream.length; at += PACKET) {
    const [, second = 0, third = 0] = stream.subarray(at, at + 3);
    if (((second & 31) << 8) + third !== VIDEO) continue;
    const starts = (second & 64) !== 0;
    if (starts) frames++;
    within = starts ? 0 : within + 1;
    if (frames < frame || within !== 2) continue;
    return Uint8Array.from([...stream.subarray(0, at), ...stream.subarray(at + PACKET)]);
  }
  throw new Error(`no frame from ${frame} on has three packets`);
}

/** Two recordings in one file, as `cat` joins them: with the second, the clock begins anew. */
export function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return Uint8Array.from([...first, ...second]);
}
