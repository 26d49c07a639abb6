/**
 * @module core/nearest
 * Finds the name that a user most likely meant.
 */

/**
 * The candidate nearest to `typed`: the only one that continues it with another word (`reference_encoded` for
 * `reference`), else the nearest by edit distance (insert, delete, replace, swap neighbours), at most a third of the
 * longer word.
 * @param key normalises both spellings before comparing them
 */
export function nearest(
  typed: string,
  candidates: readonly string[],
  key: (name: string) => string = (name) => name,
): string | undefined {
  const wanted = key(typed).toLowerCase();
  const further = candidates.filter((candidate) => continues(wanted, key(candidate).toLowerCase()));
  if (further.length === 1) return further[0];
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const name = key(candidate).toLowerCase();
    const longer = Math.max(wanted.length, name.length);
    // Skip names too different in length for any edit: `typed` may have megabytes.
    if ((longer - Math.min(wanted.length, name.length)) * 3 > longer) continue;
    const distance = editDistance(wanted, name);
    if (distance < least && distance * 3 <= longer) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

/** A guess to put before the list of valid names; empty without one. */
export function guess(meant: string | undefined): string {
  return meant === undefined ? '' : `did you mean ${meant}? If not, `;
}

/** The likely name, or all names if none is near. @param typed untrusted text of any length */
export function suggestion(typed: string, names: readonly string[]): string {
  const near = nearest(typed.slice(0, 100), names);
  if (near !== undefined) return `did you mean ${near}?`;
  return `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}.`;
}

function continues(word: string, name: string): boolean {
  return word.length > 2 && name.startsWith(word) && /^[_-]/.test(name.slice(word.length));
}

/** Optimal string alignment distance. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (last[j - 1] ?? Number.NaN) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(replace, (last[j] ?? Number.NaN) + 1, (row[j - 1] ?? Number.NaN) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? Number.NaN) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? Number.NaN;
}
