/**
 * @module web/engine/worker
 * Runs the library in a worker, so that it never blocks the page.
 */
import { configure } from 'anyvmaf';
import { serve } from './calls.js';
import { engine } from './functions.js';

/** The page's folder; the built worker is in `assets/`. */
const page = new URL(import.meta.env.DEV ? '/' : '../', import.meta.url);

configure({ ffmpegCore: new URL('ffmpeg/', page), onnxruntime: new URL('ort/ort.bundle.min.js', page) });
serve(engine, self);
