/**
 * @module mcp/apps/viewer-script
 * `mcp/apps/viewer`, bundled and minified, as text; scripts/bundle.mjs and vitest.config.ts replace this module.
 */
export declare const VIEWER_SCRIPT: string;
