/**
 * @module test/node/mcp/program
 * The built server with a real client over standard input and output: what concerns the process as a whole.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { fakeVmaf } from '../../support/fake-vmaf.js';

let folder = '';
let clients: Client[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anyvmaf-mcp-program-'));
});
afterEach(async () => {
  for (const client of clients) await client.close();
  clients = [];
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: Readonly<Record<string, string>>): Promise<[Client, number]> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', '--allow', folder],
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  clients.push(client);
  return [client, transport.pid ?? 0];
}

it.skipIf(process.platform === 'win32')(
  'thirty calls at once on a cold server ask the installed program once what it is',
  async () => {
    const { path } = fakeVmaf(folder, 'good');
    const [client] = await start({ VMAF_BIN: path, ANYVMAF_FFMPEG: join(folder, 'no-ffmpeg') });
    const calls = Array.from({ length: 30 }, () => client.callTool({ name: 'vmaf_version', arguments: {} }));
    for (const { structuredContent } of await Promise.all(calls))
      expect(structuredContent).toMatchObject({ binary_path: path, version: '3.2.0', error: null });
    const asked = readFileSync(join(folder, 'fake-good/runs'), 'utf8').trim().split('\n');
    expect(asked).toEqual(['["--help"]', '["--version"]']);
  },
);

it.skipIf(process.platform === 'win32')(
  'a server that was killed leaves its folder to the next one, which removes it and not that of a living one',
  async () => {
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const open = async () => {
      const [client, pid] = await start({ TMPDIR: temporary });
      // The file is made, and then too big for a message.
      await client.readResource({ uri: 'anyvmaf://samples/reference_576x324.yuv' }).catch(() => {});
      return { client, pid };
    };
    const folders = () => readdirSync(temporary).filter((name) => name.startsWith('anyvmaf-mcp-'));
    const living = await open();
    const [kept = ''] = folders();
    const killed = await open();
    expect(folders()).toHaveLength(2);
    process.kill(killed.pid, 'SIGKILL');
    const gone = folders().find((name) => name !== kept) ?? '';
    await expect.poll(() => existsSync(`/proc/${killed.pid}`)).toBe(false);
    const next = await open();
    await expect.poll(() => folders().includes(gone)).toBe(false);
    expect(folders()).toContain(kept);
    await next.client.close();
    await living.client.close();
    await expect.poll(folders).toEqual([]);
  },
);
