/**
 * @module mcp/tools/index
 * The tools that the server offers, in the order in which clients list them.
 */
import type { Tool } from '../tool.js';
import { compareEncodesTool } from './compare-encodes.js';
import { compareModels } from './compare-models.js';
import { describeModelTool } from './describe-model.js';
import { describeWorstFramesTool } from './describe-worst-frames.js';
import { evalModelOnSplit } from './eval-model-on-split.js';
import { explainScoreTool } from './explain-score.js';
import { findAlignmentTool } from './find-alignment.js';
import { findQualityTool } from './find-quality.js';
import { inspectPairTool } from './inspect-pair.js';
import { listBackendsTool } from './list-backends.js';
import { listExtractorsTool } from './list-extractors.js';
import { listModelsTool } from './list-models.js';
import { listVideosTool } from './list-videos.js';
import { probeBackendTool } from './probe-backend.js';
import { runBenchmarkTool } from './run-benchmark.js';
import { runCompareTool } from './run-compare.js';
import { runLadderTool } from './run-ladder.js';
import { runTunePerShotTool } from './run-tune-per-shot.js';
import { scoreBatchTool } from './score-batch.js';
import { vmafScore } from './vmaf-score.js';
import { vmafScoreEncoded } from './vmaf-score-encoded.js';
import { vmafVersion } from './vmaf-version.js';

/** All tools, one file each. The order is part of what clients see and cache: add to it, do not sort it. */
export const TOOLS: readonly Tool[] = [
  // The reference's, in its order.
  vmafScore,
  listModelsTool,
  listBackendsTool,
  runBenchmarkTool,
  evalModelOnSplit,
  compareModels,
  describeWorstFramesTool,
  probeBackendTool,
  vmafVersion,
  vmafScoreEncoded,
  listExtractorsTool,
  describeModelTool,
  // Ours.
  compareEncodesTool,
  inspectPairTool,
  findAlignmentTool,
  explainScoreTool,
  findQualityTool,
  runCompareTool,
  runLadderTool,
  runTunePerShotTool,
  listVideosTool,
  scoreBatchTool,
];
