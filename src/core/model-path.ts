/**
 * @module core/model-path
 * Finds the parts of a model string that name a file, for its parser and its checks.
 */

/** Whether the first item of a model string, without a key, is a path rather than a name. */
export function looksLikePath(item: string): boolean {
  return /[\\/]|\.json$/i.test(item);
}

/** The file that an item of a model string names; `place` counts items from 0. */
export function modelPath(item: string, place: number): string | undefined {
  if (item.startsWith('path=')) return item.slice('path='.length);
  return place === 0 && !item.includes('=') && looksLikePath(item) ? item : undefined;
}
