/**
 * @module web/saved/worker
 * Worker that reads and writes reports.
 */
import { serve } from '../engine/calls.js';
import { paper } from './functions.js';

serve(paper, self);
