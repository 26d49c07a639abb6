/**
 * @module test/browser/mcp-view
 * The MCP Apps view in Chromium: a host page shows it in a sandbox, with a real client and the built server. The report appears with
 * charts, worst frames and the split view; nothing is loaded; malformed messages change nothing.
 */
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { noChromium, notesErrors, PATIENT, sharedChromium } from '../support/chromium.js';
import { testFolder } from '../support/folders.js';
import { startHttp } from '../support/mcp-clients.js';
import { httpClient } from '../support/mcp-host.js';

vi.setConfig(PATIENT);

const UI = 'io.modelcontextprotocol/ui';
const MIME_TYPE = 'text/html;profile=mcp-app';
const SAMPLE = {
  ref: 'anyvmaf://samples/reference_576x324.yuv',
  dis: 'anyvmaf://samples/distorted_576x324.yuv',
  ...{ width: 576, height: 324, pixfmt: '420', bitdepth: 8, frame_cnt: 16 },
};

/** The policy that hosts must enforce if a view declares none, by the specification. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'";

const folder = testFolder('view');
let server: Awaited<ReturnType<typeof startHttp>>;
let client: Client;
let template = '';
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  if (noChromium) return;
  const env = { PATH: process.env.PATH ?? '', TMPDIR: folder, ANYVMAF_CACHE: join(folder, 'cache') };
  server = await startHttp(folder, env);
  client = await httpClient(server.url, { extensions: { [UI]: { mimeTypes: [MIME_TYPE] } } });
  const { tools } = await client.listTools();
  const { ui } = Object(tools.find(({ name }) => name === 'vmaf_score')?._meta);
  const { contents } = await client.readResource({ uri: ui.resourceUri });
  expect(contents[0]).toMatchObject({ uri: 'ui://anyvmaf/report', mimeType: MIME_TYPE });
  template = contents[0] && 'text' in contents[0] ? contents[0].text : '';
});

afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));

afterAll(async () => {
  if (noChromium) return;
  expect((await sharedChromium()).contexts()).toEqual([]);
  await client.close();
  await server.stop();
});

interface Shown {
  readonly page: Page;
  readonly view: Frame;
  /** Messages from the view. */
  readonly heard: { readonly method?: string; readonly error?: { readonly code: number } }[];
  /** Requested URLs. */
  readonly loaded: string[];
  readonly complaints: string[];
  send(message: unknown): Promise<void>;
}

/** A host page: the view in a sandbox of another origin, and JSON-RPC by messages between frames. */
const HOST_PAGE = `<!doctype html><meta charset="utf-8"><title>host</title>
<iframe sandbox="allow-scripts" src="http://view.test/" style="width:1100px;height:1400px;border:0"></iframe><script>
const frame = document.querySelector('iframe');
const reply = (message) => frame.contentWindow.postMessage(message, '*');
addEventListener('message', async ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  await heard(data);
  const { id, method, params } = data;
  if (method === 'ui/initialize') {
    if (params.protocolVersion !== '2026-01-26' || !params.appInfo || !params.appCapabilities) return;
    const hostInfo = { name: 'test', version: '1' };
    const result = { protocolVersion: '2026-01-26', hostInfo, hostCapabilities: CAPABILITIES, hostContext: { theme: 'dark' } };
    reply({ jsonrpc: '2.0', id, result });
  } else if (method === 'tools/call' || method === 'resources/read') {
    const [result, error] = await toServer(method, params);
    reply(error ? { jsonrpc: '2.0', id, error: { code: -32000, message: error } } : { jsonrpc: '2.0', id, result });
  }
});
</script>`;

async function host(capabilities: object = { serverTools: {}, serverResources: {} }): Promise<Shown> {
  const context = await (await sharedChromium()).newContext({ viewport: { width: 1140, height: 900 } });
  contexts.push(context);
  const page = await context.newPage();
  const heard: Shown['heard'] = [];
  const loaded: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  notesErrors(page, complaints);
  const text = HOST_PAGE.replace('CAPABILITIES', JSON.stringify(capabilities));
  await page.route('http://host.test/', (route) => route.fulfill({ contentType: 'text/html', body: text }));
  await page.route('http://view.test/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: template,
      headers: { 'content-security-policy': POLICY },
    }),
  );
  await page.exposeFunction('heard', (message: Shown['heard'][number]) => {
    heard.push(message);
  });
  await page.exposeFunction('toServer', async (method: 'tools/call' | 'resources/read', params: object) => {
    try {
      return [await client.request({ method, params } as never, ResultSchema)];
    } catch (error) {
      return [undefined, String(error)];
    }
  });
  await page.goto('http://host.test/');
  await expect.poll(() => heard.map(({ method }) => method)).toContain('ui/notifications/initialized');
  const view = page.frames().find((frame) => frame.url() === 'http://view.test/');
  if (!view) throw new Error('the view is not shown');
  const send = (message: unknown) =>
    page.evaluate((message) => {
      document.querySelector('iframe')?.contentWindow?.postMessage(message, '*');
    }, message);
  return { page, view, heard, loaded, complaints, send };
}

const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', method, params });

/** Sends the view the arguments and the result of a call, as hosts do. */
async function tell({ send }: Shown, name: string, args: object): Promise<void> {
  await send(rpc('ui/notifications/tool-input', { arguments: args }));
  const result = await client.callTool({ name, arguments: { ...args } });
  expect(result.isError).toBeFalsy();
  await send(rpc('ui/notifications/tool-result', result));
}

