/**
 * @module mcp/tools/vmaf-score
 * `vmaf_score`: raw YUV or Y4M frames as stored, like the vmaf tool; `vmaf_score_encoded`: any two video files.
 */
import * as z from 'zod/v4';
import { OWN_GPU_BACKENDS } from '../../core/choices.js';
import { usageError } from '../../core/errors.js';
import { counted, quoted, showValue } from '../../core/printable.js';
import type { PairingOptions, Precision, Report, ScoreOptions } from '../../index.js';
import { extractorsFor, parsePooledName } from '../../report/limits.js';
import { askedOf } from '../../report/quality-metrics.js';
import { ranking } from '../../report/ranking.js';
import { input, model, pooled, tinyModel } from '../../report/schema.js';
import { trustOf } from '../../report/trust.js';
import { formatReport } from '../../report/write.js';
import type { CheckedOptions, CheckedRequest } from '../checked-api.js';
import type { CheckedModel } from '../paths.js';
import { rows, value } from '../schemas.js';
import {
  backendKeys,
  backendUsed,
  documentKeys,
  findingDocument,
  type Head,
  headKeys,
  headOf,
  isMissed,
  joinSentences,
  mismatchedModelWarning,
  missCode,
  nextForPair,
  nextWithFix,
  publishReport,
  resourceDocument,
  rounder,
  sureOfTarget,
  type TargetDocument,
  targetAnswer,
  targetDocument,
  trustDocument,
  trustSentence,
  worstDocument,
  worstDocumentOf,
} from '../scoring/answers.js';
import {
  DEFAULT_MODEL,
  encodedPair,
  pairingParameters,
  pairRequest,
  rawPair,
  rawRequest,
  type ScoringInput,
  scoringParameters,
  type TableOptions,
  tableOptions,
} from '../scoring/parameters.js';
import { featuresOf, readPrecision, runScore, targetLimits } from '../scoring/run.js';
import { defineTool, type Given, type ToolContext, type ToolOutcome } from '../tool.js';

const inputDocument = z.looseObject({ ...documentKeys(input), chroma: z.string() }).omit({ file_size: true });

export const scoreDocument = z.looseObject({
  ...z.object(headKeys).partial().shape,
  ...backendKeys,
  summary: z.string().optional().describe('The result in a few sentences.'),
  target: targetDocument.optional().describe('With target: the verdict on it.'),
  version: z.string().optional(),
  fps: value.optional(),
  pooled_metrics: z.record(z.string(), z.object(documentKeys(pooled)).partial()).optional(),
  aggregate_metrics: z.record(z.string(), value).optional(),
  frames: rows({ frameNum: z.int(), metrics: z.record(z.string(), value) })
    .optional()
    .describe('With detail frames.'),
  distribution: z
    .record(z.string(), z.object({ percentiles: z.record(z.string(), value), stddev: value }))
    .optional()
    .describe(
      'Percentiles 1 to 99 and standard deviation of the scores; with detail frames, of every metric.',
    ),
  trust: trustDocument.optional(),
  worst_frames: worstDocument.optional(),
  preflight: z.array(findingDocument).optional(),
  reference: inputDocument.optional(),
  distorted: inputDocument.optional(),
  models: z.array(z.looseObject(documentKeys(model)).pick({ name: true, source: true })).optional(),
  tiny: z
    .array(z.looseObject(documentKeys(tinyModel)).pick({ name: true, source: true, device: true }))
    .optional()
    .describe('Tiny models that ran, with device, runtime and digest.'),
  no_reference: z.boolean().optional().describe('The distorted video was scored without a reference.'),
  frame_count: z.int().optional().describe('Frame pairs measured.'),
  without_grain: rows({ metric: z.string(), value }).optional(),
  warnings: z.array(z.string()).optional(),
  full_report: resourceDocument.optional().describe('The report with every frame, as JSON.'),
  format: z.enum(['xml', 'csv', 'sub']).optional().describe('If a format other than JSON was requested.'),
  output: z.string().optional().describe('The report in that format.'),
});

export type ScoreDocument = Given<z.input<typeof scoreDocument>>;

