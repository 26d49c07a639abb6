/**
 * @module mcp/tools/list-live
 * `list_live`: running measurements with a live server. Ours.
 */
import * as z from 'zod/v4';
import { TimeLimitError, withinSeconds } from '../../core/abort.js';
import { jsonOf } from '../../core/arguments.js';
import { counted } from '../../core/printable.js';
import { readRunning } from '../live/running.js';
import { defineTool, READ_ONLY } from '../tool.js';

/** Seconds for a live server to answer. */
const ANSWER_TIME = 1;

/** HTTP on this machine, or a Unix socket. */
const ADDRESS = /^(?:http:\/\/127\.0\.0\.1:\d{1,5}\/[\w./-]{1,101}|\/.{1,255})$/;

const statusSchema = z.object({
  model: z.string().nullable(),
  frames: z.object({ measured: z.number(), total: z.number().nullable() }),
  seconds_left: z.number().nullable(),
});

const measurement = z.object({
  name: z.string().max(64),
  state: z.string().max(20),
  reference: z.string().max(255).optional(),
  distorted: z.string().max(255).optional(),
});

const recordSchema = z.object({
  started: z.iso.datetime(),
  addresses: z.array(z.string().regex(ADDRESS)),
  measurements: z.array(measurement),
});

export const listLiveTool = defineTool({
  name: 'list_live',
  title: 'List running measurements',
  description:
    "Lists this user's running measurements that have a live server: their progress, and the addresses to query or " +
    'steer them.',
  inputSchema: z.object({}),
  outputSchema: z.object({
    summary: z.string(),
    sessions: z.array(
      z.object({
        pid: z.number(),
        started: z.string(),
        addresses: z
          .array(z.string())
          .describe('HTTP (event stream; Streamable HTTP at /mcp) or Unix sockets.'),
        mcp: z.string().optional().describe('URL for MCP clients.'),
        measurements: z.array(measurement.extend({ status: statusSchema.optional() })),
      }),
    ),
  }),
  annotations: { ...READ_ONLY, idempotentHint: false },
  async handler(_, { signal }) {
    const records = (await readRunning()).flatMap(({ pid, text }) => {
      const record = recordSchema.safeParse(jsonOf(text));
      return record.success ? [{ pid, ...record.data }] : [];
    });
    const sessions = await Promise.all(
      records.map(async ({ measurements, ...record }) => {
        const http = record.addresses.find((address) => address.startsWith('http'));
        return {
          ...record,
          mcp: http && new URL('/mcp', http).href,
          measurements: await Promise.all(
            measurements.map(async (one) => ({
              ...one,
              status: http === undefined ? undefined : await statusOf(http, one.name, signal),
            })),
          ),
        };
      }),
    );
    const summary =
      sessions.length === 0
        ? "No running measurement of this user has a live server; start one with 'anyvmaf REFERENCE DISTORTED --live sse:0'."
        : `${counted(sessions.length, 'live server')}: ` +
          'connect an MCP client to mcp, then call vmaf.status, vmaf.score or vmaf.watch there.';
    return { document: { summary, sessions } };
  },
});

/** `undefined` if the server does not answer. */
async function statusOf(address: string, name: string, signal: AbortSignal) {
  const params = { name: 'vmaf.status', arguments: { measurement: name } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const late = new TimeLimitError(`${address} did not answer`);
  const answer = await withinSeconds(ANSWER_TIME, late, signal, async (stopped): Promise<unknown> => {
    const response = await fetch(address, { method: 'POST', body, redirect: 'error', signal: stopped });
    return response.json();
  }).catch(() => undefined);
  const result = z.object({ result: z.object({ structuredContent: statusSchema }) }).safeParse(answer);
  return result.success ? result.data.result.structuredContent : undefined;
}
