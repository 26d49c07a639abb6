/**
 * @module web/setup/colours
 * The number of each encode's colour, which it keeps for as long as the page is open.
 */
import type { Session } from '../session.js';

/** The numbers of the encodes that are chosen: a new one has the first that no other on the page has. */
export function coloursOf({ distorted, results, colours }: Session): number[] {
  const owners = new Map<number, File | undefined>();
  for (const { colour, scored } of results.value) {
    if (colour === undefined) continue;
    owners.set(colour, scored?.distorted);
    if (scored) colours.set(scored.distorted, colour);
  }
  const files = distorted.value.map(({ file }) => file);
  for (const file of files) {
    const number = colours.get(file);
    if (number !== undefined && !owners.has(number)) owners.set(number, file);
  }
  return files.map((file) => {
    let number = colours.get(file) ?? 0;
    if (owners.get(number) === file) return number;
    for (number = 0; owners.has(number); ) number++;
    owners.set(number, file);
    colours.set(file, number);
    return number;
  });
}