export const vmafScore = defineTool({
  name: 'vmaf_score',
  title: 'Score a raw video pair',
  description:
    'Scores a distorted raw YUV (or Y4M) video against its reference with VMAF: pooled scores, percentiles, worst ' +
    "frames and a link to every frame. Scores equal libvmaf's. For containers (MP4, MKV, WebM, ...), use " +
    'vmaf_score_encoded. Next: explain_score, describe_worst_frames.',
  inputSchema: z.object({ ...rawPair, ...scoringParameters, allow_damaged: pairingParameters.allow_damaged }),
  outputSchema: scoreDocument,
  async handler(input, context) {
    const call = scoringCall(input, { decoder: 'none', preflight: true });
    return scorePair(rawRequest(input), call, context);
  },
});

export const vmafScoreEncoded = defineTool({
  name: 'vmaf_score_encoded',
  title: 'Score two video files',
  description:
    'Scores a distorted video file (MP4, MKV, WebM, Y4M, ...) against its reference with VMAF. The distorted video is scaled ' +
    'to the reference, frames are paired by time, and preflight reports problems that would make the score wrong. Returns ' +
    'pooled scores, percentiles, worst frames and a link to every frame. Next: explain_score, describe_worst_frames; for ' +
    'several encodes of one source, compare_encodes.',
  inputSchema: z.object({ ...encodedPair, ...scoringParameters, ...pairingParameters }),
  outputSchema: scoreDocument.extend({
    reference_encoded: z.string().optional().describe('As given.'),
    distorted_encoded: z.string(),
  }),
  async handler(input, context) {
    const { reference_encoded: reference, distorted_encoded: distorted } = input;
    const call = scoringCall(input);
    const request = pairRequest({ reference, distorted }, 'reference_encoded', input.no_reference);
    const outcome = await scorePair(request, call, context);
    const names = { reference_encoded: reference?.named, distorted_encoded: distorted.named };
    return { ...outcome, document: { ...outcome.document, ...names } };
  },
});

type ScoringCall = ReturnType<typeof scoringCall>;

/** @throws {AnyvmafError} `usage` if parameters conflict or cannot be honoured: no score may be mistaken for another */
function scoringCall(input: ScoringInput, pairing: PairingOptions = {}) {
  refuseWithPresets(input);
  refuseTarget(input);
  refuseDevices(input);
  const preset = input.aom_ctc !== undefined || input.nflx_ctc !== undefined;
  // A no-reference call runs no VMAF model, not even the default.
  const models = preset || input.no_reference ? undefined : modelTexts(input);
  const target = targetLimits(input.target);
  const { threads = 0, ...named } = tableOptions(input);
  const { feature = [] } = input;
  const features = preset ? feature : [...feature, ...featuresOf(target, feature)];
  const backend = chosenBackend(input);
  const options: CheckedOptions<ScoreOptions> = {
    ...ofBackend(named, backend),
    ...pairing,
    models,
    tiny: tinyModels(input),
    backend,
    features: features.map((text) => withViewing(text, input)),
  };
  return {
    options,
    /** Models as the caller would name them for other tools; absent for a preset. */
    modelNames: preset
      ? undefined
      : (input.models ?? [input.model]).map(({ named }) => `${named}${suffixOf(input)}`),
    precision: readPrecision(input.precision),
    format: outputFormat(input),
    detail: input.detail,
    target,
    backendRequested: backend === 'native-cpu' ? backend : input.backend,
    /** Worker threads wanted, `null` for one per core. */
    weight: threads === 0 ? null : threads,
  };
}

/** @throws {AnyvmafError} `usage` if both model and models are given */
function modelTexts(input: ScoringInput): readonly CheckedModel[] {
  const { model, models } = input;
  if (models !== undefined && model.named !== DEFAULT_MODEL)
    throw usageError(
      `model is ${quoted(model.named)} and models has ${models.length} more, but only one of the two may be given; put all into models.`,
    );
  const suffix = suffixOf(input);
  return (models ?? [model]).map(({ text }) => `${text}${suffix}` as CheckedModel);
}

/** What parameters add to each model string. */
function suffixOf(input: ScoringInput): string {
  const { disable_clip, enable_transform } = input;
  const flags = (disable_clip ? ':disable_clip' : '') + (enable_transform ? ':enable_transform' : '');
  return [flags, ...viewingOptions(input).map((option) => `:adm.${option}`)].join('');
}

function viewingOptions({ view_distance, display_height }: ScoringInput): readonly string[] {
  return [
    ...(view_distance === undefined ? [] : [`adm_norm_view_dist=${view_distance}`]),
    ...(display_height === undefined ? [] : [`adm_ref_display_height=${display_height}`]),
  ];
}

