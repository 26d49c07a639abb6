/**
 * @module media/encoder-settings
 * What x264 and x265 wrote into a stream of how they encoded it.
 */
import type { ByteReader } from './platform.js';

/** Bytes at the start of a file to look at: the note stands before the first picture, behind an index at most. */
const LOOKED_AT = 512 * 1024;

/** What presets and tunes decide on, the most telling first; not what follows from rate, picture size or machine. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  x264: [
    ...['subme', 'ref', 'me', 'trellis', 'bframes', 'b_adapt', 'rc_lookahead', 'weightp'],
    ...['8x8dct', 'cabac', 'psy_rd', 'aq', 'deblock', 'keyint'],
  ],
  x265: [
    ...['rd', 'subme', 'ref', 'me', 'bframes', 'b-adapt', 'rc-lookahead', 'ctu', 'limit-refs', 'max-merge'],
    ...[
      'rdoq-level',
      'rect',
      'amp',
      'sao',
      'psy-rd',
      'psy-rdoq',
      'aq-mode',
      'aq-strength',
      'deblock',
      'keyint',
    ],
  ],
};

/**
 * The settings of an encode that decide on its curve of quality over rate: `x264 subme=8 ref=5 ...`.
 * @returns `undefined` where the file does not say
 * @throws {AnyvmafError} `io` if reading fails
 */
export async function encoderSettings(reader: ByteReader): Promise<string | undefined> {
  const buffer = new Uint8Array(Math.min(LOOKED_AT, reader.size));
  const start = buffer.subarray(0, await reader.read(0, [buffer]));
  return settingsIn(new TextDecoder('latin1').decode(start));
}

/** @param text bytes as Latin-1 */
function settingsIn(text: string): string | undefined {
  const [, encoder = '', options] = /(x26[45]) [-(][ -~]{1,300}? options: ([ -~]+)/.exec(text) ?? [];
  const given = new Map(options?.split(' ').map((one) => [one.split('=', 1)[0], one]));
  const known = TELLING[encoder]?.flatMap((name) => given.get(name) ?? []) ?? [];
  return known.length > 0 ? [encoder, ...known].join(' ') : undefined;
}
