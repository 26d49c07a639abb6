/**
 * @module scripts/lib/search-rules
 * Searches on recorded grids: this project's strategy, and the rule that ab-av1 publishes for `crf-search`.
 */

/** The answer of an exhaustive grid: the largest value that reaches the target. */
export function largest(points, target) {
  return points.filter(({ score }) => score >= target).at(-1)?.value;
}

/** This project's strategy. @returns the value found, and the number of encodes */
export function ownRule(points, target, nextStep, grid) {
  const scores = new Map(points.map(({ value, score }) => [value, score]));
  const known = [];
  for (;;) {
    const next = nextStep(known, grid);
    if (next.kind !== 'try')
      return { value: next.kind === 'found' ? next.value : undefined, encodes: known.length };
    known.push({ value: next.value, margin: scores.get(next.value) - target });
  }
}

/**
 * The rule of ab-av1 (`crf-search` of 2026, defaults): starts in the middle of the range, moves three fifths of the way to an
 * end, then interpolates linearly between the nearest values on both sides. It ends when a value is above the target by less
 * than a tolerance that doubles with each encode, or when the neighbouring value fails; without an answer if the lowest
 * value fails.
 */
export function abAv1Rule(points, target) {
  const step = points[1].value - points[0].value;
  const last = points.length - 1;
  const tried = new Map();
  let at = Math.floor(last / 2);
  for (let run = 1; ; run++) {
    const { score, value } = points[at];
    tried.set(at, score);
    const places = [...tried.keys()].sort((a, b) => a - b);
    const answer = (found) => ({ value: found, encodes: tried.size });
    if (score > target) {
      const tolerance = Math.max(0.1, Math.min(step, 1) * 2 ** (run - 1) * 0.1);
      const upper = places.find((place) => place > at);
      if (score < target + tolerance || upper === at + 1 || (upper === undefined && at === last))
        return answer(value);
      if (upper !== undefined) at = between(at, upper, target, tried);
      else at = run === 1 && at + 1 < last ? Math.round(at * 0.4 + last * 0.6) : last;
    } else {
      if (at === 0) return answer(undefined);
      const lower = places.findLast((place) => place < at);
      if (lower === at - 1) return answer(points[lower].value);
      if (lower !== undefined) at = between(lower, at, target, tried);
      else at = run === 1 && at > 1 ? Math.round(at * 0.4) : 0;
    }
    // Encoding a value again would go round in circles.
    if (tried.has(at)) return answer(undefined);
  }
}

function between(better, worse, target, tried) {
  const [high, low] = [tried.get(better), tried.get(worse)];
  const at = Math.round(worse - ((worse - better) * (target - low)) / (high - low));
  return Math.max(better + 1, Math.min(worse - 1, at));
}
