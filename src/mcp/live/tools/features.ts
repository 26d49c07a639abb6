/**
 * @module mcp/live/tools/features
 * `list_features`: names of the extractors.
 */
import { type LiveTool, READS } from '../tool.js';

/** Extractors, under the names that feature strings take. */
export const LIST_FEATURES: LiveTool = {
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
