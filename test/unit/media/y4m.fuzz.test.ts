/**
 * Random Y4M data: whatever the bytes, opening and reading either works or fails with an error for the user,
 * and a stream cut anywhere gives what the whole gives.
 */
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { openVideo } from '../../../src/media/open.js';
import type { FrameSource, VideoInput } from '../../../src/media/types.js';
import { ascii, concat, noFiles, readAll, storedFrame, streamOf } from '../../support/media.js';
import { type SeededRandom, seeded } from '../../support/random.js';

const SEED = 20260805;
const BUDGET_MS = 1500;

/** Pieces of headers, good and bad. */
// biome-ignore format: a list of words
const TOKENS = [
  'YUV4MPEG2', 'YUV4MPEG', ' ', '  ', '\n', '\r\n', '\0', 'W', 'H', 'W16', 'H16', 'W1', 'H1', 'W0', 'H-1',
  'W99999999999', 'W1e9', 'WNaN', 'H0x10', 'F25:1', 'F0:0', 'F:', 'F1', 'F99999999999:1', 'Ip', 'I?', 'It',
  'I', 'A1:1', 'A0:0', 'A', 'C420', 'C420p10', 'C422', 'C444alpha', 'Cmono', 'Cmono16', 'C411', 'C',
  'C420p99', 'XCOLORRANGE=FULL', 'X', 'FRAME', 'FRAME\n', 'FRAME Ip\n', 'FRAMX\n', 'é\xff',
];

/** A valid video, small enough for many, with or without frame parameters. */
function validVideo(random: SeededRandom): { bytes: Uint8Array<ArrayBuffer>; frames: number } {
  const width = random.int(1, 24);
  const height = random.int(1, 24);
  const [tag, chroma, bitDepth] = random.pick([
    ['420', '420', 8],
    ['422p12', '422', 12],
    ['444', '444', 8],
    ['mono', '400', 8],
    ['420p10', '420', 10],
  ] as const);
  const frames = random.int(1, 6);
  const parameters = random.int(0, 2);
  const parts: Uint8Array[] = [ascii(`YUV4MPEG2 W${width} H${height} F25:1 Ip C${tag}\n`)];
  for (let i = 0; i < frames; i++) {
    const text = parameters === 0 ? '' : ` ${'x'.repeat(parameters === 1 ? 5 : random.int(0, 77))}`;
    parts.push(ascii(`FRAME${text}\n`), storedFrame({ width, height, chroma, bitDepth }, i));
  }
  return { bytes: concat(...parts), frames };
}

function mutated(random: SeededRandom, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  // Most changes hit the headers, where they matter.
  const place = () => random.int(0, random.next() < 0.7 ? Math.min(60, copy.length - 1) : copy.length - 1);
  for (let n = random.int(1, 4); n > 0; n--)
    copy[place()] = random.pick([0, 10, 32, 48, 57, 70, 255, random.int(0, 255)]);
  switch (random.int(0, 3)) {
    case 0:
      return copy.slice(0, random.int(0, copy.length));
    case 1: {
      const at = place();
      return concat(copy.subarray(0, at), ascii(random.pick(TOKENS)), copy.subarray(at));
    }
    case 2: {
      const at = place();
      return concat(copy.subarray(0, at), copy.subarray(at + random.int(1, 9)));
    }
    default:
      return copy;
  }
}

/** Everything that reading gives: the frames as text, then how it ended. */
async function outcome(input: VideoInput): Promise<string[]> {
  const seen: string[] = [];
  let source: FrameSource | undefined;
  try {
    source = await openVideo(input, { platform: noFiles, name: 'x' });
    const { width, height } = source.info;
    seen.push(`${width}x${height}`);
    // Headers may claim gigantic pictures: then nothing but the refusal to read them matters.
    if (width * height > 1e5) return seen;
    for (let i = 0; ; i++) {
      const planes = await readAll(source, i);
      if (!planes) break;
      seen.push(Object.values(planes).join('|'));
    }
    seen.push('end');
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    seen.push(`${error.code}: ${error.message}`);
    expect(error.message).not.toMatch(/[\n\r]/);
  } finally {
    await source?.close();
  }
  return seen;
}

async function repeat(offset: number, check: (random: SeededRandom) => Promise<void>): Promise<number> {
  const until = performance.now() + BUDGET_MS;
  let runs = 0;
  for (; runs < 3000 && performance.now() < until; runs++) {
    const seed = SEED + offset + runs;
    try {
      await check(seeded(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
    }
  }
  return runs;
}

describe('random Y4M', () => {
  it('survives headers of random pieces', async () => {
    const runs = await repeat(0, async (random) => {
      const start = random.next() < 0.8 ? 'YUV4MPEG2 ' : '';
      const text = Array.from({ length: random.int(0, 12) }, () => random.pick(TOKENS)).join(
        random.pick(['', ' ']),
      );
      const bytes = concat(ascii(start + text), random.bytes(random.int(0, 40)));
      await outcome(bytes);
      await outcome(streamOf(bytes, () => random.int(1, 30)));
    });
    expect(runs).toBeGreaterThan(20);
  });

  it('survives damaged videos', async () => {
    const runs = await repeat(100000, async (random) => {
      const bytes = mutated(random, validVideo(random).bytes);
      await outcome(bytes);
      await outcome(streamOf(bytes, () => random.int(1, 500)));
    });
    expect(runs).toBeGreaterThan(20);
  });

  it('reads the same from the whole, a Blob and any chunks', async () => {
    const runs = await repeat(200000, async (random) => {
      const { bytes, frames } = validVideo(random);
      const whole = await outcome(bytes);
      expect(whole).toHaveLength(frames + 2);
      expect(whole.at(-1)).toBe('end');
      const most = random.pick([1, 7, 100, 5000]);
      expect(await outcome(streamOf(bytes, () => random.int(1, most)))).toEqual(whole);
      expect(await outcome(new Blob([bytes]))).toEqual(whole);
    });
    expect(runs).toBeGreaterThan(20);
  });
});
