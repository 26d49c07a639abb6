/**
 * @module test/node/mcp/pictures/worst
 * `describe_worst_frames`: the lowest frames, apart from each other, with pictures that are those of the videos, facts
 * and words; and nothing left when the call is cancelled. Describing models are stand-ins that say so.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { score } from '../../../../src/index.js';
import { checkPaths } from '../../../../src/mcp/paths.js';
import type { WorstFramesDocument } from '../../../../src/mcp/pictures/documents.js';
import { showWorstFrames, type WorstFramesParts } from '../../../../src/mcp/pictures/worst.js';
import { describeWorstFramesTool } from '../../../../src/mcp/tools/describe-worst-frames.js';
import { findDescriber } from '../../../../src/mcp/vision/describer.js';
import { y4mFile, yuvFile } from '../../../../src/sample/files.js';
import { makeSample } from '../../../../src/sample/generator.js';
import { built } from '../../../support/built.js';
import { file } from '../../../support/clips.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { type FakeContext, fakeContext, refused, videoFolder } from '../../../support/mcp-tools.js';
import { needsShared, sharedPath } from '../../../support/shared.js';
import { SAID, standIn } from '../../../support/vision-library.js';

const script = pathToFileURL(built('dist/bundle/js/picture-worker.js'));
const NONE: WorstFramesParts = { script, describer: async () => ({ modelId: null, hint: 'none here' }) };

/** Calls as the server does, with the built thread. */
async function show(
  args: Readonly<Record<string, unknown>>,
  context: FakeContext = fakeContext('/'),
  parts: WorstFramesParts = NONE,
) {
  const input = await checkPaths(describeWorstFramesTool.inputSchema.parse(args), context.files);
  const { document, content = [] } = await showWorstFrames(
    input as Parameters<typeof showWorstFrames>[0],
    context,
    parts,
  );
  const checked = describeWorstFramesTool.outputSchema.parse(JSON.parse(JSON.stringify(document)));
  const images = content.flatMap((item) => (item.type === 'image' ? [Buffer.from(item.data, 'base64')] : []));
  return { document: checked as unknown as WorstFramesDocument, images, content, context };
}

function pair(name: string, frames: number, bitDepth = 8, chroma: '420' | '422' | '444' = '420') {
  const clip = makeSample({ width: 160, height: 96, bitDepth, chroma }, { seed: 21, cut: frames >> 1 });
  const write = name.endsWith('.yuv') ? yuvFile : y4mFile;
  return {
    ref: file(videoFolder(), `ref-${name}`, write(clip, 'reference', frames)),
    dis: file(videoFolder(), `dis-${name}`, write(clip, 'distorted', frames)),
  };
}

describe('the frames', () => {
  it('are the lowest, worst first, at least the distance apart', async () => {
    const { ref, dis } = pair('order.y4m', 30);
    const report = await score({ reference: ref, distorted: dis }, { threads: 0 });
    const { document } = await show({ ref, dis, n: 3, min_distance: 7 });
    const scores = report.frames.map(({ frameNum, metrics }) => ({ frameNum, vmaf: metrics.vmaf ?? 0 }));
    // By hand: the lowest of those that are left, three times.
    const expected: number[] = [];
    for (let k = 0; k < 3; k++) {
      const left = scores.filter(({ frameNum }) =>
        expected.every((taken) => Math.abs(taken - frameNum) >= 7),
      );
      expected.push(left.reduce((a, b) => (b.vmaf < a.vmaf ? b : a)).frameNum);
    }
    expect(document.frames.map(({ frame_index }) => frame_index)).toEqual(expected);
    expect(document).toMatchObject({ min_distance: 7, frame_count: 30, metric: 'vmaf', backend_used: 'cpu' });
    for (const { frame_index, vmaf, metrics } of document.frames) {
      expect(vmaf).toBeCloseTo(scores[frame_index]?.vmaf ?? 0, 6);
      expect(metrics.integer_adm2).toBeCloseTo(report.frames[frame_index]?.metrics.integer_adm2 ?? 0, 6);
    }
  });

  it('are half a second apart by default, nearer where the video is too short', async () => {
    const { ref, dis } = pair('short.y4m', 9);
    expect((await show({ ref, dis, n: 4, images: 'none' })).document).toMatchObject({ min_distance: 2 });
    const one = await show({ ref, dis, n: 1, images: 'none' });
    expect(one.document.frames).toHaveLength(1);
    expect(one.document.min_distance).toBe(9);
    const long = pair('long.y4m', 80);
    // 25 frames a second.
    expect((await show({ ...long, n: 2, images: 'none' })).document.min_distance).toBe(13);
  });

  it('may be as many as there are, and no more', async () => {
    const { ref, dis } = pair('few.y4m', 3);
    const { document } = await show({ ref, dis, n: 32, images: 'none' });
    expect(document.frames.map(({ frame_index }) => frame_index).sort()).toEqual([0, 1, 2]);
  });
});

