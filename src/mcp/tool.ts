/**
 * @module mcp/tool
 * Tools as objects, whose schemas give validation, types, lists and docs/mcp-tools.md; the context of a call, the only
 * link to the server; and checks of arguments, with errors that a model can act on.
 */
import * as z from 'zod/v4';
import { isObject, MAX_STRING, requireLength } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { nearest } from '../core/nearest.js';
import type { Origin } from '../core/origin.js';
import { counted, grouped, shown, showValue } from '../core/printable.js';
import type { Measuring } from './call-threads.js';
import type { CheckedRequest } from './checked-api.js';
import { type CheckedArguments, checkPaths, type ToolFiles } from './paths.js';
import { each } from './schemas.js';

/** Hints by which hosts decide whether a model may call a tool. */
export interface ToolAnnotations {
  /** Changes nothing outside of the server. */
  readonly readOnlyHint: boolean;
  /** May overwrite or delete. Meaningless for a read-only tool. */
  readonly destructiveHint?: boolean;
  /** Repeating a call changes nothing. */
  readonly idempotentHint: boolean;
  /** Reaches beyond this machine. */
  readonly openWorldHint: boolean;
}

/** Default annotations, of tools that write no files. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Path of a member, such as `rows.[].trust` (`[]`: all items, `*`: all members), or several members by name. */
export type Spare = string | { readonly of: string; readonly names: readonly string[] };

export interface ToolOutcome<Document> {
  /** Sent as text and as `structuredContent`; numbers that are not finite become null. */
  readonly document: Document;
  readonly content?: readonly ExtraContent[];
  /** Members to drop from an answer that is too long, least important first: `distribution`. */
  readonly spare?: readonly Spare[];
  /** The member that links to the whole result. Without one, a document that is too long is published. */
  readonly whole?: string;
  /** Allows a longer answer: the caller asked for more than usual. */
  readonly long?: boolean;
}

/** A result with a schema of its own, such as that of a dry run. */
export interface OtherOutcome extends ToolOutcome<unknown> {
  /** Replaces the tool's `outputSchema`. */
  readonly fits: z.ZodObject;
}

/** A document's input type, readonly, without the index signature of a loose schema. */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as IsLoose<T, Key> extends true ? never : Key]: Given<T[Key]> }
    : T;
type IsLoose<T, Key extends keyof T> = string extends Key ? (unknown extends T[Key] ? true : false) : false;

export type InputOf<Schema extends z.ZodObject> = CheckedArguments<z.output<Schema>>;

export type PreparedCall = (context: ToolContext) => Promise<ToolOutcome<unknown> | OtherOutcome>;

export interface ToolDefinition<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses a tool: what it does, when to use it, what to do next. */
  readonly description: string;
  /** Every parameter, each with `.describe()`; others are refused. */
  readonly inputSchema: Input;
  /** Schema of the document; use `z.looseObject` to keep keys that it does not name. */
  readonly outputSchema: Output;
  /** Default: {@link READ_ONLY}. */
  readonly annotations?: ToolAnnotations;
  /**
   * Answers one call with checked input. Import scoring code dynamically here: the server starts without it.
   * @throws {AnyvmafError} with a message for the model; other errors are reported as internal failures
   */
  handler(
    input: InputOf<Input>,
    context: ToolContext,
  ): Promise<ToolOutcome<Given<z.input<Output>>> | OtherOutcome>;
}

/** A tool with its types erased. */
export interface Tool extends Omit<ToolDefinition, 'handler'> {
  readonly annotations: ToolAnnotations;
  /**
   * Checks the arguments and their files.
   * @throws {AnyvmafError} `usage` for unknown parameters, `io` for missing or forbidden files; {z.ZodError}
   */
  prepare(args: unknown, files: ToolFiles): Promise<PreparedCall>;
  /** @throws those of {@link Tool.prepare} and of the handler */
  call(args: unknown, context: ToolContext): Promise<ToolOutcome<unknown> | OtherOutcome>;
}

/** Infers the handler's types from the schemas. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const prepare: Tool['prepare'] = async (args, files) => {
    const input = await checkPaths(checkArguments(definition.name, definition.inputSchema, args), files);
    return (context) => definition.handler(input, context);
  };
  return {
    annotations: READ_ONLY,
    ...definition,
    prepare,
    call: async (args, context) => (await prepare(args, context.files))(context),
  };
}

export interface ResourceEntry {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly description?: string;
  /** In bytes. */
  readonly size?: number;
}

