/**
 * @module test/unit/media/decoders
 * Which decoder is chosen, the message when none is left (src/media/decoders.ts), and how mediabunny's samples become planes.
 */
import type { VideoSample } from 'mediabunny';
import { describe, expect, it } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { Decoder, DecoderId, TrackFacts } from '../../../src/media/decoder.js';
import { chooseDecoder, type EncodedVideo, openDecoded, readTimes } from '../../../src/media/decoders.js';
import { filterSide } from '../../../src/media/filters/apply.js';
import type { EncodedInput } from '../../../src/media/open.js';
import { keepQueuesShort } from '../../../src/platform/browser/video-parser.js';
import { SampleCopier } from '../../../src/platform/mediabunny/source.js';
import { samplePixelFormat } from '../../../src/platform/mediabunny/track.js';
import { planesFor } from '../../support/media.js';
import { refusalOf } from '../../support/refusals.js';

const facts = { name: 'clip.mp4', codec: 'av1', bitDepth: 8, chroma: '420' } as TrackFacts;
const looksLike = 'an MP4 or MOV file';
const clip: EncodedInput = { kind: 'encoded', name: 'clip.mp4', input: 'clip.mp4', looksLike };

/** A decoder that works, or fails in its own way. */
function decoder(
  id: DecoderId,
  how: 'works' | 'absent' | 'refuses' | 'breaks' | 'missing',
): Decoder & { asked: string[] } {
  const asked: string[] = [];
  return {
    id,
    asked,
    async availability() {
      asked.push('availability');
      const reason = `${id} is not installed; install it.`;
      return how === 'absent' ? { id, usable: false, reason } : { id, usable: true };
    },
    async probe() {
      asked.push('probe');
      if (how === 'refuses') throw new AnyvmafError('media', `clip.mp4 is av1, which ${id} does not know.`);
      if (how === 'missing')
        throw new AnyvmafError('io', 'clip.mp4 cannot be opened: there is no such file.');
      return facts;
    },
    timestamps: async () => null,
    async open() {
      asked.push('open');
      if (how === 'breaks') throw new AnyvmafError('media', `${id} gives RGB only.`);
      return { decodedBy: id } as Awaited<ReturnType<Decoder['open']>>;
    },
  };
}

/** A decoder that works once its parts are fetched. */
function fetchable(fetch: () => void = () => {}): Decoder & { asked: string[] } {
  const base = decoder('wasm', 'works');
  let here = false;
  return {
    ...base,
    async availability() {
      return here ? { id: 'wasm', usable: true } : { id: 'wasm', usable: false, reason: 'it is not here.' };
    },
    async obtain() {
      base.asked.push('obtain');
      fetch();
      here = true;
    },
  };
}

const choose = (decoders: readonly Decoder[], input = clip) =>
  chooseDecoder(input, { choice: 'auto', decoders });
const refused = (decoders: readonly Decoder[], input = clip, code: 'media' | 'usage' | 'io' = 'media') =>
  refusalOf(code, () => choose(decoders, input));

