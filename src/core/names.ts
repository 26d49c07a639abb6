/**
 * @module core/names
 * Names of files: URLs, paths in model strings, and words for POSIX shells.
 */

/** True for `https://host/a.mp4` and `file:///a.mp4`, not for `C:\a.mp4`. Files may have such names too. */
export function hasScheme(name: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(name);
}

/** True for HTTP URLs. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/** True if the first item of a model string, without a key, is a path rather than a name. */
export function looksLikePath(item: string): boolean {
  return /[\\/]|\.json$/i.test(item);
}

/** The file that an item of a model string names. @param place of the item, from 0 */
export function modelPath(item: string, place: number): string | undefined {
  if (item.startsWith('path=')) return item.slice('path='.length);
  return place === 0 && !item.includes('=') && looksLikePath(item) ? item : undefined;
}

/** True for the path of a tiny model; others are ids of the registry. */
export function isOnnxPath(model: string): boolean {
  return /[\\/]|\.onnx$/i.test(model);
}

export const STANDARD_INPUT = 'standard input';

/** A file name for a shell that no program takes for an option. */
export function shellWord(text: string): string {
  if (text === STANDARD_INPUT) return '-';
  return text.startsWith('-') ? inQuotes(`./${text}`) : quotedWord(text);
}

/** A file name that ffmpeg takes neither for an option nor, by a colon, for a protocol. */
export function fileWord(name: string): string {
  return /^(?:-|[\w.+-]+:(?![\\/]))/.test(name) ? `./${name}` : name;
}

export function quotedWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : inQuotes(text);
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
