/**
 * @module mcp/live/dashboard/viewer-script
 * The dashboard's script as text: `mcp/live/dashboard/viewer`, bundled and minified. The build writes it in place of this
 * module (scripts/bundle.mjs), and so does the test runner (vitest.config.ts).
 */
export declare const VIEWER_SCRIPT: string;
