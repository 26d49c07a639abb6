/**
 * @module mcp/live/dashboard/viewer-script
 * `mcp/live/dashboard/viewer`, bundled and minified, as text; scripts/bundle.mjs and vitest.config.ts replace it.
 */
export declare const VIEWER_SCRIPT: string;
