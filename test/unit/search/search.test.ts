/**
 * @module test/unit/search/search
 * Searches, ladders and comparisons on recorded curves: what they find, what they ask of the machine, and what they refuse.
 */
import { describe, expect, it, vi } from 'vitest';
import { AnyvmafError } from '../../../src/core/errors.js';
import { BY_USER } from '../../../src/core/origin.js';
import { nodeEncoding } from '../../../src/platform/node/encoding/host.js';
import { bdRate } from '../../../src/report/bd-rate.js';
import { buildLadder, compareEncoders } from '../../../src/search/curves.js';
import { formatEncodingResult } from '../../../src/search/result.js';
import { forgetSearches, searchQuality } from '../../../src/search/search.js';
import { convexHull } from '../../../src/search/strategy.js';
import {
  type CompareOptions,
  type LadderOptions,
  type LadderPoint,
  parseTarget,
  type SearchOptions,
  type SearchPoint,
  type SearchStage,
} from '../../../src/search/types.js';
import { type FakeHost, fakeEncoding } from '../../support/encoding-host.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const FAST = { encoder: 'libx264', encoderOptions: { preset: 'ultrafast' } } as const;

const search = (host: FakeHost, options: Partial<SearchOptions> = {}, source = 'film.mkv') =>
  searchQuality(host.platform, source, { ...FAST, ...options });

/** Long enough to be sampled. */
const SAMPLED = { shots: [400, 300, 350, 450].map((frames) => ({ frames })) };

/** Nothing is left of a search. */
function expectClosed(host: FakeHost): void {
  expect({ folders: host.folders, files: host.files() }).toEqual({ folders: 0, files: [] });
}

