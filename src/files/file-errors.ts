/**
 * @module files/file-errors
 * Turns errors of Node's file functions into a sentence that names the file and the reason.
 */
import { AnyvmafError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { limitError } from '../core/system-limits.js';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a folder in its path is not a directory',
  EISDIR: 'it is a directory; give the path of a file',
  EACCES: 'permission denied; allow this user to read it',
  EPERM: 'the system does not permit it',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the path is too long',
  EBADF: 'it is not an open file descriptor',
  ENXIO: 'it is a socket or a device that cannot be read',
  EIO: 'the device reports a read error',
  ERR_INVALID_ARG_VALUE: 'the path contains a NUL character',
};

/** @param name of the file as the user gave it */
export function fileError(name: string, cause: unknown): AnyvmafError {
  if (cause instanceof AnyvmafError) return cause;
  const limited = limitError(cause, `cannot read ${shown(name)}`);
  if (limited) return limited;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new AnyvmafError('io', `cannot read ${shown(name)}: ${shown(reason)}.`, { cause });
}
