/**
 * @module test/node/mcp/tools/encoded
 * The tools for videos of any kind: scoring, comparing, inspecting and aligning files as they come.
 */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../../../src/mcp/scoring/comparison.js';
import { rank } from '../../../../src/mcp/scoring/comparison.js';
import { compareEncodesTool } from '../../../../src/mcp/tools/compare-encodes.js';
import { explainScoreTool } from '../../../../src/mcp/tools/explain-score.js';
import { findAlignmentTool } from '../../../../src/mcp/tools/find-alignment.js';
import { inspectPairTool } from '../../../../src/mcp/tools/inspect-pair.js';
import { scoreBatchTool } from '../../../../src/mcp/tools/score-batch.js';
import { vmafScore } from '../../../../src/mcp/tools/vmaf-score.js';
import { vmafScoreEncoded } from '../../../../src/mcp/tools/vmaf-score-encoded.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../../support/encode.js';
import { type FixtureClip, readFixture } from '../../../support/fixtures.js';
import { call, fakeContext, refused, videoFolder, writePair } from '../../../support/mcp-tools.js';

const context = () => fakeContext(videoFolder());
const encoded = () => fakeContext(encodeFolder());

const [first] = readFixture('models');
const run = first?.runs.find(({ models = [] }) => models.length === 4);
if (!first || !run) throw new Error('no such fixture');
const { clip } = first;

describe('score_batch', () => {
  it('answers a row per pair in their order, with the numbers of vmaf_score, and the table as a resource', async () => {
    const { ref, dis } = writePair(clip, 'y4m');
    const used = context();
    const missing = join(videoFolder(), 'missing.y4m');
    const pairs = [
      { reference: ref, distorted: dis },
      { reference: ref, distorted: missing },
      { reference: '/etc/passwd', distorted: dis },
      { reference: ref, distorted: ref },
      { reference: 'https://example.com/a.mp4?sig=SECRET', distorted: dis },
    ];
    const answer = await call(
      scoreBatchTool,
      {
        references: pairs.map(({ reference }) => reference),
        distorted: pairs.map((one) => one.distorted),
        precision: 'max',
      },
      used,
    );
    const single = await call(
      vmafScoreEncoded,
      { reference_encoded: ref, distorted_encoded: dis, precision: 'max' },
      context(),
    );
    const rows = answer.pairs as { distorted: string; mean?: number; error?: string }[];
    expect(rows.map(({ distorted }) => distorted)).toEqual(pairs.map(({ distorted }) => distorted));
    expect(rows[0]).toMatchObject({ mean: single.pooled_metrics?.vmaf?.mean });
    expect(rows[1]?.error).toContain('missing.y4m');
    expect(rows[2]?.error).toContain('not allowed');
    expect(rows[3]?.error).toBeUndefined();
    expect(rows[4]?.error).toMatch(/not allowed|does not exist/);
    expect(answer.failed).toBe(3);
    expect(used.published).toMatchObject([{ name: 'batch.csv', mimeType: 'text/csv' }]);
    expect(String(used.published[0]?.data).trimEnd().split('\n')).toHaveLength(6);
    expect(used.told.at(-1)).toMatchObject({ total: 1000 });
    expect(used.told.map(({ done }) => done)).toEqual(
      [...used.told.map(({ done }) => done)].sort((a, b) => a - b),
    );
  });

  it('fails where no pair can be scored, ends when it is cancelled, and takes 64 pairs', async () => {
    const { ref, dis } = writePair(clip, 'y4m');
    const bad = { reference: ref, distorted: join(videoFolder(), 'none.y4m') };
    expect(
      await refused(
        scoreBatchTool,
        { references: [ref], distorted: [bad.distorted, bad.distorted] },
        context(),
      ),
    ).toContain('none.y4m');
    const uneven = { references: [ref, ref], distorted: [dis, dis, dis] };
    expect(await refused(scoreBatchTool, uneven, context())).toContain(
      'one reference for all, or one for each',
    );
    const stop = new AbortController();
    stop.abort(new Error('cancelled'));
    const cancelled = fakeContext(videoFolder(), stop.signal);
    await expect(call(scoreBatchTool, { references: [ref], distorted: [dis] }, cancelled)).rejects.toThrow();
    const many = Array.from({ length: 65 }, () => dis);
    expect(scoreBatchTool.inputSchema.safeParse({ references: [ref], distorted: many }).success).toBe(false);
    expect(
      scoreBatchTool.inputSchema.safeParse({ references: [ref], distorted: many.slice(1) }).success,
    ).toBe(true);
    expect(scoreBatchTool.inputSchema.safeParse({ references: [ref], distorted: [] }).success).toBe(false);
  });
});

