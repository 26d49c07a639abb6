/**
 * @module mcp/protocol-server
 * The SDK's server with one difference: parameters that do not fit a method are refused as such, in a sentence.
 */
import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type * as z from 'zod/v4';
import { argumentSentence } from './arguments.js';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** A server of the protocol. */
export class ProtocolServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const checked = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await checked(request, context);
      } catch (error) {
        const issues = issuesOf(error);
        if (issues === undefined) throw error;
        const sentence = argumentSentence({ issues: issues.map((issue) => withInput(issue, request)) });
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${sentence}`);
      }
    };
  }
}

/** The issues that the SDK's schemas found, which are JSON in its message. */
function issuesOf(error: unknown): z.core.$ZodIssue[] | undefined {
  const text = error instanceof Error ? error.message : '';
  const start = text.indexOf('[');
  if (start < 0) return undefined;
  try {
    const issues: unknown = JSON.parse(text.slice(start));
    return Array.isArray(issues) && issues.every(isIssue) ? issues : undefined;
  } catch {
    return undefined;
  }
}

function isIssue(value: unknown): value is z.core.$ZodIssue {
  return (
    value !== null &&
    typeof value === 'object' &&
    'code' in value &&
    'path' in value &&
    Array.isArray(value.path)
  );
}

/** An issue with the value that it is about, which the SDK leaves out. */
function withInput(issue: z.core.$ZodIssue, request: unknown): z.core.$ZodIssue {
  let input = request;
  for (const part of issue.path) input = Object(input)[part];
  return Object.assign({}, issue, { input });
}
