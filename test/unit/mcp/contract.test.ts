/**
 * @module test/unit/mcp/contract
 * The parameters of the reference, requirements of every tool, the budget of the list of tools, manifests that agree with it,
 * pages of a report's frames, and fixes as JSON.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import type { Hint } from '../../../src/core/errors.js';
import type { Finding } from '../../../src/index.js';
import { framesOf, pageAddress, pageOf, readPageAddress } from '../../../src/mcp/frame-pages.js';
import { JOB_TOOLS } from '../../../src/mcp/jobs.js';
import { tokensOf } from '../../../src/mcp/results.js';
import { describeTools, listTools } from '../../../src/mcp/server.js';
import { TOOLS, toolsOf } from '../../../src/mcp/tools/index.js';
import { findingInParameters, type Place } from '../../../src/mcp/wording.js';
import { root } from '../../support/built.js';
import { toolNamed } from '../../support/mcp-tools.js';

/** The reference's tools, in its order. */
const REFERENCE = (
  'vmaf_score list_models list_backends run_benchmark eval_model_on_split compare_models ' +
  'describe_worst_frames probe_backend vmaf_version vmaf_score_encoded list_extractors ' +
  'describe_model'
).split(' ');

const EP = [
  ...['auto', 'cpu', 'cuda', 'openvino', 'openvino-npu', 'openvino-cpu', 'openvino-gpu', 'coreml'],
  ...['coreml-ane', 'coreml-gpu', 'coreml-cpu', 'rocm'],
  // Ours, after the reference's.
  ...['tensorrt', 'webgpu', 'directml'],
];
const whole = (minimum: number) => ({ type: 'integer', minimum });
const flag = { type: 'boolean', default: false };

/** Parameters of both scoring tools in the reference. */
const SCORING = {
  model: { type: 'string', default: 'version=vmaf_v0.6.1' },
  disable_clip: flag,
  enable_transform: flag,
  // The reference lacks webgpu and hybrid.
  backend: { enum: ['auto', 'cpu', 'cuda', 'sycl', 'hip', 'metal', 'webgpu', 'hybrid'], default: 'auto' },
  feature: { type: 'array', items: { type: 'string' } },
  aom_ctc: { enum: ['v1.0', 'v2.0', 'v3.0', 'v4.0', 'v5.0', 'v6.0', 'v7.0'] },
  nflx_ctc: { type: 'string', enum: ['v1.0'] },
  tiny_model: { type: 'string' },
  tiny_device: { enum: EP, default: 'auto' },
  dnn_ep: { enum: EP },
  tiny_threads: whole(0),
  tiny_fp16: flag,
  tiny_model_verify: flag,
  tiny_codec: { type: 'string' },
  tiny_preset: { type: 'string' },
  tiny_crf: { type: 'integer', minimum: 0, maximum: 63 },
  tiny_resize: { enum: ['bilinear', 'nearest', 'bicubic', 'disabled'], default: 'disabled' },
  no_reference: flag,
  no_prediction: flag,
  threads: whole(0),
  frame_cnt: whole(1),
  frame_skip_ref: whole(0),
  frame_skip_dist: whole(0),
  cpumask: whole(0),
  gpumask: whole(0),
  sycl_device: whole(0),
  hip_device: whole(0),
  metal_device: whole(0),
  subsample: { ...whole(1), default: 1 },
  precision: { type: 'string', default: 'legacy' },
  output_fmt: { enum: ['json', 'xml', 'csv', 'sub'], default: 'json' },
  csv: flag,
  sub: flag,
  view_distance: { type: 'number', minimum: 3, maximum: 24 },
  display_height: whole(1),
  target_width: { ...whole(0), default: 0 },
  target_height: { ...whole(0), default: 0 },
  target_scaling: { enum: ['none', 'bilinear', 'bicubic', 'lanczos'], default: 'none' },
};

const schema = (name: string) => z.toJSONSchema(toolNamed(name).inputSchema, { io: 'input' });