describe('vmaf_score_encoded', () => {
  it("gives libvmaf's score of Y4M files, and the paths as they were given", async () => {
    const { ref, dis } = writePair(clip, 'y4m');
    const answer = await call(
      vmafScoreEncoded,
      {
        reference_encoded: ref,
        distorted_encoded: dis,
        model: 'version=vmaf_v0.6.1:disable_clip:name=raw',
        precision: 'max',
      },
      context(),
    );
    expect(answer).toMatchObject({ reference_encoded: ref, distorted_encoded: dis, backend_used: 'cpu' });
    const values = (run.metrics.raw ?? []).map((value) => value ?? Number.NaN);
    expect(answer.pooled_metrics?.raw?.mean).toBe(
      values.reduce((sum, value) => sum + value, 0) / values.length,
    );
  });

  it('refuses stored videos of two sizes unless a filter is named, and what later features need', async () => {
    const small = writePair(clip, 'y4m');
    const other: FixtureClip = { ...clip, width: 128, height: 72 };
    const large = writePair(other, 'y4m');
    const args = { reference_encoded: small.ref, distorted_encoded: large.dis };
    const sentence = await refused(vmafScoreEncoded, args, context());
    expect(sentence).toContain('160x90');
    expect(sentence).toContain('128x72');
    const scaled = await call(vmafScoreEncoded, { ...args, scale: 'bicubic' }, context());
    expect(scaled).toMatchObject({ pairing: { width: 160, height: 90, scale: 'bicubic' } });
    const smaller = await call(vmafScoreEncoded, { ...args, scale_to: '96x54' }, context());
    expect(smaller).toMatchObject({ pairing: { width: 96, height: 54 } });
    expect(await refused(vmafScoreEncoded, { ...args, no_reference: true }, context())).toBe(
      'no_reference requires tiny_model; no classic NR scorer exists',
    );
    expect(
      await refused(vmafScoreEncoded, { ...args, aom_ctc: 'v1.0', feature: ['psnr'] }, context()),
    ).toContain('aom_ctc and feature exclude each other');
  });

  it('takes every pairing parameter', () => {
    const parse = (args: object) =>
      vmafScoreEncoded.inputSchema.safeParse({ reference_encoded: 'a', distorted_encoded: 'b', ...args })
        .success;
    expect(parse({ scale_to: 'dis', offset: 'auto', range: { unit: 'seconds', start: 1, end: 2.5 } })).toBe(
      true,
    );
    expect(parse({ offset: -3, frame_rate_policy: 'strict', decoder: 'ffmpeg', allow_damaged: true })).toBe(
      true,
    );
    for (const wrong of [
      { scale_to: '0x10' },
      { offset: 0.5 },
      { range: { start: -1 } },
      { range: { from: 1 } },
      { decoder: 'none' },
      { scale: 'nearest' },
    ]) {
      expect(parse(wrong), JSON.stringify(wrong)).toBe(false);
    }
  });
});

