/**
 * @module mcp/files
 * Files that calls may use: the folders that the user allowed, narrowed by the client's roots, and the videos in them.
 * Asks the user for a missing file or the format of raw video.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, extname, join, parse, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  acceptedContent,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { sizeInName } from '../core/size.js';
import { realFolder, realFolders, SeveralFilesError } from '../files/allowed-paths.js';
import { isScratch } from '../files/folders.js';
import { RAW_ENDING, type ToolFiles, VIDEO_ENDINGS } from './paths.js';
import { isOlder } from './protocol-server.js';
import type { ResourceScope } from './resources.js';
import type { Tool } from './tool.js';

export const HOW_TO_ALLOW =
  'start the server with --allow DIR, or set ANYVMAF_MCP_ALLOW, to allow more folders';

export interface RootSources {
  /** From the command line. */
  readonly allow: readonly string[];
  /** `ANYVMAF_MCP_ALLOW` and `VMAF_MCP_ALLOW`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Splits folders at colons and semicolons; on Windows not after a drive letter. */
export function splitRoots(value: string, windows = process.platform === 'win32'): string[] {
  const colon = windows ? /;|(?<!(?:^|[;:])\s*[A-Za-z]):|:(?![\\/])/ : /[;:]/;
  return value
    .split(colon)
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
}

/**
 * Finds the allowed folders: those of the command line and the environment, else the working directory unless it is the
 * root of a file system, where some hosts start servers.
 * @throws {AnyvmafError} `usage` if --allow does not name a folder
 */
export async function findRoots({ allow, env, cwd }: RootSources) {
  const refused = (folder: string) => usageError(`--allow ${quoted(folder)} is not a readable folder`);
  const folders = new Set(await realFolders(allow, cwd, refused));
  const warnings: string[] = [];
  let named = allow.length;
  for (const name of ['ANYVMAF_MCP_ALLOW', 'VMAF_MCP_ALLOW']) {
    for (const folder of splitRoots(env[name] ?? '')) {
      named++;
      const real = await realFolder(resolve(cwd, folder));
      if (real === undefined)
        warnings.push(`${name} names ${quoted(folder)}, which is not a folder; ignored`);
      else folders.add(real);
    }
  }
  if (named === 0) {
    const real = await realFolder(cwd);
    if (real !== undefined && parse(real).root !== real) folders.add(real);
    else warnings.push(`no folder is allowed, because the server was started in ${cwd}; ${HOW_TO_ALLOW}`);
  }
  return { folders: [...folders], warnings };
}

const MOST_ROOTS = 100;
/** Milliseconds for a client's answer, and failures after which it is not asked again. */
const PATIENCE = 2000;
const MOST_FAILURES = 3;

/**
 * Returns a function to await before files are used. It asks the client for its roots during the first request, whose
 * stream can carry the question, and after each change. Roots only narrow the folders. Clients since 2026-07-28 are not
 * asked: that version advises against roots.
 */
export function serveRoots(server: Server, scope: ResourceScope): (context: ServerContext) => Promise<void> {
  let reading: Promise<void> | undefined;
  let failures = 0;
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    reading = undefined;
    failures = 0;
  });
  return async (context) => {
    if (!isOlder(server) || !server.getClientCapabilities()?.roots || failures >= MOST_FAILURES) return;
    if (!reading) {
      const current = foldersOf(context).then(
        (folders) => {
          if (reading === current) scope.roots = folders;
        },
        () => {
          failures++;
          if (reading === current) reading = undefined;
        },
      );
      reading = current;
    }
    await reading;
  };
}

/** Real paths of the roots that are folders here. */
async function foldersOf({ mcpReq }: ServerContext): Promise<readonly string[]> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: PATIENCE });
  const folderOf = async (uri: string) => realFolder(fileURLToPath(uri));
  const found = roots.slice(0, MOST_ROOTS).map(({ uri }) => folderOf(uri).catch(() => undefined));
  return (await Promise.all(found)).filter((folder) => folder !== undefined);
}

/** Most names to read, and most levels below a folder. */
const MOST_NAMES = 20_000;
const MOST_DEPTH = 6;

export interface FoundVideo {
  readonly path: string;
  readonly bytes: number;
  readonly modified: Date;
}

