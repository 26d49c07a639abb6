/**
 * @module test/node/mcp/worst-frames
 * `describe_worst_frames`: the lowest frames, apart from each other, with pictures of the videos, facts and words; a cancelled
 * call leaves nothing. Describing models are stand-ins.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from 'fast-png';
import { decode as decodeJpeg } from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import type { VideoFormat } from '../../../src/core/frame.js';
import { type RgbImage, score } from '../../../src/index.js';
import {
  findDescriber,
  importVisionLibrary,
  sharedDescriber,
  VISION_PACKAGE,
} from '../../../src/mcp/describer.js';
import { checkPaths } from '../../../src/mcp/paths.js';
import {
  describeWorstFramesTool,
  showWorstFrames,
  type WorstFramesDocument,
} from '../../../src/mcp/tools/describe-worst-frames.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { type FakeContext, fakeContext, writePair } from '../../support/mcp-tools.js';
import { exhaustive, needsShared, sharedPath, tier } from '../../support/tier.js';
import { SAID, type StandInOptions, standIn } from '../../support/vision-library.js';

type DescriberOf = NonNullable<Parameters<typeof showWorstFrames>[2]>;
const NONE: DescriberOf = async () => ({ modelId: null, hint: 'none here' });

/** Number of base64 characters of pictures. */
const characters = (images: readonly { readonly data: string }[]) =>
  images.reduce((sum, { data }) => sum + data.length, 0);

/** The largest difference between two pictures of RGB. */
function worstDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs((a[i] ?? 0) - (b[i] ?? 0)));
  return worst;
}

/** Calls as the server does, in this thread. */
async function show(
  args: Readonly<Record<string, unknown>>,
  context: FakeContext = fakeContext('/'),
  describerOf = NONE,
) {
  const asked = { images: 'all', ...args };
  const input = await checkPaths(describeWorstFramesTool.inputSchema.parse(asked), context.files);
  const { document, content = [] } = await showWorstFrames(
    input as Parameters<typeof showWorstFrames>[0],
    context,
    describerOf,
  );
  const checked = describeWorstFramesTool.outputSchema.parse(JSON.parse(JSON.stringify(document)));
  const images = content.flatMap((item) => (item.type === 'image' ? [item] : []));
  return { document: checked as unknown as WorstFramesDocument, images, content, context };
}

/** A generated pair, Y4M by default. */
function pair(frames: number, format: Partial<VideoFormat> = {}, extension: 'y4m' | 'yuv' = 'y4m') {
  const cut = frames >> 1;
  const size = { width: 160, height: 96, bitDepth: 8, chroma: '420' } as const;
  return writePair({ content: 'sample', seed: 21, cut, frames, ...size, ...format }, extension);
}

/** Four frames that several tests use, and the answer for two of them without pictures. */
const four = () => pair(4);
let saidOfFour: ReturnType<typeof show> | undefined;
const facts = () => {
  saidOfFour ??= show({ ...four(), n: 2, images: 'none' });
  return saidOfFour;
};

const large = () => pair(5, { width: 256, height: 144 });

