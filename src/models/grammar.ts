/**
 * @module models/grammar
 * Parses model strings: `version=NAME`, `path=FILE`, `name=`, flags and feature overloads (spec 5.7).
 */
import { MAX_STRING, requireLength } from '../core/arguments.js';
import { SHORT_MODEL_NAMES } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { looksLikePath } from '../core/names.js';
import { guess, nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import type { ModelRequest } from './types.js';

const HELP =
  'a model string is made of version=NAME or path=FILE, name=NAME, disable_clip, enable_transform and ' +
  'EXTRACTOR.OPTION=VALUE, joined by colons';

const FLAGS = ['disable_clip', 'enable_transform'] as const;

function meant(key: string): string {
  return guess(nearest(key, ['version', 'path', 'name', ...FLAGS]));
}

function isFlag(key: string): key is (typeof FLAGS)[number] {
  return FLAGS.some((flag) => flag === key);
}

/**
 * Parses a model string as libvmaf does: `version` overrides `path`, the last of repeated items wins, and a second `=`
 * in an item ends its value, so paths with `:` or `=` are impossible. Unlike libvmaf, accepts a model's name, or its
 * file if it looks like a path, as a first item without `=`, and short names (`hd`, `4k`, `neg`, `4k-neg`, `phone`).
 * @throws {AnyvmafError} `usage`
 */
export function parseModelString(text: string): ModelRequest {
  requireLength('A model string', text, MAX_STRING);
  const whole = quoted(text);
  let version: string | undefined;
  let path: string | undefined;
  let name = 'vmaf';
  const flags = { disable_clip: false, enable_transform: false };
  const overloads: { extractor: string; option: string; value: string }[] = [];

  for (const [place, item] of text.split(':').entries()) {
    const [key = '', value] = item.split('=');
    if (place === 0 && value === undefined && key !== '' && !isFlag(key)) {
      if (looksLikePath(key)) path = key;
      else version = key;
      continue;
    }
    if (isFlag(key)) {
      // libvmaf ignores any other value.
      if (value === undefined || value === 'true') flags[key] = true;
      continue;
    }
    if (value === undefined)
      throw usageError(
        `Problem parsing model ${whole}, bad option string ${quoted(item)}: ${meant(item)}${HELP}.`,
      );
    const dot = key.indexOf('.');
    if (key === 'version') version = value;
    else if (key === 'path') path = value;
    else if (key === 'name') name = value;
    else if (dot > 0) overloads.push({ extractor: key.slice(0, dot), option: key.slice(dot + 1), value });
    else
      throw usageError(`Problem parsing model ${whole}: unknown item ${quoted(key)}; ${meant(key)}${HELP}.`);
  }
  requireLength('The name of a model', name);
  if (name === '') throw usageError(`Model string ${whole} has an empty name; omit name=.`);
  const short = version?.toLowerCase() ?? '';
  const source = version
    ? ({ kind: 'version', version: SHORT_MODEL_NAMES.get(short) ?? version } as const)
    : path
      ? ({ kind: 'path', path } as const)
      : undefined;
  if (!source) throw usageError(`Model string ${whole} names no model: it needs version= or path=.`);
  return {
    text,
    source,
    name,
    disableClip: flags.disable_clip,
    enableTransform: flags.enable_transform || (source.kind === 'version' && short === 'phone'),
    overloads,
  };
}