describe('the pictures', () => {
  it('are the frames, in full size as files, and small in the answer', async () => {
    const { ref, dis } = pair('pictures.y4m', 4);
    const { document, images, context } = await show({ ref, dis, n: 1, image_max_side: 80 });
    const [frame] = document.frames;
    const names = context.published.map(({ name }) => name);
    const number = String(frame?.frame_index).padStart(6, '0');
    expect(names).toEqual(
      ['reference', 'distorted', 'difference', 'map'].map((kind) => `frame_${number}_${kind}.png`),
    );
    for (const { data, mimeType, name } of context.published) {
      expect(mimeType).toBe('image/png');
      const made = decode(data as Uint8Array);
      // The map has its legend below it.
      expect(made).toMatchObject({ width: 160, channels: 3 });
      if (name.endsWith('_map.png')) expect(made.height).toBeGreaterThan(96);
      else expect(made.height).toBe(96);
    }
    const sizes = images.map((bytes) => decode(bytes)).map(({ width, height }) => [width, height]);
    expect(sizes.slice(0, 3)).toEqual(Array(3).fill([80, 48]));
    expect(frame?.png).toBe(frame?.files.distorted.path);
    expect([
      frame?.files.reference.content,
      frame?.files.distorted.content,
      frame?.files.difference.content,
      frame?.files.map.content,
    ]).toEqual([1, 2, 3, 4]);
  });

  it('stay within what a message holds, however many', async () => {
    const { ref, dis } = pair('many.y4m', 32);
    const { images, content } = await show({ ref, dis, n: 32 });
    expect(images).toHaveLength(128);
    const characters = content.reduce((sum, item) => sum + (item.type === 'image' ? item.data.length : 0), 0);
    expect(characters).toBeLessThan(6 << 20);
  });

  it('can be left out of the answer', async () => {
    const { ref, dis } = pair('pictures.y4m', 4);
    const only = await show({ ref, dis, n: 2, images: 'distorted' });
    expect(only.images).toHaveLength(2);
    expect(
      only.document.frames.map(({ files }) => [files.reference.content, files.distorted.content]),
    ).toEqual([
      [null, 1],
      [null, 2],
    ]);
    const none = await show({ ref, dis, n: 2, images: 'none' });
    expect(none.content).toEqual([]);
    expect(none.context.published).toHaveLength(8);
  });

  it.each([
    [8, '422'],
    [10, '420'],
    [12, '444'],
    [16, '420'],
  ] as const)('come from raw YUV of %i bit, %s', async (bitdepth, pixfmt) => {
    const { ref, dis } = pair(`raw${bitdepth}${pixfmt}.yuv`, 3, bitdepth, pixfmt);
    const eight = pair(`raw8${pixfmt}.y4m`, 3, 8, pixfmt);
    const geometry = { width: 160, height: 96, pixfmt, bitdepth };
    const { context } = await show({ ref, dis, ...geometry, n: 1, min_distance: 1 });
    const plain = await show({ ...eight, n: 3, min_distance: 1 });
    // The same content in 8 bit has the same colours, but for rounding.
    const reference = context.published[0];
    const same = plain.context.published.find(({ name }) => name === reference?.name);
    const [a, b] = [reference, same].map((made) => decode(made?.data as Uint8Array).data);
    let worst = 0;
    for (let i = 0; i < (a?.length ?? 0); i++)
      worst = Math.max(worst, Math.abs((a?.[i] ?? 0) - (b?.[i] ?? 99)));
    expect(worst).toBeLessThanOrEqual(4);
  });
});

