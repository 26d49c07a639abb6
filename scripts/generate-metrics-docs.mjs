/**
 * @module scripts/generate-metrics-docs
 * `npm run generate`: writes docs/metrics.md from the extractors themselves: descriptions, options, features, and the
 * sizes and depths that each accepts when tried.
 *
 *   node scripts/generate-metrics-docs.mjs --check    fails if the page does not match the code
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBuilt, ROOT, table } from './lib/project.mjs';

const PAGE = 'docs/metrics.md';
const { listExtractors } = await loadBuilt('index.js');
const { isOfColour, parseFeature } = await loadBuilt('metrics/options.js');
const { colourOf } = await loadBuilt('core/colour.js');
const { planFeatures } = await loadBuilt('engine/backends/features.js');

/** Smallest side of a picture, also for metrics of colour. */
const LEAST = 17;
const LEAST_OF_COLOUR = 2;
/** No extractor needs larger pictures. */
const MOST = 400;

/** Of SDR video. */
const COLOUR = colourOf({ width: 1920, height: 1080, bitDepth: 8, chroma: '420' });
const COLOURS = { reference: COLOUR, distorted: COLOUR };

const code = (text) => `\`${text}\``;
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Whether an extractor with default options accepts a picture format. */
function takes(name, width, height, chroma = '420', bitDepth = 8) {
  try {
    planFeatures([parseFeature(name)], { width, height, chroma, bitDepth, colours: COLOURS }, 'libvmaf-3.2');
    return true;
  } catch {
    return false;
  }
}

const leastSide = (name) => (isOfColour(name) ? LEAST_OF_COLOUR : LEAST);

function leastSquare(name, chroma) {
  let side = leastSide(name);
  while (!takes(name, side, side, chroma)) if (++side > MOST) throw new Error(`${name} takes no picture`);
  return side;
}

function smallest(name) {
  const [side, full] = ['420', '444'].map((chroma) => leastSquare(name, chroma));
  if (side > leastSide(name) && takes(name, side, leastSide(name))) return `one side of ${side}`;
  return full === side ? `${side}x${side}` : `${side}x${side} (4:4:4: ${full}x${full})`;
}

/** Formats that an extractor does not accept. */
function without(name) {
  return [
    ...(takes(name, MOST, MOST, '400') ? [] : ['4:0:0']),
    ...[10, 12, 16].filter((depth) => !takes(name, MOST, MOST, '444', depth)).map((depth) => `${depth} bit`),
  ];
}

function valuesOf({ type, min, max, choices, near }) {
  if (type === 'bool') return '`true`, `false`';
  if (type === 'folder') return 'a path';
  if (choices) return choices.map(code).join(', ');
  const kind = type === 'int' ? ', whole' : '';
  if (near)
    return `${min} to ${max}, within 0.001 of ${near.map((known) => Number(known.toPrecision(6))).join(', ')}`;
  return max === undefined || max === Number.MAX_VALUE ? `at least ${min}${kind}` : `${min} to ${max}${kind}`;
}

function optionsTable(options) {
  const rows = options.map(({ name, alias, default: byDefault, inName, description, ...rest }) => [
    code(name),
    byDefault === '' ? 'none' : code(byDefault),
    cell(valuesOf(rest)),
    inName ? code(alias ?? name) : '',
    cell(description),
  ]);
  return table(['option', 'default', 'values', 'in names', 'meaning'], rows);
}

function featuresTable(features) {
  const when = { frame: 'per frame', next: 'per frame', flush: 'per frame', sequence: 'once' };
  const better = { low: 'higher', high: 'lower' };
  const rows = features.map(({ alias, when: needs, emitted, stills, worse }) => [
    code(alias),
    [
      stills ? 'of stills' : when[emitted],
      ...(needs.length > 0 ? [`with ${needs.map(code).join(' and ')}`] : []),
    ].join(', '),
    better[worse] ?? '',
  ]);
  return table(['feature', 'given', 'better'], rows);
}

function section({ name, description, options, features }) {
  const refused = without(name);
  return [
    `## ${name}`,
    cell(description),
    `Smallest picture: ${smallest(name)}.${refused.length > 0 ? ` Not for ${refused.join(' and ')}.` : ''}`,
    ...(options.length > 0 ? [optionsTable(options)] : []),
    featuresTable(features),
  ].join('\n\n');
}

const extractors = [...listExtractors()].sort((a, b) => (a.name < b.name ? -1 : 1));
const overview = table(
  ['extractor', 'what it measures'],
  extractors.map(({ name, description }) => [`[${name}](#${name})`, cell(description)]),
);

const guide = readFileSync(new URL('metrics-guide.md', import.meta.url), 'utf8');

const page = `# Metrics

<!-- Made by \`npm run generate\` from src/metrics and scripts/metrics-guide.md; do not edit. -->

${guide}
\`--feature NAME\` or \`--feature NAME=OPTION=VALUE:OPTION=VALUE\` reports the features of an extractor, with or without models.
So do \`features\` of the API and \`feature\` of the MCP tools. Extractors, options and names are those of libvmaf 3.2.0,
except for the perceptual metrics \`xpsnr\`, \`ssimulacra2\`, \`butteraugli\` and \`cvvdp\`.

${overview}

If an option has a name under *in names*, values other than its default become part of the feature names:
\`adm=adm_csf_mode=2\` gives \`integer_adm2_csf_2\`. The smallest picture applies to default options; other scales
and prescales change it. Sides below ${LEAST} are refused, unless only \`ssimulacra2\`, \`butteraugli\` and \`cvvdp\` are measured.
Numbers are read in single precision with six digits, as in libvmaf: 0.30000001 is 0.3.

${extractors.map(section).join('\n\n')}
`;

const path = join(ROOT, PAGE);
const stale = !existsSync(path) || readFileSync(path, 'utf8') !== page;
if (process.argv.includes('--check')) {
  if (stale) console.error(`${PAGE} is stale; run \`npm run generate\``);
  process.exitCode = stale ? 1 : 0;
} else {
  if (stale) writeFileSync(path, page);
  console.log(`${extractors.length} extractors; ${stale ? `wrote ${PAGE}` : 'nothing to write'}`);
}
