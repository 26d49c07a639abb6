/**
 * @module mcp/protocol-server
 * The SDK's server with four changes: it explains invalid parameters in a sentence, restores the older error code for
 * missing resources, sends no links to clients that know none, and does not send its icon with every answer.
 */
import {
  type Implementation,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  SERVER_INFO_META_KEY,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import type * as z from 'zod/v4';
import { jsonOf } from '../core/arguments.js';
import { argumentSentence } from './tool.js';

/** True before version 2026-07-28, when servers may send requests within a session. */
export const isOlder = (server: Server): boolean => (server.getNegotiatedProtocolVersion() ?? '') < '2026';

/** The first version whose results may contain links to resources; older clients refuse the whole result. */
const FIRST_WITH_LINKS = '2025-06-18';

/** The protocol's error for invalid parameters. */
export function invalidParams(message: string, data?: object): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

export class ProtocolServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#inItsVersion(message), options);
    await super.connect(transport);
  }

  /** Restores the code for a missing resource in versions up to 2025-11-25; the SDK sends the newer one. */
  #inItsVersion(message: JSONRPCMessage): JSONRPCMessage {
    if (!isOlder(this) || !('error' in message) || !isAboutResource(message.error)) return message;
    return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } };
  }

  /** Leaves out links, which the JSON of the result names too. */
  #inKnownTypes(result: Result): Result {
    const { content } = result;
    const version = this.getNegotiatedProtocolVersion() ?? FIRST_WITH_LINKS;
    if (version >= FIRST_WITH_LINKS || !Array.isArray(content)) return result;
    return { ...result, content: content.filter((item: unknown) => Object(item).type !== 'resource_link') };
  }

  /** Since version 2026-07-28 every answer names the server; leave out the icons. */
  protected override _outboundServerInfo(): Implementation | undefined {
    const info = super._outboundServerInfo();
    if (!info) return undefined;
    const { icons: _, ...names } = info;
    return names;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const checked = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        const result = await checked(request, context);
        if (method === 'tools/call') return this.#inKnownTypes(result);
        if (method !== 'server/discover') return result;
        return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: super._outboundServerInfo() } };
      } catch (error) {
        const issues = issuesOf(error);
        if (issues === undefined) throw error;
        const sentence = argumentSentence({ issues: issues.map((issue) => withInput(issue, request)) });
        throw invalidParams(`${method}: ${sentence}`);
      }
    };
  }
}

const RESOURCE_NOT_FOUND = -32_002;

/** Only errors about missing resources have a URI. */
function isAboutResource({ code, data }: { readonly code: number; readonly data?: unknown }): boolean {
  return code === ProtocolErrorCode.InvalidParams && typeof Object(data).uri === 'string';
}

/** Parses the zod issues from the message of the SDK's error. */
function issuesOf(error: unknown): z.core.$ZodIssue[] | undefined {
  const text = error instanceof Error ? error.message : '';
  const start = text.indexOf('[');
  const issues = start < 0 ? undefined : jsonOf(text.slice(start));
  return Array.isArray(issues) && issues.every(isIssue) ? issues : undefined;
}

function isIssue(value: unknown): value is z.core.$ZodIssue {
  const { code, path } = Object(value);
  return code !== undefined && Array.isArray(path);
}

/** Adds the invalid value, which the SDK leaves out. */
function withInput(issue: z.core.$ZodIssue, request: unknown): z.core.$ZodIssue {
  let input = request;
  for (const part of issue.path) input = Object(input)[part];
  return Object.assign({}, issue, { input });
}