describe.runIf(hasFfmpeg)(`encoded files (${needsFfmpeg})`, () => {
  const master = () => encode({ codec: 'ffv1', frames: 20, size: '192x108' });
  const rough = () => encode({ codec: 'h264', frames: 20, size: '192x108', extra: ['-crf', '45'] });
  const fine = () => encode({ codec: 'h264', frames: 20, size: '192x108', extra: ['-crf', '20'] });
  const small = () => encode({ codec: 'h264', frames: 20, size: '96x54', extra: ['-crf', '30'] });

  it('score as the Y4M files that ffmpeg makes of them', async () => {
    const raw = (path: string) => ffmpeg(path.replace(/\.\w+$/, '.y4m'), ['-i', path, '-strict', '-1']);
    const args = { precision: 'max' };
    const direct = await call(
      vmafScoreEncoded,
      { reference_encoded: master(), distorted_encoded: rough(), ...args },
      encoded(),
    );
    const stored = await call(
      vmafScoreEncoded,
      { reference_encoded: raw(master()), distorted_encoded: raw(rough()), ...args },
      encoded(),
    );
    expect(direct.pooled_metrics).toEqual(stored.pooled_metrics);
    expect(direct).toMatchObject({ pairing: { distorted: { codec: 'h264' }, frames: { pairs: 20 } } });
    expect(direct.preflight?.map(({ severity }) => severity)).not.toContain('error');
  });

  it('are scaled to the reference, which preflight says', async () => {
    const answer = await call(
      vmafScoreEncoded,
      { reference_encoded: master(), distorted_encoded: small() },
      encoded(),
    );
    expect(answer).toMatchObject({
      pairing: { width: 192, height: 108, distorted: { width: 96, height: 54 } },
    });
    expect(answer.preflight?.map(({ code }) => code)).toContain('size');
    const strict = { reference_encoded: master(), distorted_encoded: small(), strict: true };
    const refusal = await refused(vmafScoreEncoded, strict, encoded());
    expect(refusal).toContain('96x54');
    expect(refusal).toContain('To accept, pass scale: "bicubic".');
    const unscaled = await refused(
      vmafScoreEncoded,
      { ...strict, strict: false, preflight: false, scale: 'none' },
      encoded(),
    );
    expect(unscaled).toMatch(/scaling is off\. Pass scale: "bicubic"\.$/);
    expect(refusal + unscaled).not.toMatch(/(^|\s)--\w/);
  });

  it('are not for vmaf_score, which says where they belong', async () => {
    const args = { ref: master(), dis: rough(), width: 192, height: 108, pixfmt: '420', bitdepth: 8 };
    expect(await refused(vmafScore, args, encoded())).toContain('vmaf_score_encoded');
  });

  it('stand side by side in compare_encodes, best first, with what they cost', async () => {
    const one = encoded();
    const distorted = [rough(), fine(), small()];
    const answer = await call<Comparison>(
      compareEncodesTool,
      { reference: master(), distorted, precision: 'max' },
      one,
    );
    expect(answer.encodes.map(({ rank: place }) => place)).toEqual([1, 2, 3]);
    expect(answer.encodes[0]?.distorted).toBe(fine());
    for (const row of answer.encodes) {
      expect(row.size_bytes).toBe(statSync(row.distorted).size);
      expect(row.frames).toBe(20);
      const alone = await call(
        vmafScoreEncoded,
        { reference_encoded: master(), distorted_encoded: row.distorted, precision: 'max' },
        encoded(),
      );
      expect(row.mean).toBe(alone.pooled_metrics?.vmaf?.mean);
      expect(row.p1).toBe(alone.distribution?.vmaf?.percentiles.p1);
    }
    expect(one.ran).toEqual([['compare_encodes', null]]);
    expect(one.told.at(-1)).toMatchObject({ done: 60, total: 60 });
  });

  it('are filtered by every tool that compares them, as preflight advises', async () => {
    const boxed = ffmpeg(join(encodeFolder(), 'boxed.mkv'), [
      ...['-i', rough(), '-vf', 'pad=192:140:0:16', '-c:v', 'ffv1'],
    ]);
    const pair = { reference: master(), distorted: boxed };
    const { findings } = await call<{ findings: { code: string; fix?: string }[] }>(
      inspectPairTool,
      pair,
      encoded(),
    );
    const advice = 'filters: {"crop_distorted":"192:108:0:16"}';
    const fixes = findings.map(({ fix = '' }) => fix.replaceAll('": "', '":"'));
    expect(fixes.some((fix) => fix.includes(advice))).toBe(true);
    const filters = { crop_distorted: '192:108:0:16' };
    for (const [wrong, said] of [
      [{ vf_distorted: 'movie=a.mkv' }, /^vf_distorted names the filter "movie"/],
      [{ crop_reference: '999:999' }, /^crop_reference is "999:999", which goes beyond/],
    ] as const)
      expect(await refused(inspectPairTool, { ...pair, filters: wrong }, encoded())).toMatch(said);
    const inspected = await call<{ findings: { code: string }[] }>(
      inspectPairTool,
      { ...pair, filters },
      encoded(),
    );
    expect(inspected.findings.map(({ code }) => code)).not.toContain('borders');
    const plain = await call(
      vmafScoreEncoded,
      { reference_encoded: master(), distorted_encoded: rough() },
      encoded(),
    );
    const mean = plain.pooled_metrics?.vmaf?.mean;
    expect(mean).toEqual(expect.any(Number));
    const compared = await call<Comparison>(
      compareEncodesTool,
      { reference: master(), distorted: [boxed], filters },
      encoded(),
    );
    expect(compared.encodes[0]?.mean).toBe(mean);
    const table = await call<{ pairs: { mean?: number }[] }>(
      scoreBatchTool,
      { references: [master()], distorted: [boxed], filters },
      encoded(),
    );
    expect(table.pairs[0]?.mean).toBe(mean);
    const explained = await call<Record<string, unknown>>(explainScoreTool, { ...pair, filters }, encoded());
    const apart = await call<Record<string, unknown>>(
      explainScoreTool,
      { reference: master(), distorted: rough() },
      encoded(),
    );
    expect(explained.explanation).toEqual(apart.explanation);
  });

  it('are compared without those that cannot be scored, which are named', async () => {
    const broken = join(encodeFolder(), 'broken.mp4');
    writeFileSync(broken, 'not a video');
    const missing = join(encodeFolder(), 'missing.mp4');
    const one = encoded();
    const answer = await call<Comparison>(
      compareEncodesTool,
      { reference: master(), distorted: [missing, fine(), broken, rough()] },
      one,
    );
    expect(answer.encodes.map(({ distorted }) => distorted)).toEqual([fine(), rough()]);
    expect(answer.errors).toEqual([
      { distorted: missing, error: expect.stringContaining('missing.mp4') },
      { distorted: broken, error: expect.stringContaining('broken.mp4 is not a video') },
    ]);
    expect(answer.summary).toContain(`${missing}, ${broken} could not be scored`);
    expect(one.told.at(-1)).toMatchObject({ done: 40, total: 40 });
    const none = { reference: master(), distorted: [missing, broken] };
    expect(await refused(compareEncodesTool, none, encoded())).toMatch(
      /None of the 2 encodes .*missing.mp4.*broken.mp4/,
    );
    const all = { reference: broken, distorted: [fine(), rough()] };
    expect(await refused(compareEncodesTool, all, encoded())).toMatch(/^[^:]*broken.mp4 is not a video/);
  });

  it('are inspected without being scored', async () => {
    const answer = await call<Record<string, unknown>>(
      inspectPairTool,
      { reference: master(), distorted: small() },
      encoded(),
    );
    expect(answer).toMatchObject({
      comparable: true,
      reference: { width: 192, height: 108, codec: 'ffv1' },
      distorted: {
        width: 96,
        height: 54,
        codec: 'h264',
        frame_count: 20,
        size_bytes: statSync(small()).size,
      },
      alignment: { offset: 0 },
    });
    expect(answer.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'size', fix: 'to accept, pass scale: "bicubic"' }),
      ]),
    );
  });

  it('are aligned: frames that were cut off the start are found', async () => {
    const source = encode({ codec: 'ffv1', frames: 60, size: '192x108', source: 'mandelbrot' });
    const cut = ffmpeg(source.replace(/\.\w+$/, '.cut.mkv'), [
      '-i',
      source,
      '-vf',
      'trim=start_frame=7',
      '-c:v',
      'ffv1',
    ]);
    const answer = await call<Record<string, unknown>>(
      findAlignmentTool,
      { reference: source, distorted: cut, window: 20 },
      encoded(),
    );
    expect(answer).toMatchObject({ offset: 7, ambiguous: false, reason: 'clear' });
  });
});

