/**
 * @module media/filters/chain
 * Checks a chain of ffmpeg's filters that somebody wrote: only filters that read and write pictures, no files, no network.
 */
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import { excessiveWork } from './work.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Filters that give one picture for each, and that cost no more than the picture's size says. */
const PLAIN = words(`
  colorspace crop eq format hflip hqdn3d il null pad scale setfield setparams setrange setsar setdar tonemap transpose
  unsharp vflip yadif zscale`);

/** Others that give one picture for each. */
const ONE_TO_ONE = words(`
  atadenoise avgblur bilateral bm3d boxblur cas chromanr colorbalance colorchannelmixer colorcontrast colorcorrect
  colorlevels colormatrix colortemperature convolution curves dctdnoiz deband deblock dedot deflate deflicker delogo
  dilation erosion exposure fftdnoiz field fieldorder fillborders fspp gblur geq gradfun greyedge histeq hqx hue
  huesaturation inflate kerndeint lenscorrection limiter lut lutrgb lutyuv median monochrome negate nlmeans noise
  noformat normalize owdenoise perspective phase pp pp7 pseudocolor removegrain rotate sab shuffleplanes smartblur spp
  super2xsai swaprect swapuv uspp v360 vaguedenoiser vibrance vignette xbr`);

/** Filters after which there are more frames, fewer, or others. */
const RETIMES_PLAIN = words('bwdif decimate detelecine fieldmatch fps pullup');
const RETIMES = words(`
  doubleweave estdif framerate framestep interlace mcdeint minterpolate mpdecimate select separatefields setpts
  shuffleframes telecine tinterlace tmedian tmix trim w3fdif weave`);

const KNOWN = new Set([...PLAIN, ...ONE_TO_ONE, ...RETIMES_PLAIN, ...RETIMES]);
/** What somebody else than the user may ask for. */
const FOREIGN = new Set([...PLAIN, ...RETIMES_PLAIN]);
const RETIMING = new Set([...RETIMES_PLAIN, ...RETIMES]);

/** Modes of deinterlacers that give a frame for each frame. */
const FRAME_BY_FRAME = /(?:^|:)(?:mode=)?(?:send_frame|send_frame_nospatial|frame|0|2)(?=:|$)/;
const FIELD_BY_FIELD = /(?:^|:)(?:mode=)?(?:send_field|send_field_nospatial|1|3)(?=:|$)/;

/** Longest chain; a mistake or an attack is longer. */
const MAX_LENGTH = 2000;

/** Largest number that a foreign chain may hold: the longest side of a picture. */
const MAX_NUMBER = 16384;

/** A filter of a chain. */
interface Filter {
  readonly name: string;
  readonly args: string;
}

/** A chain that may be handed to ffmpeg. */
export interface CheckedChain {
  readonly text: string;
  readonly keepsFrames: boolean;
}

/** An option whose value is a chain. */
type FilterText = 'vfReference' | 'vfDistorted';

/**
 * @param option its name, for messages
 * @param foreign somebody else than the user of the machine wrote it
 * @throws {AnyvmafError} `usage`
 */
export function checkChain(option: FilterText, text: string, foreign: boolean): CheckedChain {
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_LENGTH || hasControl(text)) {
    throw usageError(
      `is ${quoted(String(text).slice(0, 100))}, but it must be a chain of ffmpeg's filters such as crop=1920:800 in ` +
        `up to ${MAX_LENGTH} characters.`,
      { about: option },
    );
  }
  const filters = split(option, text);
  for (const filter of filters) check(option, filter, foreign);
  const excess = foreign
    ? excessiveWork(filters.map((filter) => ({ ...filter, args: bareText(filter.args) })))
    : undefined;
  if (excess) {
    const { filter, why } = excess;
    throw usageError(`gives the filter ${filter.name} ${quoted(filter.args)}; here ${why}.`, {
      about: option,
    });
  }
  return { text, keepsFrames: filters.every(keepsFrames) };
}

function hasControl(text: string): boolean {
  return [...text].some((letter) => (letter.codePointAt(0) ?? 0) < 32);
}

/** Splits at commas as ffmpeg does: a backslash takes the next character as it is, quotes all between them. */
function split(option: FilterText, text: string): Filter[] {
  const parts: string[] = [''];
  let quote = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charAt(i);
    const last = parts.length - 1;
    if (letter === '\\' && !quote) {
      parts[last] += letter + text.charAt(++i);
      continue;
    }
    if (letter === "'") quote = !quote;
    if (!quote && /[[\];]/.test(letter)) {
      throw usageError(
        `is ${quoted(text)}, but it must be one chain from one video to one, without [ ] and ;.`,
        { about: option },
      );
    }
    if (letter === ',' && !quote) parts.push('');
    else parts[last] += letter;
  }
  if (quote) throw usageError(`is ${quoted(text)}, in which a quote (') is not closed.`, { about: option });
  return parts.map((part) => {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim();
    return { name, args: equals < 0 ? '' : part.slice(equals + 1) };
  });
}

function check(option: FilterText, { name, args }: Filter, foreign: boolean): void {
  const allowed = foreign ? FOREIGN : KNOWN;
  if (!allowed.has(name)) {
    const near = nearest(name, [...allowed]);
    const why = KNOWN.has(name) ? 'is not allowed here' : 'is not one that only changes pictures';
    const instead = near === undefined || near === name ? '' : ` (did you mean ${near}?)`;
    throw usageError(
      `names the filter ${quoted(name)}, which ${why}${instead}: filters that open files or the network, take ` +
        'commands or have several inputs are refused; prepare the video with ffmpeg itself for these.',
      { about: option },
    );
  }
  const bare = bareText(args);
  // ffmpeg reads the value of an option whose name begins with a slash from a file.
  const reads = /(?:^|:)\s*\//.test(bare) || (name === 'curves' && /(?:psfile|plot)\s*=/.test(bare));
  if (reads)
    throw usageError(`lets the filter ${name} open a file (${quoted(args)}), which is refused.`, {
      about: option,
    });
  if (!foreign) return;
  const numbers = name === 'fps' ? [] : (bare.match(/\d+/g) ?? []);
  // In hexadecimal, with an exponent or a unit a number is larger than its digits say.
  if (
    /\b0x|[\d.]e[+-]?\d/i.test(bare) ||
    /[\d.](?:[hkKMGTPEZY]i?B?|B)\b/.test(bare) ||
    /[^\w.:=+\-*/()|@ ]|while|print|random/.test(bare) ||
    numbers.some((one) => Number(one) > MAX_NUMBER)
  ) {
    throw usageError(
      `gives the filter ${name} ${quoted(args)}; here only plain values and numbers up to ${MAX_NUMBER} are taken.`,
      { about: option },
    );
  }
}

/** Arguments without quotes and backslashes. */
function bareText(args: string): string {
  return args.replace(/\\(.)/g, '$1').replaceAll("'", '');
}

function keepsFrames({ name, args }: Filter): boolean {
  const bare = args.replaceAll("'", '');
  if (name === 'yadif') return !FIELD_BY_FIELD.test(bare);
  if (/^(?:bwdif|w3fdif|estdif)$/.test(name)) return FRAME_BY_FRAME.test(bare);
  return !RETIMING.has(name);
}
