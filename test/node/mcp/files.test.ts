/**
 * @module test/node/mcp/files
 * Tools reach files under the allowed roots and nothing else: schemas declare paths, which are checked before any handler
 * runs, and messages tell nothing about what lies outside.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../../src/core/errors.js';
import { AllowedPaths, NotAllowedError } from '../../../src/files/allowed-paths.js';
import { isInside } from '../../../src/files/checked-file.js';
import type { score } from '../../../src/mcp/checked-api.js';
import { findRoots, HOW_TO_ALLOW, splitRoots } from '../../../src/mcp/files.js';
import { type CheckedModel, type CheckedPath, inputPath, Unchecked } from '../../../src/mcp/paths.js';
import { defineTool, type Tool } from '../../../src/mcp/tool.js';
import { TOOLS } from '../../../src/mcp/tools/index.js';
import { root } from '../../support/built.js';
import { testFolder } from '../../support/folders.js';
import { fakeContext, videoFolder } from '../../support/mcp-tools.js';
import { seeded } from '../../support/random.js';

const posix = process.platform !== 'win32';

const home = testFolder('files');
const allowing = (folders: readonly string[], cwd: string) => new AllowedPaths(folders, cwd, HOW_TO_ALLOW);
const at = (...parts: string[]) => join(home, ...parts);

for (const folder of ['data', 'data/inner', 'database', 'elsewhere']) mkdirSync(at(folder));
for (const file of ['data/a.yuv', 'data/inner/b.yuv', 'database/c.yuv', 'elsewhere/secret.yuv'])
  writeFileSync(at(file), 'x');
symlinkSync(at('data/a.yuv'), at('data/link-in'));
symlinkSync(at('elsewhere/secret.yuv'), at('data/link-out'));
symlinkSync(at('elsewhere'), at('data/folder-out'));
symlinkSync(at('elsewhere/nothing'), at('data/dangling-out'));
symlinkSync(at('data/loop'), at('data/loop'));
symlinkSync(at('data'), at('way-in'));
const files = allowing([at('data')], at('data'));

const refused = /is not under an allowed folder; start the server with --allow DIR, or set ANYVMAF_MCP_ALLOW/;

describe('input files', () => {
  it('are found by absolute and relative paths, and through links that stay inside', async () => {
    for (const [path, found] of [
      [at('data/a.yuv'), 'a.yuv'],
      ['inner/b.yuv', 'inner/b.yuv'],
      ['inner/../a.yuv', 'a.yuv'],
      [at('data/link-in'), 'a.yuv'],
      [at('way-in/a.yuv'), 'a.yuv'],
    ] as const)
      expect(await files.resolveInput(path)).toBe(at('data', found));
  });

  it.each(
    (
      'elsewhere/secret.yuv database/c.yuv data/../elsewhere/secret.yuv data/link-out ' +
      'data/folder-out/secret.yuv data/dangling-out data/loop .. .'
    ).split(' '),
  )('are refused outside: %s', async (path) => {
    const refusal = files.resolveInput(at(path));
    await expect(refusal).rejects.toThrow(refused);
    await expect(refusal).rejects.toBeInstanceOf(NotAllowedError);
  });

  it('outside are refused with the same message whether they exist or not', async () => {
    const told = async (path: string) => {
      const error = await files.resolveInput(path).catch((reason: unknown) => reason);
      return error instanceof Error ? error.message.replace(JSON.stringify(path), 'PATH') : 'allowed';
    };
    const there = await told(at('elsewhere/secret.yuv'));
    for (const other of ['elsewhere/nothing.yuv', 'elsewhere', 'elsewhere/secret.yuv/below'])
      expect(await told(at(other))).toBe(there);
    // Also through a link that leads out.
    for (const name of ['secret.yuv', 'nothing.yuv'])
      expect(await told(at('data/folder-out', name))).toBe(there);
  });

  it('named without a folder are looked up in all allowed ones, and refused if ambiguous', async () => {
    for (const folder of ['one', 'two', 'cwd', 'cwd/inner']) mkdirSync(at(folder), { recursive: true });
    for (const file of ['one/m.mkv', 'one/both.mkv', 'two/both.mkv', 'cwd/own.mkv', 'cwd/inner/n.mkv'])
      writeFileSync(at(file), 'x');
    const several = allowing([at('one'), at('two')], at('cwd'));
    for (const name of ['m.mkv', './m.mkv']) expect(await several.resolveInput(name)).toBe(at('one/m.mkv'));
    await expect(several.resolveInput('both.mkv')).rejects.toThrow(
      `"both.mkv" may be in several allowed folders; give the whole path, "${at('one/both.mkv')}" or "${at('two/both.mkv')}"`,
    );
    await expect(several.resolveInput('nothing.mkv')).rejects.toThrow('"nothing.mkv" does not exist');
    const none = /does not exist|not under an allowed folder/;
    for (const outside of ['own.mkv', '../cwd/own.mkv', '../elsewhere/secret.yuv'])
      await expect(several.resolveInput(outside)).rejects.toThrow(none);
    await expect(several.resolveOutput('made.mkv')).rejects.toThrow(
      `"made.mkv" may be in several allowed folders; give the whole path, "${at('one/made.mkv')}" or "${at('two/made.mkv')}"`,
    );
    const one = allowing([at('one')], at('cwd'));
    expect(await one.resolveOutput('made.mkv')).toBe(at('one/made.mkv'));
    await expect(one.resolveOutput('../made.mkv')).rejects.toThrow(refused);
  });

  it('are refused while their folder is gone', async () => {
    mkdirSync(at('moving'));
    writeFileSync(at('moving/a'), 'x');
    const own = allowing([at('moving')], home);
    renameSync(at('moving'), at('moved'));
    const refusal = own.resolveInput(at('moving/a'));
    await expect(refusal).rejects.toThrow(refused);
    await expect(refusal).rejects.not.toBeInstanceOf(NotAllowedError);
    renameSync(at('moved'), at('moving'));
    expect(await own.resolveInput(at('moving/a'))).toBe(at('moving/a'));
  });

  it.runIf(posix)('may be given as file: URLs', async () => {
    writeFileSync(at('data/with space.yuv'), 'x');
    expect(await files.resolveInput(`file://${at('data/with%20space.yuv')}`)).toBe(at('data/with space.yuv'));
    expect(await files.resolveInput(`FILE://localhost${at('data/a.yuv')}`)).toBe(at('data/a.yuv'));
    for (const outside of [at('elsewhere/secret.yuv'), `${at('data')}/%2e%2e/elsewhere/secret.yuv`])
      await expect(files.resolveInput(`file://${outside}`)).rejects.toThrow(refused);
    for (const address of ['file://elsewhere/a.yuv', `file://${at('data')}%2Fa.yuv`, 'file:///a%00b'])
      await expect(files.resolveInput(address)).rejects.toThrow(/is not the address of a file|NUL|not under/);
  });

  it('that are missing, folders or have impossible names are refused for that reason', async () => {
    for (const [path, message] of [
      ['nothing.yuv', '"nothing.yuv" does not exist'],
      ['a.yuv/below', 'does not exist'],
      [`${'n'.repeat(300)}.yuv`, 'does not exist'],
      [at('data/inner'), 'is a folder, but a file is needed'],
      ['', 'a path is empty'],
      ['  ', 'a path is empty'],
      ['a.yuv\0.png', 'contains a NUL character'],
    ] as const)
      await expect(files.resolveInput(path)).rejects.toThrow(message);
    const long = await files.resolveInput('x/'.repeat(500_000)).catch((error: Error) => error.message);
    expect(long).toContain('a path of 1000000 characters is too long');
    expect(String(long).length).toBeLessThan(400);
  });

  it.runIf(posix)('are never FIFOs, sockets or devices, and no check waits for a writer', async () => {
    execFileSync('mkfifo', [at('data/fifo')]);
    await expect(files.resolveInput('fifo')).rejects.toThrow('is not a regular file');
    const server = createServer().listen(at('data/socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(files.resolveInput('socket')).rejects.toThrow('is not a regular file');
    await new Promise((resolve) => server.close(resolve));
    const devices = allowing(['/dev'], '/');
    await expect(devices.resolveInput('/dev/zero')).rejects.toThrow('is not a regular file');
    for (const device of ['/dev/zero', '/dev/stdin', '/proc/self/environ'])
      await expect(files.resolveInput(device)).rejects.toThrow(refused);
  });

  it('are compared case-sensitively on file systems that are case-sensitive', () => {
    expect(isInside('/data', '/DATA/a', false)).toBe(false);
    expect(isInside('/data', '/DATA/a', true)).toBe(true);
  });

  it('may be given as a URI of the server itself', async () => {
    const results = new Map([
      ['anyvmaf://a', at('data/a.yuv')],
      ['anyvmaf://out', at('elsewhere/secret.yuv')],
    ]);
    const find = async (uri: string) => results.get(uri);
    const own = new AllowedPaths([at('data')], at('data'), HOW_TO_ALLOW, find);
    expect(await own.resolveInput('anyvmaf://a')).toBe(at('data/a.yuv'));
    // The URI does not widen what is allowed.
    await expect(own.resolveInput('anyvmaf://out')).rejects.toThrow(refused);
    await expect(own.resolveInput('anyvmaf://other')).rejects.toThrow('does not exist');
  });

  it('never lie outside, for a thousand random paths', async () => {
    const random = seeded(0x66696c65);
    const parts = ' .. . data inner elsewhere secret.yuv a.yuv folder-out link-out ~'.split(' ');
    for (let i = 0; i < 1000; i++) {
      const names = Array.from({ length: random.int(1, 7) }, () => random.pick(parts));
      const path = names.join(random.pick(['/', '//']));
      const start = random.pick(['', '/', `${home}/`, `${at('data')}/`]);
      const real = await files.resolveInput(start + path).catch(() => undefined);
      if (real !== undefined) expect(real, `seed ${random.seed}: ${start + path}`).toMatch(`${at('data')}/`);
    }
  });
});

describe('output files', () => {
  it('may be new or replace a regular file in a folder that exists, and are not created by the check', async () => {
    expect(await files.resolveOutput('new.json')).toBe(at('data/new.json'));
    expect(await files.resolveOutput(at('data/a.yuv'))).toBe(at('data/a.yuv'));
    await expect(files.resolveOutput('nowhere/new.json')).rejects.toThrow('does not exist; create it first');
    await expect(files.resolveOutput('inner')).rejects.toThrow('is a folder');
    for (const path of ['inner/', 'inner/.', 'inner/..'])
      await expect(files.resolveOutput(path)).rejects.toThrow('is not the name of a file to write');
    await files.resolveOutput('untouched.json');
    expect(() => readFileSync(at('data/untouched.json'))).toThrow('ENOENT');
  });

  it.each(
    'elsewhere/new.json data/folder-out/new.json data/link-out data/dangling-out data/../new'.split(' '),
  )('are refused outside: %s', async (path) => {
    await expect(files.resolveOutput(at(path))).rejects.toThrow(refused);
  });
});

describe('roots', () => {
  it('are split at colons and semicolons, in Windows not after the letter of a drive', () => {
    expect(splitRoots('/a:/b;/c::', false)).toEqual(['/a', '/b', '/c']);
    expect(splitRoots('C:\\a;D:/b', true)).toEqual(['C:\\a', 'D:/b']);
    expect(splitRoots('C:\\a:D:\\b:e', true)).toEqual(['C:\\a', 'D:\\b', 'e']);
    expect(splitRoots('', true)).toEqual([]);
  });

  it('come from the command line and both variables, and default to the working directory', async () => {
    const env = { ANYVMAF_MCP_ALLOW: `${at('data')}:${at('nowhere')}`, VMAF_MCP_ALLOW: at('database') };
    const found = await findRoots({ allow: ['elsewhere'], env, cwd: home });
    expect(found.folders).toEqual([at('elsewhere'), at('data'), at('database')]);
    expect(found.warnings).toEqual([expect.stringContaining('nowhere')]);
    expect((await findRoots({ allow: [], env: {}, cwd: at('way-in') })).folders).toEqual([at('data')]);
  });

  it('do not include a whole file system by default, and must exist', async () => {
    const { folders, warnings } = await findRoots({ allow: [], env: {}, cwd: '/' });
    expect(folders).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('no folder is allowed')]);
    expect((await findRoots({ allow: ['/'], env: {}, cwd: '/' })).folders).toEqual(['/']);
    const found = findRoots({ allow: [at('data/a.yuv')], env: {}, cwd: home });
    await expect(found).rejects.toThrow('is not a readable folder');
  });
});

/** Text parameters that do not name a file. */
const NO_FILE = (
  'contains encoder encoders feature filters input_name job_id metric name pix_fmt ' +
  'pixel_format precision resolutions scale_to target targets tiny_codec tiny_preset tool'
).split(' ');

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

