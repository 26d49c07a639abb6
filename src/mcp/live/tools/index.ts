/**
 * @module mcp/live/tools/index
 * The tools of the live server, in the order in which they are listed.
 */
import { type LiveTool, READS } from '../tool.js';
import { COMPUTE_VMAF } from './compute.js';
import { SCORE, STATUS, WATCH } from './read.js';
import { SET_ALARM, STEERING, SWAP } from './steer.js';

/** Extractors, under the names that feature strings take. */
const LIST_FEATURES: LiveTool = {
  name: 'list_features',
  title: 'List feature extractors',
  description: 'Lists the feature extractors that can be measured, by the names that feature strings take.',
  parameters: {},
  required: [],
  annotations: READS,
  async call() {
    // Loaded with the first question: the thread starts beside a measurement, which wants the machine.
    const { listExtractors } = await import('../../../index.js');
    const features = [...new Set(listExtractors().map(({ name }) => name))];
    return { features, count: features.length };
  },
};

/** All tools. */
export const LIVE_TOOLS: readonly LiveTool[] = [
  LIST_FEATURES,
  COMPUTE_VMAF,
  STATUS,
  SCORE,
  WATCH,
  SWAP,
  SET_ALARM,
  ...STEERING,
];
