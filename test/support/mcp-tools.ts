/**
 * @module test/support/mcp-tools
 * Tools called without a server: a context that records what a handler does, and videos to call them with.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import { AnyvmafError } from '../../src/core/errors.js';
import * as checked from '../../src/mcp/checked-api.js';
import type { Publication, Tool, ToolContext, ToolJobs, ToolProgress } from '../../src/mcp/tool.js';
import { TOOLS } from '../../src/mcp/tools/index.js';
import type { ScoreDocument } from '../../src/mcp/tools/vmaf-score.js';
import { sentenceOf } from '../../src/mcp/wording.js';
import { y4mFile, yuvFile } from '../../src/sample/files.js';
import { type FixtureClip, fixtureClip } from './fixtures.js';
import { processFolder } from './folders.js';
import { linear } from './onnx.js';
import { parquet } from './tiny.js';

/** The API of a call's thread, run in this thread: starting a worker takes longer than scoring a test's videos. */
export const inThisThread = {
  ...checked,
  scoreMany: ((reference, distorted, options) =>
    checked.scoreMany(reference, distorted, { ...options, threads: 0 })) as typeof checked.scoreMany,
  scoreBatch: ((jobs, options) =>
    checked.scoreBatch(jobs, { ...options, threads: 0 })) as typeof checked.scoreBatch,
};

/** A context that records what a handler did. */
export interface FakeContext extends ToolContext {
  readonly told: ToolProgress[];
  readonly published: Publication[];
  /** Weights of the tasks on the pool. */
  readonly ran: (number | null)[];
  /** Resolved paths. */
  readonly asked: string[];
}

/** @param root paths outside of it are refused */
export function fakeContext(root: string, signal: AbortSignal = new AbortController().signal): FakeContext {
  const told: ToolProgress[] = [];
  const published: Publication[] = [];
  const own = String(++contexts);
  const ran: (number | null)[] = [];
  const asked: string[] = [];
  const resolve = async (path: string): Promise<string> => {
    asked.push(path);
    if (relative(root, path).startsWith('..')) throw new AnyvmafError('io', `${path} is not allowed.`);
    try {
      return realpathSync(path);
    } catch {
      throw new AnyvmafError('io', `${path} does not exist.`);
    }
  };
  const real = existsSync(root) ? realpathSync(root) : root;
  return {
    tool: 'tool',
    signal,
    told,
    published,
    ran,
    asked,
    progress: (report) => told.push(report),
    files: {
      origin: { by: 'foreign', folders: [real] },
      allowed: [real],
      sizeOf: (path) => statSync(path).size,
      resolveInput: resolve,
      resolveOutput: async (path) => join(await resolve(dirname(path)), basename(path)),
    },
    pool: {
      run: (weight, task) => {
        ran.push(weight);
        return task({ threads: 1, api: inThisThread });
      },
    },
    resources: {
      points: async (call) =>
        join(processFolder('points'), own, createHash('sha256').update(call).digest('hex').slice(0, 8)),
      publish: async (publication) => {
        published.push(publication);
        const { name, mimeType } = publication;
        const uri = `anyvmaf://results/${published.length}/${name}`;
        return { uri, path: `/results/${name}`, link: { type: 'resource_link', uri, name, mimeType } };
      },
    },
    jobs: NO_JOBS,
    args: {},
    again: (changes) => ({ tool: 'again', arguments: changes }),
    instead: (tool, changes) => ({ tool, arguments: changes }),
    log: () => {},
  };
}

const noJobs = () => Promise.reject(new Error('this context has no jobs'));
const NO_JOBS: ToolJobs = { start: noJobs, status: noJobs, result: noJobs, cancel: noJobs, list: noJobs };

/** The document that a tool answers, as JSON, checked against the tool's schema. */
export async function call<Document = ScoreDocument>(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<Document> {
  const { document } = await tool.call(args, { ...context, tool: tool.name, args });
  const told: unknown = JSON.parse(JSON.stringify(document));
  // Clients check answers against the schema, which forbids unknown keys.
  expect(tool.outputSchema.parse(told)).toEqual(told);
  return told as Document;
}

export function toolNamed(name: string): Tool {
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool;
}

/** The sentence that refuses a call, as the server answers it. */
export async function refused(tool: Tool, args: Readonly<Record<string, unknown>>, context: ToolContext) {
  try {
    await tool.call(args, context);
  } catch (error) {
    if (error instanceof AnyvmafError) return sentenceOf(error);
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Contexts made so far; each keeps points of its own. */
let contexts = 0;

/** A folder for the videos of this process. */
export function videoFolder(): string {
  return processFolder('tools');
}

/** Writes a generated pair. @returns the paths */
export function writePair(
  clip: FixtureClip,
  extension: 'y4m' | 'yuv',
): { readonly ref: string; readonly dis: string } {
  const pair = fixtureClip(clip);
  const write = extension === 'y4m' ? y4mFile : yuvFile;
  const key = createHash('sha256').update(JSON.stringify(clip)).digest('hex').slice(0, 12);
  const stem = `${clip.content}-${clip.width}x${clip.height}-${key}`;
  const place = (side: string) => join(videoFolder(), `${stem}.${side}.${extension}`);
  const [ref, dis] = [place('ref'), place('dis')];
  // Generated once: that takes longer than scoring.
  if (existsSync(dis)) return { ref, dis };
  writeFileSync(ref, write(pair, 'reference', clip.frames));
  writeFileSync(dis, write(pair, 'distorted', clip.frames));
  return { ref, dis };
}

/** Features of the models that {@link evaluationFiles} writes. */
export const SIX = ['adm2', 'vif_scale0', 'vif_scale1', 'vif_scale2', 'vif_scale3', 'motion2'];

/** Writes a table of features, four rows of the test split and one of train, and two models of the first feature. */
export function evaluationFiles(folder = videoFolder()) {
  const put = (name: string, content: Uint8Array) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const table = {
    key: ['clip_0000', 'clip_0000', 'clip_0019', 'clip_0019', 'clip_0001'],
    mos: [1, 2, 3, 4, 9],
    ...Object.fromEntries(SIX.map((name, i) => [name, i === 0 ? [1, 3, 2, 4, 0] : [0, 0, 0, 0, 0]])),
  };
  return {
    features: put('good.parquet', parquet(table)),
    good: put('good.onnx', linear([1, 0, 0, 0, 0, 0], 0)),
    worse: put('worse.onnx', linear([-1, 0, 0, 0, 0, 0], 0)),
  };
}

/** Copies a model of the package into the folder of videos. */
export function copyModel(name: string): string {
  const to = join(videoFolder(), 'custom.json');
  copyFileSync(new URL(`../../model/${name}.json`, import.meta.url), to);
  return to;
}
