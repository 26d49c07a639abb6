/**
 * @module mcp/apps/viewer
 * The script of the view in MCP Apps: reads a result's report over JSON-RPC with the host (SEP-1865) and shows it.
 */

const VERSION = '2026-01-26';
/** Least milliseconds between two polls of a job. */
const PAUSE = 1000;

type Data = Readonly<Record<string, unknown>>;

const host = window.parent;
const status = document.querySelector('p');
const waiting = new Map<unknown, { resolve(result: Data): void; reject(error: Error): void }>();
let asked = 0;
let isShown = false;

const dataOf = (value: unknown): Data => (typeof value === 'object' && value !== null ? (value as Data) : {});

function send(message: Data): void {
  // A view is not told its host's origin.
  host.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

function ask(method: string, params: Data): Promise<Data> {
  asked++;
  send({ id: asked, method, params });
  return new Promise((resolve, reject) => waiting.set(asked, { resolve, reject }));
}

function say(text: unknown): void {
  if (!isShown && status && typeof text === 'string') status.textContent = text;
}

// --- the result ---

function documentOf({ structuredContent, content }: Data): Data {
  if (structuredContent) return dataOf(structuredContent);
  try {
    return dataOf(JSON.parse(String(dataOf(Array.isArray(content) ? content[0] : {}).text)));
  } catch {
    return {};
  }
}

function pageOf({ page, full_report: report }: Data): string | undefined {
  const uri = dataOf(page).uri ?? dataOf(report).uri;
  return typeof uri === 'string' && uri.startsWith('anyvmaf://results/')
    ? uri.replace(/\.json$/, '.html')
    : undefined;
}

const isOpen = ({ job_id: id, status: state }: Data) =>
  typeof id === 'string' && (state === 'working' || state === 'completed' || state === 'failed');

async function show(result: Data): Promise<void> {
  const { serverTools, serverResources } = await capabilities;
  let found = documentOf(result);
  const tell = () => say(found.summary ?? found.error ?? 'This result has no report.');
  tell();
  for (let isWorking = true; serverTools && isWorking && isOpen(found); ) {
    isWorking = found.status === 'working';
    const begun = Date.now();
    found = documentOf(await ask('tools/call', { name: 'job_result', arguments: { job_id: found.job_id } }));
    tell();
    if (isOpen(found)) await new Promise((end) => setTimeout(end, PAUSE - (Date.now() - begun)));
  }
  const uri = pageOf(found);
  if (uri === undefined || isShown) return;
  if (!serverResources) return say(`${found.summary ?? ''} This app does not let views read the report.`);
  const { contents } = await ask('resources/read', { uri });
  become(String(dataOf(Array.isArray(contents) ? contents[0] : {}).text ?? ''));
}

/** Replaces this document with the page. */
function become(text: string): void {
  const page = new DOMParser().parseFromString(text, 'text/html');
  if (isShown || !page.querySelector('main')) return;
  isShown = true;
  document.title = page.title;
  document.head.querySelector('style')?.remove();
  document.head.append(...page.querySelectorAll('style'));
  const scripts = [...page.body.querySelectorAll('script:not([type])')];
  document.body.replaceChildren(...page.body.childNodes);
  // Scripts from DOMParser do not run.
  for (const { textContent } of scripts) {
    const script = document.createElement('script');
    script.textContent = textContent;
    document.body.append(script);
  }
}

// --- the host ---

function dress({ theme }: Data): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

const HEARD: Readonly<Record<string, (params: Data) => void>> = {
  'ui/notifications/tool-result': (params) => {
    show(params).catch((error: Error) => say(`The report cannot be shown: ${error.message}`));
  },
  'ui/notifications/tool-cancelled': () => say('The call was cancelled.'),
  'ui/notifications/host-context-changed': dress,
};

const ANSWERED: ReadonlySet<unknown> = new Set(['ping', 'ui/resource-teardown']);

addEventListener('message', ({ source, data }) => {
  const { jsonrpc, id, method, params, result, error } = dataOf(data);
  if (source !== host || jsonrpc !== '2.0') return;
  if (typeof method !== 'string') {
    const question = waiting.get(id);
    waiting.delete(id);
    if (error) question?.reject(new Error(String(dataOf(error).message ?? 'the host refused it')));
    else question?.resolve(dataOf(result));
  } else if (id === undefined) {
    if (Object.hasOwn(HEARD, method)) HEARD[method]?.(dataOf(params));
  } else if (ANSWERED.has(method)) send({ id, result: {} });
  else send({ id, error: { code: -32601, message: `This view has no method ${method}.` } });
});

async function begin(): Promise<Data> {
  const { hostContext, hostCapabilities } = await ask('ui/initialize', {
    protocolVersion: VERSION,
    appInfo: { name: 'anyvmaf', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  });
  dress(dataOf(hostContext));
  send({ method: 'ui/notifications/initialized', params: {} });
  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    const params = { width: Math.ceil(width), height: Math.ceil(height) };
    send({ method: 'ui/notifications/size-changed', params });
  }).observe(document.documentElement);
  return dataOf(hostCapabilities);
}

const capabilities = begin();
capabilities.catch((error: Error) => say(`The app that shows this view refused it: ${error.message}`));
