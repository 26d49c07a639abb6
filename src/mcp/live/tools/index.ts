/**
 * @module mcp/live/tools/index
 * The tools of the live server, in the order in which they are listed.
 */
import type { LiveTool } from '../tool.js';
import { COMPUTE_VMAF } from './compute.js';
import { LIST_FEATURES } from './features.js';
import { SCORE, STATUS } from './read.js';
import { SET_ALARM, STEERING, SWAP } from './steer.js';
import { WATCH } from './watch.js';

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