describe('raw video in the tools that take every kind', () => {
  it('needs its whole geometry', async () => {
    const { ref, dis } = writePair(clip, 'yuv');
    const args = { reference: ref, distorted: dis, width: 160, height: 90 };
    expect(await refused(inspectPairTool, args, context())).toMatch(/lacks pixfmt, bitdepth/);
    const whole = { ...args, pixfmt: '420', bitdepth: 8 };
    expect(await call(inspectPairTool, whole, context())).toMatchObject({
      comparable: true,
      reference: { width: 160, height: 90, container: 'yuv', frame_count: 3 },
    });
    expect(await call(findAlignmentTool, whole, context())).toMatchObject({
      reason: 'short',
      candidates: expect.anything(),
    });
    const { encodes } = await call<Comparison>(
      compareEncodesTool,
      {
        ...whole,
        distorted: [dis, ref],
        precision: 'max',
        model: 'version=vmaf_v0.6.1:disable_clip:name=raw',
      },
      context(),
    );
    const values = (run.metrics.raw ?? []).map((value) => value ?? Number.NaN);
    expect(encodes.map(({ distorted }) => distorted)).toEqual([ref, dis]);
    expect(encodes[1]).toMatchObject({
      mean: values.reduce((sum, value) => sum + value, 0) / values.length,
      min: Math.min(...values),
      dominated_by: ref,
      size_bytes: statSync(dis).size,
      bitrate: null,
    });
  });
});

