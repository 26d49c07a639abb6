/**
 * @module mcp/prompts
 * Prompts for common questions, and completion with names that the client may see.
 */
import { isAbsolute, relative, sep } from 'node:path';
import type { CompleteRequest, CompleteResult, ProtocolError, Server } from '@modelcontextprotocol/server';
import { COMMON_ENCODERS } from '../core/choices.js';
import { suggestion } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import { findVideos } from './files.js';
import { PAGES_TEMPLATE, pageAddress } from './frame-pages.js';
import { JOB_TEMPLATE } from './jobs.js';
import { invalidParams } from './protocol-server.js';
import type { ResourceScope } from './resources.js';
import type { Tool, ToolJobs } from './tool.js';

type Completed = 'video' | 'videos' | 'model' | 'feature' | 'encoder';

interface Argument {
  readonly name: string;
  readonly description: string;
  readonly required?: true;
  readonly of?: Completed;
}

interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly Argument[];
  /** Tools without which the prompt is not offered. */
  readonly tools: readonly string[];
  text(values: Readonly<Record<string, string>>): readonly string[];
}

const quote = (value = '') => JSON.stringify(value);

const TRUST =
  'If trust says that a score is doubtful or untrusted, call inspect_pair for that pair, and tell me the cause before any number.';
const JOBS = 'If a call continues as a job, send its next_action until it is done.';

const PROMPTS: readonly Prompt[] = [
  {
    name: 'compare_my_encodes',
    title: 'Compare my encodes',
    description: 'Which of several encodes of one source to ship, and why.',
    arguments: [
      { name: 'reference', description: 'Path of the source.', required: true, of: 'video' },
      { name: 'encodes', description: 'Comma-separated paths of the encodes.', required: true, of: 'videos' },
      { name: 'target', description: 'Target quality, such as 93 or vmaf.p5>=80.' },
    ],
    tools: ['compare_encodes', 'inspect_pair'],
    text: ({ reference, encodes = '', target }) => [
      `Compare these encodes of ${quote(reference)}: ${encodes
        .split(',')
        .map((encode) => quote(encode.trim()))
        .join(', ')}.`,
      `Call compare_encodes with all of them${target ? ` and the target ${quote(target)}` : ''}.`,
      `${TRUST} ${JOBS}`,
      'Then say which one to ship: its score, its worst 1 %, its bit rate, and how the others compare in size and quality.',
    ],
  },
  {
    name: 'find_what_is_wrong',
    title: 'Find what is wrong',
    description: 'What a viewer sees in an encode, when, and why.',
    arguments: [
      { name: 'reference', description: 'Path of the source.', required: true, of: 'video' },
      { name: 'distorted', description: 'Path of the encode.', required: true, of: 'video' },
      { name: 'metric', description: 'Metric that ranks the frames. Default: VMAF.', of: 'feature' },
      { name: 'model', description: 'VMAF model. Default: vmaf_v0.6.1.', of: 'model' },
    ],
    tools: ['inspect_pair', 'explain_score', 'describe_worst_frames'],
    text: ({ reference, distorted, metric, model }) => [
      `Find what is wrong with ${quote(distorted)}, an encode of ${quote(reference)}.`,
      `1. inspect_pair shows whether they match; apply the fix of each error in all further calls.`,
      `2. explain_score${model ? ` with the model version=${model}` : ''} shows which feature, scale and moments cost the most.`,
      `3. describe_worst_frames${metric ? ` with the metric ${quote(metric)}` : ''} shows them: look at the pictures.`,
      JOBS,
      'Then say what a viewer sees, at which times, what in the encoding causes it, and what to change.',
    ],
  },
  {
    name: 'choose_settings',
    title: 'Choose settings',
    description: 'The encoder setting that reaches a quality with the smallest file.',
    arguments: [
      { name: 'source', description: 'Path of the video to encode.', required: true, of: 'video' },
      { name: 'encoder', description: 'Encoder. Default: libx264.', of: 'encoder' },
      { name: 'target', description: 'Target, such as 95, p5>=90 or psnr_y.mean>=40. Default: 95.' },
      { name: 'model', description: 'VMAF model. Default: vmaf_v0.6.1.', of: 'model' },
    ],
    tools: ['find_quality'],
    text: ({ source, encoder, target, model }) => [
      `Choose settings to encode ${quote(source)} with ${encoder || 'libx264'} so that it reaches ${target || '95'}.`,
      `Call find_quality with these${model ? ` and the model version=${model}` : ''}, first with dry_run, and tell me what it costs.`,
      JOBS,
      'Then give me the ffmpeg command, the score with its interval, and the size. If the target is missed, say by how much.',
    ],
  },
];