describe('the frames', () => {
  it('have the times of the reference, as in a score', async () => {
    const { ref, dis } = pair(8);
    const { document } = await show({ ref, dis, n: 1, offset: 2 });
    const [{ frame_index: frame, summary } = { frame_index: 0, summary: '' }] = document.frames;
    expect(summary).toContain(`Frame ${frame}, at ${(frame + 2) / 25} s, has `);
  });

  it('are the lowest, worst first, at least the distance apart', async () => {
    const { ref, dis } = pair(12);
    const report = await score({ reference: ref, distorted: dis }, { threads: 0 });
    const { document } = await show({ ref, dis, n: 3, min_distance: 3, images: 'none' });
    const scores = report.frames.map(({ frameNum, metrics }) => ({ frameNum, vmaf: metrics.vmaf ?? 0 }));
    // By hand: the lowest of those left, three times.
    const expected: number[] = [];
    for (let k = 0; k < 3; k++) {
      const left = scores.filter(({ frameNum }) =>
        expected.every((taken) => Math.abs(taken - frameNum) >= 3),
      );
      expected.push(left.reduce((a, b) => (b.vmaf < a.vmaf ? b : a)).frameNum);
    }
    expect(document.frames.map(({ frame_index }) => frame_index)).toEqual(expected);
    expect(document).toMatchObject({ min_distance: 3, frame_count: 12, metric: 'vmaf', backend_used: 'cpu' });
    for (const { frame_index, vmaf, metrics } of document.frames) {
      expect(vmaf).toBeCloseTo(scores[frame_index]?.vmaf ?? 0, 6);
      expect(metrics.integer_adm2).toBeCloseTo(report.frames[frame_index]?.metrics.integer_adm2 ?? 0, 6);
    }
  });

  it('are half a second apart by default, less if the video is too short', async () => {
    const size = { width: 64, height: 48 };
    const distance = async (frames: number, n: number) => {
      const { document } = await show({ ...pair(frames, size), n, images: 'none' });
      return [document.frames.length, document.min_distance];
    };
    expect(await distance(9, 4)).toEqual([4, 2]);
    expect(await distance(9, 1)).toEqual([1, 9]);
    // 25 frames a second.
    expect(await distance(28, 2)).toEqual([2, 13]);
  });

  it('are ranked by another metric, which is then measured', async () => {
    const asked = { ...four(), metric: 'butteraugli_3norm', images: 'none' };
    const { document, context } = await show({ ...asked, n: 4, min_distance: 1 });
    const { frames, mean, metric } = document;
    const maps = context.published.filter(({ name }) => name.endsWith('_map.png'));
    const found = maps.map(({ description }) => description);
    expect(found).toContain('Where Butteraugli sees differences in frame 0, over the distorted picture.');
    const values = frames.map(({ metrics }) => Number(metrics.butteraugli_3norm));
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(metric).toBe('butteraugli_3norm');
    expect(mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 5);
    expect(frames[0]?.vmaf).toBe(frames[0]?.metrics.vmaf);
    expect(frames[0]?.summary).toMatch(/has butteraugli_3norm [\d.]+, [\d.]+ above the mean\./);
    await expect(show({ ...asked, metric: 'cvvdp' })).rejects.toThrow(/this run measures .*cvvdp_q/);
  });

  it('are at most as many as the video has', async () => {
    const { document } = await show({ ...pair(3), n: 32, images: 'none' });
    expect(document.frames.map(({ frame_index }) => frame_index).sort()).toEqual([0, 1, 2]);
  });
});

