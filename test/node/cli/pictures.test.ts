/**
 * @module test/node/cli/pictures
 * Pictures that the command line makes: those of `anyvmaf heatmap`, and those of the worst frames on the page of `--html`: their
 * choice, content, size and errors. Colours and facts are compared with ffmpeg.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { decode } from 'fast-png';
import { beforeAll, describe, expect, it, test, vi } from 'vitest';
import { type PicturedEncode, pagePictures } from '../../../src/cli/page-pictures.js';
import { chromaSize, type FramePlanes, type VideoFormat } from '../../../src/core/frame.js';
import { extractFrames, formatHtml, type Report, score } from '../../../src/index.js';
import { type FrameFactName, type FrameFacts, measureFacts } from '../../../src/pictures/facts.js';
import { toRgb } from '../../../src/pictures/rgb.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { anyvmaf, passes, videos } from '../../support/cli.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { seeded } from '../../support/random.js';
import { needsShared, sharedPath, tier } from '../../support/tier.js';

const FORMAT = { width: 192, height: 112, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 36;

describe('anyvmaf heatmap', () => {
  const files = videos();
  const pair = files.pair(['r.y4m', 'd.y4m'], 4);
  const heatmap = (output: string, ...options: string[]) =>
    anyvmaf(['heatmap', ...pair, ...options, '-o', files.at(output)]);

  test('draws the requested frames into a new folder', async () => {
    const { code, stdout } = await heatmap('maps', '--frame', '3,1');
    expect(code).toBe(0);
    expect(readdirSync(files.at('maps')).sort()).toEqual(['heatmap_000001.png', 'heatmap_000003.png']);
    expect(stdout).toMatch(/^frame 1: adm2 0\.\d{4}, vif 0\.\d{4} .*heatmap_000001\.png\nframe 3: /);
    const picture = decode(readFileSync(files.at('maps/heatmap_000003.png')));
    expect([picture.width, picture.height]).toEqual([64, 48 + 15]);
  });

  test('scores, and draws the worst frame into the named file', async () => {
    const json = await anyvmaf([...pair, '--json', '-q', '--precision', 'max']);
    const report: { frames: { frameNum: number; metrics: { vmaf: number } }[] } = JSON.parse(json.stdout);
    const worst = report.frames.reduce((a, b) => (b.metrics.vmaf < a.metrics.vmaf ? b : a));
    const { code, stdout } = await heatmap('lost.png');
    expect(code).toBe(0);
    expect(stdout).toMatch(`frame ${worst.frameNum}: vmaf ${worst.metrics.vmaf.toFixed(2)}, adm2 `);
    expect(decode(readFileSync(files.at('lost.png'))).width).toBe(64);
  });

  test('draws the differences of butteraugli in the frame that is worst by it', async () => {
    const score = await anyvmaf([...pair, '--json', '-q', '--no_prediction', '--feature', 'butteraugli']);
    const { frames }: { frames: { metrics: { butteraugli: number } }[] } = JSON.parse(score.stdout);
    const values = frames.map(({ metrics }) => metrics.butteraugli);
    const most = Math.max(...values);
    const { stdout } = await heatmap('seen.png', '--scale-of', 'butteraugli');
    expect(stdout).toMatch(`frame ${values.indexOf(most)}: butteraugli ${most.toFixed(4)}, 3-norm `);
    expect(decode(readFileSync(files.at('seen.png'))).height).toBe(48 + 15);
    const { code, stderr } = await heatmap('no.png', '--scale-of', 'butteraugli', '--block', '8');
    expect([code, stderr]).toEqual([1, expect.stringContaining('leave out --block and --neg')]);
  });

  test('writes nothing if a frame does not exist', async () => {
    const { code, stderr } = await heatmap('none', '--frame', '0,7');
    expect([code, stderr]).toEqual([1, expect.stringContaining('frame 7 was requested, but')]);
    expect(existsSync(files.at('none'))).toBe(false);
  });

  test.each([
    ['taken', 'it is not a folder; name a folder or a .png file'],
    ['none/lost.png', 'its folder does not exist'],
  ])('refuses to write to %s, and changes nothing there', async (output, why) => {
    const taken = files.put('taken', 'mine');
    const { code, stderr } = await heatmap(output, '--frame', '0');
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    expect(readFileSync(taken, 'utf8')).toBe('mine');
  });
});

describe('pictures of the worst frames', () => {
  const files = videos();
  const [ref, dis] = [files.at('pictured-ref.y4m'), files.at('pictured-dis.y4m')];
  let report: Report;
  const never = new AbortController().signal;

  beforeAll(async () => {
    const clip = makeSample(FORMAT, { seed: 21, cut: 18 });
    writeFileSync(ref, y4mFile(clip, 'reference', FRAMES));
    writeFileSync(dis, y4mFile(clip, 'distorted', FRAMES));
    report = await score({ reference: ref, distorted: dis }, { threads: 0 });
  });

  const usual = () => ({ report, reference: ref, distorted: dis, raw: undefined, options: {} });
  const encode = (over: Partial<PicturedEncode> = {}): PicturedEncode => ({ ...usual(), ...over });

  /** Frames and pictures of a page, in its order. */
  const shotsOf = (page: string) =>
    [...page.matchAll(/<button data-frame="(\d+)"[^>]*>(.*?)<\/button>/gs)].map(([, frame, row = '']) => ({
      frame: Number(frame),
      urls: [...row.matchAll(/src="data:image\/png;base64,([^"]+)"/g)].map(([, data = '']) => data),
    }));

  test('are made for a run that converts colours as another tool does', async () => {
    const options = { features: ['butteraugli'], noPrediction: true, colourAs: 'vszip' } as const;
    const converted = await score({ reference: ref, distorted: dis }, { threads: 0, ...options });
    const { pictures, lacking } = await pagePictures([encode({ report: converted, options })], never);
    expect([pictures.length > 0, lacking]).toEqual([true, []]);
  });

  test('show every moment that the page lists: both frames as decoded, and a map', async () => {
    const page = files.at('pictured.html');
    const { code, stderr } = await anyvmaf([ref, dis, '--html', page]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const shots = shotsOf(readFileSync(page, 'utf8'));
    expect(shots.length).toBeGreaterThan(1);
    const frames = shots.map(({ frame }) => frame).sort((a, b) => a - b);
    for await (const pair of extractFrames({ reference: ref, distorted: dis }, frames)) {
      const urls = shots.find(({ frame }) => frame === pair.index)?.urls ?? [];
      expect(urls).toHaveLength(3);
      const [reference, distorted] = await Promise.all([pair.reference.png(), pair.distorted.png()]);
      expect(urls[0]).toBe(Buffer.from(reference).toString('base64'));
      expect(urls[1]).toBe(Buffer.from(distorted).toString('base64'));
      expect(urls[2]).not.toBe(urls[1]);
    }
    // The same files give the same pictures.
    const { pictures } = await pagePictures([encode()], never);
    const again = pictures.map(({ frame, reference, distorted, map }) => ({
      frame,
      urls: [reference, distorted, map].map((png) => Buffer.from(png ?? '').toString('base64')),
    }));
    expect(new Set(again)).toEqual(new Set(shots));
  });

  test('are omitted with --no-pictures', async () => {
    const page = files.at('plain.html');
    await passes([ref, dis, '--html', page, '--no-pictures']);
    const text = readFileSync(page, 'utf8');
    expect(text).toContain('<h2>Worst frames</h2>');
    expect(text).not.toContain('<img');
  });

  test('with an offset show the frames compared, without another search', async () => {
    const shifted = await score({ reference: ref, distorted: dis }, { threads: 0, offset: 3 });
    const request = encode({ report: shifted, options: { offset: 'auto' } });
    const { pictures } = await pagePictures([request], never);
    const [first] = pictures;
    const pairs = extractFrames({ reference: ref, distorted: dis }, [first?.frame ?? 0], { offset: 3 });
    for await (const pair of pairs) expect(first?.distorted).toEqual(await pair.distorted.png());
  });

  test('that cannot be made each give a sentence, also on the page, and do not affect others', async () => {
    const gone = files.at('pictured-gone.y4m');
    writeFileSync(gone, readFileSync(dis));
    const other = await score({ reference: ref, distorted: gone }, { threads: 0 });
    rmSync(gone);
    const { pictures, lacking } = await pagePictures(
      [encode({ report: other, distorted: gone }), encode(), encode({ distorted: '-' })],
      never,
    );
    expect(new Set(pictures.map((one) => one.report))).toEqual(new Set([1]));
    expect(lacking).toEqual([
      expect.stringMatching(
        /^No pictures of .*pictured-gone\.y4m: .*pictured-gone\.y4m: there is no such file\.$/,
      ),
      expect.stringMatching(/standard input cannot be read twice\.$/),
    ]);
    const page = await formatHtml([other, report, report], { pictures, picturesLacking: lacking });
    expect(page).toContain('there is no such file.</p>');
    await expect(formatHtml(report, { picturesLacking: [5] as never })).rejects.toThrow(
      'picturesLacking[0] is 5',
    );
    await expect(
      formatHtml(report, { pictures: [{ ...pictures[0], aspect: Number.NaN }] as never }),
    ).rejects.toThrow('pictures[0].aspect is NaN, but it must be a number above 0');
  });

  /** A video of noise, which does not compress. */
  function noise(name: string, seed: number, [width, height]: readonly [number, number], frames: number) {
    const random = seeded(seed);
    const frame = () => Buffer.concat([Buffer.from('FRAME\n'), random.bytes(width * height * 3)]);
    const path = files.at(name);
    const head = Buffer.from(`YUV4MPEG2 W${width} H${height} F1:1 Ip C444\n`);
    writeFileSync(path, Buffer.concat([head, ...Array.from({ length: frames }, frame)]));
    return path;
  }

  const sizeOf = (picture: Uint8Array | undefined) =>
    picture?.[0] === 0x89 ? new DataView(picture.buffer, picture.byteOffset).getUint32(16) : undefined;

  test('keep the page below its size, the worst of every encode first', async () => {
    const [a, b] = [noise('noise-a.y4m', 1, [192, 192], 9), noise('noise-b.y4m', 2, [192, 192], 9)];
    const noisy = await score({ reference: a, distorted: b }, { threads: 0, preflight: false });
    const many = Array.from({ length: 6 }, () => encode({ report: noisy, reference: a, distorted: b }));
    // Without ffmpeg, pictures are PNG, three bytes a pixel and at least 192 pixels wide.
    vi.stubEnv('ANYVMAF_FFMPEG', '/nonexistent/ffmpeg');
    const limits = { megabytes: 3, bytes: 100_000 };
    const { pictures, lacking } = await pagePictures(many, never, limits).finally(() => vi.unstubAllEnvs());
    const reports = many.map((one) => one.report);
    const page = await formatHtml(reports, { pictures, picturesLacking: lacking });
    expect(page.length).toBeLessThanOrEqual(3e6);
    const count = pictures.length;
    expect(pictures.map((one) => one.report)).toEqual(Array.from({ length: count }, (_, i) => i % 6));
    expect(count).toBeGreaterThanOrEqual(6);
    expect(count).toBeLessThan(12);
    expect(sizeOf(pictures[0]?.reference)).toBe(192);
    // One more would be too many.
    expect(page.length + page.length / count).toBeGreaterThan(3e6);
    const limit = 'to keep the page below 3 MB; --html-size allows more.';
    expect(lacking).toEqual([
      `${12 - count} of 12 moments have no pictures, ${limit}`,
      `Some pictures are at most 192 pixels wide, ${limit}`,
    ]);
    expect(page).toContain(lacking[0]);
  });

  test.skipIf(!hasFfmpeg)('become JPEG, then smaller, with a smaller --html-size', async () => {
    const [a, b] = [noise('wide-a.y4m', 1, [1280, 240], 1), noise('wide-b.y4m', 2, [1280, 240], 1)];
    const page = files.at('wide.html');
    const made = async (size: string) => {
      const quick = ['-n', '--feature', 'psnr', '--no-preflight'];
      const { code, stderr } = await anyvmaf([a, b, ...quick, '--html', page, '--html-size', size]);
      const text = readFileSync(page, 'utf8');
      expect({ code, within: text.length <= Number(size) * 1e6 }).toEqual({ code: 0, within: true });
      const [picture = ''] = /data:image[^"]+/.exec(text) ?? [];
      const bytes = Buffer.from(picture.replace(/^.*base64,/, ''), 'base64');
      const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
      const width = sizeOf(bytes) ?? bytes.readUInt16BE(frame + 7);
      return [/image\/(\w+)/.exec(picture)?.[1], width, /Some pictures are at most \d+/.exec(stderr)?.[0]];
    };
    expect(await made('20')).toEqual(['jpeg', 960, undefined]);
    const [type, width = 0, said] = await made('0.3');
    expect([type, said]).toEqual(['jpeg', `Some pictures are at most ${width}`]);
    expect(width).toBeLessThan(960);
  });

  test('stop when the run is aborted', async () => {
    await expect(pagePictures([encode()], AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

it.runIf(hasFfmpeg).each([
  ['bt601', 'limited', 'yuv420p', '420', 8],
  ['bt709', 'limited', 'yuv422p', '422', 8],
  ['bt709', 'full', 'yuv444p', '444', 8],
  ['bt601', 'full', 'yuv420p10le', '420', 10],
  ['bt709', 'limited', 'yuv444p16le', '444', 16],
] as const)(
  `colours equal ffmpeg's: %s, %s range, %s (${needsFfmpeg})`,
  (matrix, range, pixelFormat, chroma, bitDepth) => {
    const format: VideoFormat = { width: 64, height: 48, bitDepth, chroma };
    const lavfi = `gradients=s=64x48:c0=0x2060a0:c1=0xd0a030:n=2:x0=0:y0=0:x1=63:y1=47:speed=0.00001`;
    const name = `${encodeFolder()}/${matrix}-${range}-${pixelFormat}`;
    const tv = { limited: 'tv', full: 'pc' } as const;
    const exact = 'flags=accurate_rnd+full_chroma_int';
    const to = `scale=out_color_matrix=${matrix}:out_range=${tv[range]}:${exact}+bicubic`;
    const layout = ['-f', 'rawvideo', '-pix_fmt', pixelFormat];
    const made = ['-f', 'lavfi', '-i', lavfi, '-frames:v', '1', '-vf', to, ...layout];
    const yuv = ffmpeg(`${name}.yuv`, made);
    const back = `scale=in_color_matrix=${matrix}:in_range=${tv[range]}:${exact}+bilinear`;
    const input = [...layout, '-s', '64x48', '-i', yuv];
    const rgb = ffmpeg(`${name}.rgb`, [...input, '-vf', back, '-f', 'rawvideo', '-pix_fmt', 'rgb24']);
    const [samples, expected] = [new Uint8Array(readFileSync(yuv)), new Uint8Array(readFileSync(rgb))];
    const size = chromaSize(format);
    const bytes = bitDepth > 8 ? 2 : 1;
    const luma = 64 * 48 * bytes;
    const plane = size.width * size.height * bytes;
    const planes: FramePlanes = {
      y: samples.slice(0, luma),
      cb: samples.slice(luma, luma + plane),
      cr: samples.slice(luma + plane, luma + 2 * plane),
    };
    const { data } = toRgb(planes, format, { matrix, range, assumed: [] });
    let worst = 0;
    let sum = 0;
    for (let i = 0; i < data.length; i++) {
      const off = Math.abs((data[i] ?? 0) - (expected[i] ?? 0));
      worst = Math.max(worst, off);
      sum += off;
    }
    expect(sum / data.length).toBeLessThan(1);
    expect(worst).toBeLessThanOrEqual(4);
  },
);

/** ffmpeg's arguments between input and output. */
const TREATMENTS = {
  'x264 crf 20': ['-c:v', 'libx264', '-crf', '20'],
  'x264 crf 40': ['-c:v', 'libx264', '-crf', '40'],
  'x264 crf 48': ['-c:v', 'libx264', '-crf', '48'],
  'mpeg2 q 20': ['-c:v', 'mpeg2video', '-q:v', '20'],
  'blur 0.7': ['-vf', 'gblur=sigma=0.7', '-c:v', 'ffv1'],
  'blur 2': ['-vf', 'gblur=sigma=2', '-c:v', 'ffv1'],
  'noise 8': ['-vf', 'noise=alls=8:allf=t:all_seed=1', '-c:v', 'ffv1'],
  'noise 24': ['-vf', 'noise=alls=24:allf=t:all_seed=1', '-c:v', 'ffv1'],
  'posterised by 8': ['-vf', "lutyuv=y='trunc(val/8)*8+4'", '-c:v', 'ffv1'],
  'posterised by 16': ['-vf', "lutyuv=y='trunc(val/16)*16+8'", '-c:v', 'ffv1'],
  'contrast 0.7': ['-vf', 'eq=contrast=0.7', '-c:v', 'ffv1'],
} as const;

type Treatment = keyof typeof TREATMENTS;

const SIZE = { width: 480, height: 320 };
const TREATED = 9;

/** Facts about frame 6 of every treatment of a clip. */
function treat(name: string, input: readonly string[]): Record<Treatment, FrameFacts> {
  const at = (file: string) => `${encodeFolder()}/${name} ${file}`;
  const luma = (file: string) => {
    const pick = ['-vf', 'select=eq(n\\,6),extractplanes=y', '-frames:v', '1', '-f', 'rawvideo'];
    return new Uint8Array(readFileSync(ffmpeg(`${file}.raw`, ['-i', file, ...pick])));
  };
  const scale = `scale=${SIZE.width}:${SIZE.height}:out_range=tv,format=yuv420p`;
  const plain = [...input, '-vf', scale, '-frames:v', String(TREATED), '-c:v', 'ffv1'];
  const source = ffmpeg(at('source.mkv'), plain);
  const reference = luma(source);
  const facts = Object.entries(TREATMENTS).map(([treatment, args]) => {
    const file = ffmpeg(at(`${treatment}.mkv`), ['-i', source, ...args]);
    return [treatment, measureFacts(reference, luma(file), { ...SIZE, bitDepth: 8, chroma: '400' })];
  });
  return Object.fromEntries(facts);
}

const seeking = tier(undefined, sharedPath('clips/Seeking_30_480_1050.mp4'));
const GRADIENT =
  'gradients=s=480x320:c0=0x203040:c1=0xb0a090:n=2:r=25:seed=1:x0=0:y0=0:x1=470:y1=300:speed=0.001';
const ZOOM = 'mandelbrot=s=480x320:r=25:start_scale=0.5:end_pts=100';

describe.runIf(hasFfmpeg).each([
  [`a smooth gradient (${needsFfmpeg})`, 'gradient', ['-f', 'lavfi', '-i', GRADIENT], true, true],
  [`a fractal zoom (${needsFfmpeg})`, 'fractal', ['-f', 'lavfi', '-i', ZOOM], false, true],
  [
    `people in a garden (${needsFfmpeg}, ${needsShared}, in the exhaustive run)`,
    'garden',
    ['-i', seeking ?? ''],
    false,
    seeking !== undefined,
  ],
] as const)('facts about encodes of %s', (_title, name, input, smooth, there) => {
  let facts: Record<Treatment, FrameFacts>;
  beforeAll(() => {
    if (there) facts = treat(name, input);
  }, 120_000);

  const value = (fact: FrameFactName, treatment: Treatment) => facts[treatment][fact].value;
  const ordered = (fact: FrameFactName, treatments: readonly Treatment[]) => {
    const values = treatments.map((treatment) => value(fact, treatment));
    expect(values, `${fact} of ${treatments.join(', ')}`).toEqual([...values].sort((a, b) => a - b));
    expect(new Set(values).size).toBe(values.length);
  };

  it.runIf(there)('blockiness rises with coarser coding', () => {
    // The loop filter hides blocks up to very coarse coding; MPEG-2 has none.
    if (!smooth) ordered('blockiness', ['x264 crf 40', 'x264 crf 48']);
    if (name !== 'fractal') ordered('blockiness', ['blur 2', 'x264 crf 40']);
    expect(value('blockiness', 'mpeg2 q 20')).toBeGreaterThan(value('blockiness', 'blur 2') + 0.04);
  });

  it.runIf(there && !smooth)('blur rises with blurring and coarser coding, not with noise', () => {
    ordered('blur', ['noise 8', 'x264 crf 20', 'blur 0.7', 'blur 2']);
    ordered('blur', ['x264 crf 20', 'x264 crf 40', 'x264 crf 48']);
    expect(facts['blur 2'].blur.level).toBe('strong');
  });

  it.runIf(there)('noise rises with added noise only', () => {
    ordered('noise', ['blur 2', 'noise 8', 'noise 24']);
    expect(facts['noise 24'].noise.level).toBe('strong');
    for (const other of ['x264 crf 40', 'blur 2', 'contrast 0.7', 'mpeg2 q 20'] as const)
      expect(facts[other].noise.level, other).toBe('none');
  });

  it.runIf(there)('banding rises with posterising, not with noise, blur or contrast', () => {
    const [by8, by16] = [value('banding', 'posterised by 8'), value('banding', 'posterised by 16')];
    expect(by16).toBeGreaterThanOrEqual(by8);
    expect(facts['posterised by 16'].banding.level).not.toBe('none');
    for (const other of ['noise 24', 'blur 2', 'contrast 0.7'] as const)
      expect(value('banding', other), other).toBeLessThan(by8);
  });

  it.runIf(there)('contrast loss equals that of the filter', () => {
    expect(value('contrast_loss', 'contrast 0.7')).toBeCloseTo(0.3, 1);
    expect(facts['x264 crf 20'].contrast_loss.level).toBe('none');
    expect(facts['noise 8'].contrast_loss.level).toBe('none');
  });
});