function chosenBackend(input: ScoringInput): NonNullable<ScoreOptions['backend']> {
  if (input.native_cpu) return 'native-cpu';
  return input.backend === 'auto' && (input.gpumask ?? 0) !== 0 ? 'cpu' : input.backend;
}

/** Backends that run no installed program. */
const OWN: readonly string[] = ['auto', 'cpu', 'wasm', ...OWN_GPU_BACKENDS];

/** Drops options that the backend does not take. */
function ofBackend(
  { cpumask, gpumask, syclDevice, hipDevice, metalDevice, ...options }: TableOptions,
  backend: NonNullable<ScoreOptions['backend']>,
): TableOptions {
  if (OWN.includes(backend)) return options;
  return {
    ...{ ...options, cpumask, gpumask },
    ...(backend === 'sycl' && { syclDevice }),
    ...(backend === 'hip' && { hipDevice }),
    ...(backend === 'metal' && { metalDevice }),
  };
}

function outputFormat({ output_fmt: named, csv, sub }: ScoringInput): ScoringInput['output_fmt'] {
  if (csv && sub)
    throw usageError('csv and sub are both true, but a report has one format; give one of them.');
  const short = csv ? 'csv' : sub ? 'sub' : undefined;
  if (short === undefined || named === short) return named;
  // json may be the default.
  if (named === 'json') return short;
  throw usageError(`${short} is true, but output_fmt is ${named}; give one of them.`);
}

/** Adds viewing conditions to an adm feature that has none. */
function withViewing(text: string, input: ScoringInput): string {
  if (!/^adm(=|$)/.test(text)) return text;
  const added = viewingOptions(input).filter((option) => !text.includes(option.replace(/=.*/, '=')));
  if (added.length === 0) return text;
  return `${text}${text.includes('=') ? ':' : '='}${added.join(':')}`;
}

/** Refuses other features or models beside a preset, which is a fixed set. */
function refuseWithPresets(input: ScoringInput): void {
  const [name, second] = (['aom_ctc', 'nflx_ctc'] as const).filter((preset) => input[preset] !== undefined);
  if (name === undefined) return;
  const { feature, models, disable_clip, enable_transform, view_distance, display_height } = input;
  const model = input.model.named !== DEFAULT_MODEL;
  const extras = { feature, model, models, disable_clip, enable_transform, view_distance, display_height };
  const [other] = Object.entries({ nflx_ctc: second, ...extras }).flatMap(([key, value]) =>
    value === undefined || value === false ? [] : [key],
  );
  if (other === undefined) return;
  throw usageError(
    `${name} and ${other} exclude each other: a preset is a fixed set of models and features; give one of them.`,
  );
}

function refuseTarget(input: ScoringInput): void {
  const { target_width: width, target_height: height, target_scaling: scaling } = input;
  if (width === 0 && height === 0 && scaling === 'none') return;
  throw usageError(
    `target_width is ${width}, target_height ${height} and target_scaling ${scaling}, but these parameters are reserved; ` +
      'leave them out. vmaf_score_encoded scales with scale and scale_to.',
  );
}

function refuseDevices(input: ScoringInput): void {
  const { cpumask = 0, backend, native_cpu: native } = input;
  if (native && backend !== 'cpu')
    throw usageError(`native_cpu requires backend cpu, but backend is ${backend}; set backend to cpu.`);
  if (cpumask !== 0 && !native && ['auto', 'cpu', ...OWN_GPU_BACKENDS].includes(backend))
    throw usageError(
      `cpumask is ${cpumask}, but the built-in core has one instruction set, WebAssembly SIMD, and the same result on ` +
        'every machine; leave out cpumask, or use an installed libvmaf with native_cpu and backend cpu.',
    );
  for (const of of ['sycl', 'hip', 'metal'] as const) {
    const name = `${of}_device` as const;
    const value = input[name] ?? 0;
    if (value === 0 || backend === of) continue;
    throw usageError(
      `${name} is ${value}, but backend is ${backend}; set backend to ${of}, or leave out ${name}.`,
    );
  }
}

/** Parameters that need a tiny model, with the values that are allowed without one. */
const NEUTRAL = {
  tiny_device: 'auto',
  dnn_ep: 'auto',
  tiny_threads: 0,
  tiny_fp16: false,
  tiny_precision: 'auto',
  tiny_model_verify: false,
  tiny_codec: undefined,
  tiny_preset: undefined,
  tiny_crf: undefined,
  tiny_resize: 'disabled',
} as const satisfies Partial<Record<keyof ScoringInput, unknown>>;

