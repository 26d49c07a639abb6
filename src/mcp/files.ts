/**
 * @module mcp/files
 * The folders whose files the server may read and write, and the paths in a tool's arguments that lie in them.
 */
import { parse, resolve } from 'node:path';
import { type AnyvmafError, usageError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { AllowedPaths, realFolder, realFolders } from '../files/allowed-paths.js';
import type { ToolFiles } from './paths.js';

const HOW_TO_EXTEND = 'start the server with --allow DIR, or set ANYVMAF_MCP_ALLOW, to allow more folders';

/** Where roots come from. */
export interface RootSources {
  /** From the command line. */
  readonly allow: readonly string[];
  /** `ANYVMAF_MCP_ALLOW` and `VMAF_MCP_ALLOW`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly cwd: string;
}

/**
 * Splits the value of an environment variable into folders: at colons and semicolons; in Windows not at the colon of
 * a drive.
 */
export function splitRoots(value: string, windows = process.platform === 'win32'): string[] {
  const colon = windows ? /;|(?<!(?:^|[;:])\s*[A-Za-z]):|:(?![\\/])/ : /[;:]/;
  return value
    .split(colon)
    .map((folder) => folder.trim())
    .filter((folder) => folder !== '');
}

/** The real paths of allowed folders, and warnings about folders that cannot be used. */
export interface Roots {
  readonly folders: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Finds the allowed folders: the command line's and the environment's, or the working directory where there are none.
 * A working directory that is the root of a file system allows nothing: some hosts start servers there.
 * @throws {AnyvmafError} `usage` when --allow does not name a folder
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
    else warnings.push(`no folder is allowed, because the server was started in ${cwd}; ${HOW_TO_EXTEND}`);
  }
  return { folders: [...folders], warnings };
}

function notAllowed(folder: string): AnyvmafError {
  return usageError(`--allow ${quoted(folder)} is not a folder that can be read`);
}

/** The allowed files of a server. */
export class AllowedFiles extends AllowedPaths implements ToolFiles {
  /**
   * @param roots real paths of folders
   * @param cwd where relative paths start
   * @param translate gives the path of one of the server's own resource addresses, `undefined` for other text
   * @param advice how to allow more folders
   */
  constructor(
    roots: Iterable<string>,
    cwd: string,
    translate?: (path: string) => Promise<string | undefined>,
    advice = HOW_TO_EXTEND,
  ) {
    super(roots, cwd, advice, translate);
  }
}