export interface ResourceLink extends ResourceEntry {
  readonly type: 'resource_link';
}

export interface ToolProgress {
  /** Frame pairs so far, over all stages of the call; never decreases. */
  readonly done: number;
  /** Total frame pairs; `null` while unknown. */
  readonly total: number | null;
  /** True if it counts no frames but what `message` says. */
  readonly isSteps?: boolean;
  /** True if `total` covers only the steps so far and more may follow. */
  readonly isOpen?: boolean;
  readonly fps?: number;
  /** Current step before or after scoring: `decoding frame 12`. */
  readonly message?: string;
  /** Best result so far, in words. */
  readonly best?: string;
}

export interface PoolGrant {
  /** Most worker threads to use, at least 1: a fair share of the cores at the start. */
  readonly threads: number;
  /** Measures and reads videos outside the server's own thread. */
  readonly api: Measuring;
}

export interface ToolPool {
  /**
   * Runs a task when its turn comes; until then the progress says that it waits. Decode and score inside a task; never
   * nest tasks.
   * @param weight worker threads wanted, at least 1; `null` for as many as possible
   * @throws the signal's reason if the call is cancelled while it waits
   */
  run<T>(weight: number | null, task: (grant: PoolGrant) => Promise<T>): Promise<T>;
}

/** The pair behind a report, for pictures of its frames. */
export interface Pictured {
  readonly request: CheckedRequest;
  /** Options of its score; those for single frames apply. */
  readonly options: object;
  readonly origin: Origin;
}

/** A file to publish; its name has letters, digits, `.`, `_` and `-` only. */
export interface Publication extends Pick<ResourceEntry, 'name' | 'mimeType' | 'description'> {
  readonly data: string | Uint8Array;
  /** For a report.json: the pair whose pictures its HTML page shows. */
  readonly pictured?: Pictured;
}

/** A published result: a resource of the server, and a file until the server ends. */
export interface Published {
  /** `anyvmaf://results/ID/NAME`, for `resources/read`. */
  readonly uri: string;
  /** Absolute path of the file, private to this user. */
  readonly path: string;
  readonly link: ResourceLink;
}

export interface ToolResources {
  publish(publication: Publication): Promise<Published>;
  /** Folder for measured points of a source's encodes. It outlives the server if possible. */
  points(source: string): Promise<string>;
}

/** A call for the client to send unchanged. */
export const nextAction = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });
export type NextAction = Readonly<z.output<typeof nextAction>>;

/** A job in answers; times are ISO 8601. */
export const jobDocument = z.object({
  ...each(z.string(), 'summary', 'job_id', 'tool'),
  status: z.enum(['working', 'completed', 'failed', 'cancelled', 'interrupted']),
  started: z.string(),
  seconds: z.number().describe('Seconds since the start, until it ended.'),
  progress: z
    .object({
      frames: z.number(),
      total_frames: z.number().nullable(),
      ...each(z.number().optional(), 'fps', 'seconds_left'),
      message: z.string().optional(),
      best: z.string().optional().describe('Best result so far.'),
    })
    .optional(),
  kept_until: z.string(),
  next_action: nextAction.describe('A call to send unchanged.'),
});
export type JobDocument = z.output<typeof jobDocument>;

export interface ToolJobs {
  /** @throws those of the tool's {@link Tool.prepare}; `usage` for an unknown tool, or too many jobs */
  start(tool: string, args: Readonly<Record<string, unknown>>): Promise<JobDocument>;
  /** Waits at most `seconds` for the end of a job. @throws {AnyvmafError} `usage` if unknown, `io` if damaged */
  status(id: string, seconds: number, signal: AbortSignal): Promise<JobDocument>;
  /** Waits like {@link ToolJobs.status}. @returns the job's answer, `undefined` if it has none */
  result(id: string, seconds: number, signal: AbortSignal): Promise<CallAnswer | undefined>;
  /** @throws those of {@link ToolJobs.status}; `usage` if another server runs the job */
  cancel(id: string): Promise<JobDocument>;
  /** Newest first, with the problems of jobs that cannot be read. */
  list(): Promise<{
    readonly jobs: readonly JobDocument[];
    readonly problems: readonly string[];
    /** Why the list is empty. */
    readonly note?: string;
  }>;
}

