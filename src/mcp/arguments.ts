/**
 * @module mcp/arguments
 * Checks a tool's arguments, and explains problems in a sentence that a model can act on.
 */
import * as z from 'zod/v4';
import { MAX_STRING, requireLength } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import { counted, grouped, shown, showValue } from '../core/printable.js';

const MAX_PROBLEMS = 4;

/** Most characters of a value in a message. */
const SHOWN = 60;

/** `models[2]`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

const brief = (value: unknown): string => showValue(value, SHOWN);

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.length === 1
        ? brief(issue.values[0])
        : `one of ${issue.values.map(brief).join(', ')}`;
    case 'too_small':
    case 'too_big':
      return bound(issue);
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return [...new Set(issue.errors.flatMap(([first]) => (first ? [expectation(first)] : [])))].join(
        ' or ',
      );
    default:
      return issue.message;
  }
}

function bound(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const isLeast = issue.code === 'too_small';
  const [limit, more] = isLeast ? [issue.minimum, 'more'] : [issue.maximum, 'less'];
  const within = isLeast ? 'at least' : 'at most';
  switch (issue.origin) {
    case 'string':
      return `a string of ${within} ${counted(Number(limit), 'character')}`;
    case 'array':
    case 'set':
      return `an array of ${within} ${limit}`;
    default:
      return issue.inclusive === false ? `${more} than ${limit}` : `${limit} or ${more}`;
  }
}

function problem(issue: z.core.$ZodIssue): string {
  const name = nameOf(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map(brief).join(', ');
    return `${name === '' ? 'the arguments have' : `"${name}" has`} an unknown member ${keys}`;
  }
  if (issue.code === 'custom') return issue.message;
  const subject = name === '' ? 'the arguments object' : `"${name}"`;
  if (issue.input === undefined) return `${subject} is missing; it must be ${expectation(issue)}`;
  return `${subject} is ${brief(issue.input)}, but it must be ${expectation(issue)}`;
}

/** One sentence about every invalid argument. */
export function argumentSentence({ issues }: { readonly issues: readonly z.core.$ZodIssue[] }): string {
  // One problem for each parameter: a value of the wrong type also fails length checks, which adds nothing.
  const first = new Map(issues.map((issue) => [nameOf(issue.path), issue] as const).toReversed());
  const problems = issues.filter((issue) => first.get(nameOf(issue.path)) === issue).map(problem);
  const rest = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), ...(rest > 0 ? [`and ${rest} more problems`] : [])].join('; ');
}

/**
 * @throws {AnyvmafError} `usage` if the arguments are not an object, are too large, or have an unknown parameter
 * @throws {z.ZodError} for invalid values
 */
export function checkArguments<Schema extends z.ZodObject>(
  tool: string,
  schema: Schema,
  args: unknown,
): z.output<Schema> {
  const sent = args ?? {};
  if (typeof sent !== 'object' || Array.isArray(sent)) {
    throw usageError(`The arguments of ${tool} must be an object, not ${brief(sent)}.`);
  }
  requireSize(sent, tool);
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(sent).filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first !== undefined) throw usageError(unknownParameter(tool, first, known));
  return schema.parse(coercedMembers(schema, sent), { reportInput: true });
}

/** Lists that may also come as text with commas, as in other tools. */
const COMMA_LISTS: ReadonlySet<string> = new Set(['encoders', 'resolutions', 'target_vmafs']);

/** Adapts what hosts send: drops `null` for optional parameters, parses numbers and booleans, wraps single items. */
function coercedMembers(schema: z.ZodObject, sent: object): Record<string, unknown> {
  const entries = Object.entries(sent).filter(
    ([name, value]) => value !== null || !schema.shape[name]?.safeParse(undefined).success,
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      coerced(innermost(schema.shape[name]), value, COMMA_LISTS.has(name)),
    ]),
  );
}

function coerced(type: z.ZodType | undefined, value: unknown, commas: boolean): unknown {
  if (type instanceof z.ZodArray) {
    const item = innermost(type.element as z.ZodType);
    const texts = commas && typeof value === 'string' ? value.split(',').map((one) => one.trim()) : undefined;
    const items = texts ?? (Array.isArray(value) ? value : typeof value === 'object' ? undefined : [value]);
    return items ? items.map((one) => coerced(item, one, false)) : value;
  }
  if (type instanceof z.ZodObject && typeof value === 'object' && value !== null && !Array.isArray(value))
    return coercedMembers(type, value);
  if (typeof value !== 'string') return value;
  if (type instanceof z.ZodNumber && /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(value))
    return Number(value);
  if (type instanceof z.ZodBoolean && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return value;
}

/** Unwraps optional, default, nullable and transformed types. */
function innermost(type: z.core.$ZodType | undefined): z.ZodType | undefined {
  if (type instanceof z.ZodOptional || type instanceof z.ZodDefault || type instanceof z.ZodNullable)
    return innermost(type.def.innerType);
  if (type instanceof z.ZodPipe) return innermost(type.def.in);
  return type as z.ZodType | undefined;
}

/** Refuses oversized texts and lists before they are parsed. @throws {AnyvmafError} `usage` */
function requireSize(value: unknown, name: string, depth = 0): void {
  if (typeof value === 'string') requireLength(`A text in ${shown(name, SHOWN)}`, value, MAX_STRING);
  // Deeper values fail to parse, since no schema nests as deep.
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  const members = Object.entries(value);
  if (members.length > MAX_MEMBERS) {
    throw usageError(
      `${shown(name, SHOWN)} has ${grouped(members.length)} members; at most ${MAX_MEMBERS} are allowed.`,
    );
  }
  for (const [key, member] of members) {
    requireLength(`The name of a parameter in ${shown(name, SHOWN)}`, key);
    requireSize(member, Array.isArray(value) ? name : key, depth + 1);
  }
}

/** More than any parameter has. */
const MAX_MEMBERS = 1000;
const MAX_DEPTH = 8;

function unknownParameter(tool: string, name: string, known: readonly string[]): string {
  const near = synonym(name, known) ?? nearest(name.slice(0, SHOWN), known);
  const list =
    known.length > 12 ? 'see its input schema for the names' : `it takes ${known.join(', ') || 'none'}`;
  const hint = near === undefined ? list : `did you mean "${near}"?`;
  return `${tool} has no parameter ${brief(name)}; ${hint}`;
}

/** Names of the same parameter in other video tools. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['ref', 'reference', 'reference_encoded', 'reference_path', 'original', 'source', 'src'],
  ['dis', 'distorted', 'distorted_encoded', 'dist', 'distorted_path', 'encoded', 'encode', 'main'],
  ['pixfmt', 'pix_fmt', 'pixel_format', 'chroma', 'chroma_format'],
  ['bitdepth', 'bit_depth', 'depth', 'bits'],
  ['n', 'count', 'frames', 'num_frames', 'number'],
  ['feature', 'features'],
  ['frame_cnt', 'frames', 'frame_count', 'num_frames', 'max_frames'],
  ['model', 'models', 'model_version', 'version'],
];

function synonym(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  return SYNONYMS.filter((names) => names.includes(wanted))
    .flatMap((names) => names.filter((other) => known.includes(other)))
    .at(0);
}