describe('the reference', () => {
  it('has its tools first, in its order', () => {
    expect(TOOLS.map(({ name }) => name)).toEqual([
      ...REFERENCE,
      ...[
        'compare_encodes',
        'inspect_pair',
        'find_alignment',
        'explain_score',
        'find_quality',
        'run_compare',
      ],
      ...['run_ladder', 'run_tune_per_shot', 'list_videos', 'score_batch'],
      ...['job_start', 'job_status', 'job_result', 'job_cancel', 'list_jobs', 'list_live'],
    ]);
  });

  it('has its parameters in vmaf_score, and only the bit depths of raw video', () => {
    const { properties, required } = schema('vmaf_score');
    expect(properties).toMatchObject({
      ref: { type: 'string' },
      dis: { type: 'string' },
      width: whole(1),
      height: whole(1),
      pixfmt: { enum: ['420', '422', '444'] },
      // Not an enum of numbers, which some hosts refuse: the server accepts 8, 10, 12 and 16 only.
      bitdepth: { ...whole(8), maximum: 16 },
      ...SCORING,
    });
    // ref is required unless no_reference is set.
    expect(required).toEqual(['dis', 'width', 'height', 'pixfmt', 'bitdepth']);
    const { inputSchema } = toolNamed('vmaf_score');
    const pair = { ref: 'a', dis: 'b', width: 64, height: 64, pixfmt: '420' };
    const all = Array.from({ length: 20 }, (_, bitdepth) => bitdepth);
    const taken = all.filter((bitdepth) => inputSchema.safeParse({ ...pair, bitdepth }).success);
    expect(taken).toEqual([8, 10, 12, 16]);
    const refused = inputSchema.safeParse({ ...pair, bitdepth: 14 });
    expect(refused.error?.issues[0]?.message).toContain('8, 10, 12 or 16');
  });

  it('has its parameters in vmaf_score_encoded and the others', () => {
    const { properties, required } = schema('vmaf_score_encoded');
    const encoded = { reference_encoded: { type: 'string' }, distorted_encoded: { type: 'string' } };
    expect(properties).toMatchObject({ ...encoded, ...SCORING });
    expect(required).toEqual(['distorted_encoded']);
    for (const name of ['list_models', 'list_backends', 'vmaf_version'])
      expect(schema(name).properties, name).toEqual({});
    // This one is ours.
    expect(Object.keys(schema('list_extractors').properties ?? {})).toEqual(['name']);
    expect(schema('list_extractors').required).toBeUndefined();
    const split = {
      features: { type: 'string' },
      split: { enum: ['train', 'val', 'test', 'all'], default: 'test' },
      input_name: { type: 'string', default: 'features' },
    };
    const backend = { enum: ['cpu', 'cuda', 'sycl', 'hip', 'metal', 'webgpu', 'hybrid'] };
    const text = { type: 'string' };
    const numbers = { type: 'array', items: { type: 'number' } };
    const above0 = { type: 'number', exclusiveMinimum: 0 };
    const yuv = { width: whole(1), height: whole(1), framerate: above0, pix_fmt: text };
    const pair = { ref: text, dis: text, width: whole(1), height: whole(1), model: SCORING.model };
    const layout = { pixfmt: { enum: ['420', '422', '444'] }, bitdepth: { ...whole(8), maximum: 16 } };
    const format = (...others: string[]) => ({ enum: ['json', ...others], default: 'json' });
    const shots = { encoder: text, scene_threshold: above0, output: text, format: format('shell', 'csv') };
    const tiers = { quality_tiers: whole(1), spacing: { default: 'log_bitrate' } };
    const rungs = { resolutions: { type: 'array', items: text }, target_vmafs: numbers, ...tiers };
    const codecs = { encoders: { type: 'array', items: text }, no_parallel: flag };
    const both = { target_vmaf: { type: 'number' }, target_vmafs: numbers };
    for (const [name, properties, required] of [
      ['probe_backend', { backend }, ['backend']],
      ['describe_model', { name: text }, ['name']],
      ['eval_model_on_split', { model: text, ...split }, ['model', 'features']],
      ['compare_models', { models: { type: 'array', minItems: 1 }, ...split }, ['models', 'features']],
      [
        'describe_worst_frames',
        { ...pair, ...layout, backend: SCORING.backend, n: { ...whole(1), maximum: 32, default: 5 } },
        ['ref', 'dis'],
      ],
      ['run_compare', { src: text, ...both, ...codecs, ...yuv }, ['src']],
      [
        'run_ladder',
        { src: text, ...rungs, encoder: text, format: format('hls', 'dash'), ...yuv },
        ['src', 'resolutions'],
      ],
      ['run_tune_per_shot', { src: text, target_vmaf: { type: 'number' }, ...shots, ...yuv }, ['src']],
    ] as const)
      expect(schema(name)).toMatchObject({ properties, required });
  });

  it.each([
    ['vmaf_score', 'version pooled_metrics backend_requested backend_used mismatched_model_warning'],
    ['list_models', 'models.name models.path models.format models.size_bytes'],
    ['list_backends', 'cpu cuda sycl hip metal'],
    ['run_benchmark', 'exit_code stdout stderr'],
    ['eval_model_on_split', 'model features split n plcc srocc rmse columns'],
    ['compare_models', 'ranked.model ranked.features ranked.split ranked.n ranked.plcc ranked.srocc'],
    ['compare_models', 'ranked.rmse ranked.columns errors.model errors.error'],
    ['describe_worst_frames', 'model_id frames.frame_index frames.vmaf frames.png frames.description'],
    ['probe_backend', 'backend compiled_in runtime_healthy latency_ms score error'],
    ['vmaf_version', 'binary_path version build_flags.cpu build_flags.metal error'],
    ['vmaf_score_encoded', 'pooled_metrics backend_used reference_encoded distorted_encoded'],
    ['list_extractors', 'extractors.name extractors.backend extractors.source'],
    ['describe_model', 'name path format size_bytes model_type feature_names'],
    ['run_compare', 'schema_version src target_vmaf target_vmafs tool_version wall_time_ms rows.codec'],
    ['run_compare', 'rows.encoder_version rows.best_crf rows.bitrate_kbps rows.encode_time_ms'],
    ['run_compare', 'rows.vmaf_score rows.target_vmaf rows.ok rows.error'],
    ['run_ladder', 'format manifest'],
    ['run_tune_per_shot', 'shots.start_frame shots.end_frame shots.crf shots.predicted_vmaf'],
    ['run_tune_per_shot', 'shots.bitrate_kbps'],
  ])('has its keys in the answers of %s: %s', (name, keys) => {
    const answer = z.toJSONSchema(toolNamed(name).outputSchema, { io: 'output' });
    for (const key of keys.split(' ')) {
      const [whole = '', part] = key.split('.');
      const { properties, items } = Object(answer.properties?.[whole]);
      expect(Object.keys(answer.properties ?? {}), key).toContain(whole);
      if (part !== undefined) expect(Object.keys(properties ?? items.properties), key).toContain(part);
    }
  });
});

