/**
 * @module report/html/viewer-script
 * The page's script as text: `report/html/viewer`, bundled and minified. The build (scripts/bundle.mjs) and the
 * test runner (vitest.config.ts) put it in place of this module.
 */
export declare const VIEWER_SCRIPT: string;
