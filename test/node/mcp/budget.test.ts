/**
 * @module test/node/mcp/budget
 * What the server sends fits its hosts: the list of tools, pictures and texts, measured. Tokens are those of mcp/tokens.
 */
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decode } from 'jpeg-js';
import { beforeAll, describe, expect, it } from 'vitest';
import { fitting, MOST_TOKENS } from '../../../src/mcp/large-results.js';
import { checkPaths } from '../../../src/mcp/paths.js';
import { showWorstFrames } from '../../../src/mcp/pictures/worst.js';
import { describeTools, listTools } from '../../../src/mcp/server.js';
import { tokensOf } from '../../../src/mcp/tokens.js';
import { compareEncodesTool } from '../../../src/mcp/tools/compare-encodes.js';
import { describeWorstFramesTool } from '../../../src/mcp/tools/describe-worst-frames.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { listModelsTool } from '../../../src/mcp/tools/list-models.js';
import { listVideosTool } from '../../../src/mcp/tools/list-videos.js';
import { scoreBatchTool } from '../../../src/mcp/tools/score-batch.js';
import { vmafScoreEncoded } from '../../../src/mcp/tools/vmaf-score-encoded.js';
import { y4mFile } from '../../../src/sample/files.js';
import { makeSample } from '../../../src/sample/generator.js';
import { built } from '../../support/built.js';
import { file } from '../../support/clips.js';
import { call, type FakeContext, fakeContext, refused, videoFolder } from '../../support/mcp-tools.js';

describe('tokens', () => {
  // Counted by the o200k tokenizer.
  it.each([
    ['{"frameNum":12,"metrics":{"vmaf":81.234567,"integer_adm2":0.971234}}', 27],
    ['The distorted video is scaled to the reference.', 9],
    ['aaaaaaaa', 1],
    ['日本語のファイル', 6],
  ])('of %s', (text, counted) => {
    expect(tokensOf(text) / counted).toBeGreaterThan(0.75);
    expect(tokensOf(text) / counted).toBeLessThan(1.5);
  });
});

