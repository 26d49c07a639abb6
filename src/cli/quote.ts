/**
 * @module cli/quote
 * Writes a command line so that a POSIX shell reads it back as it was.
 */

/** The arguments as one line. */
export function commandLine(program: string, args: readonly string[]): string {
  return [program, ...args.map(quoted)].join(' ');
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
