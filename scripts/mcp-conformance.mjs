/**
 * @module scripts/mcp-conformance
 * Runs the official conformance suite of the Model Context Protocol against the built server over HTTP. Every applicable
 * scenario must pass; the others are listed with the reason. Exits with 2 if the suite cannot run.
 *
 *   npm run mcp:conformance
 *   npx -y -p node@22 node scripts/mcp-conformance.mjs    if Node.js is older than 22
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { builtCommand, ROOT } from './lib/project.mjs';

/** Exit status of a check that cannot run here. */
const SKIPPED = 2;

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Scenarios that need only the protocol. */
const APPLICABLE = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'completion-complete',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

const TOOL = "calls a tool of the suite's own example server by its name and wants that tool's fixed answer";
const RESOURCE = "reads a resource of the suite's own example server by its address";
const PROMPT = "gets a prompt of the suite's own example server by its name";

/** Why the other scenarios do not apply. */
const NOT_APPLICABLE = {
  'logging-set-level':
    'the server logs to standard error, not to the client, and says so in its capabilities',
  'tools-call-simple-text': TOOL,
  'tools-call-image': TOOL,
  'tools-call-audio': TOOL,
  'tools-call-embedded-resource': TOOL,
  'tools-call-mixed-content': TOOL,
  'tools-call-with-logging': TOOL,
  'tools-call-error': TOOL,
  'tools-call-with-progress': TOOL,
  'json-schema-2020-12': TOOL,
  'server-sse-polling': TOOL,
  'tools-call-sampling': TOOL,
  'tools-call-elicitation': TOOL,
  'elicitation-sep1034-defaults': TOOL,
  'elicitation-sep1330-enums': TOOL,
  'resources-read-text': RESOURCE,
  'resources-read-binary': RESOURCE,
  'resources-templates-read': RESOURCE,
  'prompts-get-simple': PROMPT,
  'prompts-get-with-args': PROMPT,
  'prompts-get-embedded-resource': PROMPT,
  'prompts-get-with-image': PROMPT,
};

function suite(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SUITE, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { passed: status === 0, text: `${stdout}${stderr}` };
}

/** Starts the server on a free port. */
async function startServer() {
  const child = spawn(process.execPath, [builtCommand(), 'mcp', '--allow', ROOT, '--http', '127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  for await (const text of child.stderr.setEncoding('utf8')) {
    output += text;
    const url = /listening at (\S+)/.exec(output)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error(`the server did not start: ${output}`);
}

async function main() {
  if (typeof fs.globSync !== 'function') {
    console.log(
      `skipped: the conformance suite needs Node.js 22, this is ${process.versions.node}; run it with: npx -y -p node@22 node scripts/mcp-conformance.mjs`,
    );
    return SKIPPED;
  }
  if (!fs.existsSync(SUITE)) {
    console.log('skipped: @modelcontextprotocol/conformance is not installed');
    return SKIPPED;
  }
  const listed = [...suite('list', '--server').text.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  const unknown = listed.filter((name) => !APPLICABLE.includes(name) && !(name in NOT_APPLICABLE));
  const gone = APPLICABLE.filter((name) => !listed.includes(name));
  for (const name of unknown) console.log(`FAILED: ${name} is new; say here whether it applies`);
  for (const name of gone) console.log(`FAILED: the suite has no ${name} any more`);
  const { child, url } = await startServer();
  let failed = unknown.length + gone.length;
  try {
    for (const name of APPLICABLE.filter((scenario) => listed.includes(scenario))) {
      const { passed, text } = suite('server', '--url', url, '--scenario', name);
      console.log(`${passed ? 'passed' : 'FAILED'}: ${name}`);
      if (passed) continue;
      failed++;
      console.log(text);
    }
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  for (const [name, reason] of Object.entries(NOT_APPLICABLE))
    console.log(`not applicable: ${name}: ${reason}`);
  return failed > 0 ? 1 : 0;
}

process.exitCode = await main();