describe.skipIf(noChromium)(`the view in a host${noChromium}`, () => {
  it('shows the report with charts, worst frames and the split view, and loads nothing', async () => {
    const shown = await host();
    const { view, heard } = shown;
    expect(await view.locator('p').textContent()).toBe('Waiting for the result.');
    await tell(shown, 'vmaf_score', SAMPLE);
    await view.locator('.chart.big canvas').first().waitFor();
    expect(await view.locator('h1').textContent()).toContain('distorted_576x324.yuv');
    expect(await view.locator('html').getAttribute('data-theme')).toBe('dark');
    const moments = view.locator('[data-frame]:has(.shot)');
    expect(await moments.count()).toBeGreaterThan(0);
    for (const image of await view.locator('.shot img').all())
      expect(await image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(576);
    const line = async () =>
      view.locator('.split').evaluate((split) => getComputedStyle(split).getPropertyValue('--at'));
    expect(await line()).toBe('50%');
    await view.locator('.split input').fill('80');
    expect(await line()).toBe('80%');
    const caption = view.locator('.split figcaption');
    const before = await caption.textContent();
    expect(before).toMatch(/^frame \d+.*: encode left of the line/);
    if ((await moments.count()) > 1) {
      await moments.nth(1).click();
      expect(await caption.textContent()).not.toBe(before);
    }
    await shown.send(rpc('ui/notifications/host-context-changed', { theme: 'light' }));
    await expect.poll(() => view.locator('html').getAttribute('data-theme')).toBe('light');
    expect(heard.map(({ method }) => method)).toContain('ui/notifications/size-changed');
    expect(shown.loaded).toEqual(['http://host.test/', 'http://view.test/']);
    expect(shown.complaints).toEqual([]);
  });

  it('shows a comparison, and waits for the result of a job', async () => {
    const { ref, frame_cnt: _, dis, ...geometry } = SAMPLE;
    const compared = { reference: ref, distorted: [dis, ref], ...geometry };
    const shown = await host();
    await tell(shown, 'job_start', { tool: 'compare_encodes', arguments: compared });
    await shown.view.locator('.encode:not(.headings)').nth(1).waitFor();
    expect(await shown.view.locator('h1').textContent()).toBe('2 encodes of reference_576x324.yuv');
    expect(shown.heard.map(({ method }) => method)).toContain('tools/call');
    expect(shown.complaints).toEqual([]);
  });

  it('shows the summary and the reason if the host cannot read resources, or refuses', async () => {
    const shown = await host({});
    const text = '{"summary":"vmaf 90.","full_report":{"uri":"anyvmaf://results/1/report.json"}}';
    const result = { content: [{ type: 'text', text }] };
    await shown.send(rpc('ui/notifications/tool-result', result));
    const line = shown.view.locator('p');
    await expect.poll(() => line.textContent()).toBe('vmaf 90. This app does not let views read the report.');
    await shown.send(rpc('ui/notifications/tool-result', { structuredContent: { error: 'No such file.' } }));
    await expect.poll(() => line.textContent()).toBe('No such file.');
    const other = await host();
    await other.send(rpc('ui/notifications/tool-result', result));
    await expect.poll(() => other.view.locator('p').textContent()).toContain('The report cannot be shown:');
    expect(await other.view.locator('p').textContent()).toContain('Unknown resource');
  });

  it('ignores malformed messages', async () => {
    const shown = await host();
    const { view, send, heard } = shown;
    const evil = '<main><script>window.hacked=1</script><img src=x onerror="window.hacked=1"></main>';
    const wrong: unknown[] = [
      ...[null, 'tool-result', 7, [], {}, { jsonrpc: '1.0', method: 'ui/notifications/tool-result' }],
      { jsonrpc: '2.0', id: 99, result: { contents: [{ text: evil }] } },
      ...[{ jsonrpc: '2.0', id: 1, error: null }, { jsonrpc: '2.0', method: 5 }, rpc('__proto__', {})],
      ...[rpc('constructor', {}), { jsonrpc: '2.0', method: 'ui/notifications/tool-result' }],
      rpc('ui/notifications/tool-result', { content: 'x', structuredContent: 5 }),
      rpc('ui/notifications/tool-result', {
        structuredContent: { page: { uri: 'http://evil.test/a.html' } },
      }),
      rpc('ui/notifications/tool-result', { structuredContent: { summary: evil, page: { uri: 5 } } }),
      rpc('ui/notifications/host-context-changed', { theme: '"><script>' }),
    ];
    for (const message of wrong) await send(message);
    await send({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params: {} });
    await expect.poll(() => heard.find(({ error }) => error)?.error?.code).toBe(-32601);
    // A message from another frame, not from the host.
    await shown.page.evaluate(
      (text) => {
        const other = document.body.appendChild(document.createElement('iframe'));
        const script = other.contentDocument?.createElement('script');
        if (!script) return;
        script.textContent = `parent.frames[0].postMessage(${text}, '*')`;
        other.contentDocument?.body.append(script);
      },
      JSON.stringify(rpc('ui/notifications/tool-cancelled', {})),
    );
    expect(await view.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await view.locator('p').textContent()).toBe(evil);
    expect(heard.filter(({ method }) => method === 'resources/read')).toEqual([]);
    await tell(shown, 'vmaf_score', { ...SAMPLE, frame_cnt: 2 });
    await view.locator('.chart.big canvas').first().waitFor();
    expect(shown.loaded.filter((url) => !/^(http:\/\/(host|view)\.test\/|about:)/.test(url))).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });
});