/** @throws {AnyvmafError} `usage` for parameters that conflict or need a tiny model */
function tinyModels(input: ScoringInput): CheckedOptions<ScoreOptions>['tiny'] {
  const { tiny_model: model, tiny_device: device, dnn_ep: alias } = input;
  if (input.no_reference && model === undefined)
    throw usageError('no_reference requires tiny_model; no classic NR scorer exists');
  if (alias !== undefined && device !== 'auto' && alias !== device)
    throw usageError(
      `tiny_device is ${device} and dnn_ep is ${alias}, but they are names of the same parameter; pass one.`,
    );
  if (model === undefined) {
    const [name, value] =
      Object.entries(NEUTRAL)
        .map(([key, neutral]) => [key, input[key as keyof typeof NEUTRAL], neutral] as const)
        .find(([, value, neutral]) => value !== undefined && value !== neutral) ?? [];
    if (name === undefined) return undefined;
    throw usageError(`${name} is ${showValue(value)}, but it applies to a tiny model only; add tiny_model.`);
  }
  const { tiny_threads: threads, tiny_fp16: fp16, tiny_precision: precision, tiny_resize: resize } = input;
  const { tiny_codec: codec, tiny_preset: preset, tiny_crf: crf, tiny_model_verify: verify } = input;
  const options = { threads, fp16, precision, verify, codec, preset, crf, resize };
  return [{ model: model.text, device: device === 'auto' ? (alias ?? 'auto') : device, ...options }];
}

/** A summary publishes the full report and links to it. @throws {AnyvmafError} those of {@link runScore} */
async function scorePair(
  request: CheckedRequest,
  call: ScoringCall,
  context: ToolContext,
): Promise<ToolOutcome<ScoreDocument>> {
  const report = await runScore(request, call, context);
  const { options, precision, format } = call;
  const target = call.target && targetAnswer(report, call.target, rounder(precision));
  const head = headOfScore(report, call, target, context);
  const backends = {
    backend_requested: call.backendRequested,
    backend_used: backendUsed(report),
    mismatched_model_warning: mismatchedModelWarning(report),
    target,
  };
  if (format !== 'json') {
    const output = formatReport(report, format, { precision });
    return { document: { ...head, format, output, trust: trustOf(report), ...backends }, long: true };
  }
  const shown = call.detail === 'frames' ? report : withoutFrames(report);
  const facts = scoreDocument.parse(JSON.parse(formatReport(shown, 'json', { precision })));
  const document = { ...head, ...headline(report, facts, precision, target), ...facts, ...backends };
  if (call.detail === 'frames') return { document, long: true };
  const { frames: _, ...summary } = document;
  const inner = innerOf(report);
  const pictured = { request, options, origin: context.files.origin };
  const { uri, path, link } = await publishReport(report, precision, context.resources, pictured);
  return {
    document: { ...summary, full_report: { uri, path } },
    content: [link],
    whole: 'full_report',
    spare: [
      // Without a score, these are the result.
      ...(inner.length < report.metrics.length ? [{ of: 'pooled_metrics', names: inner }] : []),
      ...['reference', 'distorted', 'tiny', 'models', 'preflight'],
      ...['pooled_metrics.*.harmonic_mean', 'pooled_metrics.*.max', 'distribution', 'pooled_metrics.*.min'],
    ],
  };
}

/** Features from which scores are computed. */
function innerOf(report: Report): readonly string[] {
  const requested = new Set(askedOf(report.metrics, [report]));
  return report.metrics.filter((name) => !requested.has(name));
}

/** The verdict on a score and its target; the next call shows the worst frames, or why it misses the target. */
function headOfScore(
  report: Report,
  { target: limits = [], modelNames }: ScoringCall,
  target: TargetDocument | undefined,
  context: ToolContext,
): Head {
  const trust = trustOf(report);
  const missed = target?.checks.filter(isMissed) ?? [];
  const open = target?.checks.filter(({ note }) => note !== undefined) ?? [];
  const [miss] = missed;
  const at = miss ? report.models.findIndex(({ name }) => miss.value_of.startsWith(`${name}.`)) : 0;
  const model = report.models[Math.max(0, at)];
  // The next tools take one model: the one that misses the target, else the first.
  const name = modelNames?.[Math.max(0, at)] ?? (model && `version=${model.source}`);
  const one = name !== undefined && name !== (context.args.model ?? DEFAULT_MODEL) && { model: name };
  const explained =
    at >= 0 && model && !model.collection ? nextForPair(context, 'explain_score', { ...one }) : undefined;
  const next =
    nextWithFix(context, trust.fix) ??
    (miss ? explained : undefined) ??
    nextForPair(context, 'describe_worst_frames', {
      n: 3,
      ...one,
      ...(miss && at < 0 && rankedBy(miss, report)),
    }) ??
    explained;
  return headOf({
    trust,
    outcome: target?.verdict === 'untrusted' ? undefined : target?.verdict,
    sure: target?.verdict === 'unfinished' ? 'low' : sureOfTarget(report, limits),
    reasons: [
      ...(report.subsample > 1 ? ['measured-on-samples'] : []),
      ...missed.map((check) => `${missCode(check)}:${check.value_of}`),
      ...open.map(({ value_of }) => `no-value:${value_of}`),
    ],
    next,
  });
}

