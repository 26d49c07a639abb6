/**
 * @module mcp/tool
 * A tool of the server as one object, from whose schemas validation, types, lists and docs/mcp-tools.md are made.
 */
import type * as z from 'zod/v4';
import { checkArguments } from './arguments.js';
import type { ExtraContent, ToolContext } from './context.js';
import { type CheckedArguments, checkPaths, type ToolFiles } from './paths.js';

/** Hints for hosts that decide whether a model may call a tool. */
export interface ToolAnnotations {
  /** Changes nothing outside of the server. */
  readonly readOnlyHint: boolean;
  /** May overwrite or delete. Meaningless for a read-only tool. */
  readonly destructiveHint?: boolean;
  /** Repeating the call changes nothing more. */
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

/** A member such as `rows.[].trust` (`[]`: all items of a list, `*`: all members), or some members by name. */
export type Spare = string | { readonly of: string; readonly names: readonly string[] };

export interface ToolOutcome<Document> {
  /** Sent as text and as `structuredContent`; numbers that are not finite become null. */
  readonly document: Document;
  readonly content?: readonly ExtraContent[];
  /** Members to drop from an answer that is too long, least important first: `distribution`. */
  readonly spare?: readonly Spare[];
  /** The member that links to the whole result; without one, a document that is too long is published. */
  readonly whole?: string;
  /** Allows a longer answer, since the caller asked for more than usual. */
  readonly long?: boolean;
}

/** A result of another kind than the tool's usual one, such as a dry run. */
export interface OtherOutcome extends ToolOutcome<unknown> {
  /** Replaces the tool's `outputSchema`. */
  readonly fits: z.ZodObject;
}

/** The input type of a document, readonly, and open to members that a loose schema does not name. */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as IsLoose<T, Key> extends true ? never : Key]: Given<T[Key]> }
    : T;
type IsLoose<T, Key extends keyof T> = string extends Key ? (unknown extends T[Key] ? true : false) : false;

export type PreparedCall = (context: ToolContext) => Promise<ToolOutcome<unknown> | OtherOutcome>;

export interface ToolDefinition<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  /** Letters, digits and underscores. */
  readonly name: string;
  /** A few words for people. */
  readonly title: string;
  /** For the model that chooses a tool: what it does, when to use it, what to do next. */
  readonly description: string;
  /** Every parameter, each with `.describe()`. The server refuses others. */
  readonly inputSchema: Input;
  /** Schema of the document. To pass on keys that it does not name, use `z.looseObject`. */
  readonly outputSchema: Output;
  /** Default: {@link READ_ONLY}. */
  readonly annotations?: ToolAnnotations;
  /**
   * Answers one call; `input` is checked. Import scoring code here dynamically, so that the server starts without it.
   * @throws {AnyvmafError} with a message for the model; other errors are reported as internal failures
   */
  handler(
    input: CheckedArguments<z.output<Input>>,
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

/** Declares a tool; its handler's types follow from the schemas. */
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
