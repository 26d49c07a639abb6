/**
 * @module web/sample/worker
 * The worker that makes the sample pair.
 */
import { serve } from '../engine/calls.js';
import { sampler } from './film.js';

serve(sampler, self);
