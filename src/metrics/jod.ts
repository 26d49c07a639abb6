/**
 * @module metrics/jod
 * The last step of ColorVideoVDP: from visible differences (Q) to just-objectionable differences (JOD).
 */

/** The method's power function, with a finite slope at 0. */
export function power(x: number, exponent: number): number {
  const start = 1e-5;
  return (x + start) ** exponent - start ** exponent;
}

/** JOD of a Q; linear near 0, where the slope of the power is infinite. */
export function jodOf(q: number): number {
  const factor = 0.0439569391310215;
  const exponent = 0.9302042722702026;
  const linear = 0.1;
  return 10 - factor * (q > linear ? q ** exponent : q * linear ** (exponent - 1));
}
