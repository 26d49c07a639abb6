/**
 * @module metrics/options
 * Parses option texts and feature strings into extractor instances, validates values, fills in defaults, and names
 * features as libvmaf does.
 */
import { MAX_STRING, requireLength } from '../core/arguments.js';
import { type AnyvmafError, featureError, modelError, usageError } from '../core/errors.js';
import { guess, nearest } from '../core/nearest.js';
import { formatGeneral, magnitude } from '../core/numbers.js';
import { quoted } from '../core/printable.js';
import { EXTRACTORS, findExtractor } from './extractors.js';
import type { ExtractorInstance } from './metric.js';
import type { ExtractorSpec, FeatureSpec, OptionSpec, OptionValue } from './spec.js';

export type { ExtractorInstance };

/** Option texts by name, as in a feature string, a model overload or a model file. */
export type OptionTexts = Readonly<Record<string, string>>;

/**
 * Parses `NAME` or `NAME=key=value:key=value` (spec A.3). As in libvmaf, the last of a repeated key wins, and a second
 * `=` within an item ends its value.
 * @throws {AnyvmafError} `usage`: an item without `=`; `feature`: an unknown extractor or option, or an invalid value
 */
export function parseFeature(text: string): ExtractorInstance {
  requireLength('A feature string', text, MAX_STRING);
  const [name = '', ...rest] = text.split('=');
  requireLength('A feature name', name);
  const spec = requireExtractor(name, `feature ${quoted(text)}`);
  if (rest.length === 0) return createExtractor(spec, {}, `feature ${quoted(text)}`);
  const options = new Map<string, string>();
  for (const item of rest.join('=').split(':')) {
    const [key = '', value] = item.split('=');
    if (value === undefined)
      throw usageError(
        `Problem parsing feature ${quoted(name)}, bad option string ${quoted(item)}: options are written ` +
          `${name}=key=value:key=value. ${knownOptions(spec)}`,
      );
    options.set(key, value);
  }
  return createExtractor(spec, Object.fromEntries(options), `feature ${quoted(text)}`);
}

/**
 * @param options from a user or a model; others have their defaults
 * @param where they were given, for messages: `model "vmaf"`
 * @throws {AnyvmafError} `feature`: an unknown option or an invalid value
 */
export function createExtractor(spec: ExtractorSpec, options: OptionTexts, where: string): ExtractorInstance {
  const values: Record<string, OptionValue> = {};
  for (const option of spec.options) values[option.name] = option.default;
  for (const [name, text] of Object.entries(options)) {
    requireLength(`An option of the ${spec.name} extractor`, name);
    const option = spec.options.find((candidate) => candidate.name === name);
    if (!option)
      throw featureError(
        `The ${spec.name} extractor has no option ${quoted(name)} (in ${where}). ${meantOption(name, spec)}${knownOptions(spec)}`,
      );
    values[name] = parseOption(option, text, spec.name, where);
  }
  const suffix = nameSuffix(spec, values);
  const given = new Set(Object.keys(options));
  return { spec, options: values, given, suffix, where, key: spec.name + suffix };
}

/** True if a feature string names a colour metric. */
export function isOfColour(text: string): boolean {
  return named(text)?.module === 'perceptual';
}

/** Names of extractors in feature strings that libvmaf lacks. */
export function beyondLibvmaf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const spec = named(text);
    return spec?.beyondLibvmaf ? [spec.name] : [];
  });
}

function named(text: string): ExtractorSpec | undefined {
  return findExtractor(text.split('=', 1)[0] ?? '');
}

/** A feature string with libvmaf's own name of the extractor. */
export function libvmafText(text: string): string {
  const [name = ''] = text.split('=', 1);
  return (named(text)?.name ?? name) + text.slice(name.length);
}

const FOLDERS = EXTRACTORS.flatMap(({ options }) =>
  options.filter(({ type }) => type === 'folder').map(({ name }) => name),
);

/** The first option in feature and model strings that would write files. */
export function folderOption(texts: readonly string[]): string | undefined {
  return FOLDERS.find((name) => texts.some((text) => new RegExp(`[=:.]${name}=`).test(text)));
}

/**
 * @param where names the file in messages
 * @throws {AnyvmafError} `model` for an output folder, since models must not write files
 */
export function refuseFolders(options: OptionTexts, where: string): void {
  const name = FOLDERS.find((folder) => Object.hasOwn(options, folder));
  if (name === undefined) return;
  throw modelError(
    `The ${where} sets ${name}, but a model file must not write files; remove it there, and pass ${name} as an option ` +
      'of a feature or model in your own arguments.',
  );
}

