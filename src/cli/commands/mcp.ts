/**
 * @module cli/commands/mcp
 * `anyvmaf mcp`: serves the tools to AI agents, over standard input and output or over HTTP.
 */
import { onAbort } from '../../core/abort.js';
import { usageError } from '../../core/errors.js';
import type { McpHost } from '../../mcp/host.js';
import { command, type HelpText } from '../command.js';
import { EXIT, interruption } from '../exit.js';
import { HELP_OPTION, optionTable, type SettingsOf, secondsValue, texts } from '../options.js';
import type { Terminal } from '../terminal.js';

const NAME = 'anyvmaf mcp';

export const MCP_OPTIONS = optionTable({
  Files: {
    '--allow DIR': [
      'let tools use files under DIR, with or without --allow before it (default: the working directory). May be repeated',
      texts('allow'),
    ],
  },
  HTTP: {
    '--http HOST:PORT': [
      'serve Streamable HTTP at this address, HOST:PORT, HOST or PORT (default: 127.0.0.1:8765)',
      texts('addresses'),
      { optional: (next) => !next.startsWith('-') },
    ],
    '--token TOKEN': [
      'require this bearer token in every call; needed to listen where other machines can connect',
      texts('tokens'),
    ],
    '--cors ORIGIN': [
      'allow calls from web pages of this origin, such as http://localhost:6274. May be repeated',
      texts('origins'),
    ],
  },
  Other: {
    '--vmaf-bin PATH': ['the installed vmaf tool, for native backends', ({ value }) => ({ vmafBin: value })],
    '--tools SETS': [
      'offer only these sets of tools, separated by commas: score, raw, explain, encode, models, live or ' +
        'machine (default: all)',
      ({ value }) => ({ tools: value }),
    ],
    '--call-limit N': [
      'turn a call into a job after N seconds; 0: never (default: 45)',
      (use) => ({ callLimit: use.value === '0' ? 0 : secondsValue(use) }),
    ],
    '--max-seconds N': [
      'stop a call or a job after N seconds (default: 3600)',
      (use) => ({ maxSeconds: secondsValue(use) }),
    ],
    ...HELP_OPTION,
  },
});

const page: HelpText = {
  usage: [`${NAME} [--allow DIR]... [DIR...]`, `${NAME} --http [HOST:PORT] [options]`],
  about:
    'Serves the Model Context Protocol: an AI agent scores, compares and explains videos with typed tools. Without ' +
    '--http it uses standard input and output, as MCP hosts start it.',
  sections: {
    Environment: [
      ['ANYVMAF_MCP_ALLOW', 'more folders, separated by colons or semicolons; also VMAF_MCP_ALLOW'],
      ['ANYVMAF_MCP_TOKEN', 'the token, hidden from other users of the machine, unlike --token'],
      [
        'VMAF_MCP_MAX_CONCURRENT',
        'calls that may score at the same time (default: one per core, from 2 to 8)',
      ],
    ],
  },
};

type McpArguments = ReturnType<typeof mcpArguments>;

/**
 * Checks the settings. Positional arguments are folders, which MCP hosts append.
 * @returns `http` is the address as written, empty for the default; `undefined` for standard input and output
 * @throws {AnyvmafError} `usage`
 */
export function mcpArguments(given: Partial<SettingsOf<typeof MCP_OPTIONS>>, positionals: readonly string[]) {
  const { allow = [], addresses = [], tokens = [], origins = [], ...settings } = given;
  const [http, ...others] = addresses;
  const [token, ...more] = tokens;
  if (others.length > 0) throw usageError('give --http once; a server listens at one address');
  if (token === '' || more.length > 0) throw usageError('give --token once, with a token that is not empty');
  if (http === undefined && (token !== undefined || origins.length > 0))
    throw usageError('--token and --cors require --http, which was not given');
  return { ...settings, allow: [...allow, ...positionals], http, token, origins };
}

export const mcp = command(NAME, MCP_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const parsed = mcpArguments(settings, positionals);
  if (parsed.vmafBin !== undefined) process.env.VMAF_BIN = parsed.vmafBin;
  const log = (message: string) => terminal.draw(`anyvmaf mcp: ${message}\n`);
  surviveErrors(log);
  const [{ McpHost }, { TOOLS, toolsOf }] = await Promise.all([
    import('../../mcp/host.js'),
    import('../../mcp/tools/index.js'),
    // Needed soon: loading it in parallel starts the server sooner.
    parsed.http === undefined ? import('../../mcp/stdio.js') : import('../../mcp/http.js'),
  ]);
  const host = await McpHost.open({
    allow: parsed.allow,
    env: process.env,
    cwd: process.cwd(),
    log,
    tools: parsed.tools === undefined ? TOOLS : toolsOf(parsed.tools),
    ...(parsed.callLimit !== undefined && { callLimit: parsed.callLimit }),
    ...(parsed.maxSeconds !== undefined && { maxSeconds: parsed.maxSeconds }),
  });
  const stop = interruption();
  try {
    if (parsed.http === undefined) await overStdio(host, terminal, stop.signal);
    else await overHttp(host, parsed, parsed.http, stop.signal, log);
    return EXIT.ok;
  } finally {
    await host.close();
    stop.release();
  }
});

async function overStdio(host: McpHost, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { serveLines } = await import('../../mcp/stdio.js');
  if (process.stdin.isTTY)
    terminal.draw('anyvmaf mcp: waiting for an MCP client on standard input; Ctrl-C ends it\n');
  await serveLines(host, process.stdin, process.stdout, signal);
}

async function overHttp(
  host: McpHost,
  { token = process.env.ANYVMAF_MCP_TOKEN || undefined, origins }: McpArguments,
  address: string,
  signal: AbortSignal,
  log: (message: string) => void,
): Promise<void> {
  const [{ serveHttp }, { parseAddress, checkOrigin }] = await Promise.all([
    import('../../mcp/http.js'),
    import('../../mcp/guard.js'),
  ]);
  const server = await serveHttp(host, {
    address: parseAddress(address),
    token,
    origins: origins.map(checkOrigin),
  });
  log(`listening at ${server.url}${token === undefined ? '' : ', with a token'}`);
  await new Promise((resolve) => onAbort(signal, resolve));
  await server.close();
}

/** Keeps the server running after a failed call, and standard output free for the protocol. */
function surviveErrors(log: (message: string) => void): void {
  console.log = console.error;
  console.info = console.error;
  const report = (error: unknown) =>
    log(`unexpected: ${process.env.ANYVMAF_DEBUG && error instanceof Error ? error.stack : String(error)}`);
  process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
  process.on('uncaughtException', report).on('unhandledRejection', report);
}
