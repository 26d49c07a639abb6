/**
 * @module mcp/choices
 * Asks the user for a missing format of raw video, file or reference, if the client can; else the call runs as sent.
 */
import { dirname } from 'node:path';
import {
  acceptedContent,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { sizeInName } from '../core/size.js';
import { SeveralFilesError } from '../files/allowed-paths.js';
import { RAW_ENDING, type ToolFiles } from './paths.js';
import { isOlder } from './protocol-server.js';
import type { Tool } from './tool.js';

type Values = Readonly<Record<string, unknown>>;

interface Made {
  readonly tool: Tool;
  readonly args: Values;
  readonly files: ToolFiles;
}

interface Question {
  readonly message: string;
  readonly fields: ElicitRequestFormParams['requestedSchema']['properties'];
  apply(answer: Values): Values;
}

/** Milliseconds to wait for the user. */
const PATIENCE = 120_000;

const MOST_FILES = 20;

/** True if a client can show a form. */
export function canAnswer({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

/** The arguments with the user's choice or, since version 2026-07-28, the question that the client must ask first. */
export async function chosen(
  made: Made,
  server: Server,
  { mcpReq }: ServerContext,
): Promise<{ readonly args: Values } | InputRequiredResult> {
  const question = await questionOf(made);
  if (!question) return made;
  const { message, fields } = question;
  const form = {
    message,
    requestedSchema: { type: 'object' as const, properties: fields, required: Object.keys(fields) },
  };
  let answer: Values | undefined;
  if (isOlder(server)) {
    const asked = await mcpReq.elicitInput(form, { timeout: PATIENCE }).catch(() => undefined);
    answer = asked?.action === 'accept' ? asked.content : undefined;
  } else {
    if (!mcpReq.inputResponses)
      return inputRequired({ inputRequests: { choice: inputRequired.elicit(form) } });
    answer = acceptedContent(mcpReq.inputResponses, 'choice');
  }
  const known = Object.keys(fields).filter((name) => answer?.[name] !== undefined);
  return { args: answer && known.length > 0 ? question.apply(answer) : made.args };
}

async function questionOf(made: Made): Promise<Question | undefined> {
  return (await referenceQuestion(made)) ?? geometryQuestion(made) ?? (await filesQuestion(made));
}

const REFERENCES = ['reference_encoded', 'ref', 'reference'];

async function referenceQuestion({ tool, args, files }: Made): Promise<Question | undefined> {
  const name = REFERENCES.find((one) => one in tool.inputSchema.shape);
  const encode = args.distorted_encoded ?? args.dis ?? args.distorted;
  if (name === undefined || args[name] || args.no_reference || typeof encode !== 'string') return undefined;
  const { findVideos } = await import('./video-list.js');
  const [{ found }, path] = await Promise.all([
    findVideos(files.allowed),
    files.resolveInput(encode).catch(() => undefined),
  ]);
  if (path === undefined) return undefined;
  const others = found.map((one) => one.path).filter((one) => one !== path);
  const isNear = (one: string) => dirname(one) === dirname(path);
  const paths = [...others.filter(isNear), ...others.filter((one) => !isNear(one))].slice(0, MOST_FILES);
  if (paths.length === 0) return undefined;
  return {
    message: `Which video is the reference of ${encode}?`,
    fields: { [name]: { type: 'string', title: 'Reference', enum: paths } },
    apply: ({ [name]: chosen }) => ({ ...args, [name]: chosen }),
  };
}

function geometryQuestion({ tool, args }: Made): Question | undefined {
  const raw = Object.values(args).find(
    (one): one is string => typeof one === 'string' && one.toLowerCase().endsWith(RAW_ENDING),
  );
  if (raw === undefined || !('bitdepth' in tool.inputSchema.shape)) return undefined;
  const { width, height } = sizeInName(raw) ?? {};
  const whole = (title: string, stated: number | undefined) => ({
    ...({ type: 'integer', title, minimum: 1 } as const),
    ...(stated !== undefined && { default: stated }),
  });
  const all: Question['fields'] = {
    width: whole('Width', width),
    height: whole('Height', height),
    pixfmt: { type: 'string', title: 'Chroma', enum: ['420', '422', '444'], default: '420' },
    bitdepth: { type: 'string', title: 'Bits per sample', enum: ['8', '10', '12', '16'], default: '8' },
  };
  const fields = Object.fromEntries(Object.entries(all).filter(([name]) => args[name] === undefined));
  if (Object.keys(fields).length === 0) return undefined;
  return {
    message: `What is the format of ${raw}? Raw video has no header.`,
    fields,
    apply: (answer) => ({
      ...args,
      ...Object.fromEntries(Object.keys(fields).map((name) => [name, answer[name]])),
    }),
  };
}

async function filesQuestion({ tool, args, files }: Made): Promise<Question | undefined> {
  try {
    await tool.prepare(args, files);
    return undefined;
  } catch (error) {
    if (!(error instanceof SeveralFilesError)) return undefined;
    const { named, paths } = error;
    return {
      message: `Several files match ${named}; which one?`,
      fields: { file: { type: 'string', title: 'File', enum: paths.slice(0, MOST_FILES) } },
      apply: ({ file }) =>
        Object.fromEntries(Object.entries(args).map(([name, one]) => [name, one === named ? file : one])),
    };
  }
}