describe('the words', () => {
  it('are those of the measured facts, with the hint, where there is no model', async () => {
    const { ref, dis } = pair('words.y4m', 4);
    const { document } = await show({ ref, dis, n: 1, images: 'none' });
    const [frame] = document.frames;
    expect(document).toMatchObject({ model_id: null, hint: 'none here' });
    expect(frame?.description).toMatch(/ \(VLM unavailable: none here\)$/);
    expect(frame?.summary).toMatch(/^Frame \d+, at [\d.]+ s, has vmaf \d+\.\d\d/);
    // Blurred once, quantised in steps of 10, noisy by 2 levels.
    expect(frame?.facts.blur.level).not.toBe('none');
    expect(frame?.difference.mean).toBeGreaterThan(1);
  });

  it('are those of a model where there is one', async () => {
    const { ref, dis } = pair('words.y4m', 4);
    const used = standIn();
    const context = fakeContext('/');
    const { document } = await show({ ref, dis, n: 2, images: 'none' }, context, {
      script,
      describer: (onProgress) => findDescriber({ library: async () => used.library, onProgress }),
    });
    expect(document.model_id).toBe('HuggingFaceTB/SmolVLM-Instruct');
    expect(document.hint).toBeNull();
    for (const { description } of document.frames) expect(description).toBe(`${SAID} 160x96.`);
    expect(used.questions[0]).toContain(`VMAF score of ${document.frames[0]?.vmaf.toFixed(1)}`);
    expect(context.told.map(({ message }) => message)).toContain(
      `describing frame ${document.frames[0]?.frame_index} with HuggingFaceTB/SmolVLM-Instruct`,
    );
  });

  it('fall back to the facts for a frame on which the model fails, and only for that', async () => {
    const { ref, dis } = pair('words.y4m', 4);
    let calls = 0;
    const used = standIn({
      onGenerate: () => {
        if (++calls === 1) throw new Error('out of\nmemory');
      },
    });
    const { document } = await show({ ref, dis, n: 2, images: 'none' }, fakeContext('/'), {
      script,
      describer: () => findDescriber({ library: async () => used.library }),
    });
    expect(document.frames[0]?.description).toMatch(/SmolVLM-Instruct failed: out of memory\)$/);
    expect(document.frames[1]?.description).toBe(`${SAID} 160x96.`);
  });

  it('are not asked for where describe is false', async () => {
    const { ref, dis } = pair('words.y4m', 4);
    const parts = { script, describer: () => Promise.reject(new Error('asked')) };
    const { document } = await show(
      { ref, dis, n: 1, describe: false, images: 'none' },
      fakeContext('/'),
      parts,
    );
    expect(document).toMatchObject({ model_id: null, hint: 'describe is false' });
  });
});

describe('what cannot be done', () => {
  it('is said in a sentence', async () => {
    const { ref, dis } = pair('words.yuv', 4);
    const say = (args: Readonly<Record<string, unknown>>, root = '/') =>
      refused(describeWorstFramesTool, { ref, dis, ...args }, fakeContext(root));
    expect(await say({ width: 160, height: 96 })).toMatch(/pixfmt and bitdepth are missing/);
    expect(
      await say({ width: 160, height: 96, pixfmt: '420', bitdepth: 8, model: 'version=nothing' }),
    ).toMatch(/nothing/);
    expect(await say({}, '/nowhere')).toMatch(/not allowed/);
  });

  it('n and the distance have bounds', () => {
    for (const wrong of [{ n: 0 }, { n: 33 }, { n: 2.5 }, { min_distance: 0 }, { image_max_side: 63 }]) {
      expect(describeWorstFramesTool.inputSchema.safeParse({ ref: 'a', dis: 'b', ...wrong }).success).toBe(
        false,
      );
    }
  });
});

