/**
 * @module scripts/corpus/run
 * Runs cases of the corpus through the library, as a user would, and lists deviations.
 *
 * A case has
 *
 *    name        unique; `kind` is that of its file
 *    what        a sentence that describes the pair
 *    reference   makes the file: (files) => path
 *    distorted   likewise; also gets the reference's path
 *     options     of `score`, as the user passes them; default none
 *     raw         the format of raw files
 *    right       how a careful person decodes and pairs the two (see `answer`); null if no score is right
 *    finds       the expected warnings and errors: severity by code
 *    warns       patterns of the other expected warnings
 *    says        expected infos; others are allowed
 *     verdict     default 'fine'
 *    refused     instead of all that: the expected error
 *    decoders    true if other decoders should give the same
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { basename, join } from 'node:path';
import { careful } from './answer.mjs';

/** Largest difference from the careful person's score. */
const NEAR = 0.05;

/** Fixes to apply, one after the other: a wrong size and an offset are two. */
const MOST_FIXES = 3;

const DECODERS = ['mediabunny', 'wasm'];

const near = (score, right) => Math.abs(score - right) <= NEAR;

/** A run as cases see it. */
async function scored({ score, trustOf }, request, options) {
  const { pooled_metrics: pooled, frameCount, preflight = [], warnings } = await score(request, options);
  const trust = trustOf({ preflight, warnings });
  return { vmaf: pooled.vmaf.mean, frameCount, preflight, warnings, trust };
}

/** The first finding of the verdict, if its advice changes the score. */
function advice({ trust, preflight }) {
  const [code] = trust.codes;
  const hint = preflight.find((finding) => finding.code === code && finding.severity !== 'info')?.hint;
  return hint && hint.purpose !== 'accept' ? hint : undefined;
}

/** The request and its options after applying a hint. */
function followed({ request, options }, hint, prepare) {
  if (hint.purpose === 'prepare' && !hint.instead) {
    return { request: { ...request, ...prepare(hint.commands) }, options };
  }
  const changed = { ...options };
  for (const { option, value } of hint.instead ?? [hint]) {
    if (option === 'swap') return { request: { ...request, ...value }, options };
    if (option === 'model') changed.models = [value];
    else if (option === 'window') Object.assign(changed, { offset: 'auto', window: value });
    // Filters are chained.
    else if (option.startsWith('vf') && changed[option]) changed[option] += `,${value}`;
    else changed[option] = value;
  }
  return { request, options: changed };
}

/** Runs the commands of a hint in a separate folder below `folder`. Returns the results by side. */
export function preparer(folder) {
  return (commands) => {
    const target = mkdtempSync(join(folder, 'prepared-'));
    const made = commands.map(({ side, input, inputOptions, options, output }) => {
      const path = join(target, basename(output));
      const args = [...inputOptions, '-i', input, ...options, path];
      execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { stdio: 'ignore' });
      return [side, path];
    });
    return Object.fromEntries(made);
  };
}

/** Warnings and errors among the findings, and other warnings. */
function objections({ preflight, warnings }) {
  const serious = preflight.filter(({ severity }) => severity !== 'info');
  return { serious, plain: warnings.filter((text) => preflight.every(({ message }) => message !== text)) };
}

/** How a report deviates from a case. */
function otherwise({ finds = {}, warns = [], says = [], verdict = 'fine' }, report) {
  const { serious, plain } = objections(report);
  const reported = (wanted, kinds) =>
    report.preflight.some(({ code, severity }) => code === wanted && kinds(severity));
  const isInfo = (severity) => severity === 'info';
  return [
    ...(report.trust.verdict === verdict ? [] : [`the verdict is ${report.trust.verdict}, not ${verdict}`]),
    ...serious
      .filter(({ code, severity }) => finds[code] !== severity)
      .map(({ code, severity, message }) => `found ${code} (${severity}): ${message}`),
    ...plain.filter((text) => !warns.some((pattern) => pattern.test(text))).map((text) => `warned: ${text}`),
    ...Object.entries(finds)
      .filter(([code, severity]) => !reported(code, (kind) => kind === severity))
      .map(([code, severity]) => `did not find ${code} (${severity})`),
    ...warns
      .filter((pattern) => !plain.some((text) => pattern.test(text)))
      .map((pattern) => `did not warn: ${pattern}`),
    ...says.filter((code) => !reported(code, isInfo)).map((code) => `did not say ${code}`),
  ];
}

