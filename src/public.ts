/**
 * @module public
 * Everything the public API has in common everywhere: types, errors, tables and report writers.
 */
export {
  type ExtractorSpec,
  type FeatureSpec,
  listExtractors,
  type OptionSpec,
  type OptionValue,
} from './core/extractors.js';
export { AnyvmafError, type ErrorCode } from './errors.js';
export type { AlignCandidate, AlignReason, AlignResult } from './media/align/types.js';
export type { DecoderChoice, DecoderId, Fraction, ScaleFilter, TrackFacts } from './media/decoder.js';
export type {
  FrameList,
  FramePairing,
  FrameRange,
  FrameRatePolicy,
  InputPairing,
  Pairing,
  ScaleTo,
} from './media/pairing/types.js';
export type {
  Borders,
  Finding,
  FindingCode,
  FindingValue,
  Severity,
  SideFacts,
  SideMeasurements,
} from './media/preflight/types.js';
export type {
  ChromaFormat,
  FrameLayout,
  FramePlanes,
  FrameSource,
  IncompleteFrame,
  RawVideoFormat,
  SourceDescriptor,
  VideoFormat,
  VideoInfo,
  VideoInput,
} from './media/types.js';
export type { ModelDescription, ModelSummary } from './model/types.js';
export type { Assets } from './platform/platform.js';
export type { Precision } from './report/format.js';
export type { HtmlOptions } from './report/html.js';
export { formatProgress, type ProgressOptions, type ProgressView } from './report/progress.js';
export { type SummaryOptions, summarize } from './report/summary.js';
export type {
  Compat,
  FrameMetrics,
  MetricDistribution,
  PooledMetric,
  Report,
  ReportHead,
  ReportInput,
  ReportModel,
} from './report/types.js';
export {
  formatHtml,
  formatReport,
  type ReportFormat,
  type WriteOptions,
  writeReport,
} from './report/write.js';
export type { Inspection } from './score/preflight.js';
export type {
  AlignOptions,
  InspectOptions,
  PairingOptions,
  Progress,
  PushedPlanes,
  ScoreManyOptions,
  ScoreOptions,
  ScoreRequest,
  Scorer,
  ScorerOptions,
} from './score/types.js';
export { version } from './version.js';
