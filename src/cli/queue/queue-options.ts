/**
 * @module cli/queue/queue-options
 * Options that the queue commands share, and hiding of passwords from process lists.
 */
import { usageError } from '../../core/errors.js';
import { withoutAccess } from '../../core/printable.js';
import { withoutPassword } from '../../queue/address.js';
import type { Option } from '../options.js';
import { fileName } from '../video-options.js';

export const QUEUE_OPTION: Option<{ readonly queue: string }> = {
  name: 'queue',
  argument: 'URL',
  help: 'the queue: redis://USER@HOST:PORT/DB, rediss:// for TLS; ?queue=NAME for one of several',
  read: ({ value }) => ({ queue: value }),
};

/** For results that are too large for Redis. */
export const RESULTS_OPTION: Option<{ readonly results?: string }> = {
  name: 'results',
  argument: 'DIR',
  help:
    'a folder that all workers and the batch can access, or a URL to upload to, for parts and other large ' +
    'results',
  read: (use) => ({ results: fileName(use) }),
};

/** For commands that read no videos of their own. */
export const HOSTS_OPTION: Option<{ readonly hosts: readonly string[] }> = {
  name: 'allow-url',
  argument: 'HOST',
  help: 'read from and upload to URLs on HOST, checked. May be repeated',
  read: ({ value }, { hosts = [] }) => ({ hosts: [...hosts, value] }),
};

/** @throws {AnyvmafError} `usage` if no queue is named */
export function requireQueue(address: string | undefined, command: string): string {
  if (address !== undefined) return address;
  const variable = process.env.ANYVMAF_QUEUE;
  if (variable !== undefined && variable !== '') return variable;
  throw usageError(
    `no queue given; name it with --queue redis://HOST or in ANYVMAF_QUEUE; see '${command} --help'`,
  );
}

/** Hides the command line from process lists if one of its URLs has a password or a signature. */
export function hideArguments(): void {
  if (process.argv.some((arg) => withoutPassword(arg) !== arg || withoutAccess(arg) !== arg))
    process.title = 'anyvmaf';
}
