/**
 * @module mcp/tool
 * A tool of the server: one object with its name, descriptions, schemas, annotations and handler. Validation, types, the
 * list that clients read and docs/mcp-tools.md all come from its schemas.
 */
import type * as z from 'zod/v4';
import { checkArguments } from './arguments.js';
import type { ResourceLink, ToolContext } from './context.js';
import { type CheckedArguments, checkPaths } from './paths.js';

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

/** Content after a result's JSON document: pictures for the model, and links to large results. */
export type ExtraContent =
  | {
      readonly type: 'image';
      readonly mimeType: string;
      /** Base64. */
      readonly data: string;
    }
  | ResourceLink;

/** The result of a handler: the document, sent both as text and as `structuredContent`, and further content. */
export interface ToolOutcome<Document> {
  /** Fits the tool's `outputSchema`; numbers that are not finite are sent as null. */
  readonly document: Document;
  readonly content?: readonly ExtraContent[];
}

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
  readonly annotations: ToolAnnotations;
  /**
   * Answers one call. `input` has passed `inputSchema`, defaults are filled in, and the files that it names are checked.
   * Load scoring code here, with a dynamic import, so that the server starts without it.
   * @throws {AnyvmafError} with a message for the model; other errors are reported as internal failures
   */
  handler(
    input: CheckedArguments<z.output<Input>>,
    context: ToolContext,
  ): Promise<ToolOutcome<z.input<Output>>>;
}

/** A tool with its types erased, as the list holds it. `call` checks what `handler` may then rely on. */
export interface Tool extends Omit<ToolDefinition, 'handler'> {
  /**
   * Checks the arguments and the files that they name, then runs the handler.
   * @throws {AnyvmafError} `usage` for parameters that do not exist, `io` for files that are not there or not allowed,
   * {z.ZodError} for values that do not fit; everything else as the handler
   */
  call(args: unknown, context: ToolContext): Promise<ToolOutcome<unknown>>;
}

/** Declares a tool; its handler's types follow from the schemas. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  return {
    ...definition,
    async call(args, context) {
      const input = checkArguments(definition.name, definition.inputSchema, args);
      return definition.handler(await checkPaths(input, context.files), context);
    },
  };
}