describe('a search', () => {
  it('finds what a full grid finds within a step, and goes on from its points for another target', async () => {
    const host = fakeEncoding();
    const seen: SearchPoint[] = [];
    const targets = [{ atLeast: 85 }];
    const found = await search(host, { targets, onPoint: (point) => seen.push(point) });
    expect(found).toMatchObject({
      ...{ source: 'film.mkv', encoder: 'libx264', parameter: 'crf', shortfall: null, samples: null },
      cached: 0,
      version: 'ffmpeg 5.1.9, libavcodec 59.37.100, libx264 164 r3095',
      targets: [{ metric: 'vmaf', statistic: 'mean', atLeast: 85 }],
    });
    expect(found.encodes).toBe(seen.length);
    const tried = seen.map(({ value }) => value);
    expect(tried).toEqual(host.encodes.map(({ value }) => value));
    expect(found.points.map(({ value }) => value)).toEqual(tried.toSorted((a, b) => a - b));
    const at = found.points.find(({ value }) => value === found.value) as SearchPoint;
    expect(at.margin).toBeCloseTo(at.quality - 85, 9);
    expect(at.margin).toBeGreaterThanOrEqual(0);
    expect(at.pooled.vmaf?.mean).toBe(found.predicted.value);
    // 24 frames of 25 per second.
    expect(at.kbps).toBeCloseTo((at.bytes * 8 * 25) / 24 / 1000, 9);
    expect(found.predictedBytes).toBe(at.bytes);
    expect(found.command.join(' ')).toBe(
      'ffmpeg -i film.mkv -map 0:V:0 -map 0:a? -map 0:s? -map 0:t? -c:t copy -c:a copy -c:s copy -map_metadata 0 ' +
        `-c:v libx264 -crf ${found.value} -preset ultrafast -pix_fmt yuv420p -fps_mode passthrough encode.mkv`,
    );

    const range = { min: found.value - 2, max: found.value + 2, step: 0.5 };
    const grid = await search(host, { targets, all: true, range });
    expect(Math.abs(grid.value - found.value)).toBeLessThanOrEqual(0.5);
    expect(grid.points.length).toBeGreaterThanOrEqual(9);
    expect(grid.cached).toBeGreaterThan(0);

    const other = await search(host, { targets: [{ statistic: 'min', atLeast: 80 }, { atLeast: 70 }] });
    expect(other.cached).toBeGreaterThanOrEqual(found.encodes);
    expect(other.encodes).toBeLessThan(found.encodes + 2);
    expect(await search(host, { targets })).toMatchObject({ value: grid.value, encodes: 0 });
    // Other arguments, another size of the source's frames or another model make other points.
    const medium = { encoderOptions: { preset: 'medium' } };
    expect(await search(host, { targets, ...medium })).toMatchObject({ cached: 0 });
    expect(await search(host, { targets, models: ['version=vmaf_v0.6.1neg'] })).toMatchObject({ cached: 0 });
    expect(await search(host, { targets, cache: 'elsewhere' })).toMatchObject({ cached: 0 });
    expect(await search(host, { targets, cache: false })).toMatchObject({ cached: 0 });
    expect([...host.stores.keys()]).toEqual(['', 'elsewhere']);
    expectClosed(host);
    expect(await forgetSearches(host.platform, undefined)).toBe(3);
    expect(await search(host, { targets })).toMatchObject({ cached: 0 });
  });

  it('measures again once the file of a model has changed', async () => {
    const host = fakeEncoding();
    const search = async (content: string) => {
      const models = { ...host.platform.models, readFile: async () => content };
      const options = { ...FAST, range: { min: 20, max: 22, step: 1 }, models: ['path=own.json'] };
      return (await searchQuality({ ...host.platform, models, ofOrigin: undefined }, 'film.mkv', options))
        .cached;
    };
    expect(await search('one')).toBe(0);
    expect(await search('one')).toBeGreaterThan(0);
    expect(await search('another')).toBe(0);
  });

  it('prints a command that ffmpeg takes, whatever the names', async () => {
    const host = fakeEncoding();
    const options = { range: { min: 30, max: 30 }, targets: [{ atLeast: 1 }], output: '-x.mkv' };
    const { command } = await search(host, options, 'Alien: Covenant.mkv');
    expect([command[2], command.at(-1)]).toEqual(['./Alien: Covenant.mkv', './-x.mkv']);
  });

  it('reads no line that a kill cut short, and none of another length', async () => {
    const host = fakeEncoding();
    const options = { range: { min: 20, max: 30 } };
    const first = await search(host, options);
    const [[key, lines] = ['', []]] = host.stores.get('') ?? [];
    const short = JSON.parse(lines[0] as string) as { metrics: { vmaf: number[][] } };
    short.metrics.vmaf[0]?.pop();
    host.stores.get('')?.set(key, [JSON.stringify(short), '{"value":1,', '[]', 'null']);
    const again = await search(host, options);
    expect(again).toMatchObject({ value: first.value, encodes: first.encodes, cached: 0 });
  });

  it('finds a step beside a full grid on a curve that is not monotone, and says where it rises', async () => {
    // Worse at 27 and better at 31 than their neighbours.
    const host = fakeEncoding({}, { bend: (quality, value) => quality + ({ 27: -3, 31: 3 }[value] ?? 0) });
    const range = { min: 26, max: 33, step: 1 };
    const grid = await search(host, { range, all: true, cache: false });
    expect(grid.notMonotone).toEqual([28, 31]);
    const at31 = grid.points.find(({ value }) => value === 31)?.quality ?? Number.NaN;
    const found = await search(host, { range, targets: [{ atLeast: at31 - 0.01 }], cache: false });
    expect(found.shortfall).toBeNull();
    expect(Math.abs(found.value - 31)).toBeLessThanOrEqual(1);
    expect(found.encodes).toBeLessThanOrEqual(7);
  });

  it('says how far it fell short, and of what', async () => {
    const host = fakeEncoding();
    const high = await search(host, { targets: [{ atLeast: 101 }], range: { min: 0, max: 10 } });
    expect(high.value).toBe(0);
    expect(high.shortfall).toEqual({ reason: 'target', by: expect.closeTo(101 - 98.2, 1) });
    const small = await search(host, { targets: [{ atLeast: 85 }], maxSize: 0.001 });
    expect(small.shortfall).toEqual({ reason: 'size', share: small.predictedBytes / (24 * 20_000) });
    const options = { targets: [{ atLeast: 10 }], atMost: 20, range: { min: 10, max: 20 } };
    const narrow = await search(host, options);
    expect(narrow.shortfall).toEqual({ reason: 'above', by: narrow.predicted.value - 20 });
  });

  it.each(['cvvdp>=95', 'ssimulacra2>=120', 'butteraugli_3norm<=-9'])(
    'names the best picture if nothing can reach %s',
    async (text) => {
      const range = { min: 0, max: 40 };
      const found = await search(fakeEncoding(), { targets: [parseTarget(text)], range });
      expect(found).toMatchObject({ value: 0, shortfall: { reason: 'target' } });
    },
  );

  it('encodes the whole with sound, scores it, and has encoded nothing where it cannot be written', async () => {
    const host = fakeEncoding();
    const stages: SearchStage[] = [];
    const onStage = (one: SearchStage) => stages.push(one);
    const options = { targets: [{ atLeast: 85 }], output: 'out.mp4', onStage };
    const { final, predicted, value, command } = await search(host, options);
    // Nothing was sampled, so that the prediction is the thing itself.
    expect(final).toMatchObject({ file: 'out.mp4', reached: true });
    expect(final?.pooled.vmaf?.mean).toBe(predicted.value);
    const request = { output: 'out.mp4', whole: true, isSource: true };
    expect(host.encodes.at(-1)).toMatchObject({ value, request });
    expect(command.at(-1)).toBe('out.mp4');
    const common = { encoder: 'libx264', size: null, value, whole: true };
    expect(stages[0]).toEqual({ kind: 'reading' });
    expect(stages.slice(-3)).toEqual([
      { kind: 'encoding', ...common },
      { kind: 'encoding', ...common, frames: 24, total: 24 },
      { kind: 'scoring', ...common },
    ]);
    const before = host.encodes.length;
    await expect(search(host, { output: 'film.mkv' })).rejects.toThrow('is the source');
    expect(host.encodes).toHaveLength(before);
    const missed = { targets: [{ statistic: 'p5', atLeast: 101 } as const], output: 'missed.mp4' };
    expect(await search(host, missed)).toMatchObject({ final: null, unwritten: 'missed.mp4' });
    expect(host.written()).toEqual(['out.mp4']);
    const kept = await search(host, { ...missed, keepMissed: true });
    expect(kept).toMatchObject({ final: { file: 'missed.mp4', reached: false }, unwritten: null });
    // What was aimed at, which is not the mean.
    expect(kept.final?.qualities).toEqual([kept.points[0]?.quality]);
    expect(kept.final?.qualities[0]).toBeLessThan(kept.final?.pooled.vmaf?.mean ?? 0);
    const verified = await search(host, { targets: [{ atLeast: 101 }], verify: true });
    expect(verified.final).toMatchObject({ file: null, reached: false });
  });

  it('leaves no file where the whole misses what samples promised, unless it is asked for', async () => {
    const bend = (quality: number, _: number, { whole }: { whole?: boolean }) => quality - (whole ? 9 : 0);
    const host = fakeEncoding(SAMPLED, { bend });
    const options = { targets: [{ atLeast: 85 }], output: 'out.mkv' };
    const result = await search(host, options);
    expect(result).toMatchObject({ shortfall: null, unwritten: 'out.mkv' });
    expect(result.final).toMatchObject({ file: null, reached: false });
    expect(result.samples).not.toBeNull();
    expect(host.written()).toEqual([]);
    const kept = await search(host, { ...options, keepMissed: true });
    expect(kept).toMatchObject({ final: { file: 'out.mkv', reached: false }, unwritten: null });
    expect(host.written()).toEqual(['out.mkv']);
    // The other bounds hold for the whole too.
    const better = fakeEncoding(SAMPLED, { bend: (quality, _, { whole }) => quality + (whole ? 9 : 0) });
    const bounded = await search(better, { ...options, atMost: 90 });
    expect(bounded).toMatchObject({ shortfall: null, unwritten: 'out.mkv', final: { reached: false } });
    expect(better.written()).toEqual([]);
  });

  type Video = Parameters<typeof fakeEncoding>[0];
  const FEW: Video = { track: { pixelFormat: 'yuv422p', chroma: '422' } };
  const attached = (codec: string): Video => ({ others: [{ kind: 'attachment', codec }] });
  const x265 = (encoderOptions: Record<string, string>) => ({ encoder: 'libx265', encoderOptions });
  const told = x265({ 'x265-params': 'master-display=G(1,1)B(1,1)R(1,1)WP(1,1)L(1,1)' });
  const LOST: Video = { hdr: ['Mastering display metadata'] };
  const WARNED = {
    few: /4:2:2 \(yuv422p\), which few players decode; set the pixel format yuv420p for the others\./,
    fonts: /not copied: attachment \(ttf\); an output that ends in \.mkv keeps attachments\./,
    lost: /loses HDR metadata of the source: Mastering display metadata\. .*master-display/,
  };

  it.each<[string, Video, Partial<SearchOptions>, RegExp, Partial<SearchOptions>?]>([
    ['pictures that few players decode', FEW, {}, WARNED.few, { pixelFormat: 'yuv420p' }],
    ['fields', { track: { fieldOrder: 'top-first' } }, {}, /is interlaced.*bwdif/],
    ['fonts left out', attached('ttf'), { output: 'a.mp4' }, WARNED.fonts, { output: 'a.mkv' }],
    ['a cover left out', attached('mjpeg'), {}, /not copied: attachment \(mjpeg\)\.$/],
    ['lost facts that displays need', LOST, x265({}), WARNED.lost, told],
  ])('warns of %s, until its advice is followed', async (_, video, more, text, mended) => {
    const options = { range: { min: 30, max: 30 }, targets: [{ atLeast: 1 }], ...more };
    const { warnings } = await search(fakeEncoding(video), options);
    expect(warnings).toEqual([expect.stringMatching(text)]);
    if (mended)
      expect(await search(fakeEncoding(video), { ...options, ...mended })).toMatchObject({ warnings: [] });
  });

  it('takes samples of a longer source, frame for frame, and predicts the whole', async () => {
    const host = fakeEncoding(SAMPLED);
    const result = await search(host, { range: { min: 34, max: 34 }, verify: true });
    const { samples, predicted, final } = result;
    expect(samples?.length).toBeGreaterThanOrEqual(24);
    const mean = final?.pooled.vmaf?.mean ?? Number.NaN;
    expect(predicted.interval99[0]).toBeLessThanOrEqual(mean);
    expect(predicted.interval99[1]).toBeGreaterThanOrEqual(mean);
    const [sampled, whole] = host.encodes;
    expect(sampled?.request).toMatchObject({ isSource: false, keys: [], colour: { width: 320 } });
    expect(whole?.request).toMatchObject({ isSource: true, input: 'film.mkv' });
    // Bytes of the sampled frames stand for the whole.
    expect(Math.abs(result.predictedBytes / (final?.bytes ?? 0) - 1)).toBeLessThan(0.3);
    const again = await search(host, { range: { min: 34, max: 34 }, full: true });
    expect(again).toMatchObject({ samples: null, cached: 0, predicted: { value: expect.closeTo(mean, 9) } });
  });

  it('encodes the whole for the highest value of a metric that is worse high', async () => {
    const targets = [{ metric: 'butteraugli', statistic: 'max', atMost: 5 } as const];
    expect(await search(fakeEncoding(SAMPLED), { targets })).toMatchObject({ samples: null });
  });

  it.each(['min', 'worst_second'] as const)('encodes the whole for its %s', async (statistic) => {
    // Samples do not tell of the one second of a long film that is worse than all others.
    const shot = (frames: number, ease = 0) => ({ frames, ease });
    const host = fakeEncoding({ shots: [shot(1000), shot(25, -12), shot(475)] });
    const options = { targets: [{ statistic, atLeast: 60 }], verify: true };
    const { samples, predicted, final, value } = await search(host, options);
    expect({ samples, reached: final?.reached }).toEqual({ samples: null, reached: true });
    const whole = await search(host, { ...options, full: true });
    expect({ value, predicted }).toEqual({ value: whole.value, predicted: whole.predicted });
  });

  const FOUND: readonly (readonly [target: string, kept: string])[] = [
    ['ssimulacra2>=70', 'ssimulacra2'],
    ['butteraugli.norm3.max<=2.5', 'butteraugli_3norm'],
    ['cvvdp>=9.5', 'cvvdp_q'],
    ['cvvdp_q.p95<=30', 'cvvdp_q'],
    ['butteraugli<=3', 'butteraugli'],
    ['xpsnr_min>=38', 'xpsnr_min'],
    ['cvvdp>=9.7', 'cvvdp_q'],
  ];

  it.each(tier(FOUND.slice(0, 4), FOUND))('finds %s where a full grid finds it', async (text, kept) => {
    const target = parseTarget(text);
    const shots = [{ frames: 12 }, { frames: 9 }, { frames: 14 }];
    const host = fakeEncoding({ shots });
    const found = await search(host, { targets: [target], verify: true });
    const grid = await search(fakeEncoding({ shots }), { targets: [target], all: true });
    expect([found.value, found.shortfall]).toEqual([grid.value, null]);
    // With the whole.
    expect(found.encodes).toBeLessThanOrEqual(9);
    expect(Object.keys(found.points[0]?.pooled ?? {})).toContain(kept);
    const at = found.points.find(({ value }) => value === found.value);
    expect(found.final).toMatchObject({ reached: true, qualities: [at?.quality] });
    expect(found.predicted.value).toBe(at?.quality);
    const { atLeast, atMost = atLeast ?? 0 } = target;
    for (const { quality, margin } of grid.points)
      expect(margin).toBeCloseTo(atLeast === undefined ? atMost - quality : quality - atLeast, 9);
  });

  it('pools JOD of samples from the mean square of Q, with an interval in JOD', async () => {
    const host = fakeEncoding(SAMPLED);
    const options = { targets: [parseTarget('cvvdp>=9')], range: { min: 30, max: 30 }, cache: 'kept' };
    const { points, predicted, samples } = await search(host, options);
    const [line = '{}'] = [...(host.stores.get('kept')?.values() ?? [])].flat().slice(-1);
    const values: number[] = JSON.parse(line).metrics.cvvdp_q.flat();
    expect(values.length).toBe(samples?.reduce((sum, { count }) => sum + count, 0));
    // The formula of ColorVideoVDP 0.5.6; its offset of 1e-5 moves nothing that counts here.
    const root = Math.sqrt(values.reduce((sum, q) => sum + q * q, 0) / values.length);
    expect(points[0]?.quality).toBeCloseTo(10 - 0.0439569391310215 * root ** 0.9302042722702026, 3);
    const [low, high] = predicted.interval95;
    expect([low < predicted.value, high > predicted.value, high - low < 0.5]).toEqual([true, true, true]);
  });

  it.each([
    ['cvvdp.p5>=9', /one value for the whole video.*use cvvdp_q/],
    ['cvvdp.min>=9', /has no min; leave the statistic out, or use cvvdp_q/],
    ['sequence_xpsnr_y>=38', /samples cannot estimate/],
  ])('refuses %s, which frames do not tell, before it encodes', async (text, message) => {
    const host = fakeEncoding();
    const targets = [parseTarget(text)];
    expect(await refusalOf('usage', () => search(host, { targets }))).toMatch(message);
    expect(host.encodes).toEqual([]);
  });

  it('advises no option that it does not have, for a source behind a URL', async () => {
    const task = nodeEncoding(BY_USER).source('https://example.com/a.mp4');
    const error = await task.catch((found: AnyvmafError) => found);
    expect(error).toMatchObject({ code: 'usage', message: expect.stringMatching(/is a URL/) });
    expect(JSON.stringify(error) + String(error)).not.toMatch(/allow.?url/i);
  });

  it('goes on where its points cannot be kept, and says so once', async () => {
    const host = fakeEncoding();
    const { points } = host.host;
    const full = (folder?: string) => ({
      ...points(folder),
      add: () => Promise.reject(new AnyvmafError('io', 'The points cannot be kept: the disk is full.')),
    });
    const platform = { ...host.platform, encoding: async () => ({ ...host.host, points: full }) };
    const { ofOrigin: _, ...plain } = platform;
    const found = await searchQuality(plain, 'film.mkv', { ...FAST, targets: [{ atLeast: 85 }] });
    expect(found.encodes).toBeGreaterThan(1);
    expect(found.warnings).toEqual(['The points cannot be kept: the disk is full.']);
  });

  it('stops at once when it is told to, with nothing left', async () => {
    const host = fakeEncoding();
    const stop = new AbortController();
    const onStage = ({ kind }: SearchStage) => kind === 'encoding' && stop.abort();
    const task = search(host, { signal: stop.signal, onStage });
    await expect(task).rejects.toMatchObject({ name: 'AbortError' });
    expect(host.encodes).toEqual([]);
    expectClosed(host);
  });

  it('ends with the best so far when it is asked to finish, and says where the answer lies', async () => {
    const host = fakeEncoding();
    const common = { targets: [{ atLeast: 85 }], cache: false } as const;
    const whole = await search(host, common);
    for (const enough of [1, 2, 3]) {
      const stop = new AbortController();
      let points = 0;
      const onPoint = () => {
        if (++points === enough) stop.abort(new AnyvmafError('resource', 'late'));
      };
      const options = { ...common, onPoint, finish: stop.signal, output: 'x.mkv' };
      const result = await search(host, options);
      expect(result).toMatchObject({ final: null, unwritten: 'x.mkv' });
      expect(result.points).toHaveLength(enough);
      const { unfinished: open } = result;
      expect(open?.min).toBeLessThanOrEqual(whole.value);
      expect(open?.max).toBeGreaterThanOrEqual(whole.value);
      // Its advice: the range to go on with.
      const range = { ...(open ?? { min: 0, max: 51 }), step: 0.5 };
      const on = await search(host, { ...common, range });
      expect(on).toMatchObject({ value: whole.value, unfinished: null });
    }
    expect(host.written()).toEqual([]);
    const early = new AbortController();
    early.abort(new AnyvmafError('resource', 'nothing yet'));
    await expect(search(host, { cache: false, finish: early.signal })).rejects.toThrow('nothing yet');
    expectClosed(host);
  });

  it('refuses an encoder that drops frames, and passes on what it says', async () => {
    const dropping = fakeEncoding({}, { drops: 1 });
    const refusal = await refusalOf('media', () => search(dropping));
    expect(refusal).toMatch(/^libx264 was given 24 frames and returned 23 at crf 24;/);
    const short = fakeEncoding({}, { drops: ({ whole }) => (whole ? 3 : 0) });
    const options = { targets: [{ atLeast: 85 }], output: 'out.mkv' };
    const late = await refusalOf('media', () => search(short, options));
    expect(late).toMatch(/was given 24 frames and returned 21/);
    expect(short.written()).toEqual([]);
    const failing = fakeEncoding({}, { fails: () => new Error('no licence') });
    await expect(search(failing)).rejects.toThrow('no licence');
    expectClosed(failing);
  });

  it('asks for the bit rate of an encoder without a scale, and for full range where the source has it', async () => {
    const host = fakeEncoding({ track: { pixelFormat: 'yuvj420p' } });
    const range = { min: 100_000, max: 4_000_000 };
    const options = { encoder: 'mpeg2video', encoderOptions: {}, targets: [{ atLeast: 80 }], range };
    const found = await search(host, options);
    expect(found).toMatchObject({ parameter: 'bitrate', shortfall: null });
    expect(host.encodes[0]?.request).toMatchObject({ samples: 'full', pixelFormat: 'yuv420p' });
    expect(found.command.join(' ')).toContain(' -vf scale=out_range=full -color_range pc ');
  });

  const vaapi = { encoder: 'h264_vaapi', encoderOptions: {}, range: { min: 100_000, max: 200_000 } };
  const psnrU = { targets: [{ metric: 'psnr_u', atLeast: 30 }] };

  it.each<[Partial<Record<keyof SearchOptions | 'nonesuch', unknown>>, string, RegExp]>([
    [{ encoder: 'libx265x' }, 'usage', /no video encoder "libx265x"/],
    [{ encoderOptions: { f: 'tee' } }, 'usage', /no option "f"/],
    [{ encoderOptions: new Uint8Array() }, 'usage', /must be an object of texts/],
    [{ pixelFormat: 'rgb24' }, 'usage', /does not take the pixel format rgb24/],
    [{ range: { min: 5, max: 90 } }, 'usage', /from 0 to 51/],
    [psnrU, 'feature', /names psnr_u, which no frame has; the measured metrics are int/],
    [vaapi, 'usage', /takes frames only from device memory/],
    [{ output: 'x.txt' }, 'usage', /must end in \.mp4/],
    [{ nonesuch: 1 }, 'usage', /There is no option "nonesuch"/],
  ])('refuses %j', async (options, code, message) => {
    const host = fakeEncoding();
    const task = search(host, { range: { min: 30, max: 30 }, ...(options as Partial<SearchOptions>) });
    await expect(task).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expectClosed(host);
  });

  it('refuses samples that do not fit, a source that is no file, and a platform without encoders', async () => {
    const host = fakeEncoding(SAMPLED);
    await expect(search(host, { scratchBytes: 2000 })).rejects.toMatchObject({ code: 'io' });
    const source = new Uint8Array(3) as unknown as string;
    await expect(search(host, {}, source)).rejects.toThrow('the path of a file, or its URL');
    const { encoding: _, ...platform } = host.platform;
    const task = searchQuality({ ...platform, ofOrigin: () => platform }, 'a.mkv', FAST);
    await expect(task).rejects.toMatchObject({ code: 'backend' });
  });
});

