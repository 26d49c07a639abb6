/**
 * @module mcp/scoring/wording
 * Sentences that speak of the command line's options, said with the parameters of tools.
 */
import { AnyvmafError, type Finding } from '../../index.js';

/** Options of the command line that are parameters of tools, but for their spelling. */
const OPTION =
  /--(allow-damaged|decoder|distorted|frame-rate-policy|model|offset|range|reference|scale-to|scale|strict|window)\b/g;

/** `pass --frame-rate-policy nearest` becomes `pass frame_rate_policy nearest`. */
export function inParameters(sentence: string): string {
  return sentence
    .replaceAll(OPTION, (_, name: string) => name.replaceAll('-', '_'))
    .replaceAll('anyvmaf align', 'find_alignment')
    .replaceAll('--vmaf-bin or VMAF_BIN', 'VMAF_BIN');
}

/** A finding whose remedy is a parameter: `offset 12`. */
export function findingInParameters<T extends Pick<Finding, 'message' | 'fix'>>(finding: T): T {
  const { message, fix } = finding;
  return {
    ...finding,
    message: inParameters(message),
    ...(fix !== undefined && { fix: inParameters(fix) }),
  };
}

/** The error in the words of parameters. */
export function errorInParameters(error: AnyvmafError): AnyvmafError {
  return new AnyvmafError(error.code, inParameters(error.message), { cause: error });
}

/** Settles as `work` does, but says with parameters what it refuses. */
export async function worded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    throw errorInParameters(error);
  }
}
