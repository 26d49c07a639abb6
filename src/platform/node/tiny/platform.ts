/**
 * @module platform/node/tiny/platform
 * Tiny models in Node: files of limited size, confined to their folders even through links; and Sigstore signatures.
 */
import { closeSync, fstatSync, readFile } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AnyvmafError, codeOf, modelError, usageError } from '../../../core/errors.js';
import { BY_USER } from '../../../core/origin.js';
import { fileError, isInside, openChecked } from '../../../files/checked-file.js';
import type {
  TinyFiles,
  TinyFolder,
  TinyPlatform,
  TinyRuntimes,
  TinySignatures,
} from '../../../tiny/types.js';
import { nodeTinyRuntimes } from './runtimes.js';

/** Reused: devices are searched only once. */
let runtimes: TinyRuntimes | undefined;

/** @param models returns the folder of the built-in models, ending in `/` @param origin of the names of other files */
export function nodeTiny(models: () => URL, origin = BY_USER): TinyPlatform {
  // onnxruntime-node reports usage to its vendor, through files in the temporary folder.
  process.env.ORT_DISABLE_TELEMETRY ??= '1';
  runtimes ??= nodeTinyRuntimes();
  return { files: nodeTinyFiles(models, origin), runtimes, signatures: nodeTinySignatures() };
}

export function nodeTinyFiles(folder: () => URL, origin = BY_USER): TinyFiles {
  return {
    get builtIn() {
      return folderAt(fileURLToPath(new URL('tiny/', folder())));
    },
    async locate(path) {
      const file = path.startsWith('file:') ? fileURLToPath(path) : resolve(path);
      const jail = await confine(file);
      const limits = [jail, origin.folders].filter((folders) => folders !== undefined);
      const place = { folder: folderAt(dirname(file), limits), file: basename(file) };
      const [folder, target] = await Promise.all([real(dirname(file)), real(file)]);
      if (folder === null || target === null || target === join(folder, place.file)) return place;
      return { ...place, target: { folder: folderAt(dirname(target), limits), file: basename(target) } };
    },
  };
}

/** The only allowed folder of models, if set. @throws {AnyvmafError} `usage` if the file lies outside */
async function confine(file: string): Promise<readonly string[] | undefined> {
  const jail = process.env.VMAF_TINY_MODEL_DIR;
  if (jail === undefined || jail === '') return undefined;
  const [root, target] = await Promise.all([real(jail), real(file)]);
  if (root !== null && target !== null && isInside(root, target)) return [root];
  throw usageError(
    `The tiny model ${file} is outside ${jail} (VMAF_TINY_MODEL_DIR), the only folder allowed for tiny models; ` +
      'put it there.',
  );
}

/** @param limits lists of real paths: on each read, the folder must lie in a folder of every list */
function folderAt(path: string, limits: readonly (readonly string[])[] = []): TinyFolder {
  return {
    name: path,
    async read(file, limit) {
      const wanted = join(path, file);
      const [root, target] = await Promise.all([real(path), real(wanted)]);
      if (root === null || target === null) return null;
      const allowed = limits.every((folders) => folders.some((folder) => isInside(folder, root)));
      if (!allowed || !isInside(root, target))
        throw modelError(`${file} leads out of its folder ${path}, and is not read.`);
      return readWhole(target, wanted, limit, root);
    },
  };
}

/** The real path; `null` if it does not exist. */
async function real(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (cause) {
    if (/^ENO(?:ENT|TDIR)$/.test(codeOf(cause))) return null;
    throw fileError(path, cause);
  }
}

async function readWhole(target: string, shown: string, limit: number, root: string): Promise<Uint8Array> {
  try {
    const fd = openChecked(target, { by: 'foreign', folders: [root] });
    try {
      const { size } = fstatSync(fd);
      if (size > limit) {
        throw modelError(
          `${shown} has ${size} bytes, more than the limit of ${limit} for a file of its kind.`,
        );
      }
      return await promisify(readFile)(fd);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    if (cause instanceof AnyvmafError) throw cause;
    throw fileError(shown, cause);
  }
}

/** Options of sigstore's `verify`, to pin the signer. */
interface VerifyOptions {
  readonly certificateIssuer?: string;
  readonly certificateIdentityURI?: string;
  readonly certificateIdentityEmail?: string;
}

interface Sigstore {
  verify(bundle: unknown, payload: Buffer, options: VerifyOptions): Promise<unknown>;
}

export function nodeTinySignatures(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): TinySignatures {
  return {
    async verify(bytes, bundle, what, signer) {
      let sigstore: Sigstore;
      try {
        const found = await load('sigstore');
        if (!isSigstore(found)) throw new Error('it has no verify');
        sigstore = found;
      } catch (cause) {
        throw modelError(
          `The signature of ${what} cannot be checked without the package sigstore; install it with npm install ` +
            'sigstore, or require no signature.',
          { cause },
        );
      }
      try {
        const identity = signer.identity.includes('://')
          ? 'certificateIdentityURI'
          : 'certificateIdentityEmail';
        await sigstore.verify(JSON.parse(bundle), Buffer.from(bytes), {
          certificateIssuer: signer.issuer,
          [identity]: signer.identity,
        });
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message.replaceAll('\n', ' ') : String(cause);
        throw modelError(
          `The Sigstore bundle of ${what} does not verify (${reason}); the model is not loaded.`,
          { cause },
        );
      }
    },
  };
}

function isSigstore(found: unknown): found is Sigstore {
  return (
    typeof found === 'object' && found !== null && 'verify' in found && typeof found.verify === 'function'
  );
}
