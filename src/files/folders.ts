/**
 * @module files/folders
 * Folders to write into, made where they are missing, and why something could not be written.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Not by Node's recursive mkdir, which never returns where nothing can be made, as
 * in /proc.
 * @param path absolute
 * @param made receives those that were not there, the topmost first
 */
export async function makeFolders(path: string, made: string[] = []): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  if (dirname(path) !== path) await makeFolders(dirname(path), made);
  try {
    await mkdir(path);
    made.push(path);
  } catch (error) {
    // Another process may have been quicker.
    if (!(await stat(path).catch(() => undefined))) throw error;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no folder can be made there',
  EEXIST: 'a part of its path is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'there is a folder of that name',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it would become larger than files may be here',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'it is a circle of symbolic links',
  EMFILE: 'too many files are open',
};

/** Why something could not be written, the end of a sentence. */
export function writeReason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
}
