/**
 * @module mcp/wording
 * Rewords errors and findings for tools, with parameters as remedies.
 */
import * as z from 'zod/v4';
import { isObject } from '../core/arguments.js';
import {
  AnyvmafError,
  type Hint,
  type HintName,
  hintText,
  messageOf,
  type OptionHint,
  objectionsText,
} from '../core/errors.js';
import { wordsOf } from '../core/option-words.js';
import { sentence, shown } from '../core/printable.js';
import { formatSize } from '../core/size.js';
import { limitError } from '../core/system-limits.js';
import type { Finding, Objection } from '../index.js';
import { argumentSentence } from './tool.js';

/** Whose parameters to name: those of a tool for encoded videos, or of `vmaf_score` with stored or raw video. */
export type Place = 'encoded' | 'stored' | 'raw';

/** The first clause of a description, of at least 20 characters. */
export const inShort = (text: string): string => /^.{20,}?(?=[.:;] |\.$)/.exec(text)?.[0] ?? text;

/** Frames that a call skips at the start of each video. */
type Skipped = Readonly<Record<'reference' | 'distorted', number>>;
const NONE_SKIPPED: Skipped = { reference: 0, distorted: 0 };

/** Gives a finding a fix in parameters, as JSON: `{"offset":12}`. */
export function findingInParameters(
  finding: Finding,
  place: Place = 'encoded',
  skipped = NONE_SKIPPED,
): Omit<Finding, 'hint'> {
  const { hint, ...rest } = finding;
  return hint ? { ...rest, fix: fixText(hint, place, skipped) } : rest;
}

/** JSON to merge into the arguments, or a command line. */
function fixText(hint: Hint, place: Place, skipped: Skipped): string {
  const options = hint.purpose === 'prepare' ? hint.instead : [hint];
  if (!options) return hintText(hint);
  const [first] = options;
  const moved = first ? elsewhere(first, place) : '';
  const values = options.map((option) => valuesOf(option, moved === '' ? place : 'encoded', skipped));
  const json = JSON.stringify(values.reduce(merged, {}));
  return `${hint.purpose === 'accept' ? 'to accept, pass ' : ''}${json}${moved}`;
}

type Values = Readonly<Record<string, unknown>>;

function merged(values: Values, added: Values): Values {
  const both = Object.entries(added).map(([name, value]) => [name, joined(values[name], value)]);
  return { ...values, ...Object.fromEntries(both) };
}

/** Merges filters and lists, where a feature replaces the same with fewer options; replaces other values. */
export function joined(given: unknown, value: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(value))
    return [...given.filter((one) => !value.some((more) => includes(`${more}`, `${one}`))), ...value];
  return isObject(given) && isObject(value) ? { ...given, ...value } : value;
}

/** Whether a feature is another one, or that with further options. */
function includes(feature: string, other: string): boolean {
  return feature === other || feature.startsWith(`${other}${other.includes('=') ? ':' : '='}`);
}

/** Parameters within a sentence: `offset: 12`. */
function parametersOf(hint: Parameters<HintName>[0], place: Place): string {
  if (hint.purpose === 'pull') return `'anyvmaf models pull ${hint.model}'`;
  if (hint.purpose === 'install') return `'anyvmaf setup ${hint.part}'`;
  const { parameter, among, given = parameter } = wordsOf(hint.option);
  if (hint.value === undefined) return hint.option === 'raw' ? 'width, height, pixfmt and bitdepth' : given;
  const isSwitch = hint.value === true && among !== 'filters';
  return (isSwitch ? parameter : inSentence(valuesOf(hint, place))) + elsewhere(hint, place);
}

function inSentence(values: Values): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${isObject(value) ? spaced(value) : JSON.stringify(value)}`)
    .join(', ');
}

function spaced(value: object): string {
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${JSON.stringify(member)}`);
  return `{${members.join(', ')}}`;
}

function valuesOf(hint: OptionHint, place: Place, skipped = NONE_SKIPPED): Values {
  const stored = place === 'encoded' ? undefined : storedValuesOf(hint, skipped);
  if (stored) return stored;
  const { parameter, among } = wordsOf(hint.option);
  if (among === 'filters') return { filters: { [parameter]: hint.value } };
  switch (hint.option) {
    case 'raw': {
      const { width, height, chroma, bitDepth } = hint.value;
      return { width, height, pixfmt: chroma, bitdepth: bitDepth };
    }
    case 'swap':
      return { ...hint.value };
    case 'features':
      return { [parameter]: [hint.value] };
    default:
      return { [parameter]: formatSize(hint.value) };
  }
}

/** Equivalent parameters of `vmaf_score`; `undefined` if it has none. */
function storedValuesOf(hint: OptionHint, { reference, distorted } = NONE_SKIPPED): Values | undefined {
  // An offset counts from the first frames that are not skipped.
  if (hint.option === 'offset' && hint.value !== 'auto')
    return hint.value < 0
      ? { frame_skip_dist: distorted - hint.value }
      : { frame_skip_ref: reference + hint.value };
  if (hint.option !== 'range' || hint.value.unit !== 'frames' || hint.value.end === undefined)
    return undefined;
  const { start, end } = hint.value;
  return { ...(start > 0 && { frame_skip_ref: start, frame_skip_dist: start }), frame_cnt: end - start };
}

/** Names the other tool that takes a parameter; empty if this one does. */
function elsewhere(hint: OptionHint, place: Place): string {
  if (hint.option === 'window') return ' to find_alignment';
  const isOwn = wordsOf(hint.option).stored || ['model', 'raw', 'swap'].includes(hint.option);
  if (place === 'encoded' || isOwn || storedValuesOf(hint)) return '';
  return ` to vmaf_score_encoded${place === 'raw' ? ', once ffmpeg has written the raw videos as Y4M' : ''}`;
}

export function errorInParameters(error: AnyvmafError, place: Place = 'encoded'): AnyvmafError {
  const { code, objections } = error;
  if (!objections) return error;
  const named = place === 'encoded' ? objections : objections.map(sentElsewhere);
  const text = objectionsText(named, (hint) => parametersOf(hint, place));
  return new AnyvmafError(code, text, { cause: error });
}

/** For a container, names the tool that takes it. */
function sentElsewhere(objection: Objection): Objection {
  const encoded = objection.hints?.some((hint) => typeof hint === 'object' && hint.option === 'decoder');
  return encoded ? { ...objection, hints: ['vmaf_score_encoded takes it directly'] } : objection;
}

/** Settles like `work`; errors name parameters. */
export async function worded<T>(work: Promise<T>, place?: Place): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AnyvmafError)) throw error;
    throw errorInParameters(error, place);
  }
}

/** One sentence about anything thrown, without a stack. */
export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof z.ZodError) return sentence(argumentSentence(thrown));
  const error = limitError(thrown) ?? thrown;
  if (error instanceof AnyvmafError) return errorInParameters(error).message;
  return `anyvmaf failed unexpectedly: ${shown(messageOf(error).trim(), 500)}`;
}
