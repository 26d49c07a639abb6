/**
 * @module test/node/mcp/answers
 * Default answers of tools: at most 1,000 tokens, the verdict first, and a next call that the server accepts.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listExtractors, listModels } from '../../../src/index.js';
import type { McpHost } from '../../../src/mcp/host.js';
import type { ResourceScope } from '../../../src/mcp/resources.js';
import { USUAL_CHARACTERS } from '../../../src/mcp/results.js';
import type { CallAnswer, NextAction, Tool } from '../../../src/mcp/tool.js';
import { TOOLS, toolsOf } from '../../../src/mcp/tools/index.js';
import { file } from '../../support/clips.js';
import { fakeEncoding } from '../../support/encoding-host.js';
import { testFolder } from '../../support/folders.js';
import { fakeHost } from '../../support/mcp-host.js';
import { inThisThread, toolNamed, videoFolder, writePair } from '../../support/mcp-tools.js';
import { tier } from '../../support/tier.js';

let host: McpHost;
let scope: ResourceScope;
const folder = testFolder('answers');

beforeAll(async () => {
  host = await open(TOOLS);
  scope = host.resources.scope('local');
});

afterAll(() => host.close());

/** A host that measures in this thread, in which fake encoders are installed. */
async function open(tools: readonly Tool[]): Promise<McpHost> {
  const made = await fakeHost({}, undefined, { allow: [videoFolder(), folder], cwd: folder, tools });
  Object.assign(made.threads.measuring, inThisThread);
  return made;
}

type Args = Readonly<Record<string, unknown>>;

interface Document {
  readonly content: CallAnswer['content'];
  readonly verdict?: string;
  readonly confidence?: string;
  readonly reasons?: readonly string[];
  readonly next_action?: NextAction | null;
  readonly [key: string]: unknown;
}

async function call(name: string, args: Args = {}): Promise<CallAnswer> {
  const job = host.jobs.begin(toolNamed(name), args, scope);
  await job.saved;
  return job.answer;
}

/** Asserts that an answer is short and that the server takes the next call that it names. */
async function ask(name: string, args: Args = {}) {
  const { content, structuredContent = {}, isError } = await call(name, args);
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  expect(isError, text).toBeUndefined();
  expect(text.length, `${name}: ${text}`).toBeLessThanOrEqual(USUAL_CHARACTERS);
  expect(JSON.parse(text)).toEqual(structuredContent);
  const document: Document = { ...structuredContent, content };
  const next = document.next_action;
  if (next) await toolNamed(next.tool).prepare(next.arguments, scope.filesOf(host.files));
  return document;
}

const clip = { content: 'sample', width: 64, height: 48, bitDepth: 8, chroma: '420', frames: 60 } as const;
const pair = () => writePair(clip, 'y4m');
const short = () => writePair({ ...clip, frames: 5 }, 'y4m');
const encoded = () => ({ reference_encoded: pair().ref, distorted_encoded: pair().dis });

/** Encodes with paths of 78 characters, wherever the folder is. */
const encodes = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    const { ref, dis } = short();
    const name = `-${i}_1920x1080_libx264_crf${20 + i}.y4m`;
    const title = 'feature-film-episode'.slice(0, 77 - folder.length - name.length);
    const path = join(folder, `${title}${name}`);
    copyFileSync(i % 3 === 0 ? ref : dis, path);
    return path;
  });

