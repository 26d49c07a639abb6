/**
 * @module core/url
 * Tells URLs from names of files.
 */

/** True for `https://host/a.mp4` and `file:///a.mp4`, not for `C:\a.mp4`. A file may have such a name too. */
export function hasScheme(name: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(name);
}

/** True for URLs that can be fetched and put to. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}
