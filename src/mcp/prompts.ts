/**
 * @module mcp/prompts
 * Prompts that hosts offer their users: usual questions about videos, with the tools that answer them.
 */
import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import { suggestion } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import type { Tool } from './tool.js';

/** What values can be, for completion. */
export type Completed = 'video' | 'videos' | 'model' | 'feature' | 'encoder';

/** An argument of a prompt. */
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
  /** It is offered only with all of these. */
  readonly tools: readonly string[];
  text(values: Readonly<Record<string, string>>): readonly string[];
}

/** A value as a part of a sentence, told apart from the words around it. */
const told = (value = '') => JSON.stringify(value);

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
      { name: 'encodes', description: 'Paths of the encodes, with commas.', required: true, of: 'videos' },
      { name: 'target', description: 'What is good enough, such as 93 or vmaf.p5>=80.' },
    ],
    tools: ['compare_encodes', 'inspect_pair'],
    text: ({ reference, encodes = '', target }) => [
      `Compare these encodes of ${told(reference)}: ${encodes
        .split(',')
        .map((one) => told(one.trim()))
        .join(', ')}.`,
      `Call compare_encodes with all of them${target ? ` and the target ${told(target)}` : ''}.`,
      `${TRUST} ${JOBS}`,
      'Then say which one to ship: its score, its worst 1 %, its bit rate, and what the others cost or lack beside it.',
    ],
  },
  {
    name: 'find_what_is_wrong',
    title: 'Find what is wrong',
    description: 'What a viewer sees in an encode, when, and why.',
    arguments: [
      { name: 'reference', description: 'Path of the source.', required: true, of: 'video' },
      { name: 'distorted', description: 'Path of the encode.', required: true, of: 'video' },
      { name: 'metric', description: 'What ranks the frames, by default VMAF.', of: 'feature' },
      { name: 'model', description: 'A VMAF model, by default vmaf_v0.6.1.', of: 'model' },
    ],
    tools: ['inspect_pair', 'explain_score', 'describe_worst_frames'],
    text: ({ reference, distorted, metric, model }) => [
      `Find what is wrong with ${told(distorted)}, an encode of ${told(reference)}.`,
      `1. inspect_pair says whether they fit; apply the fix of each error in all further calls.`,
      `2. explain_score${model ? ` with the model version=${model}` : ''} says which feature, scale and moments cost most.`,
      `3. describe_worst_frames${metric ? ` with the metric ${told(metric)}` : ''} shows them: look at the pictures.`,
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
      { name: 'encoder', description: 'By default libx264.', of: 'encoder' },
      { name: 'target', description: 'By default 95; also p5>=90 or psnr_y.mean>=40.' },
      { name: 'model', description: 'A VMAF model, by default vmaf_v0.6.1.', of: 'model' },
    ],
    tools: ['find_quality'],
    text: ({ source, encoder, target, model }) => [
      `Choose settings to encode ${told(source)} with ${encoder || 'libx264'} so that it reaches ${target || '95'}.`,
      `Call find_quality with these${model ? ` and the model version=${model}` : ''}, first as dry_run, and tell me what it costs.`,
      JOBS,
      'Then give me the ffmpeg command, the score with its interval, and the size. If the target is missed, say by how much.',
    ],
  },
];

/** Prompts for which all tools are there. */
function offered(tools: readonly Tool[]): readonly Prompt[] {
  const names = new Set(tools.map(({ name }) => name));
  return PROMPTS.filter((prompt) => prompt.tools.every((name) => names.has(name)));
}

/** What the values of an argument are; `undefined` where nothing is known of it. */
export function argumentOf(prompt: string, name: string): Completed | undefined {
  return PROMPTS.find((one) => one.name === prompt)?.arguments.find((one) => one.name === name)?.of;
}

/** Answers requests about prompts. */
export function servePrompts(server: Server, tools: readonly Tool[]): void {
  const prompts = offered(tools);
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, arguments: args }) => ({
      ...{ name, title, description },
      arguments: args.map(({ of: _, ...argument }) => argument),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: values = {} } }) => {
    const prompt = prompts.find((one) => one.name === name);
    if (!prompt) throw refused(`There is no prompt ${quoted(name, 100)}`, name, prompts);
    const unknown = Object.keys(values).find((key) => !prompt.arguments.some((one) => one.name === key));
    if (unknown !== undefined)
      throw refused(`The prompt ${name} has no argument ${quoted(unknown, 100)}`, unknown, prompt.arguments);
    const missing = prompt.arguments.find((one) => one.required && !values[one.name]?.trim());
    if (missing) {
      const what = missing.description.replace(/\.$/, '').toLowerCase();
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The prompt ${name} needs the argument ${missing.name}, the ${what}.`,
      );
    }
    const text = prompt.text(values).join('\n');
    return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}

/** Something that there is not, and what it may have meant. */
function refused(what: string, typed: string, known: readonly { readonly name: string }[]): ProtocolError {
  const names = known.map(({ name }) => name);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${what}; ${suggestion(typed, names)}`);
}
