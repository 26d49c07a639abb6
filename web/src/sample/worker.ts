/**
 * @module web/sample/worker
 * Worker that makes the sample pair.
 */
import { serve } from '../engine/calls.js';
import { sampler } from './film.js';

serve(sampler, self);