/** The same tool with a handler that only records its input. */
function spied(tool: Tool) {
  const handler = vi.fn(async (_: unknown) => ({ document: {} }));
  return { tool: defineTool({ ...tool, handler }), handler };
}

describe('parameters that name files', () => {
  it.each(TOOLS.map((tool) => [tool.name, tool] as const))('of %s are declared', (_, tool) => {
    const { others, properties } = textParameters(tool);
    expect(others.filter((name) => !NO_FILE.includes(name))).toEqual([]);
    const file = /\b(files?|paths?|folder|FILE)\b|\.\w+ file/;
    for (const name of others) expect((properties[name] as Schema).description, name).not.toMatch(file);
  });

  it('are detected if they are plain strings', () => {
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
    // Declared paths are resolved here; only those outside are refused.
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
    const refusal = await call.then(() => {}).catch((error: unknown) => error);
    if (refusal === undefined) {
      // Only lists with an answer for each item, each refused without a path.
      expect(list).toBe(true);
      expect(handler.mock.calls[0]?.[0]).toMatchObject({ [name]: [{ named: bad, refusal: { code: 'io' } }] });
      expect(JSON.stringify(handler.mock.calls[0])).not.toMatch(/"(path|text)":"[^"]*outside/);
    } else {
      expect(refusal).toMatchObject({ code: 'io', message: expect.stringContaining('is not allowed') });
      expect(handler).not.toHaveBeenCalled();
    }
  });

  it('are not checked if they are not read', async () => {
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
