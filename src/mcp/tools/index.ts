/**
 * @module mcp/tools/index
 * The tools of the server, in the order in which clients list them.
 */
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import type { Tool } from '../tool.js';
import {
  listBackendsTool,
  listExtractorsTool,
  probeBackendTool,
  runBenchmarkTool,
  vmafVersion,
} from './backends.js';
import { compareEncodesTool } from './compare-encodes.js';
import { runCompareTool, runLadderTool } from './curves.js';
import { describeWorstFramesTool } from './describe-worst-frames.js';
import { explainScoreTool } from './explain-score.js';
import { findQualityTool } from './find-quality.js';
import { findAlignmentTool, inspectPairTool } from './inspect-pair.js';
import { JOB_TOOL_LIST } from './jobs.js';
import { listLiveTool, listVideosTool } from './lists.js';
import { compareModels, describeModelTool, evalModelOnSplit, listModelsTool } from './models.js';
import { runTunePerShotTool } from './run-tune-per-shot.js';
import { scoreBatchTool } from './score-batch.js';
import { vmafScore, vmafScoreEncoded } from './vmaf-score.js';

/** Clients see and cache this order: add to it, do not sort it. */
export const TOOLS: readonly Tool[] = [
  // Of the reference MCP server, in its order.
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
  // Our own.
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
  ...JOB_TOOL_LIST,
  listLiveTool,
];

/** Tools of the sets that --tools takes; every set also gets the tools for jobs. */
const TOOLSETS: Readonly<Record<string, string>> = {
  score: 'vmaf_score_encoded inspect_pair list_videos list_models list_extractors score_batch',
  raw: 'vmaf_score list_models list_extractors list_backends probe_backend vmaf_version',
  explain: 'compare_encodes inspect_pair find_alignment explain_score describe_worst_frames list_videos',
  encode: 'find_quality run_compare run_ladder run_tune_per_shot compare_encodes list_videos',
  models: 'list_models describe_model eval_model_on_split compare_models',
  live: 'list_live',
  machine: 'list_backends probe_backend run_benchmark vmaf_version',
};

/** In the order of {@link TOOLS}. @throws {AnyvmafError} `usage` for an unknown set */
export function toolsOf(text: string): readonly Tool[] {
  const names = text.split(',').flatMap((part) => {
    const set = part.trim();
    if (Object.hasOwn(TOOLSETS, set)) return TOOLSETS[set]?.split(' ') ?? [];
    throw usageError(
      `--tools is ${quoted(text)}, but ${quoted(set)} is not a set of tools; available: ${Object.keys(TOOLSETS).join(', ')}.`,
    );
  });
  const chosen = new Set([...names, ...JOB_TOOL_LIST.map(({ name }) => name)]);
  return TOOLS.filter(({ name }) => chosen.has(name));
}