describe('the parts of a decoder', () => {
  const refusing = (code: 'backend' | 'usage') =>
    fetchable(() => {
      const hints = [{ purpose: 'install', part: 'decoder', packages: 'core@1' }] as const;
      throw new AnyvmafError(code, 'the package core is not here', { hints });
    });

  it('are fetched if no other decoder is left', async () => {
    const decoders = [decoder('ffmpeg', 'absent'), decoder('mediabunny', 'refuses'), fetchable()];
    expect((await choose(decoders)).decoder.id).toBe('wasm');
    const broken = { input: 'clip.mp4', decoder: decoder('mediabunny', 'breaks'), facts };
    expect(await openDecoded({ ...broken, others: [fetchable()] }, {})).toMatchObject({ decodedBy: 'wasm' });
  });

  it('are not fetched if another decoder works, or in vain', async () => {
    const wasm = fetchable();
    await choose([decoder('mediabunny', 'works'), wasm]);
    const decoders = [decoder('ffmpeg', 'refuses'), wasm];
    expect(await refused(decoders)).toBe('clip.mp4 is av1, which ffmpeg does not know.');
    const broken = { input: 'clip.mp4', decoder: decoder('ffmpeg', 'breaks'), facts, others: [wasm] };
    expect(await refusalOf('media', () => openDecoded(broken, {}))).toContain('ffmpeg gives RGB only');
    expect(wasm.asked).toEqual([]);
  });

  it.each([
    ['read by another decoder', (video: EncodedVideo) => readTimes(video).then((found) => found.video)],
    [
      'read through filters',
      async (video: EncodedVideo) => {
        const side = await filterSide('distorted', { kind: 'encoded', video, times: null }, { vf: 'hflip' });
        return 'video' in side ? side.video : video;
      },
    ],
  ])('keep facts that a second probe lacks: %s', async (_, read) => {
    const [first, other] = [decoder('mediabunny', 'works'), decoder('wasm', 'works')];
    const failing: Decoder = {
      ...first,
      timestamps: () => Promise.reject(new AnyvmafError('media', 'clip.mp4 has no times.')),
      withFilters: () => other,
    };
    const known = { ...facts, dolbyVision: 5, fromRgb: 'stated' as const, matrix: 'bt2020nc' };
    const video = { input: 'clip.mp4', decoder: failing, facts: known, others: [other] };
    const { dolbyVision, fromRgb, matrix } = known;
    expect((await read(video)).facts).toMatchObject({ dolbyVision, fromRgb, matrix });
  });

  it('are named with advice if they may not or cannot be fetched', async () => {
    const decoders = [decoder('ffmpeg', 'absent'), refusing('backend')];
    expect(await refused(decoders)).toBe(
      'clip.mp4 is an MP4 or MOV file, but there is no decoder for it (ffmpeg: ffmpeg is not installed; install it; ' +
        'wasm: the package core is not here); run npm install core@1, or install ffmpeg, or convert the video first: ' +
        'ffmpeg -i clip.mp4 -strict -1 OUTPUT.y4m.',
    );
    expect(await refused([decoder('mediabunny', 'refuses'), refusing('backend')])).toBe(
      'clip.mp4 is av1, which mediabunny does not know (tried mediabunny; wasm: the package core is not here); run npm ' +
        'install core@1.',
    );
    const { looksLike: _, ...unknown } = clip;
    expect(await refused(decoders, unknown)).toContain('run npm install core@1, or if it is raw YUV');
    // Nothing can be installed in a browser without WebCodecs, but another decoder works there.
    const named: Decoder = {
      ...decoder('mediabunny', 'absent'),
      async obtain() {
        throw new AnyvmafError('media', 'there is no WebCodecs', {
          hints: [{ purpose: 'fix', option: 'decoder', value: 'wasm', aim: '(it needs none)' }],
        });
      },
    };
    expect(await refused([named])).toBe(
      'clip.mp4 is an MP4 or MOV file, but there is no decoder for it (mediabunny: there is no WebCodecs); pass decoder: ' +
        "'wasm' (it needs none), or convert the video first: ffmpeg -i clip.mp4 -strict -1 OUTPUT.y4m.",
    );
    expect(await refused([named, refusing('backend')])).not.toContain('pass decoder');
    expect(await refused([refusing('usage')], clip, 'usage')).toContain('the package core is not here');
  });
});

