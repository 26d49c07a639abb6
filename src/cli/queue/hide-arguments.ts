/**
 * @module cli/queue/hide-arguments
 * Keeps passwords out of lists of processes.
 */
import { withoutAccess } from '../../core/printable.js';
import { withoutPassword } from '../../queue/address.js';

/** Replaces what lists of processes show of this one, where a URL of its command line has a password or a signature. */
export function hideArguments(): void {
  if (process.argv.some((arg) => withoutPassword(arg) !== arg || withoutAccess(arg) !== arg))
    process.title = 'anyvmaf';
}
