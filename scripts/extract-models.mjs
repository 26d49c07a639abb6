/**
 * @module scripts/extract-models
 * Makes the model folder: extracts VMAF's built-in models from the ffprobe binary of the development dependency
 * @ffprobe-installer/ffprobe (which contains libvmaf 2.3.0), verifies their checksums, derives the 4K NEG model and writes
 * the registry.
 *
 *   node scripts/extract-models.mjs [--check]
 *
 * --check  compares the committed folder with what would be written; needs no ffprobe
 *
 * Exit codes: 0 done, 1 failed or different.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { readOptions } from './lib/project.mjs';

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'model');

/** The models in display order. `gainLimitsOf` makes a NEG model from a plain one. */
const MODELS = [
  {
    name: 'vmaf_v0.6.1',
    sha256: '5950d61fa1f861bd45d8149d80539ed9f3376cfc2495b8f0fa8e9f57cb131ee3',
    intendedUse:
      '1080p seen from three screen heights on a television or monitor; with enable_transform, seen on a phone.',
  },
  {
    name: 'vmaf_v0.6.1neg',
    sha256: '1fcda193aaa2a3136471b7516b3c5dc344546c05fcde2d58609f8c60a2387392',
    intendedUse: 'As vmaf_v0.6.1, but sharpening and other enhancement earns nothing: for comparing codecs.',
  },
  {
    name: 'vmaf_4k_v0.6.1',
    sha256: '73b187001309703c89d57cf58baab01660bd11e4ea6fac62bc064c5f5da6dac8',
    intendedUse: '2160p seen from one and a half screen heights on a television.',
  },
  {
    name: 'vmaf_4k_v0.6.1neg',
    sha256: '676e74b77c56f5f23bc918f27ca077be4d84dde957ac862bb95662702fc933a6',
    derivedFrom: { base: 'vmaf_4k_v0.6.1', gainLimitsOf: 'vmaf_v0.6.1neg' },
    intendedUse:
      'As vmaf_4k_v0.6.1, but sharpening and other enhancement earns nothing: for comparing codecs.',
  },
  {
    name: 'vmaf_b_v0.6.3',
    sha256: '34f620dbaff662fe7d33dd80326553c2cc3910e4135349ba4c367171d3a3cfbd',
    intendedUse: 'As vmaf_v0.6.1, with a confidence interval from twenty models trained on resampled data.',
  },
];

const LICENCE = {
  spdx: 'BSD-2-Clause-Patent',
  copyright: 'Copyright (c) 2016-2020 Netflix, Inc.',
  file: 'LICENSE-VMAF.txt',
};

/** Built-in models of libvmaf that need no file: another model with float extractors for its features. */
const FLOAT_OF = ['vmaf_v0.6.1', 'vmaf_v0.6.1neg', 'vmaf_4k_v0.6.1', 'vmaf_b_v0.6.3'];

