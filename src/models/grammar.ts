/**
 * @module models/grammar
 * Takes model strings apart: `version=NAME`, `path=FILE`, `name=`, flags and feature overloads (spec 5.7).
 */
import { AnyvmafError } from '../core/errors.js';
import { MAX_STRING, requireLength } from '../core/limits.js';
import { guess, nearest } from '../core/nearest.js';
import { quoted } from '../core/printable.js';
import type { ModelRequest } from './types.js';

const HELP =
  'a model string is made of version=NAME or path=FILE, name=NAME, disable_clip, enable_transform and ' +
  'EXTRACTOR.OPTION=VALUE, joined by colons';

const FLAGS = ['disable_clip', 'enable_transform'] as const;

/** A guess at the item that was meant. */
function meant(key: string): string {
  return guess(nearest(key, ['version', 'path', 'name', ...FLAGS]));
}

/** Whether an item may stand without a value. */
function isFlag(key: string): key is (typeof FLAGS)[number] {
  return FLAGS.some((flag) => flag === key);
}

/**
 * Reads a model string. What stands first without `=` is a model's name, or its file if it looks like a path; libvmaf
 * refuses both. Otherwise, as in libvmaf, `version` wins over `path`, the last of a repeated item wins, and a second `=`
 * within an item ends its value, so that paths with `:` or `=` cannot be given.
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
      if (/[\\/]|\.json$/i.test(key)) path = key;
      else version = key;
      continue;
    }
    if (isFlag(key)) {
      // Any other value has no effect in libvmaf.
      if (value === undefined || value === 'true') flags[key] = true;
      continue;
    }
    if (value === undefined) {
      throw new AnyvmafError(
        'usage',
        `Problem parsing model ${whole}, bad option string ${quoted(item)}: ${meant(item)}${HELP}.`,
      );
    }
    const dot = key.indexOf('.');
    if (key === 'version') version = value;
    else if (key === 'path') path = value;
    else if (key === 'name') name = value;
    else if (dot > 0) overloads.push({ extractor: key.slice(0, dot), option: key.slice(dot + 1), value });
    else
      throw new AnyvmafError(
        'usage',
        `Problem parsing model ${whole}: unknown item ${quoted(key)}; ${meant(key)}${HELP}.`,
      );
  }
  requireLength('The name of a model', name);
  if (name === '')
    throw new AnyvmafError('usage', `Model string ${whole} gives an empty name; leave name= out.`);
  const source = version
    ? ({ kind: 'version', version } as const)
    : path
      ? ({ kind: 'path', path } as const)
      : undefined;
  if (!source)
    throw new AnyvmafError('usage', `Model string ${whole} names no model: it needs version= or path=.`);
  return {
    text,
    source,
    name,
    disableClip: flags.disable_clip,
    enableTransform: flags.enable_transform,
    overloads,
  };
}