describe('an answer has 1,000 tokens at most', () => {
  it.each(['list_models', 'list_backends', 'list_extractors', 'list_videos', 'list_jobs', 'vmaf_version'])(
    'of %s',
    async (name) => {
      const { models, extractors } = await ask(name);
      if (name === 'list_models') expect(models).toHaveLength((await listModels()).length);
      if (name === 'list_extractors') expect(extractors).toHaveLength(listExtractors().length);
    },
  );

  it('of list_extractors, which has options where one is named', async () => {
    const { extractors } = await ask('list_extractors', { name: 'cambi' });
    const options = expect.arrayContaining([expect.objectContaining({ name: 'max_log_contrast' })]);
    expect(extractors).toMatchObject([{ options }]);
    const { content, isError } = await call('list_extractors', { name: 'cambie' });
    expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining('Unknown extractor')]);
  });

  it('of a score, with the verdict first', async () => {
    const answer = await ask('vmaf_score_encoded', { ...encoded(), target: '99,vmaf.p5>=1' });
    expect(Object.keys(answer).slice(0, 4)).toEqual(['verdict', 'confidence', 'reasons', 'next_action']);
    expect(answer).toMatchObject({
      ...{ verdict: 'missed', confidence: 'high', reasons: ['below-target:vmaf.mean'] },
      next_action: { tool: 'explain_score', arguments: { reference: pair().ref } },
    });
  });

  it.each([
    [5, () => '1,min>=1', 'medium'],
    // Twelve of sixty frames cannot tell these from the whole.
    [5, (mean: number) => `${mean - 0.01}`, 'low'],
    [5, (mean: number) => `${mean + 0.01}`, 'low'],
    [30, () => '1', 'low'],
  ])('of every %ith frame is not sure of the others', async (subsample, target, confidence) => {
    const args = { ...encoded(), subsample };
    const { pooled_metrics } = await ask('vmaf_score_encoded', args);
    const { vmaf } = pooled_metrics as Readonly<Record<string, { readonly mean: number }>>;
    const bound = target(vmaf?.mean ?? 0);
    const expected = { confidence, reasons: expect.arrayContaining(['measured-on-samples']) };
    expect(await ask('vmaf_score_encoded', { ...args, target: bound })).toMatchObject(expected);
    const { ref: reference, dis } = pair();
    const encodes = { reference, distorted: [dis], subsample, target: bound };
    expect(await ask('compare_encodes', encodes)).toMatchObject(expected);
  });

  it('of features without a score, with the means of all and the percentiles of the first', async () => {
    const args = { ...encoded(), no_prediction: true };
    const { pooled_metrics, distribution } = await ask('vmaf_score_encoded', args);
    expect(Object.keys(Object(distribution))).toEqual(['integer_adm2']);
    for (const name of ['integer_adm2', 'integer_vif_scale3', 'integer_motion2'])
      expect(pooled_metrics).toMatchObject({ [name]: { mean: expect.any(Number) } });
  });

  it('of a score of many models and features, whose report has the rest', async () => {
    const models = ['vmaf_v0.6.1', 'vmaf_v0.6.1neg', 'vmaf_4k_v0.6.1', 'vmaf_b_v0.6.3', 'vmaf_float_v0.6.1'];
    const { left_out, pooled_metrics } = await ask('vmaf_score_encoded', {
      ...{ ...encoded(), frame_cnt: 4, feature: ['psnr', 'float_ssim', 'ciede'] },
      models: models.map((name, i) => `version=${name}:name=m${i}`),
    });
    expect(left_out).not.toEqual([]);
    const found = Object.keys(Object(pooled_metrics));
    expect(found).toEqual(expect.arrayContaining(['m0', 'm4', 'psnr_y', 'ciede2000']));
  });

  it('of 12 encodes compared, with the one to ship', async () => {
    for (const count of tier([12], [12, 32])) {
      const distorted = encodes(count);
      const answer = await ask('compare_encodes', { reference: short().ref, distorted });
      const { verdict, next_action, decision, encodes: rows } = answer;
      // Copies of the reference are as good as each other, and as large.
      expect([verdict, answer.reasons?.at(-1)]).toEqual(['tied', 'best-and-smallest']);
      expect(decision).toMatchObject({ reason: 'best-and-smallest', smaller: null });
      expect(distorted).toContain((decision as { ship: string }).ship);
      expect(next_action).toMatchObject({ tool: 'describe_worst_frames', arguments: { ref: short().ref } });
      const shown = rows as readonly { readonly worst_moments: readonly unknown[] }[];
      // The decision covers all encodes, also those without a row.
      expect(shown.length).toBeGreaterThanOrEqual(9);
      if (count === 12)
        for (const { worst_moments: moments } of shown) expect(moments.length).toBeGreaterThan(0);
    }
  });

  it('of a batch of many pairs', async () => {
    const distorted = encodes(tier(14, 50));
    const answer = await ask('score_batch', { references: [short().ref], distorted, target: '99' });
    expect(answer).toMatchObject({ verdict: 'missed', reasons: ['identical', 'below-target'] });
    expect((answer.pairs as unknown[]).length).toBeGreaterThan(10);
  });

  it('of the tools before and after a score', async () => {
    const { ref, dis } = pair();
    const both = { reference: ref, distorted: dis };
    expect(await ask('inspect_pair', both)).toMatchObject({ next_action: { tool: 'vmaf_score_encoded' } });
    await ask('find_alignment', both);
    expect(await ask('explain_score', both)).toMatchObject({
      next_action: { tool: 'describe_worst_frames' },
    });
    const raw = writePair({ ...clip, frames: 4 }, 'yuv');
    const geometry = { width: 64, height: 48, pixfmt: '420', bitdepth: 8 };
    const scored = await ask('vmaf_score', { ref: raw.ref, dis: raw.dis, ...geometry });
    expect(scored.next_action).toMatchObject({ tool: 'describe_worst_frames', arguments: geometry });
  });

  it('leads to a call that compares the same pictures with the same model', async () => {
    const { ref, dis } = writePair(clip, 'yuv');
    const geometry = { width: 64, height: 48, pixfmt: '420', bitdepth: 8 };
    const late = file(folder, 'late.yuv', readFileSync(dis).subarray(5 * 64 * 48 * 1.5));
    const raw = { reference: ref, distorted: late, ...geometry };
    const aligned = { tool: 'explain_score', arguments: { ...raw, offset: 5 } };
    // vmaf_score takes no offset.
    for (const args of [raw, aligned.arguments])
      expect((await ask('inspect_pair', args)).next_action).toEqual(aligned);
    const few = { ref, dis, ...geometry, frame_cnt: 2 };
    const still = await ask('vmaf_score', { ...few, feature: ['psnr', 'cvvdp'] });
    expect(still.next_action?.arguments.feature).toEqual(['psnr', 'cvvdp=fps=25']);
    const shown = await ask('describe_worst_frames', { ...few, metric: 'cvvdp', n: 1, describe: false });
    expect([shown.reasons, shown.next_action?.arguments.images]).toEqual([['no-frame-rate'], 'all']);
    const models = ['version=vmaf_v0.6.1:name=a', 'version=vmaf_v0.6.1neg:name=b'];
    const parts = { range: { start: 3, end: 9 }, models };
    const missed = await ask('vmaf_score_encoded', { ...encoded(), ...parts, target: 'b>=99' });
    expect(missed.next_action).toMatchObject({
      ...{ tool: 'explain_score', arguments: { range: parts.range, model: models[1] } },
    });
    // It explains the part that was scored; the worst frames would be those of the whole video.
    const part = await ask('vmaf_score_encoded', { ...encoded(), ...parts });
    expect(part.next_action).toMatchObject({ tool: 'explain_score', arguments: { model: models[0] } });
  });

  const [uhd, neg] = ['vmaf_4k_v0.6.1', 'vmaf_4k_v0.6.1neg'].map((of) => `version=${of}`);
  it.each<[string, Args, next: string, Args]>([
    [
      'a named model',
      { model: `${uhd}:name=k`, target: 'k>=1' },
      'vmaf_score_encoded',
      { model: 'auto:name=k' },
    ],
    [
      'several',
      { models: [`${uhd}:name=a`, `${neg}:name=b`] },
      'vmaf_score_encoded',
      { model: 'auto:name=a' },
    ],
    [
      'several, of which the target names the second',
      { models: [`${uhd}:name=a`, `${neg}:name=b`], target: 'b>=101' },
      ...(['explain_score', { model: `${neg}:name=b` }] as const),
    ],
  ])('leads on to a model for the size instead of %s', async (_, models, tool, changed) => {
    const { next_action: next, reasons } = await ask('vmaf_score_encoded', { ...encoded(), ...models });
    expect(reasons).toContain('model-size');
    expect(next).toMatchObject({ tool, arguments: changed });
    expect(next?.arguments).not.toHaveProperty('models');
    if (next && models.target) expect((await call(next.tool, next.arguments)).isError).toBeUndefined();
  });

  it.each([
    ['psnr_y>=60', 'below-target:psnr_y.mean', 'psnr_y'],
    ['butteraugli<=0.1', 'above-target:butteraugli.mean', 'butteraugli'],
    ['cvvdp>=10', 'below-target:cvvdp', 'cvvdp_q'],
    ['adm2>=1', 'below-target:integer_adm2.mean', 'integer_adm2'],
  ])(
    'leads from a miss of %s to the frames that are worst by that metric',
    async (target, reason, metric) => {
      const { ref, dis } = short();
      const pair = { reference_encoded: ref, distorted_encoded: dis, target };
      const { reasons, next_action: next } = await ask('vmaf_score_encoded', pair);
      expect(reasons).toContain(reason);
      expect(next).toMatchObject({ tool: 'describe_worst_frames', arguments: { metric } });
      const shown = await ask('describe_worst_frames', { ...next?.arguments, n: 1, describe: false });
      expect(shown.metric).toBe(metric);
      const batch = await ask('score_batch', { references: [ref], distorted: [dis], target });
      expect(batch.reasons).toContain(reason.split(':')[0]);
    },
  );

  it('leads on with arguments as the schema has them, however they were sent', async () => {
    const { ref, dis } = pair();
    const sent = { subsample: '5', offset: '0', model: null, range: { start: '0' }, target: '99' };
    const answer = await ask('vmaf_score_encoded', { ...encoded(), ...sent });
    const meant = { subsample: 5, offset: 0, range: { start: 0 } };
    expect(answer.next_action?.arguments).toEqual({ ...meant, reference: ref, distorted: dis });
    expect((await call('vmaf_score_encoded', { ...encoded(), toString: null })).isError).toBe(true);
  });

  it('leads on with the flags of the model, and with the model of a preset', async () => {
    const phone = await ask('vmaf_score_encoded', { ...encoded(), enable_transform: true });
    expect(phone.next_action?.arguments.model).toBe('version=vmaf_v0.6.1:enable_transform');
    const sample = (side: string) => `anyvmaf://samples/${side}_576x324.y4m`;
    const videos = { reference_encoded: sample('reference'), distorted_encoded: sample('distorted') };
    const args = { ...videos, frame_cnt: 1, aom_ctc: 'v1.0', target: 'vmaf_neg>=100' };
    expect((await ask('vmaf_score_encoded', args)).next_action).toMatchObject({
      ...{ tool: 'explain_score', arguments: { model: 'version=vmaf_v0.6.1neg' } },
    });
  });

  it('of worst frames, which are links of 100 kB at most unless pictures are requested', async () => {
    const usual = await ask('describe_worst_frames', { ...short(), min_distance: 1, describe: false });
    expect(usual.frames).toHaveLength(5);
    const { ref, dis } = writePair({ ...clip, width: 400, height: 300, frames: 2 }, 'y4m');
    const args = { ref, dis, describe: false };
    const answer = await ask('describe_worst_frames', { ...args, n: 1 });
    expect(answer.content.filter(({ type }) => type === 'image')).toEqual([]);
    const [{ files = {} } = {}] = answer.frames as readonly {
      readonly files?: Readonly<Record<string, { uri: string }>>;
    }[];
    expect(Object.keys(files)).toEqual(['reference', 'distorted', 'difference', 'map']);
    for (const { uri } of Object.values(files)) {
      const picture = await scope.read(uri);
      const bytes = Buffer.from(picture && 'blob' in picture ? picture.blob : '', 'base64').length;
      expect(bytes, uri).toBeGreaterThan(1000);
      expect(bytes, uri).toBeLessThanOrEqual(100_000);
    }
    const links = answer.content.map((item) => (item.type === 'resource_link' ? item.uri : ''));
    expect(links).toContain(files.distorted?.uri);
    expect(answer.next_action?.arguments.images).toBe('all');
    const { content } = await ask('describe_worst_frames', { ...args, n: 1, images: 'all', images_kb: 6000 });
    const shown = content.flatMap((item) => (item.type === 'image' ? [item.data] : []));
    expect(shown).toHaveLength(4);
    for (const data of shown) expect(Buffer.from(data, 'base64').length).toBeLessThanOrEqual(100_000);
  });
});

