/**
 * @module mcp/scoring/wording
 * Sentences that speak of the command line's options, said with the parameters of tools.
 */
import { AnyvmafError, type Finding, type Hint, type Objection } from '../../index.js';

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

/**
 * Where parameters are to be given: to a tool that brings any two videos together, or to `vmaf_score`, which has no
 * parameters for that and is alone in taking raw video.
 */
export type Place = 'encoded' | 'stored' | 'raw';

/** A finding whose remedy is a parameter with its value: `offset: 12`. */
export function findingInParameters<T extends Pick<Finding, 'message' | 'fix' | 'hint'>>(
  finding: T,
  place: Place = 'encoded',
): Omit<T, 'hint'> {
  const { hint, ...rest } = finding;
  const { message, fix } = rest;
  return {
    ...rest,
    message: inParameters(message),
    ...(fix !== undefined && { fix: hint ? hintInParameters(hint, fix, place) : inParameters(fix) }),
  };
}

/** @param command what to run, where no parameter helps */
function hintInParameters(hint: Hint, command: string, place: Place): string {
  if (hint.purpose === 'prepare') return command;
  const parameters = place === 'encoded' ? parametersOf(hint) : storedParametersOf(hint, place);
  return hint.purpose === 'accept' ? `to accept, pass ${parameters}` : parameters;
}

type OptionHint = Exclude<Hint, { purpose: 'prepare' }>;

function parametersOf(hint: OptionHint): string {
  switch (hint.option) {
    case 'frameRatePolicy':
      return `frame_rate_policy: ${JSON.stringify(hint.value)}`;
    case 'raw': {
      const { width, height, chroma, bitDepth } = hint.value;
      return `width: ${width}, height: ${height}, pixfmt: "${chroma}", bitdepth: ${bitDepth}`;
    }
    case 'scaleTo':
      return `scale_to: "${hint.value.width}x${hint.value.height}"`;
    case 'swap':
      return `reference: ${JSON.stringify(hint.value.reference)}, distorted: ${JSON.stringify(hint.value.distorted)}`;
    case 'window':
      return `window: ${hint.value} to find_alignment`;
    default:
      return `${hint.option}: ${JSON.stringify(hint.value)}`;
  }
}

/** In parameters of `vmaf_score`, as far as it has them. */
function storedParametersOf(hint: OptionHint, place: 'stored' | 'raw'): string {
  if (hint.option === 'offset' && hint.value !== 'auto') {
    return hint.value < 0 ? `frame_skip_dist: ${-hint.value}` : `frame_skip_ref: ${hint.value}`;
  }
  if (hint.option === 'range' && hint.value.unit === 'frames' && hint.value.end !== undefined) {
    const { start, end } = hint.value;
    const skip = start > 0 ? `frame_skip_ref: ${start}, frame_skip_dist: ${start}, ` : '';
    return `${skip}frame_cnt: ${end - start}`;
  }
  const parameters = parametersOf(hint);
  if (['model', 'raw', 'swap', 'window'].includes(hint.option)) return parameters;
  const first = place === 'raw' ? ', once ffmpeg has written the raw videos as Y4M' : '';
  return `${parameters} to vmaf_score_encoded${first}`;
}

/** The error in the words of parameters. */
export function errorInParameters(error: AnyvmafError, place: Place = 'encoded'): AnyvmafError {
  const { objections } = error;
  const message = objections
    ? objections.map((objection) => objectionInParameters(objection, place)).join(' ')
    : inParameters(error.message);
  return new AnyvmafError(error.code, message, { cause: error });
}

function objectionInParameters(objection: Objection, place: Place): string {
  const { message, fix } = findingInParameters(objection, place);
  const { purpose } = objection.hint ?? {};
  if (fix === undefined) return message;
  if (purpose === 'accept') return `${message} ${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`;
  return `${message} ${purpose === 'prepare' ? 'Use' : 'Pass'} ${fix}.`;
}

/** Settles as `work` does, but says with parameters what it refuses. */
export async function worded<T>(work: Promise<T>, place?: Place): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    throw errorInParameters(error, place);
  }
}
