/**
 * @module web/engine/worker
 * The library in a worker of its own, so that neither decoding nor feeding the scorers ever holds up the page.
 */
import { configure } from 'anyvmaf';
import { serve } from './calls.js';
import { engine } from './functions.js';

/** The page's folder: the built worker lies in `assets/`. */
const page = new URL(import.meta.env.DEV ? '/' : '../', import.meta.url);

configure({ ffmpegCore: new URL('ffmpeg/', page), onnxruntime: new URL('ort/ort.bundle.min.js', page) });
serve(engine, self);