/** @throws {AnyvmafError} `feature`, naming the known extractors */
function requireExtractor(name: string, where: string): ExtractorSpec {
  const spec = findExtractor(name);
  if (spec) return spec;
  const known = EXTRACTORS.map((extractor) => extractor.name).join(', ');
  throw featureError(
    `There is no feature extractor ${quoted(name)} (in ${where}); ${meantExtractor(name)}there are ${known}.`,
  );
}

/** Suggests an extractor: the one that emits `name`, its float_ variant, or one of similar spelling. */
function meantExtractor(name: string): string {
  const emitting = EXTRACTORS.find(({ features }) =>
    features.some((feature) => feature.name === name || feature.alias === name),
  );
  const names = EXTRACTORS.map((extractor) => extractor.name);
  return guess(emitting?.name ?? names.find((known) => known === `float_${name}`) ?? nearest(name, names));
}

function meantOption(name: string, { options }: ExtractorSpec): string {
  const names = options.map((option) => option.name);
  const meant = options.find(({ alias }) => alias === name)?.name ?? nearest(name, names);
  return meant === undefined ? '' : `Did you mean ${meant}? `;
}

/** As libvmaf: single precision, printed with `%g`, so 0.30000001 becomes 0.3. Accepts C's strtof forms. */
export function normaliseNumber(text: string): number | undefined {
  const start = text.trimStart();
  const negative = start.startsWith('-');
  const single = Math.fround(
    magnitude(negative || start.startsWith('+') ? start.slice(1) : start) ?? Number.NaN,
  );
  if (!Number.isFinite(single)) return undefined;
  // Turns -0 into 0: its sign would appear in names and reports.
  return Number(`${negative ? '-' : ''}${formatG(single)}`) + 0;
}

/** Largest distance from a listed number. */
const NEAR = 1e-3;

function parseOption(option: OptionSpec, text: string, extractor: string, where: string): OptionValue {
  const refuse = (expected: string): AnyvmafError =>
    featureError(
      `Option ${option.name} of the ${extractor} extractor is ${quoted(text)} (in ${where}) but must be ${expected}.`,
    );
  if (option.type === 'bool') {
    if (text === 'true') return true;
    if (text === 'false') return false;
    throw refuse('true or false');
  }
  if (option.choices) {
    if (option.choices.includes(text)) return text;
    throw refuse(option.choices.join(' or '));
  }
  if (option.type === 'folder') {
    if (text !== '' && !text.includes('\0')) return text;
    throw refuse('the path of a folder to write into');
  }
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = option;
  const kind = option.type === 'int' ? 'a whole number' : 'a number';
  const expected =
    max === Number.MAX_VALUE ? `${kind} of at least ${min}` : `${kind} from ${min} to ${max}, both included`;
  const value = normaliseNumber(text);
  if (value === undefined || value < min || value > max) throw refuse(expected);
  if (option.type === 'int' && !Number.isInteger(value)) throw refuse(expected);
  if (option.near && !option.near.some((known) => Math.abs(known - value) < NEAR))
    throw refuse(`within ${NEAR} of one of ${option.near.map((known) => formatG(known)).join(', ')}`);
  return value;
}

function knownOptions(spec: ExtractorSpec): string {
  if (spec.options.length === 0) return 'It has none.';
  return `Its options are ${spec.options.map((option) => option.name).join(', ')}.`;
}

const MAX_NAME = 255;

/** C's `%.{digits}g` with 1..99 significant digits: 1e6 as `1e+06`; as in libvmaf's names, `nan` has no sign. */
export function formatG(value: number, digits = 6): string {
  return Number.isNaN(value) ? 'nan' : formatGeneral(value, digits);
}

/** Options that differ from their defaults: `_egl_1`, `_mffw_mmxv_18_mma`; empty if none differs (spec 6.1). */
function nameSuffix(extractor: ExtractorSpec, values: Readonly<Record<string, OptionValue>>): string {
  return extractor.options
    .filter((option) => option.inName && values[option.name] !== option.default)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((option) => {
      const label = option.alias ?? option.name;
      const value = values[option.name];
      if (typeof value === 'boolean') return `_${label}`;
      return `_${label}_${typeof value === 'number' ? formatG(value) : value}`;
    })
    .join('');
}

/** Name in reports (spec 6.1, 6.2). */
export function logName(feature: FeatureSpec, suffix: string): string {
  return (feature.plainName ? feature.alias : feature.alias + suffix).slice(0, MAX_NAME);
}
