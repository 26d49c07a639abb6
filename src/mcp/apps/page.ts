/**
 * @module mcp/apps/page
 * The page beside a result in hosts of MCP Apps (SEP-1865, version 2026-01-26), which turns into the report.
 */
import { VIEWER_SCRIPT } from './viewer-script.js';

const UI = 'io.modelcontextprotocol/ui';

const MIME_TYPE = 'text/html;profile=mcp-app';

const VIEW_URI = 'ui://anyvmaf/report';

/** Tools with the view; for a job it polls for the result. */
const TOOLS: ReadonlySet<string> = new Set([
  'vmaf_score',
  'vmaf_score_encoded',
  'describe_worst_frames',
  'compare_encodes',
  'job_start',
]);

const LINKED = { ui: { resourceUri: VIEW_URI } } as const;

/** An empty policy: the view loads nothing. */
const META = { ui: { csp: {}, prefersBorder: true } } as const;

export const VIEW_ENTRY = {
  uri: VIEW_URI,
  name: 'report',
  title: 'Report',
  description: 'Charts, worst frames and a split view of the result, beside the answer.',
  mimeType: MIME_TYPE,
  _meta: META,
} as const;

export function showsViews(capabilities: unknown): boolean {
  const { mimeTypes } = Object(Object(Object(capabilities).extensions)[UI]);
  return Array.isArray(mimeTypes) && mimeTypes.includes(MIME_TYPE);
}

/** Metadata of a tool in `tools/list`. */
export function viewOf(tool: string): { readonly _meta?: typeof LINKED } {
  return TOOLS.has(tool) ? { _meta: LINKED } : {};
}

export function readView(uri: string) {
  return uri === VIEW_URI ? { uri, mimeType: MIME_TYPE, text: VIEW, _meta: META } : undefined;
}

const POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const VIEW = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>anyvmaf</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<style>body { font: 15px/1.5 system-ui, sans-serif; margin: 14px 18px; overflow-wrap: anywhere; }</style></head>
<body><p role="status">Waiting for the result.</p><script>${VIEWER_SCRIPT}</script></body></html>
`;
