/**
 * @module test/node/mcp/tools/search
 * The tools that search encoder settings: answers, results as resources, progress, limits, and files that they refuse. The fake
 * host has made-up encoder curves; one search runs real encoders.
 */
import { copyFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readEncodingResult, searchQuality } from '../../../../src/index.js';
import { encodingCall } from '../../../../src/mcp/scoring/encoding.js';
import type { Tool } from '../../../../src/mcp/tool.js';
import { runCompareTool, runLadderTool } from '../../../../src/mcp/tools/curves.js';
import { findQualityTool } from '../../../../src/mcp/tools/find-quality.js';
import { runTunePerShotTool } from '../../../../src/mcp/tools/run-tune-per-shot.js';
import { file } from '../../../support/clips.js';
import { encode, encodeFolder, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { type FakeHost, fakeEncoding } from '../../../support/encoding-host.js';
import { privateTmp } from '../../../support/folders.js';
import { call, fakeContext, refused, toolNamed, videoFolder } from '../../../support/mcp-tools.js';

const { leftovers } = privateTmp('anyvmaf-search-');
const context = (signal?: AbortSignal) => fakeContext(videoFolder(), signal);
const fast = { encoder_options: { preset: 'ultrafast' } };

/** The keys of answers that these tests read. */
interface Answer {
  readonly summary: string;
  readonly reasons: readonly string[];
  readonly next_action: { readonly arguments: object };
  readonly command: readonly string[];
  readonly encodes: number;
  readonly value: number;
  readonly points: readonly { readonly value: number; readonly margin: number }[];
  readonly unfinished: { readonly min: number; readonly max: number } | null;
  readonly not_monotone: readonly number[];
  readonly shots: readonly object[];
  readonly uri: string | null;
  readonly rungs: readonly { readonly vmaf: number; readonly height: number }[];
  readonly manifest: string;
  readonly rows: readonly { readonly codec: string; readonly target_vmaf: number }[];
  readonly ties: readonly string[];
  readonly deltas: readonly { readonly interval_95: readonly number[] | null }[];
}

/** Calls a tool that searches settings. */
const answerTo = (tool: Tool, args: Args, given = context()) => call<Answer>(tool, args, given);

/** A host whose encode number `late` exhausts the time of the next call. */
function hostThatIsLate(late = 3): FakeHost {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let encodes = 0;
  const bend = (quality: number) => {
    if (++encodes === late) vi.runAllTimers();
    return quality;
  };
  return fakeEncoding({}, { bend }).install();
}

describe('tools that search settings', () => {
  /** An allowed file; the host decides its content. */
  const source = file(videoFolder(), 'film.mkv', new Uint8Array(16));
  let host: FakeHost;
  beforeEach(() => {
    host = fakeEncoding({ shots: [{ frames: 12 }, { frames: 9 }] }).install();
  });
  afterEach(() => {
    expect(host.folders).toBe(0);
    host[Symbol.dispose]();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  describe('find_quality', () => {
    const ask = () => ({ source, encoder: 'libx264', ...fast, range: { min: 24, max: 34 } });

    it('is as unsure as the least sure of its targets', async () => {
      using long = fakeEncoding({ shots: [400, 300, 350, 450].map((frames) => ({ frames })) }).install();
      const range = { min: 34, max: 34 };
      const options = {
        encoder: 'libx264',
        encoderOptions: { preset: 'ultrafast' },
        range,
        cache: false,
      } as const;
      const targets = [{ atLeast: 1 }, { statistic: 'p5', atLeast: 1 }] as const;
      const { predictions = [] } = await searchQuality(source, { ...options, targets });
      const alone = await searchQuality(source, { ...options, targets: targets.slice(1) });
      expect(predictions[1]).toEqual(alone.predicted);
      const bound = (alone.predicted.value - 0.01).toFixed(3);
      const answer = await answerTo(findQualityTool, { ...ask(), range, targets: ['1', `p5>=${bound}`] });
      expect(answer).toMatchObject({ verdict: 'reached', confidence: 'low' });
      expect(long.encodes.length).toBeGreaterThan(0);
    });

    it('answers with a setting, the points measured, and the command of the encode', async () => {
      const asked = context();
      const answer = await answerTo(findQualityTool, { ...ask(), targets: ['80', 'min>=60'] }, asked);
      const common = { encoder: 'libx264', parameter: 'crf', shortfall: null, sampled_frames: null };
      expect(answer).toMatchObject(common);
      const { points, value, command, encodes } = answer;
      expect(points).toHaveLength(encodes);
      expect(points.find((point) => point.value === value)?.margin).toBeGreaterThanOrEqual(0);
      expect(command.slice(0, 3)).toEqual(['ffmpeg', '-i', source]);
      const { told } = asked;
      expect(told.map(({ message }) => message)).toContain(`encoding at ${points[0]?.value} with libx264`);
      // Frames rise over all stages, and the last event has all.
      expect(told.every(({ done }, i) => i === 0 || done >= (told[i - 1]?.done ?? 0))).toBe(true);
      const ended = told.filter(({ done, total }) => total !== null && done === total);
      expect(ended.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^encoding/));
      expect(told.at(-1)).toMatchObject({ message: 'done', done: told.at(-1)?.total });
      expect(told.at(-1)?.done).toBeGreaterThanOrEqual(21 * encodes);
      expect(asked.ran).toEqual([null]);
    });

    it('answers with the best so far at max_seconds, and the range to resume with', async () => {
      using slow = hostThatIsLate();
      const args = { source, encoder: 'libx264', ...fast, targets: ['85'] };
      const answer = await answerTo(findQualityTool, args);
      expect(slow.encodes).toHaveLength(3);
      expect(answer.points).toHaveLength(2);
      expect(answer.summary).toMatch(
        /^Stopped at max_seconds or max_encodes; the value is between [\d.]+ and [\d.]+: call again with that range/,
      );
      const whole = await answerTo(findQualityTool, args);
      const on = await answerTo(findQualityTool, { ...args, range: answer.unfinished });
      expect([on.value, on.unfinished]).toEqual([whole.value, null]);
    });

    it('answers with the best so far at max_encodes and how to resume, and reports the best while it works', async () => {
      const args = { source, encoder: 'libx264', ...fast, targets: ['85'], max_encodes: 2 };
      const asked = context();
      const answer = await answerTo(findQualityTool, args, asked);
      expect([host.encodes.length, answer.encodes]).toEqual([2, 2]);
      const single = await answerTo(findQualityTool, { ...args, max_encodes: 1 });
      expect([host.encodes.length, single.encodes]).toEqual([3, 1]);
      expect(single.next_action.arguments).toEqual({ range: single.unfinished });
      expect(answer.next_action.arguments).toEqual({ range: answer.unfinished });
      const found = asked.told.map(({ best }) => best);
      expect(found).toContainEqual(expect.stringMatching(/^\d+ with \d+\.\d\d at \d+ kb\/s$/));
      const on = { ...args, max_encodes: 20, range: answer.unfinished };
      expect(await answerTo(findQualityTool, on)).toMatchObject({ unfinished: null });
    });

    it('resumes from measured points, whatever the next range, and suggests more time if no encode fits', async () => {
      const args = { source, encoder: 'libx264', ...fast, targets: ['85'] };
      const asked = context();
      const first = await answerTo(findQualityTool, { ...args, max_encodes: 2 }, asked);
      const before = host.encodes.length;
      const next = { ...args, ...first.next_action.arguments };
      const second = await answerTo(findQualityTool, next, asked);
      for (const { value } of first.points)
        expect(host.encodes.slice(before).map((one) => one.value)).not.toContain(value);
      expect(second.points.length).toBe(first.points.length + second.encodes);
      // Points on both sides of the range are in order, and not part of its curve.
      const values = second.points.map(({ value }) => value);
      expect([values, second.not_monotone]).toEqual([values.toSorted((a, b) => a - b), []]);
      // The verified value is not measured again.
      const verified = await answerTo(findQualityTool, { ...next, verify: true }, asked);
      expect(verified.encodes).toBe(1);
      using _ = hostThatIsLate(2);
      const late = context();
      await call(findQualityTool, { ...args, max_encodes: 1 }, late);
      const stuck = { ...args, targets: ['86'], max_seconds: 40 };
      const { next_action } = await answerTo(findQualityTool, stuck, late);
      expect(next_action.arguments).toMatchObject({ max_seconds: 80 });
    });
  });

  describe('run_tune_per_shot', () => {
    const range = { min: 30, max: 32 };
    const ask = () => ({ src: source, ...fast, range, min_seconds: 0.2, target_vmaf: 10 });

    it('answers with the shots and their settings, and publishes a script', async () => {
      const asked = context();
      const answer = await answerTo(runTunePerShotTool, { ...ask(), format: 'shell' }, asked);
      const facts = { encoder: 'libx264', parameter: 'crf', goal: 'each', reached: true, framerate: 25 };
      expect(answer).toMatchObject(facts);
      const number = expect.any(Number);
      const shot = { crf: number, predicted_vmaf: number, bitrate_kbps: number };
      expect(answer.shots).toMatchObject([
        { first_frame: 0, frames: 12, start_frame: 0, end_frame: 12, ...shot },
        { first_frame: 12, frames: 9, start_frame: 12, end_frame: 21, ...shot },
      ]);
      expect(answer.summary).toContain('2 shots with libx264: every shot reaches vmaf mean of 10');
      const [script] = asked.published;
      expect(script?.name).toBe('encode-shots.sh');
      expect(String(script?.data)).toMatch(/^#!\/bin\/sh\n/);
      expect(answer.uri).toContain('encode-shots.sh');
      expect(asked.told.map(({ message }) => message)).toContain('shot 2 of 2: encoding at 32 with libx264');
      expect(asked.ran).toEqual([null]);
    });

    it('writes the encode to the given path, and never over a file', async () => {
      const output = join(videoFolder(), 'tuned.mkv');
      const answer = await call(runTunePerShotTool, { ...ask(), output }, context());
      expect(answer).toMatchObject({ file: { path: output, reached: true }, output: null });
      const sentence = await refused(runTunePerShotTool, { ...ask(), output: source }, context());
      expect(sentence).toContain('already exists');
    });

    it('leaves nothing behind when it is cancelled', async () => {
      const stop = new AbortController();
      const late = context(stop.signal);
      late.progress = () => stop.abort();
      await expect(call(runTunePerShotTool, ask(), late)).rejects.toThrow();
      expect(host.folders).toBe(0);
    });
  });

  describe('run_compare and run_ladder', () => {
    it('answer with measured rungs, and publish every point and a page', async () => {
      const asked = context();
      const ask = { src: source, encoder: 'libx264', ...fast, resolutions: ['176', '160x88'] };
      const answer = await answerTo(runLadderTool, { ...ask, quality_tiers: 2 }, asked);
      expect(answer.rungs).toHaveLength(2);
      const [number, bandwidth_bps] = [expect.any(Number), expect.any(Number)];
      const rung = { height: number, bitrate_kbps: number, bandwidth_bps, crf: number };
      const documented = answer.rungs.map(({ vmaf, height }) => ({ ...rung, width: number, vmaf, height }));
      expect(answer).toMatchObject({ format: 'json', manifest: { rungs: documented } });
      expect(answer.command.slice(0, 3)).toEqual(['ffmpeg', '-i', source]);
      expect(answer.summary).toMatch(/^2 rungs with libx264 from /);
      expect(asked.published.map(({ name, mimeType }) => [name, mimeType])).toEqual([
        ['ladder.json', 'application/json'],
        ['ladder.html', 'text/html'],
      ]);
      const whole = await readEncodingResult(String(asked.published[0]?.data));
      const found = whole.kind === 'ladder' && whole.rungs.map(({ quality }) => quality);
      expect(found).toEqual(answer.rungs.map(({ vmaf }) => vmaf));
      const listed = asked.told.map(({ message }) => message);
      expect(listed).toContainEqual(expect.stringMatching(/^scoring at [\d.]+ with libx264, 160x88$/));
    });

    it.each([
      [{ target_vmaf: 70 }, { target_vmaf: 70 }, ['libx265', 'libx264'], [70, 70]],
      [
        { target_vmafs: '60, 70' },
        { schema_version: 2, target_vmafs: [60, 70] },
        ['libx264', 'libx264', 'libx265', 'libx265'],
        [60, 70, 60, 70],
      ],
      [{}, { schema_version: 2, target_vmafs: [94, 96, 97, 98] }, undefined, undefined],
    ])('give a row for each encoder and target of %j', async (asked, told, codecs, targets) => {
      const args = { src: source, encoders: 'libx264,libx265', ...asked };
      const answer = await answerTo(runCompareTool, args);
      expect(answer).toMatchObject({ src: source, ...told });
      expect('target_vmaf' in answer).toBe('target_vmaf' in told);
      if (codecs) expect(answer.rows.map(({ codec }) => codec)).toEqual(codecs);
      if (targets) expect(answer.rows.map((row) => row.target_vmaf)).toEqual(targets);
    });

    it('take a single encoder, also by the name of its project', async () => {
      const asked = context();
      const answer = await call(runCompareTool, { src: source, encoders: 'svt-av1', target_vmaf: 80 }, asked);
      expect(answer).toMatchObject({
        summary: expect.stringMatching(/^svt-av1 at \d values\.$/),
        rows: [{ codec: 'svt-av1', adapter: 'libsvtav1', target_vmaf: 80, ok: true, error: '' }],
        deltas: [],
      });
      const whole = await readEncodingResult(String(asked.published[0]?.data));
      expect(whole.kind === 'comparison' && whole.curves).toHaveLength(1);
    });

    it.each([
      ['hls', [/^#EXTM3U\n/, /#EXT-X-STREAM-INF:BANDWIDTH=\d+,.*RESOLUTION=160x88\nmedia_0\.m3u8\n/]],
      ['dash', [/<MPD [\s\S]*<Representation id="0" bandwidth="\d+" width="160" height="88"/]],
    ] as const)('give the rungs as a manifest in %s', async (format, parts) => {
      const ask = { src: source, encoder: 'libx264', resolutions: '176,160x88', quality_tiers: 2 };
      const more = { format, spacing: 'uniform', target_vmafs: '40,60' };
      const answer = await answerTo(runLadderTool, { ...ask, ...more });
      expect(answer).toMatchObject({ format });
      for (const part of parts) expect(answer.manifest).toMatch(part);
    });

    it('name a tie, or tell why that is unknown', async () => {
      const ask = { src: source, target_vmafs: [70, 90] };
      const same = ['libx264', 'libx264:tune=film'];
      const tied = await answerTo(runCompareTool, { ...ask, encoders: same });
      expect(tied).toMatchObject({ verdict: 'tied', ties: ['libx264:tune=film'] });
      const message = 'The difference between libx264:tune=film and libx264 is within measurement error.';
      expect(tied.summary).toContain(message);
      const far = await answerTo(runCompareTool, { ...ask, encoders: ['libx264', 'libx265'] });
      expect(far).toMatchObject({ verdict: 'decided', ties: [] });
      const [low = 0, high = 0] = far.deltas[0]?.interval_95 ?? [];
      expect(0 < low && low < high).toBe(true);
      using _ = fakeEncoding({ shots: [{ frames: 3 }] }).install();
      const short = await answerTo(runCompareTool, { ...ask, encoders: same });
      expect(short.reasons).toContain('no-interval');
      expect(short.summary).toContain(
        'No confidence interval: too few parts of the video share a range of quality; at least four are needed.',
      );
      using _still = fakeEncoding({ shots: [{ frames: 24 }] }, { bend: () => 97 }).install();
      const unknown = await answerTo(runCompareTool, { ...ask, encoders: ['libx264', 'libx265'] });
      expect(unknown).toMatchObject({ verdict: 'fine', confidence: 'low' });
      expect(unknown.reasons).toContain('no-common-range');
      expect(unknown.reasons).not.toContain('least-rate');
    });
  });

  describe('raw YUV', () => {
    const size = { width: 320, height: 176 };
    const raw = file(videoFolder(), 'raw $$ film.yuv', new Uint8Array(320 * 176 * 3));

    it('is read as Y4M of the given size and rate, and stays raw in the answer', async () => {
      const asked = context();
      const args = { src: raw, ...size, pix_fmt: 'yuv420p', framerate: 29.97, resolutions: '176' };
      const answer = await answerTo(runLadderTool, args, asked);
      const { input } = host.encodes[0]?.request ?? {};
      expect(String(input)).toMatch(/raw \$\$ film\.y4m$/);
      expect(answer.command.slice(0, 11)).toEqual([
        ...['ffmpeg', '-f', 'rawvideo', '-pixel_format', 'yuv420p', '-video_size', '320x176'],
        ...['-framerate', '30000/1001', '-i', raw],
      ]);
      expect(JSON.parse(String(asked.published[0]?.data))).toMatchObject({ source: 'raw $$ film.yuv' });
    });

    it('is named in the script of a tuned encode', async () => {
      const asked = context();
      await call(runTunePerShotTool, { src: raw, ...size, ...fast, target_vmaf: 10, format: 'shell' }, asked);
      const script = String(asked.published[0]?.data);
      expect(script).toContain(`source='${raw}'`);
      const message = /-f rawvideo -pixel_format yuv420p -video_size 320x176 -framerate 25\/1 -i "\$source"/;
      expect(script).toMatch(message);
      expect(script).not.toContain('.y4m');
      const odd = file(videoFolder(), 'a$$.yuv', new Uint8Array(320 * 176 * 3));
      const other = context();
      await call(runTunePerShotTool, { src: odd, ...size, ...fast, target_vmaf: 10, format: 'shell' }, other);
      expect(String(other.published[0]?.data)).toContain(`source='${odd}'`);
    });

    it('leaves no copy behind', () => expect(leftovers()).toEqual([]));

    it.each<[string, object, string]>([
      ['without a size', {}, 'pass width and height'],
      ['of another size', { width: 64, height: 50 }, 'not a whole number of frames'],
      ['of packed samples', { ...size, pix_fmt: 'yuyv422' }, 'yuv422p10le'],
    ])('%s is refused', async (_, more, sentence) => {
      const args = { src: raw, encoders: 'libx264', ...more };
      expect(await refused(runCompareTool, args, context())).toContain(sentence);
    });

    it('whose copy would exceed max_temp_gb is refused before it is made', async () => {
      const large = file(videoFolder(), 'large.yuv', new Uint8Array(1));
      truncateSync(large, 320 * 176 * 1.5 * 2000);
      const ask = { src: large, ...size, encoders: 'libx264', max_temp_gb: 0.1 };
      expect(await refused(runCompareTool, ask, context())).toContain('but max_temp_gb is 0.1');
    });

    it('alone uses the given size: other sources have their own, and the answer notes that', async () => {
      const mkv = file(videoFolder(), 'own.mkv', Buffer.from('\x1aE\xdf\xa3 and more', 'latin1'));
      const args = { src: mkv, ...size, framerate: 24, encoders: 'libx264', target_vmaf: 80 };
      const notes = ['width', 'height', 'framerate'].map(
        (name) => `${name} applies to raw YUV only and is ignored; own.mkv declares its own.`,
      );
      expect(await call(runCompareTool, args, context())).toMatchObject({ notes });
    });
  });

  describe('refuse in a sentence', () => {
    const find = (more: object) => ({ source, encoder: 'libx264', ...fast, ...more });
    const tune = (more: object) => ({ src: source, ...fast, min_seconds: 0.2, ...more });
    const compare = (...encoders: string[]) => ({ src: source, encoders });
    const rungs = (size: string) => ({ src: source, resolutions: [size] });

    it.each<[tool: string, what: string, () => Args, sentence: string]>([
      ['find_quality', 'an encoder', () => find({ encoder: 'x26' }), 'libx264'],
      ['find_quality', 'a target', () => find({ targets: ['good'] }), 'vmaf.p5>=80'],
      ['find_quality', 'an option', () => find({ encoder_options: { f: 'tee' } }), 'no option "f"'],
      ['run_tune_per_shot', 'an encoder', () => tune({ encoder: 'x26' }), 'libx264'],
      ['run_tune_per_shot', 'an option', () => tune({ encoder_options: { f: 'tee' } }), 'no option "f"'],
      [
        'run_tune_per_shot',
        'lengths',
        () => tune({ min_seconds: 4, max_seconds_per_shot: 5 }),
        'least twice',
      ],
      ['run_compare', 'an encoder', () => compare('libx264', 'x'), '"x"'],
      ['run_compare', 'an option', () => compare('libx264', 'a:b'), 'libx264:preset=slow'],
      ['run_ladder', 'a size above', () => rungs('4320'), '320x176'],
      ['run_ladder', 'a size', () => rungs('HD'), 'such as 1280x720'],
    ])('%s: %s', async (name, _, args, sentence) => {
      expect(await refused(toolNamed(name), args(), context())).toContain(sentence);
    });

    it.each<[tool: string, () => Args]>([
      ['find_quality', () => find({ targets: ['good'] })],
      ['run_ladder', () => rungs('HD')],
      ['find_alignment', () => ({ reference: source, distorted: source, width: 64 })],
    ])('%s: an invalid argument, before waiting in the queue', async (name, args) => {
      const asked = context();
      expect(await refused(toolNamed(name), args(), asked)).toMatch(/must be|such as|lacks/);
      expect(asked.ran).toEqual([]);
    });

    it.each<[tool: string, () => Args]>([
      ['find_quality', () => find({})],
      ['run_tune_per_shot', () => tune({})],
      ['run_compare', () => compare('libx264', 'libx265')],
      ['run_ladder', () => rungs('176')],
    ])('%s: what takes longer than max_seconds', async (name, args) => {
      using _ = hostThatIsLate(1);
      const timer = vi.spyOn(globalThis, 'setTimeout');
      // Repeating the call would not help.
      const said = await refused(toolNamed(name), { ...args(), max_seconds: 7 }, context());
      expect(said).toBe('no encode was measured within max_seconds, 7; raise it, or use a faster preset.');
      expect(timer).toHaveBeenCalledWith(expect.any(Function), 7000);
    });

    it('what takes longer, also if garbage is collected meanwhile', async () => {
      setFlagsFromString('--expose-gc');
      const collect: () => void = runInNewContext('gc');
      const limits = { max_seconds: 1, max_temp_gb: 1, dry_run: false };
      const work = async ({ finish }: { readonly finish?: AbortSignal }) => {
        const until = performance.now() + 10_000;
        while (!finish?.aborted && performance.now() < until) {
          collect();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return { isTold: finish?.aborted };
      };
      const task = { source, limits, finishes: true, most: () => 1, work };
      expect(await encodingCall(task, context())).toEqual({ isTold: true });
    });

    it.each<[tool: Tool, args: () => Args, most: number]>([
      [findQualityTool, () => ({ source, encoder: 'libx264', verify: true }), 9],
      [findQualityTool, () => ({ source, encoder: 'libx264', max_encodes: 3 }), 3],
      [runCompareTool, () => ({ src: source, encoders: ['libx264', 'libx265'], target_vmafs: [90, 95] }), 32],
      [runLadderTool, () => ({ src: source, resolutions: ['36p', '18p'], quality_tiers: 2 }), 18],
      [runTunePerShotTool, () => ({ src: source, min_seconds: 0.2 }), 32],
    ])('$name: a dry run encodes nothing and tells how many encodes to expect', async (tool, args, most) => {
      const outcome = await tool.call({ ...args(), dry_run: true }, context());
      if (!('fits' in outcome)) throw new Error('not a dry run');
      expect(outcome.fits.parse(outcome.document)).toEqual(outcome.document);
      expect(outcome.document).toMatchObject({
        ...{ dry_run: true, encodes_at_most: most },
        next_action: { arguments: { dry_run: false } },
      });
      expect(host.encodes).toEqual([]);
      expect(leftovers()).toEqual([]);
    });

    it('what takes more than max_encodes, and resume from measured points', async () => {
      const args = { src: source, resolutions: ['36p'], ...fast };
      const asked = context();
      expect(await refused(runLadderTool, { ...args, max_encodes: 3 }, asked)).toMatch(
        /^stopped at max_encodes, 3; call again with the same arguments to resume: measured encodes are kept/,
      );
      const { encodes } = await answerTo(runLadderTool, args, asked);
      const whole = await answerTo(runLadderTool, args);
      expect(encodes).toBe(whole.encodes - 3);
    });
  });
});

describe.skipIf(!hasFfmpeg)(`tools that search settings with real encoders (${needsFfmpeg})`, () => {
  const context = () => fakeContext(encodeFolder());
  let source = '';
  beforeAll(() => {
    source = encode({ codec: 'ffv1', size: '96x64', frames: 4, source: 'mandelbrot' });
  });

  it('encode and score the whole video within the allowed folders, and leave nothing behind', async () => {
    const range = { min: 34, max: 34 };
    const args = { source, encoder: 'libx264', ...fast, range, targets: ['1'], verify: true };
    const answer = await call(findQualityTool, args, context());
    expect(answer).toMatchObject({ value: 34, final: { reached: true } });
    expect(leftovers()).toEqual([]);
  });

  it.each([
    ['find_quality', 'source', { encoder: 'libx264', ...fast }],
    ['run_tune_per_shot', 'src', fast],
  ])('open no playlist, whatever its name: %s', async (name, parameter, more) => {
    const inner = join(encodeFolder(), 'inner-film.mkv');
    copyFileSync(source, inner);
    const list = join(encodeFolder(), 'list-film.mp4');
    writeFileSync(list, `ffconcat version 1.0\nfile '${inner}'\n`);
    const sentence = await refused(toolNamed(name), { [parameter]: list, ...more }, context());
    expect(sentence).toMatch(/playlist|other files/);
    expect(leftovers()).toEqual([]);
  });
});

type Args = Readonly<Record<string, unknown>>;
