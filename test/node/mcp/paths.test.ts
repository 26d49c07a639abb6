/**
 * @module test/node/mcp/paths
 * Files that tools name are declared in their schemas and checked before any handler runs: no tool has a parameter that
 * names a file in another way, and none calls the engine with a path that was not checked.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../../src/core/errors.js';
import type { score } from '../../../src/mcp/checked-api.js';
import { type CheckedModel, type CheckedPath, inputPath, Unchecked } from '../../../src/mcp/paths.js';
import { defineTool, type Tool } from '../../../src/mcp/tool.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { root } from '../../support/built.js';
import { fakeContext, videoFolder } from '../../support/mcp-tools.js';

/** Parameters of any text that names no file. */
const NO_FILE = [
  'contains',
  'encoder',
  'encoders',
  'feature',
  'filters',
  'input_name',
  'pix_fmt',
  'pixel_format',
  'resolutions',
  'scale_to',
  'target',
  'targets',
  'tiny_codec',
  'tiny_preset',
];

type Schema = z.core.JSONSchema.JSONSchema;

/** Whether a parameter takes any text, by itself or in a list or an object. */
function takesText(schema: z.core.JSONSchema._JSONSchema | undefined): boolean {
  if (typeof schema !== 'object' || schema.enum || schema.const !== undefined) return false;
  const { items, properties = {}, anyOf = [] } = schema;
  const parts = [items, ...Object.values(properties), ...anyOf].flat() as (Schema | undefined)[];
  return schema.type === 'string' || parts.some(takesText);
}

/** Names of a tool's parameters that take any text, those that are declared as files and the others. */
function textParameters(tool: Pick<Tool, 'inputSchema'>) {
  const { properties = {} } = z.toJSONSchema(tool.inputSchema, { io: 'input' });
  const names = Object.keys(properties).filter((name) => takesText(properties[name]));
  const isFile = (name: string) => {
    const schema = tool.inputSchema.shape[name] as z.ZodType;
    return [schema.safeParse('x').data, schema.safeParse(['x']).data]
      .flat()
      .some((one) => one instanceof Unchecked);
  };
  return { files: names.filter(isFile), others: names.filter((name) => !isFile(name)), properties };
}

/** Arguments that fit a schema, with allowed files. */
function fitting(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'array') return [fitting(schema.items as Schema)];
  if (schema.type === 'string') return join(videoFolder(), 'allowed.json');
  return schema.minimum ?? 0;
}

/** The same tool, which only notes what its handler gets. */
function spied(tool: Tool) {
  const handler = vi.fn(async (_: unknown) => ({ document: {} }));
  return { tool: defineTool({ ...tool, handler }), handler };
}

describe('parameters that name files', () => {
  it.each(TOOLS.map((tool) => [tool.name, tool] as const))('of %s are declared', (_, tool) => {
    const { others, properties } = textParameters(tool);
    expect(others.filter((name) => !NO_FILE.includes(name))).toEqual([]);
    for (const name of others) {
      expect((properties[name] as Schema).description, name).not.toMatch(
        /\b(files?|paths?|folder|FILE)\b|\.\w+ file/,
      );
    }
  });

  it('are noticed where they are plain strings', () => {
    const inputSchema = z.object({
      table: z.string().describe('Path of a table.'),
      tables: z.array(z.string()).optional(),
      nested: z.object({ log: z.string() }).optional(),
      video: inputPath('A video.'),
      split: z.enum(['train', 'val']),
    });
    const { files, others } = textParameters({ inputSchema });
    expect(others).toEqual(['table', 'tables', 'nested']);
    expect(files).toEqual(['video']);
  });

  const declared = TOOLS.flatMap((tool) =>
    textParameters(tool).files.map((name) => [tool.name, name, tool] as const),
  );

  it.each(declared)('%s %s never brings a file outside to the handler', async (_, name, tool) => {
    const { properties, required = [] } = z.toJSONSchema(tool.inputSchema, { io: 'input' }) as Schema & {
      properties: Record<string, Schema>;
    };
    const args = Object.fromEntries(required.map((one) => [one, fitting(properties[one] as Schema)]));
    const outside = `${videoFolder()}-outside/secret.json`;
    const context = fakeContext(videoFolder());
    // Whatever is declared is asked for here; only what lies outside is refused.
    const resolveInput = async (path: string) => {
      if (path.includes('outside')) throw new AnyvmafError('io', `${path} is not allowed.`);
      return path;
    };
    const { tool: noting, handler } = spied(tool);
    const bad = /^models?$/.test(name) && tool.name !== 'eval_model_on_split' ? `path=${outside}` : outside;
    const list = properties[name]?.type === 'array';
    const call = noting.call(
      { ...args, [name]: list ? [bad] : bad },
      { ...context, files: { ...context.files, resolveInput } },
    );
    const refusal = await call.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refusal === undefined) {
      // Only lists whose items are answered one by one, each refused without a path.
      expect(list).toBe(true);
      expect(handler.mock.calls[0]?.[0]).toMatchObject({ [name]: [{ named: bad, refusal: { code: 'io' } }] });
      expect(JSON.stringify(handler.mock.calls[0])).not.toMatch(/"(path|text)":"[^"]*outside/);
    } else {
      expect(refusal).toMatchObject({ code: 'io', message: expect.stringContaining('is not allowed') });
      expect(handler).not.toHaveBeenCalled();
    }
  });

  it('are not checked where they are not read', async () => {
    const tool = TOOLS.find(({ name }) => name === 'vmaf_score_encoded') as Tool;
    const { tool: noting, handler } = spied(tool);
    const distorted_encoded = join(videoFolder(), '.');
    const args = { reference_encoded: '/outside/x', distorted_encoded, no_reference: true };
    await noting.call(args, fakeContext(videoFolder()));
    expect(handler.mock.calls[0]?.[0]).toMatchObject({ reference_encoded: { named: '/outside/x' } });
    expect(JSON.stringify(handler.mock.calls[0]?.[0])).not.toContain('"path":"/outside');
  });
});

describe('the functions that open files', () => {
  it('are called with checked paths: checked-api alone imports them', () => {
    const opening = [
      ...readFileSync(join(root, 'src/mcp/checked-api.ts'), 'utf8').matchAll(/^export const (\w+)/gm),
    ].map(([, name]) => name);
    expect(opening).toContain('score');
    const api =
      /(?:import\s+(?:type\s+)?\{([^}]*)\}\s+from|const\s+\{([^}]*)\}\s*=\s*await import\()\s*'[./]*index\.js'/g;
    const wrong = readdirSync(join(root, 'src/mcp'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const text = readFileSync(join(root, 'src/mcp', file), 'utf8');
        const names = [...text.matchAll(api)].flatMap(([, fixed = '', loaded = '']) =>
          `${fixed},${loaded}`.split(','),
        );
        const whole = /(\* as \w+ from|const \w+ = await import\()\s*'[./]*index\.js'/.exec(text)?.[0];
        if (whole !== undefined && file !== 'checked-api.ts') return [`${file}: ${whole}`];
        return names.filter((name) => opening.includes(name.trim())).map((name) => `${file}: ${name.trim()}`);
      });
    expect(wrong).toEqual([]);
  });

  it('do not take plain strings', () => {
    expectTypeOf<string>().not.toExtend<CheckedPath>();
    expectTypeOf<string>().not.toExtend<CheckedModel>();
    expectTypeOf<Parameters<typeof score>[0]['distorted']>().toEqualTypeOf<CheckedPath>();
  });
});