/** Content after the JSON document: pictures, and links to large results. */
export type ExtraContent =
  | { readonly type: 'image'; readonly mimeType: string /** Base64. */; readonly data: string }
  | ResourceLink;

export interface CallAnswer {
  readonly content: readonly ({ readonly type: 'text'; readonly text: string } | ExtraContent)[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

export interface ToolContext {
  readonly tool: string;
  /** Aborts when the call is cancelled, its client disconnects or the server ends. */
  readonly signal: AbortSignal;
  /** Notifies the client at most once per percent. */
  progress(report: ToolProgress): void;
  readonly files: ToolFiles;
  readonly pool: ToolPool;
  readonly resources: ToolResources;
  readonly jobs: ToolJobs;
  /** Arguments of the client, adapted to the types of the schema. */
  readonly args: Readonly<Record<string, unknown>>;
  /** This call with some parameters changed; `undefined` if the tool does not take them all. */
  again(changes: Readonly<Record<string, unknown>>): NextAction | undefined;
  /**
   * A call of another tool with the arguments that both take and `changes`; `undefined` if it is not offered or does not take
   * all changes.
   */
  instead(tool: string, changes: Readonly<Record<string, unknown>>): NextAction | undefined;
  /** Writes a line to standard error, for the server's operator. */
  log(message: string): void;
}

const MAX_PROBLEMS = 4;
/** Most characters of a value in a message. */
const SHOWN = 60;

/** Formats a path such as `models[2]`. */
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
    case 'invalid_union': {
      const all = issue.errors.flatMap(([first]) => (first ? [expectation(first)] : []));
      return [...new Set(all)].join(' or ');
    }
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
  // One problem per parameter: a value of the wrong type also fails length checks.
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
  if (!isObject(sent)) throw usageError(`The arguments of ${tool} must be an object, not ${brief(sent)}.`);
  requireSize(sent, tool);
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(sent).filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first !== undefined) throw usageError(unknownParameter(tool, first, known));
  return schema.parse(coercedMembers(schema, sent), { reportInput: true });
}

/** Lists that are also accepted as comma-separated text. */
const COMMA_LISTS: ReadonlySet<string> = new Set(['encoders', 'resolutions', 'target_vmafs']);

/** Adapts what hosts send: drops `null` for optional parameters, parses numbers and booleans, wraps single items. */
export function coercedMembers(schema: z.ZodObject, sent: object): Record<string, unknown> {
  const typeOf = (name: string) => (Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined);
  const entries = Object.entries(sent).filter(
    ([name, value]) => value !== null || !typeOf(name)?.safeParse(undefined).success,
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [name, coerced(innermost(typeOf(name)), value, COMMA_LISTS.has(name))]),
  );
}

function coerced(type: z.ZodType | undefined, value: unknown, commas: boolean): unknown {
  if (type instanceof z.ZodArray) {
    const item = innermost(type.element as z.ZodType);
    const texts =
      commas && typeof value === 'string' ? value.split(',').map((item) => item.trim()) : undefined;
    const items = texts ?? (Array.isArray(value) ? value : typeof value === 'object' ? undefined : [value]);
    return items ? items.map((each) => coerced(item, each, false)) : value;
  }
  if (type instanceof z.ZodObject && isObject(value)) return coercedMembers(type, value);
  if (type instanceof z.ZodUnion) {
    const readings = type.options.map((each) => coerced(innermost(each), value, false));
    return readings.find((each) => type.safeParse(each).success) ?? value;
  }
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
  // No schema nests deeper.
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  const members = Object.entries(value);
  if (members.length > MAX_MEMBERS)
    throw usageError(
      `${shown(name, SHOWN)} has ${grouped(members.length)} members; at most ${MAX_MEMBERS} are allowed.`,
    );
  for (const [key, member] of members) {
    requireLength(`The name of a parameter in ${shown(name, SHOWN)}`, key);
    requireSize(member, Array.isArray(value) ? name : key, depth + 1);
  }
}

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
  const lower = name.toLowerCase();
  return SYNONYMS.filter((names) => names.includes(lower))
    .flatMap((names) => names.filter((other) => known.includes(other)))
    .at(0);
}