describe('the list of tools', () => {
  const list = listTools(TOOLS);

  it('has less than 12,000 tokens', () => {
    const text = JSON.stringify({ tools: list });
    console.info(
      `tools/list: ${list.length} tools, ${text.length} characters, about ${tokensOf(text)} tokens`,
    );
    expect(tokensOf(text)).toBeLessThan(12_000);
  });

  it('names every parameter that the server takes, but those that it refuses, with its type and words', () => {
    for (const [i, { name, inputSchema }] of describeTools(TOOLS).entries()) {
      const whole = Object(inputSchema.properties) as Record<string, Record<string, unknown>>;
      const listed = Object(list[i]?.inputSchema.properties) as Record<string, Record<string, unknown>>;
      const reserved = Object.keys(whole).filter((key) =>
        String(whole[key]?.description).startsWith('Reserved;'),
      );
      expect(Object.keys(listed), name).toEqual(Object.keys(whole).filter((key) => !reserved.includes(key)));
      expect(list[i]?.inputSchema.required, name).toEqual(inputSchema.required);
      for (const [key, schema] of Object.entries(listed)) {
        expect(schema.type, `${name} ${key}`).toEqual(whole[key]?.type);
        if (schema.enum) expect(schema.enum).toEqual(whole[key]?.enum);
        if (whole[key]?.default !== false) expect(schema.default).toEqual(whole[key]?.default);
      }
    }
  });

  it('shortens a description only where it says the same of every tool', () => {
    const meant = new Map<string, string[]>();
    for (const [i, { inputSchema }] of describeTools(TOOLS).entries()) {
      const whole = Object(inputSchema.properties) as Record<string, { description?: string }>;
      const listed = Object(list[i]?.inputSchema.properties) as Record<string, { description?: string }>;
      for (const [key, { description = '' }] of Object.entries(listed)) {
        const full = (whole[key]?.description ?? '').replace(/^Ours[.:] /, '').toLowerCase();
        if (description.toLowerCase() !== full) meant.set(key, [...(meant.get(key) ?? []), full]);
      }
    }
    expect(meant.size).toBeGreaterThan(20);
    for (const [key, texts] of meant) {
      const [shortest = ''] = [...texts].sort((a, b) => a.length - b.length);
      const others = texts.filter((text) => !text.startsWith(shortest.replace(/\.$/, '')));
      expect(others, `${key} is also said of`).toEqual([]);
    }
  });

  it('lists long parameters in full once, and says in the others where', () => {
    const of = (tool: string) =>
      Object(list.find(({ name }) => name === tool)?.inputSchema.properties) as Record<
        string,
        { description?: string; properties?: object }
      >;
    const full = of('vmaf_score_encoded');
    expect(Object.keys(full.filters?.properties ?? {})).toContain('crop_distorted');
    expect(Object.keys(full.range?.properties ?? {})).toEqual(['unit', 'start', 'end']);
    for (const tool of [
      'compare_encodes',
      'inspect_pair',
      'explain_score',
      'describe_worst_frames',
      'score_batch',
    ])
      expect(of(tool).filters, tool).toEqual({ type: 'object', description: 'As of vmaf_score_encoded.' });
    for (const key of ['unit', 'start', 'end'])
      expect(of('compare_encodes').range?.description).toContain(key);
    expect(Object.keys(of('find_quality').range?.properties ?? {})).toEqual(['min', 'max']);
  });

  it('names parameters as parameters, not as options of a command line', () => {
    const texts = JSON.stringify([list, describeTools(TOOLS)]);
    // A command for the user is one.
    const without = texts.replace(/'anyvmaf [\w -]+'/g, '');
    expect(without.match(/(?:^|[\s"'(])--[a-z][\w-]*/g)).toBeNull();
  });

  it('has enums and constants of strings only', () => {
    const found: unknown[] = [];
    const look = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, member] of Object.entries(value)) {
        if (key === 'const' || (key === 'enum' && Array.isArray(member))) found.push(...[member].flat());
        look(member);
      }
    };
    look([list, describeTools(TOOLS)]);
    expect(found.length).toBeGreaterThan(100);
    expect(found.filter((value) => typeof value !== 'string')).toEqual([]);
  });
});

/** Calls describe_worst_frames with the built thread. */
async function worst(args: Readonly<Record<string, unknown>>, context: FakeContext = fakeContext('/')) {
  const input = await checkPaths(describeWorstFramesTool.inputSchema.parse(args), context.files);
  const parts = {
    script: pathToFileURL(built('dist/bundle/js/picture-worker.js')),
    describer: async () => ({ modelId: null, hint: 'none here' }),
  };
  const { document, content = [] } = await showWorstFrames(
    input as Parameters<typeof showWorstFrames>[0],
    context,
    parts,
  );
  return { document, images: content.flatMap((item) => (item.type === 'image' ? [item] : [])) };
}

describe('pictures', () => {
  const clip = makeSample({ width: 480, height: 272, bitDepth: 8, chroma: '420' }, { seed: 5 });
  const pair = { ref: '', dis: '' };
  beforeAll(() => {
    pair.ref = file(videoFolder(), 'big-ref.y4m', y4mFile(clip, 'reference', 5));
    pair.dis = file(videoFolder(), 'big-dis.y4m', y4mFile(clip, 'distorted', 5));
  });

  it('of five frames take less than 700 kB together, and are still worth looking at', async () => {
    const { images } = await worst({ ...pair, min_distance: 1 });
    const bytes = images.reduce((sum, { data }) => sum + data.length, 0);
    const jpegs = images.filter(({ mimeType }) => mimeType === 'image/jpeg');
    const sides = jpegs.map(({ data }) => decode(Buffer.from(data, 'base64'), { useTArray: true }).width);
    console.info(
      `${images.length} pictures, ${bytes} characters, ${jpegs.length} JPEGs of ${Math.min(...sides)} to ${Math.max(...sides)} samples`,
    );
    expect(images).toHaveLength(20);
    expect(bytes).toBeLessThan(700_000);
    expect(jpegs.length).toBeGreaterThan(0);
    expect(Math.min(...sides)).toBeGreaterThanOrEqual(160);
  }, 120_000);

  it('may take more or less if asked', async () => {
    const size = async (images_kb: number) => {
      const { images } = await worst({ ...pair, n: 2, min_distance: 1, images_kb });
      expect(images).toHaveLength(8);
      return images.reduce((sum, { data }) => sum + data.length, 0);
    };
    expect(await size(60)).toBeLessThan(60_000);
    expect(await size(1500)).toBeGreaterThan(100_000);
  }, 120_000);
});

describe('long results', () => {
  const frames = (count: number) =>
    Array.from({ length: count }, (_, frameNum) => ({
      frameNum,
      metrics: { vmaf: 80 + (frameNum % 7) / 3 },
    }));

  it('stay as they are below 20,000 tokens', async () => {
    const context = fakeContext('/');
    const outcome = { document: { summary: 'x', frames: frames(200) } };
    expect(await fitting('vmaf_score', outcome, context.resources)).toBe(outcome);
    expect(context.published).toEqual([]);
  });

  it('become an outline with a link to the whole', async () => {
    const context = fakeContext('/');
    const document = { summary: 'It is long.', frames: frames(20_000), models: [{ name: 'vmaf' }] };
    const { document: sent, content } = await fitting('vmaf_score', { document }, context.resources);
    const outline = sent as typeof document & { left_out: string[]; full_result: { uri: string } };
    expect(tokensOf(JSON.stringify(outline))).toBeLessThanOrEqual(MOST_TOKENS);
    expect(outline).toMatchObject({ summary: 'It is long.', models: [{ name: 'vmaf' }] });
    expect(outline.frames.length).toBeGreaterThan(100);
    expect(outline.frames).toEqual(document.frames.slice(0, outline.frames.length));
    expect(outline.left_out).toEqual([`frames: the first ${outline.frames.length} of 20000 are here`]);
    expect(JSON.parse(String(context.published[0]?.data))).toEqual(document);
    expect(content).toEqual([
      expect.objectContaining({ type: 'resource_link', uri: outline.full_result.uri }),
    ]);
  });

  it('of other shapes fit as well: one long text, lists in lists, many members', async () => {
    const shapes: Record<string, unknown>[] = [
      { format: 'csv', output: 'Frame,vmaf\n1,2.5\n'.repeat(20_000) },
      {
        encodes: Array.from({ length: 4 }, () => ({
          name: 'a',
          curve: Array.from({ length: 30_000 }, (_, i) => i),
        })),
      },
      { one: [[Array.from({ length: 50_000 }, (_, i) => i)]] },
      { texts: Array.from({ length: 3000 }, (_, i) => `text number ${i} `.repeat(10)) },
      { deep: { er: { list: Array.from({ length: 100 }, () => 'z,1;'.repeat(4000)) } } },
    ];
    for (const document of shapes) {
      const { document: sent } = await fitting('tool', { document }, fakeContext('/').resources);
      expect(tokensOf(JSON.stringify(sent)), Object.keys(document)[0]).toBeLessThanOrEqual(MOST_TOKENS);
      expect((sent as { left_out: string[] }).left_out.length).toBeGreaterThan(0);
    }
  });

  it('leave an answer to a caller who asks for every frame that still fits its schema', async () => {
    const clip = makeSample({ width: 32, height: 32, bitDepth: 8, chroma: '420' }, { seed: 6 });
    const [reference_encoded, distorted_encoded] = (['reference', 'distorted'] as const).map((side) =>
      file(videoFolder(), `many-${side}.y4m`, y4mFile(clip, side, 600)),
    );
    const context = fakeContext('/');
    const outcome = await vmafScoreEncoded.call(
      { reference_encoded, distorted_encoded, detail: 'frames', preflight: false },
      context,
    );
    const sent = await fitting('vmaf_score_encoded', outcome, context.resources);
    expect(sent.document).toMatchObject({ frame_count: 600, full_result: { uri: expect.any(String) } });
    expect(vmafScoreEncoded.outputSchema.safeParse(JSON.parse(JSON.stringify(sent.document))).success).toBe(
      true,
    );
    expect(tokensOf(JSON.stringify(sent.document))).toBeLessThanOrEqual(MOST_TOKENS);
  }, 120_000);
});

describe('list_videos', () => {
  interface Listed {
    readonly folders: string[];
    readonly videos: Record<string, unknown>[];
    readonly left_out: number;
  }

  it('lists what is in the allowed folders, the newest first, and nothing that a link leads to', async () => {
    const root = join(videoFolder(), 'listed');
    const outside = join(videoFolder(), 'outside');
    for (const folder of [join(root, 'deep/er'), join(root, '.hidden'), outside])
      mkdirSync(folder, { recursive: true });
    const clip = makeSample({ width: 64, height: 48, bitDepth: 10, chroma: '420' }, { seed: 3 });
    const bytes = y4mFile(clip, 'reference', 4);
    const put = (path: string, at: number, content: Uint8Array | string = bytes) => {
      writeFileSync(path, content);
      utimesSync(path, at, at);
      return path;
    };
    const old = put(join(root, 'old.y4m'), 1e9);
    const fresh = put(join(root, 'deep/er/FRESH.Y4M'), 1.5e9);
    const raw = put(join(root, 'raw.yuv'), 1.4e9, 'abc');
    const broken = put(join(root, 'broken.mp4'), 1.3e9, 'not a video');
    put(join(root, '.hidden/secret.y4m'), 1e9);
    put(join(root, 'notes.txt'), 1e9, 'text');
    const secret = put(join(outside, 'secret.y4m'), 1.6e9);
    symlinkSync(secret, join(root, 'link.y4m'));
    symlinkSync(outside, join(root, 'linked'));
    const listed = await call<Listed>(listVideosTool, {}, fakeContext(root));
    expect(listed).toMatchObject({ folders: [root], left_out: 0, complete: true });
    expect(listed.videos.map(({ path }) => path)).toEqual([fresh, raw, broken, old]);
    const facts = { container: 'y4m', width: 64, height: 48, bit_depth: 10, frames: 4, bytes: bytes.length };
    expect(listed.videos[0]).toMatchObject({
      ...facts,
      frame_rate: expect.any(Number),
      seconds: expect.any(Number),
    });
    expect(listed.videos[1]).toMatchObject({
      note: expect.stringContaining('width, height, pixfmt and bitdepth'),
    });
    expect(listed.videos[2]?.note).toMatch(/broken\.mp4/);
    expect(listed.videos[2]?.note).not.toMatch(/ --\w/);
    const some = await call<Listed>(listVideosTool, { contains: 'fresh', details: false }, fakeContext(root));
    expect(some.videos).toEqual([{ path: fresh, bytes: bytes.length, modified: '2017-07-14T02:40:00.000Z' }]);
    const few = await call<Listed>(listVideosTool, { limit: 1, details: false }, fakeContext(root));
    expect([few.videos.length, few.left_out]).toEqual([1, 3]);
  });
});

describe('models and targets', () => {
  it('lists tiny models with the others', async () => {
    const { tiny_models } = await call<{ tiny_models: { id: string; kind: string }[] }>(
      listModelsTool,
      {},
      fakeContext('/'),
    );
    const registry = JSON.parse(
      readFileSync(new URL('../../../model/tiny/registry.json', import.meta.url), 'utf8'),
    );
    const ids = JSON.stringify(registry);
    expect(tiny_models.length).toBeGreaterThan(1);
    for (const { id, kind } of tiny_models) {
      expect(ids).toContain(`"${id}"`);
      expect(['fr', 'nr']).toContain(kind);
    }
  });

  it('gives a verdict on what was to be reached', async () => {
    const clip = makeSample({ width: 64, height: 48, bitDepth: 8, chroma: '420' }, { seed: 61 });
    const [reference_encoded, distorted_encoded] = (['reference', 'distorted'] as const).map((side) =>
      file(videoFolder(), `target-${side}.y4m`, y4mFile(clip, side, 6)),
    );
    const pair = { reference_encoded, distorted_encoded };
    const score = (target: string) => call(vmafScoreEncoded, { ...pair, target }, fakeContext('/'));
    const reached = await score('vmaf.p5>=1, psnr_y.mean>=1');
    expect(reached.target).toMatchObject({
      verdict: 'reached',
      checks: [
        { value_of: 'vmaf.p5', must_be: '>=1', reached: true },
        { value_of: 'psnr_y.mean', found: reached.pooled_metrics?.psnr_y?.mean },
      ],
    });
    const missed = await score('99');
    expect(missed.target).toMatchObject({
      verdict: 'missed',
      checks: [{ value_of: 'vmaf.mean', must_be: '>=99', reached: false }],
    });
    expect(missed.summary).toMatch(/^Target missed: vmaf\.mean>=99 missed \(\d+\.\d\d\)\. vmaf /);
    const unknown = await score('nothing.p5>=1');
    expect(unknown.target?.checks[0]).toMatchObject({
      found: null,
      reached: false,
      note: expect.stringContaining('not measured'),
    });
    expect(await refused(vmafScoreEncoded, { ...pair, target: 'good' }, fakeContext('/'))).toContain(
      'vmaf.p5>=80',
    );
    const wrong = await call(
      vmafScoreEncoded,
      { reference_encoded: distorted_encoded, distorted_encoded: reference_encoded, target: '1' },
      fakeContext('/'),
    );
    if (wrong.trust?.verdict === 'untrusted') expect(wrong.target?.verdict).toBe('untrusted');
  });

  it('gives a verdict on every encode of a comparison and of a table', async () => {
    const clip = makeSample({ width: 64, height: 48, bitDepth: 8, chroma: '420' }, { seed: 62 });
    const [reference, poor] = (['reference', 'distorted'] as const).map((side) =>
      file(videoFolder(), `verdict-${side}.y4m`, y4mFile(clip, side, 6)),
    );
    const same = file(videoFolder(), 'verdict-same.y4m', y4mFile(clip, 'reference', 6));
    const distorted = [poor, same];
    const compared = await call<{ summary: string; encodes: Record<string, unknown>[] }>(
      compareEncodesTool,
      { reference, distorted, target: 'psnr_y.min>=55, p5>=90' },
      fakeContext('/'),
    );
    expect(compared.summary.startsWith(`${same} reaches the target. 2 encodes; the best is`)).toBe(true);
    expect(compared.encodes).toMatchObject([
      { distorted: same, target: { verdict: 'reached', checks: [{ found: 60 }, { must_be: '>=90' }] } },
      { distorted: poor, target: { verdict: 'missed', checks: [{ value_of: 'psnr_y.min' }, {}] } },
    ]);
    const both = await call<{ summary: string }>(
      compareEncodesTool,
      { reference, distorted, target: '1' },
      fakeContext('/'),
    );
    expect(both.summary).toMatch(/^All reach the target\. The smallest that does is /);
    const table = await call<{ summary: string; pairs: Record<string, unknown>[] }>(
      scoreBatchTool,
      { references: [reference], distorted, target: '99.9' },
      fakeContext('/'),
    );
    expect(table.summary).toMatch(/^None reaches the target\. 2 pairs scored\./);
    expect(table.pairs.map(({ target }) => target)).toMatchObject([
      { verdict: 'missed' },
      { verdict: 'missed', checks: [{ value_of: 'vmaf.mean', must_be: '>=99.9' }] },
    ]);
    const none = await call<{ encodes: object[] }>(
      compareEncodesTool,
      { reference, distorted },
      fakeContext('/'),
    );
    expect(none.encodes[0]).not.toHaveProperty('target');
    expect(
      await refused(compareEncodesTool, { reference, distorted, target: 'good' }, fakeContext('/')),
    ).toContain('vmaf.p5>=80');
  });
});