describe.runIf(hasFfmpeg)(`encoded video (${needsFfmpeg} with zscale)`, () => {
  it('is decoded for the frames alone, in its own colours', async () => {
    const colours = ['-colorspace', 'bt709', '-color_range', 'tv'];
    const extra = ['-g', '25', '-qp', '20', ...colours];
    const ref = encode({ codec: 'h264', frames: 60, extra });
    const dis = encode({ codec: 'h264', frames: 60, extra: ['-g', '25', '-qp', '45', ...colours] });
    const { document, context } = await show({ ref, dis, n: 2 });
    const [frame] = document.frames;
    expect(frame?.reference).toMatchObject({
      matrix: 'bt709',
      range: 'limited',
      seconds: (frame?.frame_index ?? 0) / 25,
    });
    // The same frame as zimg converts it, which knows where chroma samples lie; swscale does not look.
    const convert = 'zscale=matrixin=709:rangein=limited:matrix=gbr:range=full:filter=bilinear,format=gbrp';
    const pick = ['-vf', `select=eq(n\\,${frame?.frame_index}),${convert}`];
    const args = [
      '-v',
      'error',
      '-i',
      ref,
      ...pick,
      '-frames:v',
      '1',
      '-pix_fmt',
      'rgb24',
      '-f',
      'rawvideo',
      '-',
    ];
    const expected = execFileSync('ffmpeg', args, { maxBuffer: 1 << 26 });
    const shown = decode(context.published[0]?.data as Uint8Array).data;
    expect(expected.length).toBe(320 * 240 * 3);
    let worst = 0;
    for (let i = 0; i < expected.length; i++) {
      worst = Math.max(worst, Math.abs((expected[i] ?? 0) - (shown[i] ?? 0)));
    }
    expect(worst).toBeLessThanOrEqual(1);
  });

  it('is shown as filters leave it', async () => {
    const ref = encode({ codec: 'h264', frames: 6 });
    const boxed = ffmpeg(ref.replace(/\.mp4$/, '.boxed.mkv'), [
      ...['-i', ref, '-vf', 'boxblur=2,pad=320:280:0:20', '-c:v', 'ffv1'],
    ]);
    const filters = { crop_distorted: '320:240:0:20' };
    const { document, context } = await show({ ref, dis: boxed, n: 1, filters });
    const side = (name: string) => {
      const found = context.published.find((one) => one.name.includes(name));
      const { width, height } = decode(found?.data as Uint8Array);
      return [width, height];
    };
    expect([side('reference'), side('distorted')]).toEqual([
      [320, 240],
      [320, 240],
    ]);
    const report = await score(
      { reference: ref, distorted: boxed },
      { threads: 0, cropDistorted: '320:240:0:20' },
    );
    expect(document.mean).toBeCloseTo(report.pooled_metrics.vmaf?.mean ?? Number.NaN, 5);
  });

  it('leaves no thread and no decoder when the call is cancelled', async () => {
    const made = { codec: 'h264', frames: 250, size: '640x480', extra: ['-g', '250'] } as const;
    const ref = encode(made);
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const context = fakeContext('/', controller.signal);
    const { progress } = context;
    Object.assign(context, {
      progress: (told: Parameters<typeof progress>[0]) => {
        if (told.message === 'taking pictures') setTimeout(() => controller.abort(reason), 30);
        progress(told);
      },
    });
    await expect(show({ ref, dis: ref, n: 5, frame_cnt: 240 }, context)).rejects.toBe(reason);
    await expect
      .poll(() => spawnSync('pgrep', ['-f', encodeFolder()], { encoding: 'utf8' }).stdout, { timeout: 5000 })
      .toBe('');
    expect(context.published).toEqual([]);
  });
});

const clip = (side: 0 | 1) => sharedPath(`clips/src01_hrc0${side}_576x324.yuv420p10le.yuv`);

describe.runIf(clip(0))(`the reference's pair in 10 bit (${needsShared})`, () => {
  it('shows a frame of it', async () => {
    const geometry = { width: 576, height: 324, pixfmt: '420', bitdepth: 10 };
    const { document } = await show({ ref: clip(0), dis: clip(1), ...geometry, n: 1 });
    expect(document.frames).toHaveLength(1);
    // Film grain that the encoder took away.
    expect(document.frames[0]?.facts.noise.value).toBeLessThan(-1);
    expect(document.frames[0]?.summary).toContain('smoothed away');
  });
});
