/**
 * @module report/html/viewer-script
 * The page's script as text: `report/html/viewer`, bundled and minified. The build writes it in place of this module
 * (scripts/bundle.mjs), and so does the test runner (vitest.config.ts).
 */
export declare const VIEWER_SCRIPT: string;
