/**
 * @module web/saved/worker
 * Reads and writes reports beside the page.
 */
import { serve } from '../engine/calls.js';
import { paper } from './functions.js';

serve(paper, self);