describe('the pictures', () => {
  it('are published in full size, and are small in the answer', async () => {
    const { document, images, context } = await show({ ...four(), n: 1, image_max_side: 80 });
    const [frame] = document.frames;
    // Four in full size, four small ones, and the report.
    expect(context.published).toHaveLength(9);
    const whole = context.published.filter(({ name }) => !/_small\.png$|\.json$/.test(name));
    const names = whole.map(({ name }) => name);
    const number = String(frame?.frame_index).padStart(6, '0');
    expect(names).toEqual(
      ['reference', 'distorted', 'difference', 'map'].map((kind) => `frame_${number}_${kind}.png`),
    );
    for (const { data, mimeType, name } of whole) {
      expect(mimeType).toBe('image/png');
      const made = decode(data as Uint8Array);
      // The map has a legend below it.
      expect(made).toMatchObject({ width: 160, channels: 3 });
      if (name.endsWith('_map.png')) expect(made.height).toBeGreaterThan(96);
      else expect(made.height).toBe(96);
    }
    const sizes = images.map(({ data }) => decode(Buffer.from(data, 'base64')));
    for (const size of sizes.slice(0, 3)) expect(size).toMatchObject({ width: 80, height: 48 });
    expect(frame?.png).toBe(frame?.files.distorted.path);
    const order = Object.entries(frame?.files ?? {}).map(([kind, { content }]) => [kind, content]);
    expect(Object.fromEntries(order)).toEqual({ reference: 1, distorted: 2, difference: 3, map: 4 });
  });

  it.runIf(exhaustive)('stay within the limit of a message, however many', async () => {
    const { images } = await show({ ...pair(32), n: 32 });
    expect(images).toHaveLength(4 * 32);
    expect(characters(images)).toBeLessThan(6 << 20);
  });

  it('of five large frames take less than 700 kB together, and are still large enough to be useful', async () => {
    const { images } = await show({ ...large(), min_distance: 1 });
    const jpegs = images.filter(({ mimeType }) => mimeType === 'image/jpeg');
    const sides = jpegs.map(({ data }) => decodeJpeg(Buffer.from(data, 'base64'), { useTArray: true }).width);
    expect(images).toHaveLength(20);
    expect(characters(images)).toBeLessThan(700_000);
    expect(jpegs.length).toBeGreaterThan(0);
    expect(Math.min(...sides)).toBeGreaterThanOrEqual(160);
  });

  it('of large frames may take more or less on request', async () => {
    const size = async (images_kb: number) => {
      const { images } = await show({ ...large(), n: 1, images_kb });
      expect(images).toHaveLength(4);
      return characters(images);
    };
    expect(await size(60)).toBeLessThan(60_000);
    expect(await size(1500)).toBeGreaterThan(100_000);
  });

  it('can be omitted from the answer', async () => {
    const only = await show({ ...four(), n: 2, images: 'distorted' });
    expect(only.images).toHaveLength(2);
    const contents = only.document.frames.flatMap(({ files }) => [
      files.reference.content,
      files.distorted.content,
    ]);
    expect(contents).toEqual([null, 1, null, 2]);
    const none = await facts();
    expect(none.images).toEqual([]);
    // Four pictures of each frame, small enough as they are, and the report.
    expect(none.context.published).toHaveLength(9);
    expect(none.document.full_report.uri).toBe('anyvmaf://results/9/report.json');
    const links = none.document.frames.map(({ files }) => files.distorted.uri);
    expect(none.content.map((item) => item.type === 'resource_link' && item.uri)).toEqual(links);
    expect(none.document.next_action).toEqual({ tool: 'again', arguments: { images: 'all' } });
  });

  const depths = [
    [10, '422'],
    [16, '444'],
    [8, '422'],
    [12, '420'],
  ] as const;
  it.each(depths.slice(0, tier(2, 4)))('come from raw YUV of %i bit, %s', async (bitdepth, pixfmt) => {
    const { ref, dis } = pair(2, { bitDepth: bitdepth, chroma: pixfmt }, 'yuv');
    const eight = pair(2, { chroma: pixfmt });
    const geometry = { width: 160, height: 96, pixfmt, bitdepth, images: 'none' };
    const { context } = await show({ ref, dis, ...geometry, n: 1, min_distance: 1 });
    const plain = await show({ ...eight, n: 2, min_distance: 1, images: 'none' });
    // The same content in 8 bit has the same colours, up to rounding.
    const reference = context.published[0];
    const same = plain.context.published.find(({ name }) => name === reference?.name);
    const [a, b] = [reference, same].map((made) => decode(made?.data as Uint8Array).data);
    expect(worstDifference(a ?? [], b ?? [])).toBeLessThanOrEqual(4);
  });
});

describe('the words', () => {
  it('describe measured facts, with a hint, if there is no model', async () => {
    const { document } = await facts();
    const [frame] = document.frames;
    expect(document).toMatchObject({ model_id: null, hint: 'none here' });
    expect(frame?.description).toMatch(/ \(VLM unavailable: none here\)$/);
    expect(frame?.summary).toMatch(/^Frame \d+, at [\d.]+ s, has vmaf \d+\.\d\d/);
    // Blurred once, quantised in steps of 10, noisy by 2 levels.
    expect(frame?.facts.blur.level).not.toBe('none');
    expect(frame?.difference.mean).toBeGreaterThan(1);
  });

  it('come from a model if there is one', async () => {
    const used = standIn();
    const context = fakeContext('/');
    const describerOf: DescriberOf = (onProgress) => findDescriber(onProgress, async () => used.library);
    const { document } = await show({ ...four(), n: 2, images: 'none' }, context, describerOf);
    expect(document.model_id).toBe('HuggingFaceTB/SmolVLM-Instruct');
    expect(document.hint).toBeNull();
    for (const { description } of document.frames) expect(description).toBe(`${SAID} 160x96.`);
    expect(used.questions[0]).toContain(`VMAF score of ${document.frames[0]?.vmaf.toFixed(1)}`);
    expect(context.told.map(({ message }) => message)).toContain(
      `describing frame ${document.frames[0]?.frame_index} with HuggingFaceTB/SmolVLM-Instruct`,
    );
  });

  it('fall back to the facts for frames on which the model fails', async () => {
    let calls = 0;
    const used = standIn({
      onGenerate: () => {
        if (++calls === 1) throw new Error('out of\nmemory');
      },
    });
    const describerOf: DescriberOf = (onProgress) => findDescriber(onProgress, async () => used.library);
    const { document } = await show({ ...four(), n: 2, images: 'none' }, fakeContext('/'), describerOf);
    expect(document.frames[0]?.description).toMatch(/SmolVLM-Instruct failed: out of memory\)$/);
    expect(document.frames[1]?.description).toBe(`${SAID} 160x96.`);
  });

  it('come from no model if describe is false', async () => {
    const asked = () => Promise.reject(new Error('asked'));
    const args = { ...four(), n: 1, describe: false, images: 'none' };
    const { document } = await show(args, fakeContext('/'), asked);
    expect(document).toMatchObject({ model_id: null, hint: 'describe is false' });
  });
});

