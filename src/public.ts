/**
 * @module public
 * Everything the public API has in common everywhere: types, errors, tables and report writers.
 */
export type {
  BackendChoice,
  BackendDetail,
  BackendHealth,
  BackendList,
  BackendName,
  BuildFlags,
  GpuBackend,
  NativeDescription,
  NativeFlavour,
  NativeOptions,
  ProbeOptions,
} from './backend/native/types.js';
export type { AdmBandCells, AdmCells, ScaleCells, VifCells } from './backend/quality-maps.js';
export {
  type ExtractorSpec,
  type FeatureSpec,
  listExtractors,
  type OptionSpec,
  type OptionValue,
} from './core/extractors.js';
export {
  HEATMAP_FULLS,
  type HeatmapColor,
  heatmapColor,
  heatmapFull,
} from './core/palette.js';
export { AnyvmafError, type AnyvmafErrorOptions, type ErrorCode } from './errors.js';
export type { Hint, Objection } from './hint.js';
export type { AlignCandidate, AlignReason, AlignResult } from './media/align/types.js';
export type {
  DecoderAvailability,
  DecoderChoice,
  DecoderId,
  Fraction,
  ScaleFilter,
  TrackFacts,
} from './media/decoder.js';
export type { CellGrid } from './media/heatmap/draw.js';
export type { Origin } from './media/origin.js';
export type {
  FrameList,
  FramePairing,
  FrameRange,
  FrameRatePolicy,
  InputPairing,
  Pairing,
  ScaleTo,
} from './media/pairing/types.js';
export type { ColorMatrix, ColorMeaning } from './media/picture/color.js';
export type { DifferenceMap, DifferenceOptions } from './media/picture/difference.js';
export type { FactLevel, FrameFact, FrameFactName, FrameFacts } from './media/picture/facts.js';
export type { FramePair, FramePicture } from './media/picture/frame-pair.js';
export type { ImageOptions, RgbImage } from './media/picture/image.js';
export type { PicturePart, Place } from './media/picture/place.js';
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
export type {
  FeatureModel,
  ModelDescription,
  ModelInputDescription,
  ModelSummary,
  OpenModelOptions,
  PulledModel,
  PullOptions,
} from './model/types.js';
export type { Assets } from './platform/platform.js';
export type { AomCtc, NflxCtc } from './presets.js';
export type { Precision } from './report/format.js';
export type { HtmlOptions } from './report/html.js';
export { type Opinion, viewerOpinion } from './report/opinion.js';
export { formatProgress, type ProgressOptions, type ProgressView } from './report/progress.js';
export { isReport, type ReadReport, readReport } from './report/read.js';
export { type SummaryOptions, summarize } from './report/summary.js';
export { type Trust, trustOf, type Verdict } from './report/trust.js';
export type {
  Compat,
  FrameMetrics,
  MetricDistribution,
  NativeRun,
  PooledMetric,
  Report,
  ReportHead,
  ReportInput,
  ReportModel,
  ReportTinyModel,
  ReportTinyNotice,
  ReportTinyPart,
} from './report/types.js';
export {
  frameGap,
  type Ranking,
  ranking,
  type WorstFrame,
  worstFrames,
} from './report/worst.js';
export {
  formatHtml,
  formatReport,
  type ReportFormat,
  type WriteOptions,
  writeReport,
} from './report/write.js';
export type { DatasetOptions, DatasetPair, DatasetSummary } from './score/dataset.js';
export type { Diagnosis } from './score/diagnosis.js';
export type { TableInput } from './score/evaluation.js';
export type { Inspection } from './score/preflight.js';
export type {
  AdmMap,
  HeatmapImage,
  LossGrid,
  LossKind,
  MapOptions,
  QualityMapOptions,
  QualityMaps,
  RenderOptions,
  VifMap,
} from './score/quality-maps.js';
export type {
  AlignOptions,
  ExtractOptions,
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
export type { DescribeTinyOptions, TinyModelDescription } from './tiny/describe.js';
export type { Interval, Intervals } from './tiny/evaluation/bootstrap.js';
export type { Comparison, FailedEvaluation } from './tiny/evaluation/compare.js';
export type { Agreement } from './tiny/evaluation/correlation.js';
export type {
  BootstrapFacts,
  ClipAgreement,
  EvaluateOptions,
  Evaluation,
  KeyAgreement,
} from './tiny/evaluation/evaluate.js';
export type { LeftOut } from './tiny/evaluation/rows.js';
export type { Split } from './tiny/evaluation/split.js';
export type {
  TinyDevice,
  TinyDeviceChoice,
  TinyDeviceStatus,
  TinyKind,
  TinyModelOptions,
  TinyPart,
  TinyPort,
  TinyQuantisation,
  TinyRegistryEntry,
  TinyResize,
  TinyRuntimeName,
  TinyScaler,
} from './tiny/types.js';
export { version } from './version.js';
