/**
 * @module mcp/protocol-server
 * The SDK's server with three changes: a sentence about invalid parameters, the error code for a missing resource by
 * the protocol's version, and no server icon in every answer.
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

/** True if the client speaks a version before 2026-07-28, in which a server may send requests within a session. */
export function isOlder(server: Server): boolean {
  return (server.getNegotiatedProtocolVersion() ?? '') < '2026';
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

export class ProtocolServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#inItsVersion(message), options);
    await super.connect(transport);
  }

  /** Restores the code for a missing resource of versions up to 2025-11-25, which the SDK replaces. */
  #inItsVersion(message: JSONRPCMessage): JSONRPCMessage {
    if (!isOlder(this) || !('error' in message) || !isAboutResource(message.error)) return message;
    return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } };
  }

  /** Every answer names the server since version 2026-07-28; omits the icons there. */
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
        if (method !== 'server/discover') return result;
        return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: super._outboundServerInfo() } };
      } catch (error) {
        const issues = issuesOf(error);
        if (issues === undefined) throw error;
        const sentence = argumentSentence({ issues: issues.map((issue) => withInput(issue, request)) });
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${sentence}`);
      }
    };
  }
}

const RESOURCE_NOT_FOUND = -32_002;

/** Only the error about a missing resource has a URI. */
function isAboutResource({ code, data }: { readonly code: number; readonly data?: unknown }): boolean {
  return code === ProtocolErrorCode.InvalidParams && typeof Object(data).uri === 'string';
}

/** The zod issues in the SDK's error, which are JSON in its message. */
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

/** Adds the value that an issue is about, which the SDK leaves out. */
function withInput(issue: z.core.$ZodIssue, request: unknown): z.core.$ZodIssue {
  let input = request;
  for (const part of issue.path) input = Object(input)[part];
  return Object.assign({}, issue, { input });
}
