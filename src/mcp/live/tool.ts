/**
 * @module mcp/live/tool
 * Tools of the live server, and the check of arguments against their schemas.
 */
import { usageError } from '../../core/errors.js';
import { quoted, showValue } from '../../core/printable.js';
import type { ToolContext } from '../context.js';
import type { ToolAnnotations } from '../tool.js';
import type { Hub } from './hub.js';

/** A parameter, in the subset of JSON Schema that the tools use. */
export interface Parameter {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly description: string;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

export type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** Annotations of tools that change nothing: the default. */
export const READS: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** Like a tool of the file server, but without zod: the thread runs beside a measurement that needs the machine. */
export interface LiveTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly required?: readonly string[];
  /** Default: {@link READS}. */
  readonly annotations?: ToolAnnotations;
  /** Returns the document for the client. @throws {AnyvmafError} with a message for the client */
  call(args: Arguments, hub: Hub, context: LiveContext): object | Promise<object>;
}

export type LiveContext = Pick<ToolContext, 'signal' | 'progress'>;

/** @throws {AnyvmafError} `usage`, with the argument, its value and what was expected */
export function checkArguments(tool: LiveTool, given: unknown): Arguments {
  const wrong = (problem: string) => usageError(`${tool.name}: ${problem}`);
  if (given === undefined || given === null) given = {};
  if (typeof given !== 'object' || Array.isArray(given)) throw wrong('the arguments must be an object.');
  const args: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(given as object)) {
    const parameter = Object.hasOwn(tool.parameters, name) ? tool.parameters[name] : undefined;
    const known = Object.keys(tool.parameters).join(', ') || 'none';
    if (!parameter) throw wrong(`unknown argument ${quoted(name.slice(0, 100))}; it takes ${known}.`);
    const problem = mismatch(value, parameter);
    if (problem) throw wrong(`${name} is ${showValue(value)}, but it must be ${problem}.`);
    args[name] = value;
  }
  const missing = tool.required?.find((name) => args[name] === undefined);
  if (missing !== undefined)
    throw wrong(`${missing} is missing: ${tool.parameters[missing]?.description ?? ''}`);
  return args;
}

/** What the value must be; `undefined` if it fits. */
function mismatch(value: unknown, parameter: Parameter): string | undefined {
  const { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = parameter;
  if (parameter.enum && !parameter.enum.some((choice) => choice === value))
    return `one of ${parameter.enum.join(', ')}`;
  if (type === 'string') {
    const most = parameter.maxLength ?? 1024;
    return typeof value === 'string' && value.length <= most
      ? undefined
      : `a string of at most ${most} characters`;
  }
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false';
  const whole = type === 'integer' ? 'a whole number' : 'a number';
  const bounds =
    (minimum > Number.NEGATIVE_INFINITY ? ` from ${minimum}` : '') +
    (maximum < Number.POSITIVE_INFINITY ? ` to ${maximum}` : '');
  const fits =
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (type === 'number' || Number.isSafeInteger(value)) &&
    value >= minimum &&
    value <= maximum;
  return fits ? undefined : `${whole}${bounds}`;
}

export function textOf(args: Arguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(args: Arguments, name: string): number | undefined {
  const value = args[name];
  return typeof value === 'number' ? value : undefined;
}