/** Newest first. @param contains part of the path, in lower case */
export async function findVideos(
  folders: readonly string[],
  contains?: string,
  signal?: AbortSignal,
): Promise<{ readonly found: readonly FoundVideo[]; readonly complete: boolean }> {
  const found = new Map<string, FoundVideo>();
  let names = 0;
  const open = folders.map((folder) => ({ folder, depth: 0 }));
  let complete = true;
  for (const { folder, depth } of open) {
    signal?.throwIfAborted();
    for (const entry of await entriesOf(folder)) {
      if (++names > MOST_NAMES) return { found: newestFirst(found.values()), complete: false };
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name.startsWith('.') || entry.name === 'node_modules' || isScratch(path)) continue;
        if (depth < MOST_DEPTH) open.push({ folder: path, depth: depth + 1 });
        else complete = false;
      } else if (entry.isFile() && isVideo(path, contains)) {
        const status = await lstat(path).catch(() => undefined);
        if (status?.isFile()) found.set(path, { path, bytes: status.size, modified: status.mtime });
      }
    }
  }
  return { found: newestFirst(found.values()), complete };
}

function newestFirst(found: Iterable<FoundVideo>): FoundVideo[] {
  return [...found].sort((a, b) => b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1));
}

/** Entries of a folder; empty if its path has become a link, which may lead elsewhere. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // Check afterwards: a folder that is no link now was none while it was read.
    return (await realpath(folder)) === folder ? entries : [];
  } catch {
    return [];
  }
}

function isVideo(path: string, contains: string | undefined): boolean {
  return (
    VIDEO_ENDINGS.has(extname(path).toLowerCase()) &&
    (contains === undefined || path.toLowerCase().includes(contains))
  );
}

type Values = Readonly<Record<string, unknown>>;

interface ToolCall {
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
const ANSWER_TIME = 120_000;
const MOST_FILES = 20;

/** True if a client can show forms. */
export function canAnswer({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

/** The arguments with the user's choice or, since version 2026-07-28, the question that the client must ask first. */
export async function chosen(
  call: ToolCall,
  server: Server,
  { mcpReq }: ServerContext,
): Promise<{ readonly args: Values } | InputRequiredResult> {
  const question = (await referenceQuestion(call)) ?? geometryQuestion(call) ?? (await filesQuestion(call));
  if (!question) return call;
  const { message, fields } = question;
  const names = Object.keys(fields);
  const form = { message, requestedSchema: { type: 'object' as const, properties: fields, required: names } };
  let answer: Values | undefined;
  if (isOlder(server)) {
    const reply = await mcpReq.elicitInput(form, { timeout: ANSWER_TIME }).catch(() => undefined);
    answer = reply?.action === 'accept' ? reply.content : undefined;
  } else if (mcpReq.inputResponses) answer = acceptedContent(mcpReq.inputResponses, 'choice');
  else return inputRequired({ inputRequests: { choice: inputRequired.elicit(form) } });
  const isKnown = names.some((name) => answer?.[name] !== undefined);
  return { args: answer && isKnown ? question.apply(answer) : call.args };
}

const REFERENCES = ['reference_encoded', 'ref', 'reference'];

async function referenceQuestion({ tool, args, files }: ToolCall): Promise<Question | undefined> {
  const name = REFERENCES.find((key) => key in tool.inputSchema.shape);
  const encode = args.distorted_encoded ?? args.dis ?? args.distorted;
  if (name === undefined || args[name] || args.no_reference || typeof encode !== 'string') return undefined;
  const [{ found }, path] = await Promise.all([
    findVideos(files.allowed),
    files.resolveInput(encode).catch(() => undefined),
  ]);
  if (path === undefined) return undefined;
  const others = found.map((video) => video.path).filter((other) => other !== path);
  const isNear = (other: string) => dirname(other) === dirname(path);
  const paths = [...others.filter(isNear), ...others.filter((other) => !isNear(other))].slice(0, MOST_FILES);
  if (paths.length === 0) return undefined;
  return {
    message: `Which video is the reference of ${encode}?`,
    fields: { [name]: { type: 'string', title: 'Reference', enum: paths } },
    apply: ({ [name]: chosen }) => ({ ...args, [name]: chosen }),
  };
}

function geometryQuestion({ tool, args }: ToolCall): Question | undefined {
  const raw = Object.values(args).find(
    (arg): arg is string => typeof arg === 'string' && arg.toLowerCase().endsWith(RAW_ENDING),
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
  const names = Object.keys(fields);
  if (names.length === 0) return undefined;
  return {
    message: `What is the format of ${raw}? Raw video has no header.`,
    fields,
    apply: (answer) => ({ ...args, ...Object.fromEntries(names.map((name) => [name, answer[name]])) }),
  };
}

async function filesQuestion({ tool, args, files }: ToolCall): Promise<Question | undefined> {
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
        Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, arg === named ? file : arg])),
    };
  }
}
