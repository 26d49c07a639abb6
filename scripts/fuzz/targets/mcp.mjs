/**
 * @module scripts/fuzz/targets/mcp
 * The MCP server over lines: it answers any input with JSON-RPC of bounded size and keeps serving.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadBuilt } from '../../lib/project.mjs';
import { messageFault } from '../contract.mjs';
import { damageText } from '../mutate.mjs';

/** Maximum bytes of an answer that common clients accept. */
const ANSWER = 1 << 20;

/** Tools that accept any arguments and are slow. */
const SLOW = new Set(['run_benchmark', 'probe_backend', 'list_backends', 'vmaf_version']);

export const HELLO = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } },
};

async function openServer() {
  const { McpHost } = await loadBuilt('mcp/host.js');
  const { TOOLS } = await loadBuilt('mcp/tools/index.js');
  const { serveLines } = await loadBuilt('mcp/stdio.js');
  const { listTools } = await loadBuilt('mcp/server.js');
  const folder = mkdtempSync(join(tmpdir(), 'anyvmaf-fuzz-mcp-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const host = await McpHost.open({ allow: [folder], env: {}, cwd: folder, log() {}, tools: TOOLS });
  return { host, serveLines, tools: listTools(TOOLS), folder };
}

/** Sends lines after the handshake, then a last request; returns all answers once that is answered. */
async function talk({ host, serveLines }, lines) {
  const input = new PassThrough();
  const output = new PassThrough();
  const stop = new AbortController();
  const answers = [];
  let pending = '';
  const answered = new Promise((resolve) => {
    output.on('data', (data) => {
      pending += data;
      for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 1);
        answers.push(line);
        if (line.includes('"id":"last"')) resolve();
      }
    });
  });
  const serving = serveLines(host, input, output, stop.signal);
  for (const line of [
    JSON.stringify(HELLO),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    ...lines,
  ])
    input.write(`${line}\n`);
  // Earlier calls are answered first, or not at all.
  await host.idle(10_000);
  input.write('\n{"jsonrpc":"2.0","id":"last","method":"resources/list"}\n');
  await Promise.race([answered, serving]);
  stop.abort();
  input.destroy();
  await serving;
  return answers;
}

function faultOf(answers) {
  if (!answers.some((line) => line.includes('"id":"last"'))) return 'the server ended, or did not answer';
  for (const line of answers) {
    if (line.length > ANSWER) return `an answer of ${line.length} characters`;
    const { jsonrpc, error, result } = JSON.parse(line);
    if (jsonrpc !== '2.0') return `an answer that is no JSON-RPC: ${line.slice(0, 200)}`;
    if (error?.code === -32603) return `an internal error: ${error.message}`;
    const message = error?.message ?? (result?.isError ? result.content?.[0]?.text : undefined);
    const fault = message === undefined ? undefined : messageFault(message);
    if (fault) return fault;
  }
}

/** Almost valid messages. */
export async function lines() {
  const server = await openServer();
  const call = (method, params) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const corpus = [
    call('tools/list', {}),
    call('tools/call', { name: 'list_models', arguments: {} }),
    call('tools/call', { name: 'describe_model', arguments: { name: 'vmaf_v0.6.1' } }),
    call('tools/call', {
      name: 'vmaf_score',
      arguments: { ref: 'a.yuv', dis: 'b.yuv', width: 64, height: 64 },
    }),
    call('resources/list', {}),
    call('resources/read', { uri: 'anyvmaf://result/1' }),
    call('initialize', HELLO.params),
    call('ping'),
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
  ];
  const words = [
    '"jsonrpc"',
    '"id":null',
    '"params":',
    '"arguments":null',
    '"method":"tools/call"',
    '"_meta":{"progressToken":1}',
  ];
  return {
    make: (random) =>
      Array.from({ length: random.int(1, 3) }, () =>
        random.oneIn(30)
          ? '['.repeat(random.int(1, 200_000))
          : damageText(random, random.pick(corpus), words).replaceAll('\n', ' '),
      ).filter((line) => ![...SLOW].some((name) => line.includes(name))),
    run: async (input) => faultOf(await talk(server, input)),
  };
}

/** Any value of JSON, some of them paths and URLs. */
function value(random, folder, depth = 0) {
  switch (random.int(0, depth > 3 ? 5 : 8)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
      return random.pick([0, -1, 1.5, 1e308, -0, 2 ** 53, 64, 8, 100]);
    case 2:
      return damageText(
        random,
        random.pick([
          'a.mp4',
          'psnr',
          'version=vmaf_v0.6.1',
          '../../etc/passwd',
          'file:///etc/passwd',
          '420',
          'auto',
        ]),
      );
    case 3:
      return random
        .pick(['9', 'a', '../', '\0', '\n', '\u202e'])
        .repeat(random.pick([1, 200, 5000, 100_000]));
    case 4:
      return random.pick(['', '/', '.', '..', '-', 'anyvmaf://result/1', folder]);
    case 5:
      return random.pick([
        '/dev/zero',
        '/proc/self/mem',
        '/dev/stdin',
        'http://127.0.0.1:1/',
        'concat:a|b',
        'a.m3u8',
      ]);
    case 6:
      return Array.from({ length: random.pick([0, 1, 3, 40]) }, () => value(random, folder, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.int(0, 4) }, () => [
          random.pick(['__proto__', 'constructor', 'a', 'name', '\n']),
          value(random, folder, depth + 1),
        ]),
      );
  }
}

/** Calls of every tool with invalid or nearly valid arguments. */
export async function callArguments() {
  const server = await openServer();
  const tools = server.tools.filter(({ name }) => !SLOW.has(name));
  return {
    make(random) {
      const { name, inputSchema } = random.pick(tools);
      const names = Object.keys(inputSchema.properties ?? {});
      const given = {};
      for (const key of names) {
        const required = inputSchema.required?.includes(key);
        if (required ? !random.oneIn(10) : random.oneIn(4)) given[key] = value(random, server.folder);
      }
      if (random.oneIn(6))
        Object.defineProperty(given, random.pick(['__proto__', 'extra', '']), {
          value: value(random, server.folder),
          enumerable: true,
        });
      return [
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
      ];
    },
    run: async (input) => faultOf(await talk(server, input)),
  };
}
