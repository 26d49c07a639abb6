/**
 * @module mcp/scoring/wording
 * Errors and findings in the words of tools: what resolves them, as parameters.
 */
import { AnyvmafError } from '../../core/errors.js';
import { type HintName, hintText, objectionsText } from '../../core/hint.js';
import type { Finding, Objection } from '../../index.js';

/** Names that say something else in parameters. */
const PARAMETERS: Readonly<Record<string, string>> = {
  features: 'feature',
  raw: 'width, height, pixfmt and bitdepth',
  vmafBin: 'VMAF_BIN',
};

/**
 * The tool whose parameters are named: one that takes any two videos, or `vmaf_score`, which has no parameters for
 * pairing and also takes raw video.
 */
export type Place = 'encoded' | 'stored' | 'raw';

/** A finding whose remedy is a parameter with its value: `offset: 12`. */
export function findingInParameters(finding: Finding, place: Place = 'encoded'): Omit<Finding, 'hint'> {
  const { hint, ...rest } = finding;
  return hint ? { ...rest, fix: hintText(hint, parametersIn(place)) } : rest;
}

type NamedHint = Parameters<HintName>[0];

function parametersIn(place: Place): HintName {
  return place === 'encoded' ? parametersOf : (hint) => storedParametersOf(hint, place);
}

function parametersOf(hint: NamedHint): string {
  if (hint.purpose === 'pull') return `'anyvmaf models pull ${hint.model}'`;
  if (hint.purpose === 'install') return `'anyvmaf setup ${hint.part}'`;
  const name = hint.option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (hint.value === undefined) return PARAMETERS[hint.option] ?? name;
  switch (hint.option) {
    case 'allowDamaged':
    case 'allowUrl':
      return name;
    case 'colorRange':
    case 'cropDistorted':
    case 'cropReference':
    case 'deinterlace':
    case 'matrix':
    case 'vfDistorted':
    case 'vfReference':
      return `filters: {"${name}": ${JSON.stringify(hint.value)}}`;
    case 'raw': {
      const { width, height, chroma, bitDepth } = hint.value;
      return `width: ${width}, height: ${height}, pixfmt: "${chroma}", bitdepth: ${bitDepth}`;
    }
    case 'scaleTo':
      return `${name}: "${hint.value.width}x${hint.value.height}"`;
    case 'swap':
      return `reference: ${JSON.stringify(hint.value.reference)}, distorted: ${JSON.stringify(hint.value.distorted)}`;
    case 'window':
      return `window: ${hint.value} to find_alignment`;
    default:
      return `${name}: ${JSON.stringify(hint.value)}`;
  }
}

/** In parameters of `vmaf_score`, if it has them. */
function storedParametersOf(hint: NamedHint, place: 'stored' | 'raw'): string {
  if (hint.value === undefined) return parametersOf(hint);
  if (hint.option === 'offset' && hint.value !== 'auto') {
    return hint.value < 0 ? `frame_skip_dist: ${-hint.value}` : `frame_skip_ref: ${hint.value}`;
  }
  if (hint.option === 'range' && hint.value.unit === 'frames' && hint.value.end !== undefined) {
    const { start, end } = hint.value;
    const skip = start > 0 ? `frame_skip_ref: ${start}, frame_skip_dist: ${start}, ` : '';
    return `${skip}frame_cnt: ${end - start}`;
  }
  const parameters = parametersOf(hint);
  if (['allowDamaged', 'model', 'raw', 'swap', 'window'].includes(hint.option)) return parameters;
  const first = place === 'raw' ? ', once ffmpeg has written the raw videos as Y4M' : '';
  return `${parameters} to vmaf_score_encoded${first}`;
}

/** The error in the words of parameters. */
export function errorInParameters(error: AnyvmafError, place: Place = 'encoded'): AnyvmafError {
  const { code, objections } = error;
  if (!objections) return error;
  const named = place === 'encoded' ? objections : objections.map(sentElsewhere);
  return new AnyvmafError(code, objectionsText(named, parametersIn(place)), { cause: error });
}

/** If the tool for raw video gets a container, name the other tool, not an option. */
function sentElsewhere(objection: Objection): Objection {
  const encoded = objection.hints?.some((hint) => typeof hint === 'object' && hint.option === 'decoder');
  return encoded ? { ...objection, hints: ['vmaf_score_encoded takes it as it is'] } : objection;
}

/** Settles as `work` does; errors name parameters. */
export async function worded<T>(work: Promise<T>, place?: Place): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    throw errorInParameters(error, place);
  }
}
