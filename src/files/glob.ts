/**
 * @module files/glob
 * Patterns of file names.
 */

/**
 * Makes a test of names in a folder: `*` stands for any characters, `?` for one; brackets are literal. As in a shell, names
 * that start with a dot match only a pattern that does.
 */
export function globTest(pattern: string): (name: string) => boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  const whole = new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`);
  return (name) => whole.test(name) && (!name.startsWith('.') || pattern.startsWith('.'));
}