/** Models of libvmaf 3.2.0 that do not ship; users download them from the tag in its repository. */
const PULLED = {
  repository: 'Netflix/vmaf',
  tag: 'v3.2.0',
  features: [
    'Cambi_feature_cambi_score',
    'Speed_chroma_feature_speed_chroma_uv_score',
    'VMAF_integer_feature_adm3_score',
    'VMAF_integer_feature_motion3_score',
  ],
  models: [
    {
      name: 'vmaf_v1.0.16_3d0h',
      sha256: 'e4cf8c147e1368b35497d772920bc92f98c1ad7853c1033d8a836947f427140e',
      bytes: 14696,
      intendedUse: 'VMAF v1: 1080p seen from three screen heights; made for 10-bit pictures.',
    },
    {
      name: 'vmaf_v1.0.16_5d0h',
      sha256: '64e12d9c1e4ed5d79da7fa515b82fac7247a9e2ccc91e0ebce31d05489500385',
      bytes: 14746,
      intendedUse: 'VMAF v1: 1080p seen on a phone, from five screen heights.',
    },
    {
      name: 'vmaf_v1.0.16_1d5h_2160',
      sha256: '634d36e0502cb797384726cdd1a106a2c207827595a9e4958d3dae1bd517b139',
      bytes: 14627,
      intendedUse: 'VMAF v1: 2160p seen from one and a half screen heights.',
    },
    {
      name: 'vmaf_v1.0.16_3d0h_2160',
      sha256: '77f552fd8d5b6c6a2166bfc4470c9368ec68d2425ed40f1cc235b0cc500f33c2',
      bytes: 14719,
      intendedUse: 'VMAF v1: 2160p seen from three screen heights; scores go up to 110.',
    },
    {
      name: 'vmaf_v1.0.16_hfr_3d0h',
      sha256: 'dcfdfab1c00685c1e5f75b6f1078bb4a44c722654e4de090fa5c66784c75241b',
      bytes: 14793,
      intendedUse: 'As vmaf_v1.0.16_3d0h, for 50 or 60 frames per second.',
    },
    {
      name: 'vmaf_v1.0.16_hfr_5d0h',
      sha256: '590f612c87df94badca58e563b318fa9958eac631ab8aadd73bff8cc1adfc515',
      bytes: 14843,
      intendedUse: 'As vmaf_v1.0.16_5d0h, for 50 or 60 frames per second.',
    },
    {
      name: 'vmaf_v1.0.16_hfr_1d5h_2160',
      sha256: '0371db55d3de81a760125f6d65eb4386f1d38af6cf1d00c2f48158e3596246d4',
      bytes: 14724,
      intendedUse: 'As vmaf_v1.0.16_1d5h_2160, for 50 or 60 frames per second.',
    },
    {
      name: 'vmaf_v1.0.16_hfr_3d0h_2160',
      sha256: '1bc502f00aeee11433e2d09468186bbf1bbce56ee650c9bade06c7435ebdd4db',
      bytes: 14816,
      intendedUse: 'As vmaf_v1.0.16_3d0h_2160, for 50 or 60 frames per second.',
    },
  ],
};

class ModelsError extends Error {}

function main() {
  const { values } = readOptions({ options: { check: { type: 'boolean', default: false } } });
  const texts = values.check ? readCommitted() : extract();
  for (const { name, sha256 } of MODELS) {
    const found = sum(texts.get(name));
    if (found !== sha256) throw new ModelsError(`${name}.json has sha256 ${found}, not ${sha256}.`);
  }
  const registry = `${JSON.stringify(describe(texts), null, 2)}\n`;
  if (values.check) {
    if (readFileSync(join(FOLDER, 'registry.json'), 'utf8') !== registry) {
      throw new ModelsError('models/registry.json is stale; run npm run generate.');
    }
    checkLicence();
    console.log(`model/: ${MODELS.length} models and the registry are as they should be.`);
    return;
  }
  checkLicence();
  for (const [name, text] of texts) writeFileSync(join(FOLDER, `${name}.json`), text);
  writeFileSync(join(FOLDER, 'registry.json'), registry);
  console.log(`model/: wrote ${MODELS.length} models and the registry.`);
}

function readCommitted() {
  return new Map(MODELS.map(({ name }) => [name, readFileSync(join(FOLDER, `${name}.json`), 'utf8')]));
}

function checkLicence() {
  const notice = readFileSync(join(FOLDER, LICENCE.file), 'utf8');
  if (!notice.includes(LICENCE.copyright))
    throw new ModelsError(`model/${LICENCE.file} does not name the copyright.`);
}

/** The models by name, from the binary or derived. */
function extract() {
  const { path } = createRequire(import.meta.url)('@ffprobe-installer/ffprobe');
  const bySum = new Map();
  for (const text of embeddedModels(readFileSync(path))) {
    // The string in the binary may lack the file's final newline.
    for (const variant of [text, `${text}\n`]) bySum.set(sum(variant), variant);
  }
  const texts = new Map();
  for (const { name, sha256, derivedFrom } of MODELS) {
    const text = derivedFrom
      ? withGainLimits(texts.get(derivedFrom.base), texts.get(derivedFrom.gainLimitsOf))
      : bySum.get(sha256);
    if (text === undefined) throw new ModelsError(`${path} holds no ${name} with sha256 ${sha256}.`);
    texts.set(name, text);
  }
  return texts;
}