describe.runIf(hasFfmpeg)(`encoded video (${needsFfmpeg} with zscale)`, () => {
  it('is decoded only for the frames shown, with its own colours', async () => {
    const colours = ['-colorspace', 'bt709', '-color_range', 'tv'];
    const encoded = (qp: string) => encode({ codec: 'h264', extra: ['-g', '25', '-qp', qp, ...colours] });
    const [ref, dis] = [encoded('20'), encoded('45')];
    const { document, context } = await show({ ref, dis, n: 1, images: 'none' });
    const [frame] = document.frames;
    const seconds = (frame?.frame_index ?? 0) / 25;
    expect(frame?.reference).toMatchObject({ matrix: 'bt709', range: 'limited', seconds });
    // zimg converts the frame with the chroma siting, which swscale ignores.
    const convert = 'zscale=matrixin=709:rangein=limited:matrix=gbr:range=full:filter=bilinear,format=gbrp';
    const pick = ['-vf', `select=eq(n\\,${frame?.frame_index}),${convert}`];
    const args = ['-i', ref, ...pick, '-frames:v', '1', '-pix_fmt', 'rgb24', '-f', 'rawvideo'];
    const expected = readFileSync(ffmpeg(join(encodeFolder(), 'converted.rgb'), args));
    expect(expected.length).toBe(320 * 240 * 3);
    const shown = decode(context.published[0]?.data as Uint8Array).data;
    expect(worstDifference(expected, shown)).toBeLessThanOrEqual(1);
  });

  it('is shown after filters', async () => {
    const ref = encode({ codec: 'h264', size: '160x120', frames: 4 });
    const box = ['-i', ref, '-vf', 'boxblur=2,pad=160:160:0:20', '-c:v', 'ffv1'];
    const boxed = ffmpeg(ref.replace(/\.mp4$/, '.boxed.mkv'), box);
    const filters = { crop_distorted: '160:120:0:20' };
    const { document, context } = await show({ ref, dis: boxed, n: 1, images: 'none', filters });
    const side = (name: string) => {
      const found = context.published.find((one) => one.name.includes(name));
      const { width, height } = decode(found?.data as Uint8Array);
      return [width, height];
    };
    for (const name of ['reference', 'distorted']) expect(side(name)).toEqual([160, 120]);
    const options = { threads: 0, cropDistorted: '160:120:0:20' };
    const report = await score({ reference: ref, distorted: boxed }, options);
    expect(document.mean).toBeCloseTo(report.pooled_metrics.vmaf?.mean ?? Number.NaN, 5);
  });

  it('leaves no thread and no decoder when the call is cancelled', async () => {
    const ref = encode({ codec: 'h264', size: '160x96', extra: ['-g', '60'] });
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const context = fakeContext('/', controller.signal);
    const { progress } = context;
    Object.assign(context, {
      progress: (told: Parameters<typeof progress>[0]) => {
        if (/^took .*\(1 of 5\)$/.test(told.message ?? '')) controller.abort(reason);
        progress(told);
      },
    });
    await expect(show({ ref, dis: ref, n: 5 }, context)).rejects.toBe(reason);
    await expect.poll(() => spawnSync('pgrep', ['-f', encodeFolder()], { encoding: 'utf8' }).stdout).toBe('');
    expect(context.published).toEqual([]);
  });
});

const clip = (side: 0 | 1) => sharedPath(`clips/src01_hrc0${side}_576x324.yuv420p10le.yuv`);

it.runIf(clip(0))(`shows a frame of the reference's pair in 10 bit (${needsShared})`, async () => {
  const geometry = { width: 576, height: 324, pixfmt: '420', bitdepth: 10 };
  const { document } = await show({ ref: clip(0), dis: clip(1), ...geometry, n: 1 });
  expect(document.frames).toHaveLength(1);
  // The encoder has removed film grain.
  expect(document.frames[0]?.facts.noise.value).toBeLessThan(-1);
  expect(document.frames[0]?.summary).toContain('smoothed away');
});

