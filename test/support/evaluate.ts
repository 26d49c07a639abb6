/**
 * @module test/support/evaluate
 * Statistics by their definitions, however slow.
 */

/** Kendall's tau-b by looking at every pair. */
export function bruteTau(x: readonly number[], y: readonly number[]): number {
  let difference = 0;
  let untiedX = 0;
  let untiedY = 0;
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) {
      const dx = Math.sign((x[i] ?? 0) - (x[j] ?? 0));
      const dy = Math.sign((y[i] ?? 0) - (y[j] ?? 0));
      difference += dx * dy;
      untiedX += Math.abs(dx);
      untiedY += Math.abs(dy);
    }
  }
  return difference / Math.sqrt(untiedX * untiedY);
}

/** Pearson's correlation by its definition. */
export function brutePearson(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [xMean, yMean] = [mean(x), mean(y)];
  const sum = (term: (i: number) => number) => x.reduce((total, _, i) => total + term(i), 0);
  const dx = (i: number) => (x[i] ?? 0) - xMean;
  const dy = (i: number) => (y[i] ?? 0) - yMean;
  return sum((i) => dx(i) * dy(i)) / Math.sqrt(sum((i) => dx(i) ** 2) * sum((i) => dy(i) ** 2));
}

/** Average ranks by counting who is smaller and who is equal. */
export function bruteRanks(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });
}