describe('choosing a decoder', () => {
  it('takes the first that works, and asks no further', async () => {
    for (const how of ['absent', 'refuses'] as const) {
      const decoders = [decoder('ffmpeg', how), decoder('mediabunny', 'works'), decoder('wasm', 'works')];
      expect((await choose(decoders)).decoder.id).toBe('mediabunny');
      expect(decoders[2]?.asked).toEqual([]);
    }
  });

  it('probes the file before a decoder is known to work, if that decoder allows it', async () => {
    for (const usable of [true, false]) {
      const steps: string[] = [];
      const early: Decoder = {
        ...decoder('ffmpeg', 'works'),
        probesAtOnce: true,
        async availability() {
          await expect.poll(() => steps).toEqual(['probe']);
          return { id: 'ffmpeg', usable, ...(!usable && { reason: 'it is broken.' }) };
        },
        probe: (_, signal) =>
          new Promise((resolve, reject) => {
            steps.push('probe');
            if (usable) resolve(facts);
            signal?.addEventListener('abort', () => {
              steps.push('stopped');
              reject(signal.reason);
            });
          }),
      };
      const next = decoder('wasm', 'works');
      const video = await choose([early, next]);
      expect(video.decoder.id).toBe(usable ? 'ffmpeg' : 'wasm');
      expect(steps).toEqual(usable ? ['probe'] : ['probe', 'stopped']);
    }
  });

  it('waits for a running probe when it is aborted', async () => {
    const stop = new AbortController();
    let over = false;
    const early: Decoder = {
      ...decoder('ffmpeg', 'works'),
      probesAtOnce: true,
      async availability() {
        stop.abort(new Error('enough'));
        return { id: 'ffmpeg', usable: true };
      },
      async probe(_, signal) {
        await expect.poll(() => signal?.aborted).toBe(true);
        over = true;
        throw signal?.reason;
      },
    };
    const options = { choice: 'auto', decoders: [early], signal: stop.signal } as const;
    await expect(chooseDecoder(clip, options)).rejects.toThrow('enough');
    expect(over).toBe(true);
  });

  it('takes the requested one and no other', async () => {
    const decoders = [decoder('ffmpeg', 'works'), decoder('wasm', 'works')];
    expect((await chooseDecoder(clip, { choice: 'wasm', decoders })).decoder.id).toBe('wasm');
    const absent = () => chooseDecoder(clip, { choice: 'mediabunny', decoders });
    expect(await refusalOf('usage', absent)).toBe(
      'decoder "mediabunny" is not available here; choose one of auto, ffmpeg, wasm, none.',
    );
    expect(decoders[0]?.asked).toEqual([]);
    const none = () => chooseDecoder(clip, { choice: 'none', decoders: [] });
    expect(await refusalOf('media', none)).toContain(
      "and without a decoder only Y4M and raw YUV can be read; leave out decoder: 'none', or convert",
    );
  });

  it('names the decoders it tried, their reasons, and what to install', async () => {
    const absent = [decoder('ffmpeg', 'absent'), decoder('mediabunny', 'absent')];
    const decoders = [...absent, decoder('wasm', 'refuses')];
    expect(await refused(decoders)).toBe(
      'clip.mp4 is av1, which wasm does not know (tried wasm; ffmpeg: ffmpeg is not installed; install it; ' +
        'mediabunny: mediabunny is not installed; install it).',
    );
    const all = [decoder('ffmpeg', 'refuses'), decoder('wasm', 'refuses')];
    expect(await refused(all)).toBe(
      'clip.mp4 is av1, which ffmpeg does not know (wasm could not decode it either).',
    );
    const other = decoder('wasm', 'refuses');
    const probe = () => Promise.reject(new AnyvmafError('media', 'clip.mp4 has no picture.'));
    const apart = [decoder('ffmpeg', 'refuses'), { ...other, probe }];
    expect(await refused(apart)).toBe(
      'clip.mp4 is av1, which ffmpeg does not know (wasm: it has no picture).',
    );
    const installed = [decoder('ffmpeg', 'refuses'), decoder('mediabunny', 'absent')];
    expect(await refused(installed)).toBe('clip.mp4 is av1, which ffmpeg does not know.');
    const { looksLike: _, ...unknown } = clip;
    const forced = () => chooseDecoder(unknown, { choice: 'ffmpeg', decoders: all });
    expect(await refusalOf('media', forced)).toContain(
      '; if it is raw YUV, give its width, height, pixel format and bit depth: width, height, chroma and bitDepth of raw.',
    );
    const message = await refused(absent);
    expect(message).toMatch(/^clip\.mp4 is an MP4 or MOV file, but there is no decoder for it \(ffmpeg: /);
    expect(message).toContain('ffmpeg -i clip.mp4 -strict -1 OUTPUT.y4m');
  });

  it('stops at errors that no decoder can help', async () => {
    const decoders = [decoder('ffmpeg', 'missing'), decoder('wasm', 'works')];
    await refused(decoders, clip, 'io');
    expect(decoders[1]?.asked).toEqual([]);
  });

  it('turns to another one if the chosen one cannot open what it probed', async () => {
    const decoders = [decoder('mediabunny', 'breaks'), decoder('wasm', 'works')];
    const video = await choose(decoders);
    expect((await openDecoded(video, {})).decodedBy).toBe('wasm');
    const alone = await chooseDecoder(clip, { choice: 'mediabunny', decoders });
    expect(await refusalOf('media', () => openDecoded(alone, {}))).toBe('mediabunny gives RGB only.');
  });
});

describe('samples', () => {
  it('are luma and chroma in formats that ffmpeg names', () => {
    expect(samplePixelFormat('I420')).toBe('yuv420p');
    expect(samplePixelFormat('I422P10')).toBe('yuv422p10le');
    expect(samplePixelFormat('I444AP12')).toBe('yuva444p12le');
    expect(samplePixelFormat('NV12')).toBe('nv12');
    for (const format of ['RGBA', 'BGRX', null]) expect(samplePixelFormat(format)).toBeUndefined();
  });

  /** A decoded picture in memory, with gaps between its rows. */
  function picture(format: string, bytes: readonly number[], layout: readonly PlaneLayout[]): VideoSample {
    const copy = {
      format,
      allocationSize: () => bytes.length,
      copyTo: async (into: Uint8Array) => {
        into.set(bytes);
        return layout;
      },
    };
    return copy as unknown as VideoSample;
  }

  it('are copied from rows with gaps, and from interleaved chroma', async () => {
    const format = { width: 4, height: 2, bitDepth: 8, chroma: '420' } as const;
    const copier = new SampleCopier(format, { rotation: 0, flip: false });
    const planes = planesFor(format);
    const rows = [1, 2, 3, 4, 0, 5, 6, 7, 8, 0];
    const layout = [
      { offset: 0, stride: 5 },
      { offset: 10, stride: 4 },
    ];
    await copier.copy(picture('NV12', [...rows, 11, 21, 12, 22], layout), planes);
    expect(planes).toEqual({
      y: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
      cb: Uint8Array.of(11, 12),
      cr: Uint8Array.of(21, 22),
    });
  });

  // Stored as 1 2 3
  //           4 5 6.
  it.each([
    { rotation: 90, flip: false, upright: [4, 1, 5, 2, 6, 3] },
    { rotation: 180, flip: false, upright: [6, 5, 4, 3, 2, 1] },
    { rotation: 270, flip: false, upright: [3, 6, 2, 5, 1, 4] },
    { rotation: 0, flip: true, upright: [3, 2, 1, 6, 5, 4] },
    { rotation: 90, flip: true, upright: [1, 4, 2, 5, 3, 6] },
  ] as const)('are rotated by $rotation degrees, mirrored: $flip', async ({ rotation, flip, upright }) => {
    const turned = rotation === 90 || rotation === 270;
    const size = turned ? { width: 2, height: 3 } : { width: 3, height: 2 };
    for (const bitDepth of [8, 10]) {
      const format = { ...size, bitDepth, chroma: '400' } as const;
      const copier = new SampleCopier(format, { rotation, flip });
      const bytes = [1, 2, 3, 4, 5, 6].flatMap((value) => (bitDepth === 8 ? [value] : [value, 3]));
      const y = planesFor(format).y;
      await copier.copy(picture('I420', bytes, [{ offset: 0, stride: bytes.length / 2 }]), { y });
      expect([...y]).toEqual(upright.flatMap((value) => (bitDepth === 8 ? [value] : [value, 3])));
    }
  });
});

it('queues of decoders stay short', () => {
  let waiting = 0;
  const Plain = class {
    static readonly isConfigSupported = () => 'as before';
    get decodeQueueSize(): number {
      return waiting;
    }
  };
  const scope = { VideoDecoder: Plain as unknown as typeof VideoDecoder };
  keepQueuesShort(scope);
  const decoder = new scope.VideoDecoder({ output() {}, error() {} });
  const sizes = [0, 1, 8, 9, 40].map((size) => {
    waiting = size;
    return decoder.decodeQueueSize;
  });
  expect(sizes.slice(0, 3)).toEqual([0, 1, 8]);
  // mediabunny allows 40.
  for (const size of sizes.slice(3)) expect(size).toBeGreaterThan(40);
  expect(scope.VideoDecoder.isConfigSupported({ codec: 'vp8' })).toBe('as before');
});