export function servePrompts(server: Server, tools: readonly Tool[]): void {
  const offered = new Set(tools.map(({ name }) => name));
  const prompts = PROMPTS.filter((prompt) => prompt.tools.every((name) => offered.has(name)));
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, arguments: args }) => ({
      ...{ name, title, description },
      arguments: args.map(({ of: _, ...argument }) => argument),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: values = {} } }) => {
    const prompt = prompts.find((known) => known.name === name);
    if (!prompt) throw refused(`Unknown prompt ${quoted(name, 100)}`, name, prompts);
    const unknown = Object.keys(values).find(
      (key) => !prompt.arguments.some((argument) => argument.name === key),
    );
    if (unknown !== undefined)
      throw refused(`The prompt ${name} has no argument ${quoted(unknown, 100)}`, unknown, prompt.arguments);
    const missing = prompt.arguments.find((argument) => argument.required && !values[argument.name]?.trim());
    if (missing) {
      const what = missing.description.replace(/\.$/, '').toLowerCase();
      throw invalidParams(`The prompt ${name} needs the argument ${missing.name}, the ${what}.`);
    }
    const text = prompt.text(values).join('\n');
    return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}

function refused(what: string, typed: string, known: readonly { readonly name: string }[]): ProtocolError {
  const names = known.map(({ name }) => name);
  return invalidParams(`${what}; ${suggestion(typed, names)}`);
}

/** Most values of one answer, a limit of the protocol. */
const MOST = 100;
/** Most characters to compare; no name is longer. */
const MOST_TYPED = 4096;
/** Milliseconds that a list of videos is reused while the user types. */
const LISTED_TIME = 3000;

interface CompletionSources {
  readonly folders: readonly string[];
  readonly scope: ResourceScope;
  readonly jobs: ToolJobs;
}

/** Answers `completion/complete`; unknown names have no completions. */
export async function complete(
  { ref, argument: { name, value }, context }: CompleteRequest['params'],
  sources: CompletionSources,
): Promise<CompleteResult> {
  const prompt = ref.type === 'ref/prompt' ? PROMPTS.find((known) => known.name === ref.name) : undefined;
  const of = prompt?.arguments.find((argument) => argument.name === name)?.of;
  const typed = value.slice(0, MOST_TYPED);
  // Complete the last item of a list.
  const start = of === 'videos' ? typed.lastIndexOf(',') + 1 : 0;
  const [head, last] = [typed.slice(0, start), typed.slice(start).trimStart()];
  const names =
    ref.type === 'ref/resource'
      ? await partsOf(ref.uri, name, context?.arguments?.id, sources)
      : of === undefined
        ? []
        : await namesOf(of, last, sources);
  const found = ranked(names, last);
  const values = found.slice(0, MOST).map((match) => head + match);
  return { completion: { values, total: found.length, hasMore: found.length > MOST } };
}

/** Values for a variable of a resource template. @param id value already chosen for the variable `id` */
async function partsOf(
  template: string,
  variable: string,
  id: string | undefined,
  { scope, jobs }: CompletionSources,
): Promise<readonly string[]> {
  if (template === JOB_TEMPLATE && variable === 'id')
    return (await jobs.list()).jobs.map(({ job_id }) => job_id);
  if (template !== PAGES_TEMPLATE) return [];
  const reports = scope.list().flatMap(({ uri }) => {
    const [name, id] = uri.split('/').reverse();
    return name === 'report.json' && id !== undefined ? [id] : [];
  });
  if (variable === 'id') return reports;
  if (variable !== 'metric' || id === undefined || !reports.includes(id)) return [];
  const page = await scope.read(pageAddress({ id, from: 0, to: 0, step: 1 }));
  const [, ...metrics] = JSON.parse(page && 'text' in page ? page.text : '{"columns":[]}').columns;
  return metrics;
}

async function namesOf(of: Completed, typed: string, sources: CompletionSources): Promise<readonly string[]> {
  if (of === 'encoder') return COMMON_ENCODERS;
  if (of === 'video' || of === 'videos') return videosFor(typed, sources);
  const { listExtractors, listModels } = await import('../index.js');
  if (of === 'model') return (await listModels()).map(({ name }) => name);
  return [...new Set(listExtractors().flatMap(({ features }) => features.map(({ name }) => name)))];
}

/** Names that begin with the typed text, then those that contain it, in their order. */
function ranked(names: readonly string[], typed: string): readonly string[] {
  const lower = typed.toLowerCase();
  const begins = names.filter((name) => name.toLowerCase().startsWith(lower));
  const contains = names.filter((name) => name.toLowerCase().indexOf(lower) > 0);
  return [...begins, ...contains];
}

let listed:
  | { readonly key: string; readonly at: number; readonly paths: Promise<readonly string[]> }
  | undefined;

/** Videos, newest first: absolute paths if the typed one is, else relative ones where unique. */
async function videosFor(typed: string, { folders }: CompletionSources): Promise<readonly string[]> {
  const key = folders.join('\n');
  const now = performance.now();
  if (listed?.key !== key || now - listed.at > LISTED_TIME) {
    const paths = findVideos(folders).then(({ found }) => found.map(({ path }) => path));
    listed = { key, at: now, paths };
    paths.catch(() => {
      listed = undefined;
    });
  }
  const paths = await listed.paths;
  if (isAbsolute(typed)) return paths;
  const short = paths.map((path) => {
    const folder = folders.find((root) => path.startsWith(root.endsWith(sep) ? root : root + sep));
    return folder === undefined ? path : relative(folder, path);
  });
  const count = new Map<string, number>();
  for (const name of short) count.set(name, (count.get(name) ?? 0) + 1);
  return short.map((name, i) => (count.get(name) === 1 ? name : (paths[i] ?? name)));
}