/** Runs one case. Returns its results, and `misses`: sentences about deviations. */
export async function runCase(testCase, host) {
  const { score, files, prepare, otherDecoders = false } = host;
  const misses = [];
  const reference = await testCase.reference(files);
  const pair = { reference, distorted: await testCase.distorted(files, reference) };
  let state = {
    request: { ...pair, ...(testCase.raw && { raw: testCase.raw }) },
    options: testCase.options ?? {},
  };
  const result = { name: testCase.name, kind: testCase.kind, misses, findings: [], fixes: [] };

  const run = () => scored(host, state.request, state.options);
  let report;
  try {
    report = await run();
  } catch (error) {
    if (testCase.refused?.test(error.message)) return result;
    misses.push(`refused: ${error.message}`);
    return result;
  }
  if (testCase.refused) misses.push(`scored, where ${testCase.refused} should refuse it`);

  const { serious, plain } = objections(report);
  result.verdict = report.trust.verdict;
  result.findings = [...serious.map(({ code }) => code), ...plain.map(() => 'a warning')];
  result.score = report.vmaf;
  misses.push(...otherwise(testCase, report));
  const { right = {} } = testCase;
  if (right === null) return result;

  const answer = await careful(score, pair, right, testCase.options?.models);
  result.right = answer.score;
  if (near(result.score, answer.score)) {
    if (report.frameCount !== answer.frames)
      misses.push(`${report.frameCount} pairs were scored, not ${answer.frames}`);
    if (otherDecoders && testCase.decoders) misses.push(...(await agree(testCase, state.request, host)));
    return result;
  }
  if (report.trust.verdict === 'fine') misses.push(`the score is ${result.score}, not ${answer.score}`);
  while (!near(report.vmaf, answer.score)) {
    const hint = advice(report);
    const after = report.vmaf.toFixed(3);
    const steps = result.fixes.join(', then ') || 'nothing done';
    if (!hint || result.fixes.length === MOST_FIXES) {
      misses.push(`after ${steps} the score is ${after}, not ${answer.score.toFixed(3)}`);
      return result;
    }
    state = followed(state, hint, prepare);
    result.fixes.push(hint.option ?? hint.instead?.map(({ option }) => option).join(' + ') ?? 'a command');
    try {
      report = await run();
    } catch (error) {
      misses.push(`the fix (${result.fixes.at(-1)}) is refused: ${error.message}`);
      return result;
    }
  }
  result.fixed = report.vmaf;
  if (report.trust.verdict === 'untrusted')
    misses.push(`after ${result.fixes} it is untrusted still: ${report.trust.cause}`);
  return result;
}

/** How other decoders deviate from ffmpeg, for a master that all of them read. */
async function agree({ name, options = {}, decoders }, pair, host) {
  const { reference } = pair;
  const master = reference.endsWith('.mkv')
    ? host.files.make(`${name}-master.y4m`, ['-i', reference], '-fps_mode passthrough -strict -1')
    : reference;
  const decodedBy = async (decoder) => {
    const request = { ...pair, reference: master };
    const { vmaf, frameCount, trust } = await scored(host, request, { ...options, decoder });
    return { vmaf, text: `${frameCount} pairs, ${trust.verdict}` };
  };
  const first = await decodedBy('ffmpeg');
  const misses = [];
  for (const decoder of decoders === true ? DECODERS : decoders) {
    try {
      const { vmaf, text } = await decodedBy(decoder);
      if (text !== first.text || !near(vmaf, first.vmaf))
        misses.push(`${decoder} gives ${vmaf} of ${text}, ffmpeg ${first.vmaf} of ${first.text}`);
    } catch (error) {
      misses.push(`${decoder}: ${error.message}`);
    }
  }
  return misses;
}