const IMAGE: RgbImage = { width: 6, height: 4, data: new Uint8Array(72) };
const SMOL = 'HuggingFaceTB/SmolVLM-Instruct';
const MOONDREAM = 'Xenova/moondream2';
const going = () => new AbortController().signal;

async function found(options: StandInOptions = {}) {
  const used = standIn(options);
  const messages: string[] = [];
  const onProgress = (message: string) => void messages.push(message);
  const describer = await findDescriber(onProgress, async () => used.library);
  return { used, messages, describer };
}

/** The model's answer to a question about a picture. */
async function answerOf({ describer }: Awaited<ReturnType<typeof found>>, signal = going()): Promise<string> {
  if (describer.modelId === null) throw new Error(describer.hint);
  return describer.describe(IMAGE, 'What is wrong?', signal);
}

describe('the chain', () => {
  it('asks SmolVLM first, through its chat template', async () => {
    const smol = await found();
    const { used, describer, messages } = smol;
    expect(describer.modelId).toBe(SMOL);
    expect(used.loaded).toEqual([SMOL]);
    expect(messages).toEqual([`fetching ${SMOL}: weights 42 %`]);
    // The answer without the repeated prompt, trimmed.
    expect(await answerOf(smol)).toBe(`${SAID} 6x4.`);
    const content = [{ type: 'image' }, { type: 'text', text: 'What is wrong?' }];
    expect(used.questions.map((text) => JSON.parse(text))).toEqual([[{ role: 'user', content }]]);
  });

  it('asks Moondream2 if SmolVLM does not load, as question and answer', async () => {
    const moondream = await found({ broken: { [SMOL]: 'fetch failed' } });
    const { used, describer } = moondream;
    expect(describer.modelId).toBe('vikhyatk/moondream2');
    expect(used.loaded).toEqual([MOONDREAM]);
    expect(await answerOf(moondream)).toBe(`${SAID} 6x4.`);
    expect(used.questions).toEqual(['<image>\n\nQuestion: What is wrong?\n\nAnswer:']);
  });

  it('tells why if none loads', async () => {
    const { describer } = await found({ broken: { [SMOL]: 'fetch\nfailed', [MOONDREAM]: 'no space left' } });
    expect(describer).toEqual({
      modelId: null,
      hint: `no model could be loaded (${SMOL}: fetch failed; vikhyatk/moondream2: no space left)`,
    });
  });

  it.each([
    // Node's error for a missing package, and for a broken one.
    [VISION_PACKAGE, /^install with npm install @huggingface\/transformers, then restart the server$/],
    ['sharp', /could not be loaded: .*sharp/],
  ])('gives advice if %s is missing', async (name, hint) => {
    const code = 'ERR_MODULE_NOT_FOUND';
    const missing = Object.assign(new Error(`Cannot find package '${name}' imported from here`), { code });
    const describer = await findDescriber(
      () => {},
      () => Promise.reject(missing),
    );
    expect(describer).toEqual({ modelId: null, hint: expect.stringMatching(hint) });
  });

  it('finds the installed package or none', async () => {
    const outcome = await importVisionLibrary().then(
      (library) => typeof library.RawImage,
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(outcome).toMatch(/^function$|huggingface/);
  });
});

it('a description model is looked for again after a failure, and kept once found', async () => {
  const none = { modelId: null, hint: 'no model could be loaded (fetch failed)' } as const;
  const one = { modelId: 'one', describe: async () => 'a lake' };
  const answers = [none, one, none];
  const ask = () =>
    sharedDescriber(
      () => {},
      async () => answers.shift() ?? none,
    );
  expect([await ask(), await ask(), await ask()]).toEqual([none, one, one]);
});

it('an answer is interrupted when its signal aborts, with the reason', async () => {
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const endless = await found({
    // A model that ends only if it checks its stopping criteria.
    onGenerate: () => {
      controller.abort(reason);
      return new Promise(() => {});
    },
  });
  await expect(answerOf(endless, controller.signal)).rejects.toBe(reason);
  expect(endless.used.interrupted).toBe(1);
  await expect(answerOf(endless, controller.signal)).rejects.toBe(reason);
});