/** Model texts are C strings in read-only data: from `{` to the next NUL, around a `"model_dict"`. */
function* embeddedModels(binary) {
  for (let at = binary.indexOf('"model_dict"'); at >= 0; ) {
    const start = binary.lastIndexOf(0, at) + 1;
    const end = binary.indexOf(0, at);
    yield binary.subarray(binary.indexOf('{', start), end).toString('utf8');
    at = binary.indexOf('"model_dict"', end);
  }
}

/** A NEG model is the plain model with two gain limits: inserts their lines and keeps all other bytes. */
function withGainLimits(base, neg) {
  const [limits] = /^ {8}"feature_opts_dicts": \[\n.*?\n {8}\],\n/ms.exec(neg) ?? [];
  const [before, after] = base.split('        "norm_type": "linear_rescale",\n');
  if (limits === undefined || after === undefined) {
    throw new ModelsError('The texts of the plain and the NEG model are not laid out as expected.');
  }
  const text = `${before}${limits}        "norm_type": "linear_rescale",\n${after}`;
  const { feature_opts_dicts, ...rest } = JSON.parse(text).model_dict;
  if (
    !isDeepStrictEqual(rest, JSON.parse(base).model_dict) ||
    !isDeepStrictEqual(feature_opts_dicts, JSON.parse(neg).model_dict.feature_opts_dicts)
  ) {
    throw new ModelsError('The derived NEG model is not its base with the gain limits.');
  }
  return text;
}

function describe(texts) {
  const stored = describeStored(texts);
  const float = FLOAT_OF.map((base) => describeFloat(base, stored));
  return { licence: LICENCE, models: [...stored, ...float, ...describePulled()] };
}

function describePulled() {
  const { repository, tag, features, models } = PULLED;
  return models.map(({ name, sha256, bytes, intendedUse }) => {
    const folder = `model/${name.includes('_hfr_') ? 'vmaf_v1.0.16_hfr' : 'vmaf_v1.0.16'}`;
    return {
      name,
      file: `${name}.json`,
      pull: { repository, tag, folder },
      sha256,
      bytes,
      licence: LICENCE.spdx,
      kind: 'single',
      members: 1,
      features,
      intendedUse,
      origin: `${repository} ${tag}`,
    };
  });
}

function describeFloat(base, stored) {
  const entry = stored.find(({ name }) => name === base);
  return {
    ...entry,
    name: base.replace('vmaf_', 'vmaf_float_'),
    floatOf: base,
    features: entry.features.map((name) => name.replace('VMAF_integer_feature_', 'VMAF_feature_')),
    intendedUse: `As ${base}, on features computed in floating point: to repeat older results.`,
    origin: `${base} with its features renamed`,
  };
}

function describeStored(texts) {
  return MODELS.map(({ name, sha256, derivedFrom, intendedUse }) => {
    const model = JSON.parse(texts.get(name));
    const single = 'model_dict' in model;
    return {
      name,
      file: `${name}.json`,
      sha256,
      bytes: Buffer.byteLength(texts.get(name)),
      licence: LICENCE.spdx,
      kind: single ? 'single' : 'collection',
      members: single ? 1 : Object.keys(model).length,
      features: (single ? model : model[0]).model_dict.feature_names,
      intendedUse,
      origin: derivedFrom
        ? `${derivedFrom.base} with the gain limits of ${derivedFrom.gainLimitsOf}`
        : 'built into libvmaf 2.3.0',
    };
  });
}

function sum(text) {
  return createHash('sha256').update(text).digest('hex');
}

try {
  main();
} catch (error) {
  console.error(error instanceof ModelsError ? error.message : error);
  process.exitCode = 1;
}
