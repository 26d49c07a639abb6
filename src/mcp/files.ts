/**
 * @module mcp/files
 * The folders that the server may use. Roots of a client (the folders its user works in) narrow them for a
 * connection, never widen them; clients since 2026-07-28 are not asked, as that version advises against roots.
 */
import { parse, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { type AnyvmafError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { realFolder, realFolders } from '../files/allowed-paths.js';
import { isOlder } from './protocol-server.js';
import type { ResourceScope } from './resources.js';

export const HOW_TO_ALLOW =
  'start the server with --allow DIR, or set ANYVMAF_MCP_ALLOW, to allow more folders';

export interface RootSources {
  /** From the command line. */
  readonly allow: readonly string[];
  /** `ANYVMAF_MCP_ALLOW` and `VMAF_MCP_ALLOW`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Splits an environment variable into folders, at colons and semicolons; on Windows not at the colon of a drive. */
export function splitRoots(value: string, windows = process.platform === 'win32'): string[] {
  const colon = windows ? /;|(?<!(?:^|[;:])\s*[A-Za-z]):|:(?![\\/])/ : /[;:]/;
  return value
    .split(colon)
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
}

export interface Roots {
  readonly folders: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Finds the allowed folders: those of the command line and the environment, else the working directory, unless that
 * is the root of a file system, where some hosts start servers.
 * @throws {AnyvmafError} `usage` if --allow does not name a folder
 */
export async function findRoots({ allow, env, cwd }: RootSources): Promise<Roots> {
  const folders = new Set(await realFolders(allow, cwd, notAllowed));
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

function notAllowed(folder: string): AnyvmafError {
  return usageError(`--allow ${quoted(folder)} is not a readable folder`);
}

const MOST_ROOTS = 100;

/** Milliseconds for a client's answer, and failures after which it is not asked again. */
const PATIENCE = 2000;
const MOST_FAILURES = 3;

/**
 * Returns a function to be awaited before files are used: it asks the client for its roots during the first request,
 * whose stream can carry the question, and again after each change.
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
      const mine = foldersOf(context).then(
        (folders) => {
          if (reading === mine) scope.roots = folders;
        },
        () => {
          failures++;
          if (reading === mine) reading = undefined;
        },
      );
      reading = mine;
    }
    await reading;
  };
}

/** Real paths of the roots that are folders of this machine. */
async function foldersOf({ mcpReq }: ServerContext): Promise<readonly string[]> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: PATIENCE });
  const found = await Promise.all(roots.slice(0, MOST_ROOTS).map(({ uri }) => folderOf(uri)));
  return found.filter((folder) => folder !== undefined);
}

async function folderOf(uri: string): Promise<string | undefined> {
  try {
    return await realFolder(fileURLToPath(uri));
  } catch {
    return undefined;
  }
}
