/**
 * @module core/model-path
 * Which parts of a model string name a file: one rule for reading it and for checking it.
 */

/** Whether the first item of a model string, without a key, is a path and not a name. */
export function looksLikePath(item: string): boolean {
  return /[\\/]|\.json$/i.test(item);
}

/** The file that an item of a model string names; `place` counts items from 0. */
export function modelPath(item: string, place: number): string | undefined {
  if (item.startsWith('path=')) return item.slice('path='.length);
  return place === 0 && !item.includes('=') && looksLikePath(item) ? item : undefined;
}