describe('an answer about encoders', () => {
  const shots = Array.from({ length: 12 }, (_, i) => ({ frames: 12 + i }));
  const source = () => file(folder, 'film.mkv', new Uint8Array(16));

  it('leads on with the pixel format of the encodes', async () => {
    using _ = fakeEncoding({ shots: shots.slice(0, 3) }).install();
    const format = 'yuv420p10le';
    const encoders = ['libx264', 'libx265'];
    const compared = await ask('run_compare', { src: source(), pix_fmt: format, encoders });
    expect(compared.next_action).toMatchObject({ tool: 'find_quality', arguments: { pixel_format: format } });
    const search = { source: source(), encoder: 'libx264', targets: ['85'], max_size: 0.0001 };
    const missed = await ask('find_quality', { ...search, pixel_format: format });
    expect(missed.next_action).toMatchObject({ tool: 'run_compare', arguments: { pix_fmt: format } });
  });

  it.each<[string, Args, string, next: string]>([
    ['find_quality', { targets: ['85'] }, 'reached', 'find_quality'],
    ['find_quality', { targets: ['85'], max_encodes: 1 }, 'unfinished', 'find_quality'],
    ['find_quality', { targets: ['85'], dry_run: true }, 'planned', 'find_quality'],
    ['find_quality', { targets: ['85'], verify: true }, 'reached', 'run-command'],
    ['find_quality', { targets: ['85'], range: { min: 40, max: 45 } }, 'missed', 'find_quality'],
    ['find_quality', { targets: ['100'] }, 'missed', 'run_compare'],
    ['find_quality', { targets: ['integer_adm2>=1'] }, 'missed', 'no-value-does'],
    ['find_quality', { targets: ['85'], max_size: 0.0001 }, 'missed', 'run_compare'],
    ['find_quality', { targets: ['85'], at_most: 85 }, 'missed', 'no-value-does'],
    ['run_compare', {}, 'decided', 'find_quality'],
    ['run_ladder', { encoder: 'libx264', resolutions: ['64', '32'] }, 'fine', 'run_tune_per_shot'],
    ['run_tune_per_shot', { target_vmaf: 80 }, 'reached', 'run_tune_per_shot'],
    ['run_tune_per_shot', { target_vmaf: 80, format: 'shell' }, 'reached', 'run-script'],
    ['run_tune_per_shot', { target_vmaf: 80, format: 'csv' }, 'reached', 'table-written'],
    ['run_tune_per_shot', { target_vmaf: 95, range: { min: 40, max: 45 } }, 'missed', 'run_tune_per_shot'],
    ['run_tune_per_shot', { target_vmaf: 100 }, 'missed', 'run_compare'],
  ])('of %s %j is short, says %s, and leads to %s', async (name, args, verdict, next) => {
    using _ = fakeEncoding({ shots }).install();
    const usual = name === 'find_quality' ? { source: source(), encoder: 'libx264' } : { src: source() };
    const answer = await ask(name, { ...usual, ...args });
    expect(Object.keys(answer).slice(0, 3)).toEqual(['verdict', 'confidence', 'reasons']);
    expect(answer.verdict).toBe(verdict);
    // A call, or the reason why there is none.
    expect(answer.next_action).toBeDefined();
    expect(answer.next_action === null ? answer.reasons?.at(-1) : answer.next_action?.tool).toBe(next);
  });

  it('leads to one value for all shots where that takes fewer bytes', async () => {
    // An encoder that sees the whole makes more of it.
    const bend = (quality: number, _: number, { isSource }: { readonly isSource: boolean }) =>
      quality + (isSource ? 8 : 0);
    using _ = fakeEncoding({ shots: shots.slice(0, 3) }, { bend }).install();
    const args = { src: source(), target_vmaf: 80, goal: 'whole' };
    const { reasons, next_action: next, summary, single } = await ask('run_tune_per_shot', args);
    expect(reasons).toEqual(['single-value-smaller']);
    expect(summary).toMatch(/reaches the same, and a value per shot takes [\d.]+ % more\.$/);
    const { value } = single as { readonly value: number };
    expect(next).toMatchObject({ tool: 'find_quality', arguments: { range: { min: value, max: value } } });
    expect(await ask('find_quality', next?.arguments)).toMatchObject({
      verdict: 'reached',
      next_action: null,
    });
  });

  it('leads from a ladder to a target that its best rung reaches', async () => {
    using _ = fakeEncoding({ shots: shots.slice(0, 3) }).install();
    const args = { src: source(), encoder: 'libx264', resolutions: ['64', '32'] };
    const { rungs, next_action } = await ask('run_ladder', args);
    const best = (rungs as readonly { readonly vmaf: number }[]).at(-1)?.vmaf;
    expect(next_action?.arguments.target_vmaf).toBeLessThanOrEqual(best ?? 0);
  });

  it('once the encode is written leads nowhere', async () => {
    using _ = fakeEncoding({ shots: shots.slice(0, 3) }).install();
    const args = { src: source(), target_vmaf: 80, output: join(folder, `tuned.mkv`) };
    expect(await ask('run_tune_per_shot', args)).toMatchObject({
      ...{ verdict: 'reached', reasons: ['encode-written'], next_action: null },
    });
  });

  it.each<[string, Args, verdicts: readonly string[], why: string]>([
    ['find_quality', { targets: ['85'], dry_run: true }, ['planned', 'reached', 'reached'], 'run-command'],
    ['find_quality', { targets: ['99'] }, ['missed', 'missed'], 'shortfall:target'],
    [
      'find_quality',
      { targets: ['96.8'], encoder: 'libsvtav1' },
      ['missed', 'tied', 'reached', 'reached'],
      'run-command',
    ],
    ['run_tune_per_shot', { target_vmaf: 99 }, ['missed', 'missed'], 'shortfall:target'],
  ])('of %s %j leads to an end: each next call brings a verdict', async (tool, args, expected, why) => {
    using _ = fakeEncoding({ shots: shots.slice(0, 3) }).install();
    const video = tool === 'find_quality' ? { source: source(), encoder: 'libx264' } : { src: source() };
    let next: NextAction | null | undefined = { tool, arguments: { ...video, ...args } };
    let last: Document | undefined;
    const verdicts: (string | undefined)[] = [];
    while (next && verdicts.length < 8) {
      last = await ask(next.tool, next.arguments);
      verdicts.push(last.verdict);
      next = last.next_action;
    }
    expect([verdicts, last?.reasons?.at(-1)]).toEqual([expected, why]);
  });
});

it('names no next call of a tool that the server does not offer', async () => {
  const few = await open(toolsOf('score'));
  const tool = toolNamed('vmaf_score_encoded');
  const { structuredContent } = await few.jobs.begin(tool, encoded(), few.resources.scope('local')).answer;
  expect(structuredContent).toMatchObject({ verdict: 'fine' });
  expect(structuredContent).not.toHaveProperty('next_action');
  await few.close();
});
