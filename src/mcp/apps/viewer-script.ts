/**
 * @module mcp/apps/viewer-script
 * The view's script as text: `mcp/apps/viewer`, bundled and minified. The build writes it in place of this module
 * (scripts/bundle.mjs), and so does the test runner (vitest.config.ts).
 */
export declare const VIEWER_SCRIPT: string;