describe('a ladder', () => {
  const sizes = [176, { width: 160, height: 88 }];
  const usual = { ...FAST, sizes, range: { min: 14, max: 38, step: 8 } };
  const ladder = (host: FakeHost, options: Partial<LadderOptions> = {}) =>
    buildLadder(host.platform, 'film.mkv', { ...usual, ...options });

  it('keeps every value of a range with a step, also between the steps of the encoder', async () => {
    const bitrate = { parameter: 'bitrate', range: { min: 1e6, max: 5e6, step: 5e5 } } as const;
    for (const choice of [{ range: { min: 18, max: 21, step: 0.3 } }, bitrate]) {
      const seen: number[] = [];
      const onPoint = ({ value }: LadderPoint) => seen.push(value);
      const more = { sizes: [176], rungs: 2, between: { min: 1, max: 100 }, onPoint };
      const { curves } = await ladder(fakeEncoding(), { ...choice, ...more });
      const kept = curves[0]?.points.map(({ value }) => value) ?? [];
      expect(seen.length).toBeGreaterThanOrEqual(9);
      expect(kept).toEqual(expect.arrayContaining(seen));
    }
  });

  it('measures every size and value once, takes their hull, and rungs that were measured, evenly apart', async () => {
    const host = fakeEncoding();
    const seen: LadderPoint[] = [];
    const onPoint = (point: LadderPoint) => seen.push(point);
    const result = await ladder(host, { rungs: 3, between: { min: 1, max: 100 }, onPoint });
    const { curves, hull, rungs, takeovers, encodes } = result;
    const facts = { metric: 'vmaf', statistic: 'mean', cached: 0, spacing: 'rate', frameRate: 25 };
    expect(result).toMatchObject(facts);
    expect(curves.map(({ width, height }) => `${width}x${height}`)).toEqual(['320x176', '160x88']);
    expect(encodes).toBe(seen.length);
    expect(new Set(seen.map(({ height, value }) => `${height} ${value}`)).size).toBe(encodes);
    expect(host.encodes.some(({ request }) => request.size?.height === 88)).toBe(true);
    expect(host.encodes.some(({ request }) => request.size?.height === 176)).toBe(false);
    const at = (curve: (typeof curves)[number] | undefined, value: number) =>
      curve?.points.find((point) => point.value === value);
    const [large, small] = curves;
    for (const value of [14, 22, 30, 38]) {
      expect(at(small, value)?.kbps).toBeLessThan(at(large, value)?.kbps ?? 0);
      expect(at(small, value)?.quality).toBeLessThan(at(large, value)?.quality ?? 0);
      expect(at(large, value)?.quality).toBe(at(large, value)?.pooled.vmaf?.mean);
    }
    const points = curves.flatMap((curve) => curve.points);
    expect(hull).toEqual(convexHull(points));
    expect(rungs).toHaveLength(3);
    for (const rung of rungs) expect(points).toContainEqual(rung);
    const [low = 0, middle = 0, high = 0] = rungs.map(({ kbps }) => Math.log(kbps));
    // As even as the encoder's steps allow.
    expect((middle - low) / (high - low)).toBeCloseTo(0.5, 1);
    expect(takeovers.at(-1)).toMatchObject({ width: 320, height: 176 });
    expectClosed(host);
  });

  const inQuality = { spacing: 'quality', rungs: 3 } as const;
  let byVmaf: ReturnType<typeof ladder> | undefined;

  it.each(['ssimulacra2', 'cvvdp', 'butteraugli_3norm'])('goes by %s, up or down', async (metric) => {
    const { hull, rungs, takeovers, curves } = await ladder(fakeEncoding(), { metric, ...inQuality });
    const isBetter = (a = 0, b = 0) => (metric.startsWith('butteraugli') ? a < b : a > b);
    for (const points of [hull, rungs])
      points.slice(1).forEach((point, i) => {
        expect(point.kbps).toBeGreaterThan(points[i]?.kbps ?? 0);
        expect(isBetter(point.quality, points[i]?.quality)).toBe(true);
      });
    // The same corners as those of VMAF, which all of these follow here.
    byVmaf ??= ladder(fakeEncoding(), inQuality);
    const same = await byVmaf;
    const best = ({ height, value }: LadderPoint) => ({ height, value });
    expect(hull.at(-1)).toMatchObject(best(same.hull.at(-1) as LadderPoint));
    expect(takeovers.map(({ height }) => height)).toEqual(same.takeovers.map(({ height }) => height));
    expect(curves.flatMap(({ notMonotone }) => notMonotone)).toEqual([]);
    expect(takeovers.every(({ quality }) => quality > 0)).toBe(true);
  });

  it('goes on from what is known, by another statistic, spread in quality, at searched qualities', async () => {
    const host = fakeEncoding();
    await ladder(host);
    const again = await ladder(host, { ...inQuality, statistic: 'min', between: { min: 50, max: 96 } });
    expect(again.encodes).toBeLessThanOrEqual(3);
    expect(again.cached).toBeGreaterThanOrEqual(8);
    expect(again.rungs[0]?.quality).toBe(again.rungs[0]?.pooled.vmaf?.min);
    const [first = 0, second = 0, third = 0] = again.rungs.map(({ quality }) => quality);
    expect(Math.abs(third - second - (second - first))).toBeLessThan(6);
    const { curves } = await ladder(host, { targets: [85], rungs: 1, sizes: [176] });
    const held = curves[0]?.points.filter(({ quality }) => quality >= 85) ?? [];
    expect(held.length).toBeGreaterThan(0);
    const next = curves[0]?.points.find(({ value }) => value > (held.at(-1)?.value ?? 0));
    expect(next?.quality).toBeLessThan(85);
  });

  it('measures what its command delivers: the key frames of segments, and no picture that refers across them', async () => {
    const host = fakeEncoding({ others: [{ kind: 'audio', codec: 'aac' }] });
    const { command } = await ladder(host, { rungs: 2, between: { min: 1, max: 100 } });
    const delivered = command.join(' ');
    const segments = '-g 100 -flags +cgop -force_key_frames expr:gte(t,n_forced*4)';
    for (const { request } of host.encodes) expect(request.args.join(' ')).toContain(segments);
    expect(delivered).toContain(segments);
    expect(delivered).toContain('-map 0:a:0 ');
    expect(delivered).toContain(' -fps_mode passthrough ');
    expect(delivered).toContain('id=0,streams=v id=1,streams=a');
    expect(delivered).not.toContain('hvc1');

    const silent = fakeEncoding();
    const hevc = await ladder(silent, { encoder: 'libx265', encoderOptions: {}, rungs: 1 });
    expect(hevc.command.join(' ')).toContain(' -tag:v hvc1 ');
    expect(hevc.command.join(' ')).toContain('-adaptation_sets id=0,streams=v -hls');
    expect(hevc.command).not.toContain('-c:a');
  });

  it('counts in samples the key frames that segments have', async () => {
    const at = { sizes: [176], range: { min: 30, max: 30, step: 1 }, rungs: 1 };
    // Nothing but key frames costs anything but the same.
    const flat = { shots: SAMPLED.shots.map((shot) => ({ ...shot, cost: 1, ease: 0 })), perSecond: 25 };
    const { curves, samples, rungs, command } = await ladder(fakeEncoding(flat), at);
    expect(rungs).toEqual(curves[0]?.points);
    expect(command.join(' ')).toContain('split=1[s0];');
    const host = fakeEncoding(flat);
    const found = await search(host, { range: { min: 30, max: 30 } });
    const plain = found.points[0]?.kbps ?? Number.NaN;
    expect(samples).toEqual(found.samples);
    const sampled = curves[0]?.points[0]?.kbps ?? Number.NaN;
    expect(sampled).toBeGreaterThan(plain * 1.005);
    expect(sampled).toBeLessThan(plain * 1.15);
  });

  it('has the lowest rung of its curves, and rungs of different sizes with one height', async () => {
    const one = { range: { min: 18, max: 42, step: 4 }, sizes: [176], rungs: 2 };
    for (const perSecond of [24, 25, 30, 50, 60]) {
      const { rungs, hull } = await ladder(fakeEncoding({ perSecond }), one);
      expect(rungs[0]?.kbps).toBe(hull[0]?.kbps);
    }
    const level = [320, 240].map((width) => ({ width, height: 176 }));
    const wide = { between: { min: 1, max: 100 }, rungs: 32 };
    const bend: NonNullable<Parameters<typeof fakeEncoding>[1]>['bend'] = (quality, value, { size }) =>
      quality - (size ? Math.max(0, 0.5 * (34 - value)) : 0);
    const both = await ladder(fakeEncoding({}, { bend }), { ...usual, sizes: level, ...wide });
    const values = both.rungs.map(({ value }) => value);
    expect(new Set(values).size).toBeLessThan(values.length);
  });

  it('offers a usual five rungs between 40 and 96, of the widths that keep the shape', async () => {
    const options = { ...FAST, sizes: [132, 100] };
    const { rungs, curves } = await buildLadder(fakeEncoding().platform, 'film.mkv', options);
    expect(curves.map(({ width, height }) => `${width}x${height}`)).toEqual(['240x132', '182x100']);
    expect(rungs.length).toBeGreaterThanOrEqual(4);
    expect(rungs.length).toBeLessThanOrEqual(5);
    for (const { quality } of rungs) expect(quality).toBeGreaterThan(30);
    expect(curves[0]?.points.length).toBeGreaterThanOrEqual(7);
  });

  it.each<[Partial<Record<keyof LadderOptions | 'atMost', unknown>>, string, RegExp]>([
    [{ sizes: [720] }, 'usage', /size 1310x720, but sizes go from 16 pixels up to the source's 320x176/],
    [{ sizes: [{ width: 81, height: 48 }] }, 'usage', /81x48.*even sides/],
    [{ sizes: [14] }, 'usage', /from 16 pixels/],
    [{ sizes: [] }, 'usage', /at least one size/],
    [{ sizes: ['720'] }, 'usage', /height such as 720/],
    [{ rungs: 0 }, 'usage', /whole number from 1 to 32/],
    [{ rungs: 33 }, 'usage', /whole number from 1 to 32/],
    [{ between: { min: 99.99, max: 100 } }, 'usage', /rungs are requested between 99\.99 and 100/],
    [{ between: { min: 9, max: 1 } }, 'usage', /min that is not above/],
    [{ spacing: 'even' }, 'usage', /spacing.*rate.*quality/],
    [{ metric: 'psnr_u' }, 'feature', /psnr_u, which no frame has/],
    [{ atMost: 4 }, 'usage', /There is no option "atMost"/],
  ])('refuses %j', async (options, code, message) => {
    const task = ladder(fakeEncoding(), { rungs: 1, ...(options as Partial<LadderOptions>) });
    await expect(task).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe('a comparison', () => {
  const compare = (host: FakeHost, options: CompareOptions) =>
    compareEncoders(host.platform, 'film.mkv', options);
  const range = { min: 14, max: 38, step: 8 };
  const fast = { ...FAST, range };
  const medium = { encoder: 'libx264', encoderOptions: { preset: 'medium' }, range };

  it('tells BD-rates, by name, with what a quality costs and how fast each encodes', async () => {
    const host = fakeEncoding();
    const { curves, deltas, encodes } = await compare(host, { encoders: [fast, medium] });
    const [anchor, test] = curves;
    expect(curves.map(({ name }) => name)).toEqual(['libx264 preset=ultrafast', 'libx264 preset=medium']);
    expect(encodes).toBe(8);
    const [delta] = deltas;
    const between = { min: 60, max: 97 };
    expect(delta?.rate).toEqual(bdRate(anchor?.points ?? [], test?.points ?? [], { between }));
    expect(delta?.rate?.value).toBeLessThan(0);
    expect([anchor, test].map((curve) => Math.round(curve?.framesPerSecond ?? 0))).toEqual([400, 90]);
    const a = { ...fast, name: 'a' };
    const asked = await compare(host, { encoders: [a, { ...FAST, name: 'b' }], targets: [60] });
    expect(asked.curves[1]?.atTargets[0]).toMatchObject({ target: 60, reached: true });
    const known = await compare(host, { encoders: [fast, medium] });
    const untimed = { framesPerSecond: null };
    expect(known).toMatchObject({ encodes: 0, curves: [untimed, untimed] });
  });

  it('goes over the qualities that people watch, or those that are asked for', async () => {
    const wide = { range: { min: 14, max: 46, step: 4 } };
    const encoders = [FAST, { encoder: 'libx265' }].map((one) => ({ ...one, ...wide }));
    const host = fakeEncoding();
    const usual = await compare(host, { encoders });
    const [anchor, test] = usual.curves.map(({ points }) => points);
    const between = (min: number, max: number) => bdRate(anchor ?? [], test ?? [], { between: { min, max } });
    expect(usual.deltas[0]?.rate).toEqual(between(60, 97));
    expect(usual.deltas[0]?.rate?.range.from).toBe(60);
    expect(Math.min(...(usual.curves[1]?.points ?? []).map(({ quality }) => quality))).toBeLessThan(55);
    const asked = await compare(host, { encoders, between: { min: 80, max: 90 } });
    expect(asked.deltas[0]?.rate).toEqual(between(80, 90));
    expect(asked.deltas[0]?.rate?.value).not.toBe(usual.deltas[0]?.rate?.value);
    expect(asked.deltas[0]?.quality?.value).not.toBe(usual.deltas[0]?.quality?.value);
    const beyond = await compare(host, { encoders, between: { min: 99.5, max: 99.9 } });
    const refused = expect.stringMatching(/share no range/);
    expect(beyond.deltas[0]).toMatchObject({ rate: null, quality: null, refused });
    expect(beyond.least).toBeUndefined();
    const back = compare(host, { encoders, between: { min: 9, max: 1 } });
    await expect(back).rejects.toThrow('not above the max');
  });

  it('has a BD-rate of encoders that share qualities, but no bit rates', async () => {
    const tight = { step: 1, min: 30, max: 32 };
    const slow = { encoder: 'libx265', range: { step: 1, min: 26, max: 28 } };
    const result = await compare(fakeEncoding(), { encoders: [{ ...FAST, range: tight }, slow] });
    const [rates, others] = result.curves.map(({ points }) => points.map(({ kbps }) => kbps));
    expect(Math.max(...(others ?? []))).toBeLessThan(Math.min(...(rates ?? [])));
    expect(result.deltas[0]).toMatchObject({
      rate: { value: expect.any(Number) },
      quality: null,
      refused: null,
    });
    expect(result.least).toBe(result.curves[1]?.name);
    expect(await formatEncodingResult(result, 'text')).toContain('no common rates');
  });

  it('compares what each takes for the target itself, whatever its steps reach', async () => {
    const encoders = [fast, { encoder: 'libvpx-vp9', encoderOptions: {} }];
    const result = await compare(fakeEncoding(), { encoders, targets: [85] });
    for (const { points, atTargets } of result.curves) {
      const [at] = atTargets;
      const coarser = points.find(({ quality }) => quality < 85)?.kbps ?? 0;
      expect(at?.kbpsAt).toBeLessThanOrEqual(at?.kbps ?? 0);
      expect(at?.kbpsAt).toBeGreaterThan(coarser);
    }
    const rows = (await formatEncodingResult(result, 'text'))
      .split('\n')
      .filter((line) => / 85 .*%$/.test(line));
    const rates = result.curves.map(({ atTargets }) => atTargets[0]?.kbpsAt ?? Number.NaN);
    const shares = rates.map((rate) => `${((rate / Math.min(...rates)) * 100).toFixed(0)} %`);
    expect(rows.map((line) => /\d+ %$/.exec(line)?.[0])).toEqual(shares);
  });

  it('has BD-rates of metrics of which less is better, for a target that is the most', async () => {
    const encoders = [fast, medium];
    const metric = 'butteraugli';
    const measured = await compare(fakeEncoding(), { encoders, metric });
    const [delta] = measured.deltas;
    // Medium needs less, and is less visible: both below 0.
    expect(delta).toMatchObject({ refused: null, rate: { range: { from: expect.any(Number) } } });
    expect(Math.max(delta?.rate?.value ?? 0, delta?.quality?.value ?? 0)).toBeLessThan(0);
    expect(delta?.rate?.range.from).toBeGreaterThan(0);
    expect(delta?.rate?.range.to).toBeGreaterThan(delta?.rate?.range.from ?? 0);
    const plain = await compare(fakeEncoding(), { encoders, between: { min: 0, max: 100 } });
    expect(Math.sign(plain.deltas[0]?.rate?.value ?? 0)).toBe(-1);
    const within = await compare(fakeEncoding(), { encoders, metric, between: { min: 2, max: 4 } });
    expect(within.deltas[0]?.rate?.range).toEqual({ from: 2, to: 4 });
    const { curves } = await compare(fakeEncoding(), { encoders: [FAST], metric, targets: [3] });
    const [at] = curves[0]?.atTargets ?? [];
    expect(at).toMatchObject({ target: 3, reached: true, kbpsAt: expect.any(Number) });
    expect(at?.quality).toBeLessThanOrEqual(3);
  });

  it.each<[string, CompareOptions['encoders'], string]>([
    ['an encoder twice', [FAST, FAST], 'compared twice'],
    ['none', [], '1 to 16 encoders'],
    ['an unknown one', [FAST, { encoder: 'x' }], 'no video encoder "x"'],
  ])('refuses %s before anything is encoded', async (_, encoders, message) => {
    const host = fakeEncoding();
    await expect(compare(host, { encoders })).rejects.toThrow(message);
    expect(host.encodes).toEqual([]);
  });
});

// The last one, because it loads all modules again.
it('points of another version of anyvmaf are not used', async () => {
  const host = fakeEncoding();
  const options = { ...FAST, range: { min: 20, max: 22, step: 1 } };
  await search(host, options);
  expect((await search(host, options)).cached).toBeGreaterThan(0);
  vi.resetModules();
  vi.doMock('../../../src/core/version.js', () => ({ version: '0.0.1' }));
  try {
    const { searchQuality: other } = await import('../../../src/search/search.js');
    expect(await other(host.platform, 'film.mkv', options)).toMatchObject({ cached: 0 });
  } finally {
    vi.doUnmock('../../../src/core/version.js');
    vi.resetModules();
  }
});
