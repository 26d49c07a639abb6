/**
 * @module web/saved/worker
 * The worker that reads and writes reports.
 */
import { serve } from '../engine/calls.js';
import { paper } from './functions.js';

serve(paper, self);