describe('every tool', () => {
  it.each(TOOLS)('$name describes itself', ({ name, title, description, annotations }) => {
    expect(name).toMatch(/^[a-z_]{3,64}$/);
    expect(title.length).toBeGreaterThan(3);
    expect(description.length).toBeGreaterThan(80);
    const hints = { readOnlyHint: expect.any(Boolean), openWorldHint: expect.any(Boolean) };
    expect(annotations).toMatchObject(hints);
  });

  it.each(TOOLS)('$name has a result that clients of 2025 can validate', ({ outputSchema }) => {
    const text = JSON.stringify(z.toJSONSchema(outputSchema, { io: 'output' }));
    // They use draft 7, which has no tuples by prefixItems.
    expect(text).not.toContain('prefixItems');
    expect(text).toMatch(/"type":"object"/);
  });
});

describe('the list of tools', () => {
  const list = listTools(TOOLS);

  it('has less than 13,000 tokens of four characters', () => {
    const text = JSON.stringify({ tools: list });
    const size = `${text.length} characters, about ${tokensOf(text)} tokens`;
    console.info(`tools/list: ${list.length} tools, ${size}`);
    expect(text.length / 4).toBeLessThan(13_000);
  });

  const sets = ['score', 'raw', 'explain', 'encode', 'models', 'live', 'machine'];
  const manual = readFileSync(join(root, 'docs/mcp.md'), 'utf8');
  it.each(sets)(
    'of the set %s is as documented, with the tools of jobs, in less than 5,000 tokens',
    (set) => {
      const tools = toolsOf(set);
      expect(JSON.stringify({ tools: listTools(tools) }).length / 4).toBeLessThan(5000);
      const [, row = ''] = new RegExp(`^\\| \`${set}\` \\| (.*) \\|$`, 'm').exec(manual) ?? [];
      const documented = row.split(', ').map((name) => name.slice(1, -1));
      expect(tools.map(({ name }) => name).sort()).toEqual([...documented, ...JOB_TOOLS].sort());
    },
  );

  it('of several sets has each tool once, in order; every tool is in a set; an unknown set is refused', () => {
    const names = toolsOf('encode,score, encode').map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['list_models', 'vmaf_score_encoded', 'list_extractors']);
    expect(new Set(names).size).toBe(names.length);
    expect(toolsOf(sets.join())).toEqual(TOOLS);
    expect(() => toolsOf('score,quality')).toThrow(
      `--tools is "score,quality", but "quality" is not a set of tools; available: ${sets.join(', ')}.`,
    );
    expect(() => toolsOf('constructor')).toThrow(/is not a set/);
  });

  it('has every parameter of the server but second names, without constraints that refuse little', () => {
    const spare = /^(m..(Length|Items)|propertyNames|pattern)$/;
    const shortened = ({ additionalProperties, ...schema }: Readonly<Record<string, unknown>>) => ({
      ...JSON.parse(
        JSON.stringify(schema, (key, value) =>
          spare.test(key) || (value === false && /^(additionalProperties|default)$/.test(key))
            ? undefined
            : value,
        ),
      ),
      additionalProperties,
    });
    const unlisted: string[] = [];
    for (const [i, { name, inputSchema }] of describeTools(TOOLS).entries()) {
      const all = Object.entries(Object(inputSchema.properties) as Record<string, { description?: string }>);
      const listed = Object.keys(Object(list[i]?.inputSchema.properties));
      const isListed = (parameter: string) => listed.includes(parameter);
      unlisted.push(...all.flatMap(([parameter]) => (isListed(parameter) ? [] : [parameter])));
      const properties = Object.fromEntries(all.filter(([parameter]) => isListed(parameter)));
      expect(list[i]?.inputSchema, name).toEqual(shortened({ ...inputSchema, properties }));
    }
    const twice = ['csv', 'dnn_ep', 'sub', 'target_height', 'target_scaling', 'target_width'];
    expect(unlisted.sort()).toEqual(twice.flatMap((name) => [name, name]));
  });

  it('describes every parameter', () => {
    for (const { name, inputSchema } of describeTools(TOOLS)) {
      const parameters = Object(inputSchema.properties) as Record<string, { description?: string }>;
      for (const [key, { description = '' }] of Object.entries(parameters)) {
        expect(description.split(' ').length, `${name} ${key}: ${description}`).toBeGreaterThan(1);
        expect(description, `${name} ${key}`).toMatch(/^(Of|As) /.test(description) ? /^$/ : /\.$/);
      }
    }
  });

  it('names parameters as parameters, not as options of a command line', () => {
    const texts = JSON.stringify([list, describeTools(TOOLS)]);
    // Commands for the user do have options.
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

describe('manifests', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const manifest = read('package.json');

  it('server.json names the package, its version and the serving command', () => {
    const server = read('server.json');
    expect(server.name).toBe(manifest.mcpName);
    expect(server.version).toBe(manifest.version);
    expect(server.description.length).toBeLessThanOrEqual(100);
    const [entry] = server.packages;
    const { name: identifier, version } = manifest;
    expect(entry).toMatchObject({ registryType: 'npm', identifier, version, transport: { type: 'stdio' } });
    expect(entry.packageArguments[0]).toMatchObject({ type: 'positional', value: 'mcp' });
  });

  it('server.json and the manifest of the bundle follow their schemas, without unknown keys', () => {
    const word = z.string().min(1);
    const input = {
      description: word.optional(),
      format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
      isRequired: z.boolean().optional(),
    };
    const argument = z.union([
      z.strictObject({ ...input, type: z.literal('positional'), value: word, valueHint: word }),
      z.strictObject({ ...input, type: z.literal('named'), name: word, isRepeated: z.boolean() }),
    ]);
    const registry = z.strictObject({
      $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
      name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
      ...{ title: word.max(100), description: word.max(100), version: word.max(255) },
      packages: z.array(
        z.strictObject({
          ...{ registryType: word, identifier: word, version: word },
          transport: z.strictObject({ type: z.enum(['stdio', 'streamable-http', 'sse']) }),
          packageArguments: z.array(argument),
          environmentVariables: z.array(z.strictObject({ ...input, name: word })),
        }),
      ),
    });
    const bundle = z.strictObject({
      manifest_version: z.literal('0.3'),
      ...{ name: word, display_name: word, version: word, description: word, long_description: word },
      ...{ author: z.strictObject({ name: word }), license: word, keywords: z.array(word) },
      server: z.strictObject({
        ...{ type: z.enum(['node', 'python', 'binary']), entry_point: word },
        mcp_config: z.strictObject({ command: word, args: z.array(word), env: z.record(word, z.string()) }),
      }),
      tools: z.array(z.strictObject({ name: word, description: word })),
      prompts_generated: z.literal(true),
      compatibility: z.strictObject({ runtimes: z.strictObject({ node: word }) }),
      user_config: z.record(
        word,
        z.strictObject({
          type: z.enum(['string', 'number', 'boolean', 'directory', 'file']),
          ...{ title: word, description: word, multiple: z.boolean(), required: z.boolean() },
        }),
      ),
    });
    expect(registry.safeParse(read('server.json')).error).toBeUndefined();
    expect(bundle.safeParse(read('mcpb/manifest.json')).error).toBeUndefined();
    expect(read('mcpb/manifest.json').compatibility.runtimes.node).toBe(manifest.engines.node);
  });

  it('the bundle starts the installed command on the chosen folders, and names every tool', () => {
    const bundle = read('mcpb/manifest.json');
    expect(bundle.version).toBe(manifest.version);
    expect(bundle.license).toBe(manifest.license);
    expect(bundle.server.entry_point).toBe(`node_modules/${manifest.name}/${manifest.bin.anyvmaf}`);
    const { args } = bundle.server.mcp_config;
    const main = `\${__dirname}/${bundle.server.entry_point}`;
    expect(args).toEqual([main, 'mcp', `\${user_config.allowed_directories}`]);
    expect(bundle.user_config.allowed_directories).toMatchObject({ type: 'directory', multiple: true });
    expect(bundle.tools).toEqual(TOOLS.map(({ name, title }) => ({ name, description: title })));
  });
});

const frames = Array.from({ length: 20_000 }, (_, n) => ({
  ...{ frameNum: n, metrics: { vmaf: n % 100, psnr_y: 40 } },
}));
const ADDRESS = 'anyvmaf://results/a-1/frames';
const text = (query: string, of: object = { frames }) => {
  const page = readPageAddress(`${ADDRESS}${query}`);
  if (!page) throw new Error('no page');
  const report = framesOf(JSON.stringify(of));
  if (!report) throw new Error('no frames');
  return pageOf(report, page);
};
const read = (query: string, of?: object) => JSON.parse(text(query, of));

describe('a page of frames', () => {
  it('has the first hundred by default, and links to the rest', () => {
    const page = read('');
    const columns = ['frame', 'vmaf', 'psnr_y'];
    expect(page).toMatchObject({ frames: 20_000, first: 0, last: 19_999, columns });
    expect(page.rows).toHaveLength(100);
    expect(page.rows[7]).toEqual([7, 7, 40]);
    expect(page.next).toBe(`${ADDRESS}?from=100`);
    expect(JSON.stringify(page).length).toBeLessThan(5000);
    let [seen, next] = [0, '?metric=vmaf&from=0&to=19999&step=10'];
    while (next) {
      const { rows, next: after } = read(next);
      seen += rows.length;
      next = after?.replace(ADDRESS, '');
    }
    expect(seen).toBe(2000);
  });

  it('has the requested frames and metrics, also as CSV', () => {
    const page = read('?metric=psnr_y&from=5&to=9&step=2');
    expect(page).toMatchObject({ columns: ['frame', 'psnr_y'], next: null });
    expect(page.rows.join(' ')).toBe('5,40 7,40 9,40');
    const subsampled = { frames: frames.filter(({ frameNum: n }) => n % 5 === 0) };
    expect(read('?metric=vmaf&from=1&to=24&step=5', subsampled).rows.join(' ')).toBe('5,5 10,10 15,15 20,20');
    expect(read('?metric=vmaf&to=30&step=7', subsampled).rows.join(' ')).toBe('0,0 10,10 15,15 25,25 30,30');
    expect(text('?metric=vmaf&from=5&to=6&format=csv')).toBe('frame,vmaf\n5,5\n6,6\n');
    const next = `# next: ${ADDRESS}?metric=vmaf&from=100&format=csv`;
    expect(text('?metric=vmaf&format=csv').split('\n').slice(-2)).toEqual([next, '']);
  });

  it('has seconds of the reference with the mean, minimum and maximum of each', () => {
    const film = { frames, reference: { frame_rate: '25/1', skipped: 10 } };
    const page = read('?metric=vmaf&format=seconds', film);
    expect(page.columns).toEqual(['second', 'frame', 'vmaf', 'vmaf_min', 'vmaf_max']);
    // The first second has 15 frames: 0 to 14.
    expect(page.rows.slice(0, 2)).toEqual([
      [0, 0, 7, 0, 14],
      [1, 15, 27, 15, 39],
    ]);
    expect(page.rows).toHaveLength(100);
    expect(read(page.next.replace(ADDRESS, ''), film).rows[0][0]).toBe(100);
    const ntsc = { frames, reference: { frame_rate: '30000/1001' } };
    // Frame 30 is at 1.001 s.
    expect(read('?metric=vmaf&from=0&to=59&format=seconds', ntsc).rows).toEqual([
      [0, 0, 14.5, 0, 29],
      [1, 30, 44.5, 30, 59],
    ]);
  });

  it('has seconds of the encode where its frames are scored', () => {
    const rates = { reference: { frame_rate: '50/1', skipped: 20 }, distorted: { frame_rate: '25/1' } };
    const byEncode = { frames, ...rates, pairing: { frames: { by: 'distorted', policy: 'nearest' } } };
    // 20 frames of the reference are 10 pairs.
    expect(read('?metric=vmaf&format=seconds', byEncode).rows.slice(0, 2)).toEqual([
      [0, 0, 7, 0, 14],
      [1, 15, 27, 15, 39],
    ]);
    const alone = { frames, reference: {}, distorted: { frame_rate: '25/1' }, no_reference: true };
    expect(read('?metric=vmaf&format=seconds', alone).rows[1]).toEqual([1, 25, 37, 25, 49]);
  });

  it.each([
    ['?metric=nope', 'unknown metric "nope"; this report has vmaf, psnr_y'],
    ['?from=9&to=3', 'from must not come after to'],
    ['?step=0', 'step is "0", but it must be a whole number from 1'],
    ['?frames=3', 'unknown query parameter "frames"; available: metric, from, to, step, format.'],
    ['?format=xml', 'format is "xml", but it must be one of json, csv, seconds'],
    ['?format=seconds', 'the frame rate of this report is unknown; use step.'],
  ])('is refused: %s', (query, sentence) => expect(() => read(query)).toThrow(sentence));

  it('exists at its own addresses only, and addresses are read as they are written', () => {
    expect(readPageAddress('anyvmaf://results/a-1/report.json')).toBeUndefined();
    expect(readPageAddress('anyvmaf://results/../frames')).toBeUndefined();
    const page = { id: 'a', metrics: ['x', 'y'], from: 1, to: 2, step: 3 };
    expect(readPageAddress(pageAddress(page))).toEqual(page);
    expect(framesOf('{"frames": 3}')).toBeUndefined();
  });
});

describe('the fix of a finding', () => {
  const crop = (side: 'Reference' | 'Distorted') =>
    ({ purpose: 'fix', option: `crop${side}`, value: '640:272:0:44' }) as const;
  const fixOf = (hint: Hint, place?: Place, skipped?: Parameters<typeof findingInParameters>[2]) => {
    const finding = { code: 'borders', severity: 'warning', message: 'x', hint } as unknown as Finding;
    return findingInParameters(finding, place, skipped).fix ?? '';
  };

  it.each<[Hint, object]>([
    [
      { purpose: 'prepare', commands: [], instead: [crop('Reference'), crop('Distorted')] },
      { filters: { crop_reference: '640:272:0:44', crop_distorted: '640:272:0:44' } },
    ],
    [{ purpose: 'fix', option: 'offset', value: 12 }, { offset: 12 }],
    [{ purpose: 'fix', option: 'features', value: 'cvvdp' }, { feature: ['cvvdp'] }],
    [{ purpose: 'fix', option: 'allowDamaged', value: true }, { allow_damaged: true }],
    [{ purpose: 'fix', option: 'scaleTo', value: { width: 640, height: 360 } }, { scale_to: '640x360' }],
    [
      { purpose: 'fix', option: 'swap', value: { reference: 'a b', distorted: 'c' } },
      { reference: 'a b', distorted: 'c' },
    ],
  ])('is JSON of arguments: %j', (hint, args) => expect(JSON.parse(fixOf(hint))).toEqual(args));

  it('names its tool, and asks the user to accept', () => {
    const deinterlace = { purpose: 'fix', option: 'deinterlace', value: true } as const;
    expect(fixOf(deinterlace, 'stored')).toBe('{"filters":{"deinterlace":true}} to vmaf_score_encoded');
    expect(fixOf({ purpose: 'fix', option: 'offset', value: -3 }, 'raw')).toBe('{"frame_skip_dist":3}');
    // An offset counts from the frames that the call skips.
    const skipped = { reference: 3, distorted: 1 };
    const later = { purpose: 'fix', option: 'offset', value: 2 } as const;
    expect(fixOf(later, 'raw', skipped)).toBe('{"frame_skip_ref":5}');
    expect(fixOf({ ...later, value: -2 }, 'stored', skipped)).toBe('{"frame_skip_dist":3}');
    expect(fixOf({ purpose: 'fix', option: 'window', value: 200 })).toBe('{"window":200} to find_alignment');
    const accepted = fixOf({ purpose: 'accept', option: 'scale', value: 'bicubic' });
    expect(accepted).toBe('to accept, pass {"scale":"bicubic"}');
  });
});