describe.skipIf(!hasFfmpeg)(
  `a pair that shows different moments${hasFfmpeg ? '' : `: ${needsFfmpeg}`}`,
  () => {
    const ref = () => encode({ codec: 'h264', size: '192x128', frames: 40, extra: ['-crf', '4'] });
    const late = () =>
      ffmpeg(join(encodeFolder(), 'moments.mp4'), [
        '-i',
        ref(),
        '-vf',
        'trim=start_frame=7,setpts=PTS-STARTPTS',
        '-crf',
        '4',
      ]);

    it('is the first thing that the summary of a score says, and is data beside it', async () => {
      const pair = { reference_encoded: ref(), distorted_encoded: late() };
      const answer = await call(vmafScoreEncoded, pair, encoded());
      expect(answer.trust).toMatchObject({ verdict: 'untrusted', codes: ['offset'] });
      expect(answer.summary).toMatch(
        /^Do not trust this score \(offset\): The pictures do not belong together/,
      );
      const aligned = await call(vmafScoreEncoded, { ...pair, offset: 7 }, encoded());
      expect(aligned.trust?.verdict).not.toBe('untrusted');
      // Seconds are those of the reference.
      const [worst] = aligned.worst_frames?.frames ?? [];
      expect(worst?.seconds).toBeCloseTo(((worst?.frame ?? 0) + 7) / 25, 3);
    });

    it('is named in a comparison, where it is not the best of those with a right score', async () => {
      const answer = (await call(
        compareEncodesTool,
        { reference: ref(), distorted: [late(), ref()] },
        encoded(),
      )) as Comparison;
      expect(answer.encodes.map(({ trust }) => trust.verdict === 'untrusted')).toEqual([false, true]);
      expect(answer.summary).toContain(`Do not trust the score of ${late()} (offset): `);
    });
  },
);

describe('ranking', () => {
  const row = (
    distorted: string,
    mean: number | null,
    size_bytes: number | null,
    verdict: 'fine' | 'untrusted' = 'fine',
  ) => ({
    distorted,
    mean,
    size_bytes,
    harmonic_mean: null,
    min: null,
    p1: null,
    p5: null,
    bitrate: null,
    width: 1,
    height: 1,
    frames: 1,
    codec: null,
    worst_frame: null,
    trust: { verdict, codes: [] },
    preflight: [],
  });

  it('is by score, then size, and names for each the best that leaves it without a use', () => {
    const rows = rank([
      row('a', 90, 500),
      row('b', 95, 900),
      row('c', 90, 400),
      row('d', 80, 450),
      row('e', null, 10),
    ]);
    expect(rows.map(({ distorted, dominated_by: by }) => [distorted, by])).toEqual([
      ['b', null],
      ['c', null],
      ['a', 'c'],
      ['d', 'c'],
      ['e', null],
    ]);
  });

  it('puts a score that cannot be trusted last, and lets it speak against no other', () => {
    const rows = rank([row('a', 99, 100, 'untrusted'), row('b', 90, 900), row('c', 80, 950)]);
    expect(rows.map(({ distorted, dominated_by: by }) => [distorted, by])).toEqual([
      ['b', null],
      ['c', 'b'],
      ['a', null],
    ]);
  });

  it('lets two of the same score and size both stand', () => {
    expect(rank([row('a', 90, 5), row('b', 90, 5)]).map(({ dominated_by: by }) => by)).toEqual([null, null]);
  });
});
