/**
 * @module test/node/mcp/tools/encoded
 * The tools for videos of any kind: scoring, comparing, inspecting and aligning.
 */
import { copyFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fitting, MOST_TOKENS, tokensOf } from '../../../../src/mcp/results.js';
import type { Tool } from '../../../../src/mcp/tool.js';
import { type Comparison, compareEncodesTool, rank } from '../../../../src/mcp/tools/compare-encodes.js';
import { explainScoreTool } from '../../../../src/mcp/tools/explain-score.js';
import { findAlignmentTool, inspectPairTool } from '../../../../src/mcp/tools/inspect-pair.js';
import { scoreBatchTool } from '../../../../src/mcp/tools/score-batch.js';
import { type ScoreDocument, vmafScore, vmafScoreEncoded } from '../../../../src/mcp/tools/vmaf-score.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { type FixtureClip, readFixture } from '../../../support/fixtures.js';
import { call, fakeContext, refused, videoFolder, writePair } from '../../../support/mcp-tools.js';

interface Batch {
  readonly summary: string;
  readonly failed: number;
  readonly pairs: readonly Readonly<Record<'distorted' | 'mean' | 'error' | 'target', unknown>>[];
}
interface Inspection {
  readonly findings: readonly { readonly code: string; readonly fix?: string }[];
}
type Args = Readonly<Record<string, unknown>>;

/** The folder of generated videos and encodes. */
const context = () => fakeContext(tmpdir());
const refuse = (tool: Tool, args: Args) => refused(tool, args, context());
const ask = <Document = Record<string, unknown>>(tool: Tool, args: Args, given = context()) =>
  call<Document>(tool, args, given);
const compare = (args: Args, given = context()) => call<Comparison>(compareEncodesTool, args, given);

/** Scores that several tests share. */
const scores = new Map<string, Promise<ScoreDocument>>();

function score(reference_encoded: string, distorted_encoded: string, more: Args = {}) {
  const args = { reference_encoded, distorted_encoded, ...more };
  const key = JSON.stringify(args);
  const made = scores.get(key) ?? call(vmafScoreEncoded, args, context());
  scores.set(key, made);
  return made;
}

const [first] = readFixture('models');
const run = first?.runs.find(({ models = [] }) => models.length === 4);
if (!first || !run) throw new Error('no such fixture');
const { clip } = first;
/** libvmaf's score of each frame. */
const libvmaf = (run.metrics.raw ?? []).map((value) => value ?? Number.NaN);
const libvmafMean = libvmaf.reduce((sum, value) => sum + value, 0) / libvmaf.length;
const UNCLIPPED = { model: 'version=vmaf_v0.6.1:disable_clip:name=raw', precision: 'max' };

