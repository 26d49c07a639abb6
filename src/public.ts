/**
 * @module public
 * The public API's types, errors, tables and report writers, for all platforms. Modules exported with `*` contain public
 * names only.
 */
export type {
  AomCtc,
  BackendChoice,
  BackendName,
  Compat,
  GpuBackend,
  MapKind,
  NativeFlavour,
  NflxCtc,
  V1Settings,
} from './core/choices.js';
export type { Colour, ScoredFormat } from './core/colour.js';
export type { Hint, Objection, Remedy } from './core/errors.js';
export { AnyvmafError, type AnyvmafErrorOptions, type ErrorCode, type InputRole } from './core/errors.js';
export type { ChromaFormat, FramePlanes, VideoFormat } from './core/frame.js';
export type { Fraction } from './core/numbers.js';
export type { FilterOptions } from './core/options.js';
export type { Origin } from './core/origin.js';
export type { SampleSizes, Samples } from './core/sampling.js';
export type { PictureSize } from './core/size.js';
export { version } from './core/version.js';
export type { AdapterFacts } from './engine/backends/composite.js';
export type {
  BackendDetail,
  BackendHealth,
  BackendList,
  BuildFlags,
  NativeDescription,
  NativeOptions,
  ProbeOptions,
} from './engine/backends/native/types.js';
export type { Diagnosis } from './engine/backends.js';
export type { Assets } from './engine/contract/platform.js';
export type * from './engine/contract/types.js';
export type { DatasetOptions, DatasetPair, DatasetSummary } from './engine/dataset.js';
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
} from './engine/quality-maps.js';
export type { BatchJob, BatchOptions, BatchProgress, BatchResult } from './engine/score-many.js';
export type { MergeOptions, ScoreShardOptions } from './engine/shards/shard.js';
export type { Shard, ShardChoice, ShardOptions, ShardPairs } from './engine/shards/shard-file.js';
export type { Interval, Intervals } from './evaluate/bootstrap.js';
export type { Agreement } from './evaluate/correlation.js';
export type {
  BootstrapFacts,
  ClipAgreement,
  Comparison,
  EvaluateOptions,
  Evaluation,
  FailedEvaluation,
  KeyAgreement,
} from './evaluate/evaluate.js';
export type { TableInput } from './evaluate/evaluation.js';
export type { LeftOut } from './evaluate/rows.js';
export type { Split } from './evaluate/table/columns.js';
export type { Alarm } from './live/alarms.js';
export type { EmbeddedServer, EmbeddedServerOptions } from './live/embedded.js';
export type { Listening, SecondLine } from './live/link.js';
export type {
  DecoderAvailability,
  DecoderChoice,
  DecoderId,
  ScaleFilter,
  TrackFacts,
} from './media/decoder.js';
export type {
  AlignCandidate,
  AlignReason,
  AlignResult,
  FrameList,
  FramePairing,
  FrameRange,
  FrameRatePolicy,
  InputPairing,
  PairBy,
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
} from './media/preflight/findings.js';
export type {
  FrameLayout,
  FrameSource,
  IncompleteFrame,
  RawVideoFormat,
  SourceDescriptor,
  VideoInfo,
  VideoInput,
} from './media/types.js';
export {
  type ExtractorSpec,
  type FeatureSpec,
  listExtractors,
  type OptionSpec,
  type OptionValue,
} from './metrics/extractors.js';
export type {
  FeatureModel,
  ModelDescription,
  ModelInputDescription,
  ModelSummary,
  OpenModelOptions,
  PulledModel,
  PullOptions,
} from './models/types.js';
export type {
  FactLevel,
  FrameFact,
  FrameFactName,
  FrameFacts,
  PicturePart,
  Place,
} from './pictures/facts.js';
export type { DifferenceMap, DifferenceOptions, FramePair, FramePicture } from './pictures/frame-pair.js';
export type { CellGrid } from './pictures/heatmap.js';
export {
  HEATMAP_FULLS,
  type HeatmapColor,
  heatmapColor,
  heatmapFull,
} from './pictures/palette.js';
export type {
  AdmBandCells,
  AdmCells,
  ButteraugliMap,
  ScaleCells,
  VifCells,
} from './pictures/quality-maps.js';
export type { ColorMatrix, ColorMeaning, ImageOptions, RgbaImage, RgbImage } from './pictures/rgb.js';
export type {
  BdOptions,
  BdResult,
  Interpolation,
  RatePoint,
} from './report/bd-rate.js';
export * from './report/html/index.js';
export { POOLED_STATISTICS as STATISTICS } from './report/limits.js';
export * from './report/ranking.js';
export { isReport, type ReadReport, readReport } from './report/read/index.js';
export type {
  FrameMetrics,
  MetricDistribution,
  NativeRun,
  PooledMetric,
  Report,
  ReportHead,
  ReportInput,
  ReportMeasurer,
  ReportModel,
  ReportSampling,
  ReportSwap,
  ReportTinyModel,
  ReportTinyNotice,
  ReportTinyPart,
} from './report/schema.js';
export { formatProgress, type ProgressOptions, type ProgressView } from './report/sections.js';
export { type SummaryOptions, summarize } from './report/summary.js';
export { type Trust, trustOf, type Verdict } from './report/trust.js';
export type { Precision } from './report/write.js';
export {
  formatReport,
  type ReportFormat,
  type WriteOptions,
  writeReport,
} from './report/write.js';
export type {
  DecidedEncode,
  DecisionOptions,
  DecisionReason,
  EncodeDecision,
} from './search/decision.js';
export type { ParameterName, ValueRange } from './search/encoders.js';
export * from './search/result.js';
export type { CompleteTarget, Estimate, QualityTarget, Statistic } from './search/targets.js';
export * from './search/types.js';
export type { DescribeTinyOptions, TinyModelDescription } from './tiny/describe.js';
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
