/**
 * @module mcp/tool
 * A tool of the server: one object with its name, descriptions, schemas, annotations and handler. Validation, types, the
 * list that clients read and docs/mcp-tools.md all come from its schemas.
 */
import type * as z from 'zod/v4';
import { checkArguments } from './arguments.js';
import type { ExtraContent, ToolContext } from './context.js';
import { type CheckedArguments, checkPaths, type ToolFiles } from './paths.js';

/** Hints for hosts that decide whether a model may call a tool. */
export interface ToolAnnotations {
  /** It changes nothing outside of the server. */
  readonly readOnlyHint: boolean;
  /** It may overwrite or delete. Meaningless for a tool that only reads. */
  readonly destructiveHint?: boolean;
  /** The same call again changes nothing more. */
  readonly idempotentHint: boolean;
  /** It reaches beyond this machine. */
  readonly openWorldHint: boolean;
}

/** Annotations of a tool that reads videos and answers: all of ours but those that write files. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** A member of a document; `[]` stands for all items of a list, `*` for all members: `rows.[].trust`. Or some by their names. */
export type Spare = string | { readonly of: string; readonly names: readonly string[] };

/** The result of a handler: the document, sent both as text and as `structuredContent`, and further content. */
export interface ToolOutcome<Document> {
  /** Fits the tool's `outputSchema`; numbers that are not finite are sent as null. */
  readonly document: Document;
  readonly content?: readonly ExtraContent[];
  /** Members to leave out if the answer is too long, the least important first: `distribution`. */
  readonly spare?: readonly Spare[];
  /** The member that leads to the whole result; without one, a document that is too long is published. */
  readonly whole?: string;
  /** The caller asked for more than usual, so the answer may be longer. */
  readonly long?: boolean;
}

/** A result of another kind than the tool's usual one, such as a dry run. */
export interface OtherOutcome extends ToolOutcome<unknown> {
  /** What the document fits in place of the tool's `outputSchema`. */
  readonly fits: z.ZodObject;
}

/**
 * A document as handlers give it, without a copy of what they may only read; objects may have members that a loose schema does not
 * name.
 */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as IsLoose<T, Key> extends true ? never : Key]: Given<T[Key]> }
    : T;
type IsLoose<T, Key extends keyof T> = string extends Key ? (unknown extends T[Key] ? true : false) : false;

/** A call whose arguments fit, ready to run. */
export type PreparedCall = (context: ToolContext) => Promise<ToolOutcome<unknown> | OtherOutcome>;

/** A tool as its file declares it. */
export interface ToolDefinition<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  /** Letters, digits and underscores. */
  readonly name: string;
  /** A few words for people. */
  readonly title: string;
  /** For the model that chooses: what it does, when to use it, what to do next. */
  readonly description: string;
  /** Every parameter, each with `.describe()`. Parameters that it does not name are refused by the server. */
  readonly inputSchema: Input;
  /** The result document. Keys that it does not name are passed on: mark such an object with `z.looseObject`. */
  readonly outputSchema: Output;
  /** Default: {@link READ_ONLY}. */
  readonly annotations?: ToolAnnotations;
  /**
   * Answers one call. `input` has passed `inputSchema`, defaults are filled in, and the files that it names are checked.
   * Load scoring code here, with a dynamic import, so that the server starts without it.
   * @throws {AnyvmafError} with a message for the model; other errors are reported as internal failures
   */
  handler(
    input: CheckedArguments<z.output<Input>>,
    context: ToolContext,
  ): Promise<ToolOutcome<Given<z.input<Output>>> | OtherOutcome>;
}

/** A tool with its types erased, as the list holds it. `prepare` checks what `handler` may then rely on. */
export interface Tool extends Omit<ToolDefinition, 'handler'> {
  readonly annotations: ToolAnnotations;
  /**
   * Checks the arguments and the files that they name.
   * @throws {AnyvmafError} `usage` for parameters that do not exist, `io` for files that are not there or not allowed,
   * {z.ZodError} for values that do not fit
   */
  prepare(args: unknown, files: ToolFiles): Promise<PreparedCall>;
  /**
   * Checks the arguments, then runs the handler.
   * @throws as {@link Tool.prepare} and the handler
   */
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
