/**
 * @module mcp/apps/viewer-script
 * `mcp/apps/viewer`, bundled and minified, as text; scripts/bundle.mjs and vitest.config.ts replace this module with
 * it.
 */
export declare const VIEWER_SCRIPT: string;