/** Ranks frames by the metric that misses its bound, if describe_worst_frames measures it. */
function rankedBy({ value_of }: TargetDocument['checks'][number], report: Report) {
  const { metric = '' } = parsePooledName(value_of) ?? {};
  // cvvdp is one value for the whole run, cvvdp_q that of a frame.
  const name = [metric, `${metric}_q`].find((each) => report.metrics.includes(each));
  const isMeasured = name && (extractorsFor([name], []).length > 0 || innerOf(report).includes(name));
  return isMeasured ? { metric: name } : {};
}

function verdictText({ verdict, checks }: TargetDocument): string {
  const results = checks.map((check) => {
    const { value_of, must_be, found, reached } = check;
    const state = reached ? 'reached' : isMissed(check) ? 'missed' : 'open';
    return `${value_of}${must_be} ${state} (${found === null ? 'no value' : short(found)})`;
  });
  return `Target ${verdict}: ${results.join(', ')}.`;
}

function scoresOf({ models, tiny = [] }: Report): readonly string[] {
  return [...models.map(({ name }) => name), ...tiny.flatMap(({ metrics }) => metrics)];
}

/** Removes frames, and the percentiles of metrics other than scores; without scores, of all but the headline's. */
function withoutFrames(report: Report): Report {
  const bagged = report.models.flatMap(({ collection }) => collection?.bagging ?? []);
  const scores = scoresOf(report);
  const named = new Set(scores.length > 0 ? [...scores, ...bagged] : [ranking(report)?.metric]);
  const shown = Object.entries(report.distribution).filter(([metric]) => named.has(metric));
  return { ...report, frames: [], distribution: Object.fromEntries(shown) };
}

function headline(
  report: Report,
  { pooled_metrics: pooled = {} }: ScoreDocument,
  precision: Precision,
  target: TargetDocument | undefined,
): Pick<ScoreDocument, 'summary' | 'worst_frames'> {
  const worst = worstDocumentOf(report, precision);
  const named = scoresOf(report);
  const shown = named.length > 0 ? named : worst ? [worst.metric] : [];
  const scores = shown.flatMap((name) => {
    const { mean, min } = pooled[name] ?? {};
    if (typeof mean !== 'number') return [];
    return [`${name} ${short(mean)} on average, ${short(min ?? mean)} at its lowest`];
  });
  const bare = (report.withoutGrain ?? []).flatMap(({ metric, value }) =>
    shown.includes(metric) ? [`${metric} ${short(value)}`] : [],
  );
  const findings = report.preflight?.filter(({ severity }) => severity !== 'info') ?? [];
  const trust = trustOf(report);
  const [lowest] = worst?.frames ?? [];
  const when = lowest?.seconds === undefined ? '' : `, at ${lowest.seconds} s`;
  // Findings that change what was scored come first.
  const grave = findings.filter(({ severity, code }) => severity === 'error' || code === 'offset-unclear');
  const summary = joinSentences(
    target && verdictText(target),
    ...(trust.verdict === 'untrusted' ? [trustSentence(trust)] : grave.map(({ message }) => message)),
    `${scores.join('; ') || 'No score'}, over ${counted(report.frames.length, 'frame')}.`,
    bare.length > 0 && `Without film grain: ${bare.join('; ')} on average.`,
    lowest && `The worst moment is frame ${lowest.frame}${when}.`,
    trust.verdict === 'doubtful' && grave.length === 0 && trustSentence(trust),
    findings.length > 0 && `Preflight found ${counted(findings.length, 'problem')}; see preflight.`,
  );
  return { summary, worst_frames: worst };
}

const short = (value: number): string => value.toFixed(2);