describe('score_batch', () => {
  const { ref, dis } = writePair(clip, 'y4m');

  it('answers a row per pair in order, with the numbers of vmaf_score, and publishes the table', async () => {
    const used = context();
    const missing = join(videoFolder(), 'missing.y4m');
    const references = [ref, ref, '/etc/passwd', ref, 'https://example.com/a.mp4?sig=SECRET'];
    const distorted = [dis, missing, dis, ref, dis];
    const answer = await ask<Batch>(scoreBatchTool, { references, distorted, precision: 'max' }, used);
    const single = await score(ref, dis, { precision: 'max' });
    const rows = answer.pairs;
    expect(rows.map((row) => row.distorted)).toEqual(distorted);
    expect(rows[0]).toMatchObject({ mean: single.pooled_metrics?.vmaf?.mean });
    expect(rows[1]?.error).toContain('missing.y4m');
    expect(rows[2]?.error).toContain('not allowed');
    expect(rows[3]?.error).toBeUndefined();
    expect(rows[4]?.error).toMatch(/not allowed|does not exist/);
    expect(answer.failed).toBe(3);
    expect(used.published).toMatchObject([{ name: 'batch.csv', mimeType: 'text/csv' }]);
    expect(String(used.published[0]?.data).trimEnd().split('\n')).toHaveLength(6);
    expect(used.told.at(-1)).toMatchObject({ total: 1000, isSteps: true });
    const steps = used.told.map(({ done }) => done);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it('fails if no pair can be scored, can be cancelled, and takes up to 64 pairs', async () => {
    const missing = join(videoFolder(), 'none.y4m');
    const references = [ref];
    expect(await refuse(scoreBatchTool, { references, distorted: [missing, missing] })).toContain('none.y4m');
    const uneven = { references: [ref, ref], distorted: [dis, dis, dis] };
    expect(await refuse(scoreBatchTool, uneven)).toContain('one reference for all, or one for each');
    const cancelled = fakeContext(videoFolder(), AbortSignal.abort(new Error('cancelled')));
    await expect(call(scoreBatchTool, { references, distorted: [dis] }, cancelled)).rejects.toThrow();
    const taken = (count: number) =>
      scoreBatchTool.inputSchema.safeParse({ references, distorted: Array(count).fill(dis) }).success;
    expect([0, 64, 65].map(taken)).toEqual([false, true, false]);
  });
});

describe('vmaf_score_encoded', () => {
  it("gives libvmaf's score of Y4M files, and the paths as given", async () => {
    const { ref, dis } = writePair(clip, 'y4m');
    const answer = await score(ref, dis, UNCLIPPED);
    expect(answer).toMatchObject({ reference_encoded: ref, distorted_encoded: dis, backend_used: 'cpu' });
    expect(answer.pooled_metrics?.raw?.mean).toBe(libvmafMean);
  });

  it('refuses stored videos of different sizes unless scaling is requested', async () => {
    const other: FixtureClip = { ...clip, width: 128, height: 72 };
    const [{ ref }, { dis }] = [writePair(clip, 'y4m'), writePair(other, 'y4m')];
    const refusal = await refuse(vmafScoreEncoded, { reference_encoded: ref, distorted_encoded: dis });
    expect(refusal).toMatch(/160x90.*128x72|128x72.*160x90/);
    for (const [filter, pairing] of [
      [{ scale: 'bicubic' }, { width: 160, height: 90, scale: 'bicubic' }],
      [{ scale_to: '96x54' }, { width: 96, height: 54 }],
    ] as const)
      expect(await score(ref, dis, filter)).toMatchObject({ pairing });
  });

  it.each([
    [{ scale_to: 'dis', offset: 'auto', range: { unit: 'seconds', start: 1, end: 2.5 } }, true],
    [{ offset: -3, frame_rate_policy: 'strict', decoder: 'ffmpeg', allow_damaged: true }, true],
    [{ scale_to: '0x10' }, false],
    [{ offset: 0.5 }, false],
    [{ range: { start: -1 } }, false],
    [{ range: { from: 1 } }, false],
    [{ decoder: 'none' }, false],
    [{ scale: 'nearest' }, false],
  ])('of the pairing parameters %j: taken is %s', (args, taken) => {
    const whole = { reference_encoded: 'a', distorted_encoded: 'b', ...args };
    expect(vmafScoreEncoded.inputSchema.safeParse(whole).success).toBe(taken);
  });

  it('answers with an outline that fits its schema if every frame of a long video would be too much', async () => {
    const size = { width: 32, height: 32, bitDepth: 8, chroma: '420' } as const;
    const { ref, dis } = writePair({ content: 'T', ...size, frames: 600 }, 'y4m');
    const used = context();
    const args = { reference_encoded: ref, distorted_encoded: dis, detail: 'frames', preflight: false };
    const outcome = await vmafScoreEncoded.call(args, used);
    const { document } = await fitting('vmaf_score_encoded', outcome, used.resources);
    expect(document).toMatchObject({ frame_count: 600, full_result: { uri: expect.any(String) } });
    const text = JSON.stringify(document);
    expect(vmafScoreEncoded.outputSchema.safeParse(JSON.parse(text)).success).toBe(true);
    expect(tokensOf(text)).toBeLessThanOrEqual(MOST_TOKENS);
  });
});

describe.skipIf(!hasFfmpeg)(`encoded files (${needsFfmpeg})`, () => {
  const h264 = (crf: number, size = '192x108') =>
    encode({ codec: 'h264', frames: 12, size, extra: ['-crf', String(crf)] });
  /** The decoded video as Y4M: reading it starts no decoder. */
  const stored = (path: string) => ffmpeg(path.replace(/\.\w+$/, '.y4m'), ['-i', path, '-strict', '-1']);
  const master = () => encode({ codec: 'ffv1', frames: 12, size: '192x108' });
  const reference = () => stored(master());
  const rough = () => stored(h264(45));
  const fine = () => stored(h264(20));
  const small = () => h264(30, '96x54');

  it('are scaled to the reference, which preflight reports', async () => {
    const answer = await score(reference(), small(), { precision: 'max' });
    expect(answer).toMatchObject({
      pairing: { width: 192, height: 108, distorted: { width: 96, height: 54 } },
    });
    expect(answer.preflight).toContainEqual(expect.objectContaining({ code: 'size' }));
    const pair = { reference_encoded: reference(), distorted_encoded: small() };
    const strict = await refuse(vmafScoreEncoded, { ...pair, strict: true });
    expect(strict).toContain('96x54');
    expect(strict).toContain('To accept, pass scale: "bicubic".');
    const unchecked = await refuse(vmafScoreEncoded, { ...pair, strict: true, preflight: false });
    expect(unchecked).toMatch(/strict is true, but preflight is false/);
    const unscaled = await refuse(vmafScoreEncoded, { ...pair, preflight: false, scale: 'none' });
    expect(unscaled).toMatch(/scaling is off\. Pass scale: "bicubic"\.$/);
    expect(strict + unscaled).not.toMatch(/(^|\s)--\w/);
  });

  it('are refused by vmaf_score, which names the right tool', async () => {
    const args = { ref: master(), dis: h264(45), width: 192, height: 108, pixfmt: '420', bitdepth: 8 };
    expect(await refuse(vmafScore, args)).toContain('vmaf_score_encoded');
  });

  it('are ranked by compare_encodes, with their sizes', async () => {
    const one = context();
    const distorted = [rough(), fine(), small()];
    const answer = await compare({ reference: reference(), distorted, precision: 'max' }, one);
    expect(answer.encodes.map(({ rank: place }) => place)).toEqual([1, 2, 3]);
    expect(answer.encodes[0]?.distorted).toBe(fine());
    for (const row of answer.encodes) {
      expect(row.size_bytes).toBe(statSync(row.distorted).size);
      expect(row.frames).toBe(12);
      expect(row).not.toHaveProperty('target');
      const alone = await score(reference(), row.distorted, { precision: 'max' });
      expect(row.mean).toBe(alone.pooled_metrics?.vmaf?.mean);
      expect(row.p1).toBe(alone.distribution?.vmaf?.percentiles.p1);
    }
    expect(one.ran).toEqual([null]);
    expect(one.told.at(-1)).toMatchObject({ done: 36, total: 36 });
  });

  it('are filtered by every tool that compares them, as preflight advises', async () => {
    const box = ['-i', rough(), '-vf', 'pad=192:140:0:16', '-c:v', 'ffv1'];
    const boxed = ffmpeg(join(encodeFolder(), 'boxed.mkv'), box);
    const pair = { reference: reference(), distorted: boxed };
    const { findings } = await ask<Inspection>(inspectPairTool, pair);
    const advice = findings.find(({ fix }) => fix?.includes('crop_distorted'))?.fix ?? '{}';
    const { filters } = JSON.parse(advice);
    expect(filters).toEqual({ crop_distorted: '192:108:0:16' });
    for (const [wrong, said] of [
      [{ vf_distorted: 'movie=a.mkv' }, /^vf_distorted names the filter "movie"/],
      [{ crop_reference: '999:999' }, /^crop_reference is "999:999", which goes beyond/],
    ] as const)
      expect(await refuse(inspectPairTool, { ...pair, filters: wrong })).toMatch(said);
    const inspected = await ask<Inspection>(inspectPairTool, { ...pair, filters });
    expect(inspected.findings.map(({ code }) => code)).not.toContain('borders');
    const mean = (await score(reference(), rough())).pooled_metrics?.vmaf?.mean;
    expect(mean).toEqual(expect.any(Number));
    const compared = await compare({ ...pair, distorted: [boxed], filters });
    expect(compared.encodes[0]?.mean).toBe(mean);
    const batch = { references: [reference()], distorted: [boxed], filters };
    expect((await ask<Batch>(scoreBatchTool, batch)).pairs[0]?.mean).toBe(mean);
    const { explanation } = await ask(explainScoreTool, { ...pair, filters });
    const plain = await ask(explainScoreTool, { ...pair, distorted: rough() });
    expect(explanation).toEqual(plain.explanation);
  });

  it('are compared without those that cannot be scored, which the answer names', async () => {
    const broken = join(encodeFolder(), 'broken.mp4');
    writeFileSync(broken, 'not a video');
    const missing = join(encodeFolder(), 'missing.mp4');
    // The frame counts of encoded videos are known in advance.
    const [good, bad] = [h264(20), h264(45)];
    const one = context();
    const args = { reference: master(), distorted: [missing, good, broken, bad] };
    const answer = await compare(args, one);
    expect(answer.encodes.map(({ distorted }) => distorted)).toEqual([good, bad]);
    expect(answer.errors).toEqual([
      { distorted: missing, error: expect.stringContaining('missing.mp4') },
      { distorted: broken, error: expect.stringContaining('broken.mp4 is not a video') },
    ]);
    expect(answer.summary).toContain(`${missing}, ${broken} could not be scored`);
    expect(one.told.at(-1)).toMatchObject({ done: 24, total: 24 });
    const absent = join(encodeFolder(), 'absent.mp4');
    const sentence = await refuse(compareEncodesTool, { ...args, distorted: [missing, absent] });
    expect(sentence).toMatch(/None of the 2 encodes .*missing.mp4.*absent.mp4/);
    const all = { reference: broken, distorted: [fine(), rough()] };
    expect(await refuse(compareEncodesTool, all)).toMatch(/^[^:]*broken.mp4 is not a video/);
  });

  it('are inspected without being scored', async () => {
    const answer = await ask(inspectPairTool, { reference: master(), distorted: small() });
    const size_bytes = statSync(small()).size;
    expect(answer).toMatchObject({
      reference: { width: 192, height: 108, codec: 'ffv1' },
      distorted: { width: 96, height: 54, codec: 'h264', frame_count: 12, size_bytes },
      alignment: { offset: 0 },
    });
    const advice = { code: 'size', fix: 'to accept, pass {"scale":"bicubic"}' };
    expect(answer.findings).toContainEqual(expect.objectContaining(advice));
  });

  it('are aligned, even if frames are missing at the start', async () => {
    const film = stored(encode({ codec: 'ffv1', frames: 60, size: '192x108', source: 'mandelbrot' }));
    const trim = ['-i', film, '-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS'];
    const cut = ffmpeg(film.replace('.y4m', '.cut.y4m'), trim);
    const answer = await ask(findAlignmentTool, { reference: film, distorted: cut, window: 20 });
    expect(answer).toMatchObject({ offset: 7, ambiguous: false, reason: 'clear' });
  });

  describe('that are out of step', () => {
    const ref = () => encode({ codec: 'h264', size: '192x128', frames: 40, extra: ['-crf', '4'] });
    const late = () => {
      const trim = ['-i', ref(), '-vf', 'trim=start_frame=7,setpts=PTS-STARTPTS', '-crf', '4'];
      return ffmpeg(join(encodeFolder(), 'moments.mp4'), trim);
    };

    it('are reported first in the summary of a score, and as data', async () => {
      const answer = await score(ref(), late());
      expect(answer.trust).toMatchObject({ verdict: 'untrusted', codes: ['offset'] });
      expect(answer.summary).toMatch(/^Do not trust this score \(offset\): The pictures do not match/);
      // inspect_pair agrees.
      const before = await ask(inspectPairTool, { reference: ref(), distorted: late() });
      expect(before).toMatchObject({ comparable: false, trust: { verdict: 'untrusted', codes: ['offset'] } });
      const message = /^A score of this pair cannot be trusted: \[offset\] .* Fix: \{"offset":7\}\.$/;
      expect(before.summary).toMatch(message);
      const aligned = await score(ref(), late(), { offset: 7 });
      expect(aligned.trust?.verdict).not.toBe('untrusted');
      // Seconds count from the start of the reference.
      const [worst] = aligned.worst_frames?.frames ?? [];
      expect(worst?.seconds).toBeCloseTo(((worst?.frame ?? 0) + 7) / 25, 3);
    });

    it('are named in a comparison, and ranked after encodes with a trusted score', async () => {
      const both = { reference: ref(), distorted: [late(), ref()] };
      const answer = await compare(both);
      expect(answer.encodes.map(({ trust }) => trust.verdict === 'untrusted')).toEqual([false, true]);
      expect(answer.summary).toContain(`Do not trust the score of ${late()} (offset): `);
      // Its score could change the decision.
      const doubt = {
        ...{ confidence: 'medium', reasons: expect.arrayContaining(['others-untrusted']) },
        next_action: { tool: 'vmaf_score_encoded', arguments: { distorted_encoded: late(), offset: 7 } },
      };
      expect(answer).toMatchObject({ ...doubt, verdict: 'decided' });
      const open = await compare({ ...both, target: '101' });
      expect(open).toMatchObject({ ...doubt, verdict: 'unfinished' });
      expect(open.summary).toMatch(/^No scored encode is certain to reach the target; the best is /);
      const batch = { references: [ref()], distorted: [ref(), late()], target: '101' };
      const table = await ask<Batch>(scoreBatchTool, batch);
      expect(table).toMatchObject({ next_action: doubt.next_action });
      expect(table.summary).toMatch(/^None is certain to reach the target\./);
    });
  });
});

it('raw video needs its whole geometry in the tools that take every kind', async () => {
  const { ref, dis } = writePair(clip, 'yuv');
  const part = { reference: ref, distorted: dis, width: 160, height: 90 };
  expect(await refuse(inspectPairTool, part)).toMatch(/lacks pixfmt, bitdepth/);
  const whole = { ...part, pixfmt: '420', bitdepth: 8 };
  expect(await ask(inspectPairTool, whole)).toMatchObject({
    comparable: true,
    reference: { width: 160, height: 90, container: 'yuv', frame_count: 3 },
  });
  const alignment = { reason: 'short', candidates: expect.anything() };
  expect(await ask(findAlignmentTool, whole)).toMatchObject(alignment);
  const { encodes } = await compare({ ...whole, distorted: [dis, ref], ...UNCLIPPED });
  expect(encodes.map(({ distorted }) => distorted)).toEqual([ref, dis]);
  expect(encodes[1]).toMatchObject({
    ...{ mean: libvmafMean, min: Math.min(...libvmaf), dominated_by: ref },
    ...{ size_bytes: statSync(dis).size, bitrate: null },
  });
});

describe('ranking', () => {
  type Verdict = 'fine' | 'untrusted';
  const row = (distorted: string, mean: number | null, size_bytes: number, verdict: Verdict = 'fine') => ({
    ...{ distorted, mean, size_bytes, trust: { verdict, codes: [] } },
  });

  it.each([
    [
      'is by score, then size, and names for each the best encode that dominates it',
      [row('a', 90, 500), row('b', 95, 900), row('c', 90, 400), row('d', 80, 450), row('e', null, 10)],
      { b: null, c: null, a: 'c', d: 'c', e: null },
    ],
    [
      'puts an untrusted score last, which dominates no other',
      [row('a', 99, 100, 'untrusted'), row('b', 90, 900), row('c', 80, 950)],
      { b: null, c: 'b', a: null },
    ],
    ['keeps two of the same score and size', [row('a', 90, 5), row('b', 90, 5)], { a: null, b: null }],
  ] as const)('%s', (_, rows, ranked) => {
    const found = rank([...rows]).encodes.map(({ distorted, dominated_by: by }) => [distorted, by]);
    expect(found).toEqual(Object.entries(ranked));
  });

  it('gives a file that is listed twice two ranks', () => {
    expect(rank([row('b', 90, 5), row('a', 95, 9), row('b', 90, 5)]).ranks).toEqual([2, 1, 3]);
  });
});

describe('a verdict on a target', () => {
  const small = { content: 'sample', width: 64, height: 48, bitDepth: 8, chroma: '420', frames: 6 } as const;
  const { ref, dis } = writePair({ ...small, seed: 62 }, 'y4m');
  const same = `${ref}.same.y4m`;
  const SYNTAX = 'vmaf.p5>=80';

  it('is given with a score', async () => {
    const reached = await score(ref, dis, { target: 'vmaf.p5>=1, psnr_y.mean>=1' });
    expect(reached.target).toMatchObject({
      verdict: 'reached',
      checks: [
        { value_of: 'vmaf.p5', must_be: '>=1', reached: true },
        { value_of: 'psnr_y.mean', found: reached.pooled_metrics?.psnr_y?.mean },
      ],
    });
    const missed = await score(ref, dis, { target: '99' });
    const checks = [{ value_of: 'vmaf.mean', must_be: '>=99', reached: false }];
    expect(missed.target).toMatchObject({ verdict: 'missed', checks });
    expect(missed.summary).toMatch(/^Target missed: vmaf\.mean>=99 missed \(\d+\.\d\d\)\. vmaf /);
    const open = await score(ref, dis, { target: 'apsnr_y>=1,psnr_y>=1' });
    expect(open).toMatchObject({
      ...{ verdict: 'unfinished', confidence: 'low', reasons: ['no-value:apsnr_y.mean'] },
      next_action: { tool: 'describe_worst_frames' },
      target: { verdict: 'unfinished', checks: [{ found: null, reached: false }, { reached: true }] },
    });
    expect(open.summary).toMatch(/^Target unfinished: apsnr_y\.mean>=1 open \(no value\), psnr_y/);
    const both = { reference_encoded: ref, distorted_encoded: dis };
    expect(await refuse(vmafScoreEncoded, { ...both, target: 'good' })).toContain(SYNTAX);
    const unscored = { ...both, no_prediction: true, target: '93' };
    expect(await refuse(vmafScoreEncoded, unscored)).toMatch(/^mean needs a model or a metric, but no model/);
    const swapped = await score(dis, ref, { target: '1' });
    if (swapped.trust?.verdict === 'untrusted') expect(swapped.target?.verdict).toBe('untrusted');
  });

  it.each([
    ['nothing.p5>=1', /^"nothing" is not measured; this run measures /],
    ['VMAF>=50', /^"VMAF" is not measured; /],
    ['vmaf.p7>=50', /^"vmaf.p7" is not measured; /],
    ['1,cvvdp.min>=1', /^cvvdp is one value for the whole run and has no min; /],
  ])('is refused for %s, which no run measures', async (target, why) => {
    const calls: [Tool, Args][] = [
      [vmafScoreEncoded, { reference_encoded: ref, distorted_encoded: dis }],
      [compareEncodesTool, { reference: ref, distorted: [dis, dis] }],
      [scoreBatchTool, { references: [ref], distorted: [dis] }],
    ];
    for (const [tool, args] of calls) expect(await refuse(tool, { ...args, target })).toMatch(why);
  });

  it('is given with every encode of a comparison and of a table', async () => {
    copyFileSync(ref, same);
    const distorted = [dis, same];
    const args = { reference: ref, distorted };
    const compared = await compare({ ...args, target: 'psnr_y.min>=55, p5>=90' });
    expect(compared.summary).toContain(`Ship ${same} `);
    expect(compared.summary).toContain(`${same} reaches the target. 2 encodes; the best is`);
    expect(compared.encodes).toMatchObject([
      { distorted: same, target: { verdict: 'reached', checks: [{ found: 60 }, { must_be: '>=90' }] } },
      { distorted: dis, target: { verdict: 'missed', checks: [{ value_of: 'psnr_y.min' }, {}] } },
    ]);
    const both = await compare({ ...args, target: '1' });
    expect(both.summary).toMatch(/^Ship .*: the smallest that reaches the target\. .*All reach the target\./);
    const table = await ask<Batch>(scoreBatchTool, { references: [ref], distorted, target: '99.9' });
    expect(table.summary).toMatch(/^None reaches the target\. 2 pairs scored\./);
    expect(table.pairs.map(({ target }) => target)).toMatchObject([
      { verdict: 'missed' },
      { verdict: 'missed', checks: [{ value_of: 'vmaf.mean', must_be: '>=99.9' }] },
    ]);
    expect(await refuse(compareEncodesTool, { ...args, target: 'good' })).toContain(SYNTAX);
    const absent = join(videoFolder(), 'absent.y4m');
    const some = { distorted: [...distorted, absent], target: '1' };
    const part = await ask<Batch>(scoreBatchTool, { references: [ref], ...some });
    expect(part).toMatchObject({ verdict: 'unfinished', confidence: 'medium', failed: 1 });
    expect(part.summary).not.toContain('All reach');
    const none = await compare({ reference: ref, ...some, target: '101' });
    expect(none).toMatchObject({ verdict: 'unfinished', confidence: 'medium' });
    expect(none.summary).toMatch(/^No scored encode reaches the target; /);
    const rest = await compare({ reference: ref, ...some });
    expect(rest).toMatchObject({ confidence: 'medium', reasons: expect.arrayContaining(['some-failed']) });
    expect(rest.summary).not.toContain('All reach');
  });
});
