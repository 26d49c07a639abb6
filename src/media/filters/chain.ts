/**
 * @module media/filters/chain
 * Checks ffmpeg filter chains: pictures to pictures only, no files or network, and bounded work for remote users.
 */
import { usageError } from '../../core/errors.js';
import { MAX_SIDE } from '../../core/frame.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import { parseSides } from '../../core/size.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Filters that return one picture per picture and whose cost follows from its size. */
const PLAIN = words(`
  colorspace crop eq format hflip hqdn3d il null pad scale setfield setparams setrange setsar setdar shuffleplanes
  tonemap transpose unsharp vflip yadif zscale`);

/** Other filters that return one picture per picture. */
const ONE_TO_ONE = words(`
  atadenoise avgblur bilateral bm3d boxblur cas chromanr colorbalance colorchannelmixer colorcontrast colorcorrect
  colorlevels colormatrix colortemperature convolution curves dctdnoiz deband deblock dedot deflate deflicker delogo
  dilation erosion exposure fftdnoiz field fieldorder fillborders fspp gblur geq gradfun greyedge histeq hqx hue
  huesaturation inflate kerndeint lenscorrection limiter lut lutrgb lutyuv median monochrome negate nlmeans noise
  noformat normalize owdenoise perspective phase pp pp7 pseudocolor removegrain rotate sab smartblur spp
  super2xsai swaprect swapuv uspp v360 vaguedenoiser vibrance vignette xbr`);

/** Filters that change the number or the times of frames. */
const RETIMES_PLAIN = words('bwdif decimate detelecine fieldmatch fps pullup');
const RETIMES = words(`
  doubleweave estdif framerate framestep interlace mcdeint minterpolate mpdecimate select separatefields setpts
  shuffleframes telecine tinterlace tmedian tmix trim w3fdif weave`);

const KNOWN = new Set([...PLAIN, ...ONE_TO_ONE, ...RETIMES_PLAIN, ...RETIMES]);
/** Filters allowed to remote users. */
const FOREIGN = new Set([...PLAIN, ...RETIMES_PLAIN]);
const RETIMING = new Set([...RETIMES_PLAIN, ...RETIMES]);
/** Filters whose pictures depend on many earlier ones. */
const REMEMBERING = new Set(words('atadenoise dedot deflicker hqdn3d noise normalize pp'));
/** The number of the frame, or a state kept over frames, in an expression. */
const COUNTING = /\b(?:n|in|on|random|st)\b/i;
const FRAME_BY_FRAME = /^(?:send_frame|send_frame_nospatial|frame|0|2)$/;
const MAX_LENGTH = 2000;

interface Filter {
  readonly name: string;
  readonly args: string;
}

type Refuse = (what: string) => Error;

/**
 * @param foreign true if a remote user wrote the chain
 * @throws {AnyvmafError} `usage`
 */
export function checkChain(option: 'vfReference' | 'vfDistorted', text: string, foreign: boolean) {
  const refuse: Refuse = (what) => usageError(what, { about: option });
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_LENGTH || hasControl(text))
    throw refuse(
      `is ${quoted(String(text).slice(0, 100))}, but it must be an ffmpeg filter chain such as crop=1920:800, of up to ` +
        `${MAX_LENGTH} characters.`,
    );
  const filters = split(refuse, text);
  for (const filter of filters) check(refuse, filter, foreign);
  const bare = filters.map((filter) => ({ ...filter, args: bareText(filter.args) }));
  const excess = foreign ? excessiveWork(bare) : undefined;
  if (excess) {
    const { filter, why } = excess;
    throw refuse(`uses the filter ${filter.name} with ${quoted(filter.args)}, but here ${why}.`);
  }
  return {
    text,
    keepsFrames: filters.every(keepsFrames),
    remembers: filters.some(({ name, args }) => REMEMBERING.has(name) || COUNTING.test(args)),
  };
}

function hasControl(text: string): boolean {
  return [...text].some((letter) => (letter.codePointAt(0) ?? 0) < 32);
}

/** Splits at commas as ffmpeg does: a backslash escapes one character, quotes all between them. */
function split(refuse: Refuse, text: string): Filter[] {
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
    if (!quote && /[[\];]/.test(letter))
      throw refuse(
        `is ${quoted(text)}, but it must be one chain with one input and one output, without [ ] and ;.`,
      );
    if (letter === ',' && !quote) parts.push('');
    else parts[last] += letter;
  }
  if (quote) throw refuse(`is ${quoted(text)}, which has an unclosed quote (').`);
  return parts.map((part) => {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim();
    return { name, args: equals < 0 ? '' : part.slice(equals + 1) };
  });
}

function check(refuse: Refuse, { name, args }: Filter, foreign: boolean): void {
  const allowed = foreign ? FOREIGN : KNOWN;
  if (!allowed.has(name)) {
    const near = nearest(name, [...allowed]);
    const why = KNOWN.has(name) ? 'is not allowed here' : 'is not a supported picture filter';
    const instead = near === undefined || near === name ? '' : ` (did you mean ${near}?)`;
    throw refuse(
      `names the filter ${quoted(name)}, which ${why}${instead}: filters that open files or the network, take ` +
        'commands or have several inputs are refused; run these in ffmpeg first.',
    );
  }
  const bare = bareText(args);
  // ffmpeg reads an option's value from a file if the option's name begins with a slash.
  const reads = /(?:^|:)\s*\//.test(bare) || (name === 'curves' && /(?:psfile|plot)\s*=/.test(bare));
  if (reads) throw refuse(`makes the filter ${name} open a file (${quoted(args)}), which is refused.`);
  if (!foreign) return;
  const numbers = name === 'fps' ? [] : (bare.match(/\d+/g) ?? []);
  // Hexadecimal, exponents and units can exceed the largest number of plain digits.
  if (
    /\b0x|[\d.]e[+-]?\d/i.test(bare) ||
    /[\d.](?:[hkKMGTPEZY]i?B?|B)\b/.test(bare) ||
    /[^\w.:=+\-*/()|@ ]|while|print|random/.test(bare) ||
    numbers.some((digits) => Number(digits) > MAX_SIDE)
  ) {
    throw refuse(
      `uses the filter ${name} with ${quoted(args)}, but here only plain values and numbers up to ${MAX_SIDE} are accepted.`,
    );
  }
}

function bareText(args: string): string {
  return args.replace(/\\(.)/g, '$1').replaceAll("'", '');
}

function keepsFrames({ name, args }: Filter): boolean {
  if (!/^(?:yadif|bwdif|w3fdif|estdif)$/.test(name)) return !RETIMING.has(name);
  const mode = modeOf(name, args.replaceAll("'", ''));
  // All others return two frames per frame by default.
  return mode === '' ? name === 'yadif' : FRAME_BY_FRAME.test(mode);
}

/** A deinterlacer's mode: named, else positional, else empty. */
function modeOf(name: string, args: string): string {
  const given = args.split(':').map((arg) => /^(?:(\w+)\s*=)?(.*)$/.exec(arg.trim()) ?? []);
  const place = name === 'w3fdif' ? 1 : 0;
  const before = given.slice(0, place + 1);
  const [, , placed = ''] = before.every(([, key]) => key === undefined) ? (before[place] ?? []) : [];
  return (given.findLast(([, key]) => key === 'mode')?.[2] ?? placed).trim();
}

/** Limits of a remote user's chain: filters, those that resize, and those that add frames. */
const MAX_FILTERS = 24;
const MAX_REPEATED = 3;
/** In frames per second. */
const MAX_RATE = 1000;
/** In samples of a picture. */
const MAX_AREA = 8192 * 8192;
/** Largest ratio of a size to those in its expression. */
const MAX_FACTOR = 4;
const RESIZING = new Set(['pad', 'scale', 'zscale']);
const NO_SIZE =
  /^(?:flags|interl|in_.*|out_.*|force_.*|eval|param\d|color|[dfcmtprna]|dither|filter|range|primaries|transfer|matrix|.*in|npl|agamma|chromal|reset_sar)$/;

/** The first filter with unbounded work, and the limit that it breaks. Expects bare arguments. */
function excessiveWork(filters: readonly Filter[]) {
  const beyond = filters[MAX_FILTERS];
  if (beyond) return { filter: beyond, why: `a chain has at most ${MAX_FILTERS} filters` };
  const resize = filters.filter(({ name }) => RESIZING.has(name))[MAX_REPEATED];
  if (resize) return { filter: resize, why: `a chain changes the size at most ${MAX_REPEATED} times` };
  const adding = filters.filter(addsFrames)[MAX_REPEATED];
  if (adding) return { filter: adding, why: `a chain adds frames at most ${MAX_REPEATED} times` };
  for (const filter of filters) {
    if (filter.name === 'fps' && !isBoundedRate(filter.args))
      return {
        filter,
        why: `fps takes a rate up to ${MAX_RATE} as a number or fraction, and neither start_time nor another option`,
      };
    if (!RESIZING.has(filter.name)) continue;
    const sizes = sizesOf(filter.args);
    if (sizes === undefined || sizes.some((size) => size.factor > MAX_FACTOR || size.plain > MAX_SIDE))
      return { filter, why: `a size is a number, or up to ${MAX_FACTOR} times one such as iw` };
    if (filter.name === 'pad' && !hasUsualAspect(filter.args))
      return { filter, why: `an aspect lies between 1/${MAX_FACTOR} and ${MAX_FACTOR}` };
    const [largest = 1, second = 1] = sizes.map(({ plain }) => plain).sort((a, b) => b - a);
    if (largest * second > MAX_AREA) return { filter, why: `a picture has at most ${MAX_AREA} samples` };
  }
  return undefined;
}

function addsFrames(filter: Filter): boolean {
  return filter.name === 'fps' || (/^(?:yadif|bwdif)$/.test(filter.name) && !keepsFrames(filter));
}

/** True if the arguments of `fps` hold a rate up to {@link MAX_RATE} and no option that adds frames. */
function isBoundedRate(args: string): boolean {
  return args.split(':').every((arg, i) => {
    const [, key = i === 0 ? 'fps' : '', value = ''] = /^(?:(\w+)=)?(.*)$/.exec(arg.trim()) ?? [];
    if (key === 'round' || key === 'eof_action') return /^\w+$/.test(value);
    if (key !== 'fps') return false;
    if (/^(?:ntsc|pal|film|ntsc_film|source_fps)$/.test(value)) return true;
    const [, num, den = '1'] = /^(\d+(?:\.\d+)?)(?:\/(\d+))?$/.exec(value) ?? [];
    const rate = Number(num) / Number(den);
    return rate > 0 && rate <= MAX_RATE;
  });
}

/** True if the aspect of `pad`, if any, is within {@link MAX_FACTOR}. */
function hasUsualAspect(args: string): boolean {
  const [, text] = /(?:^|:)\s*aspect\s*=([^:]*)/.exec(args) ?? [];
  if (text === undefined) return true;
  const [num = 0, den = 1] = text.split('/').map(Number);
  return num / den >= 1 / MAX_FACTOR && num / den <= MAX_FACTOR;
}

/** Upper bound of an expression: `factor` times the largest size it can name, plus `plain`. */
interface Bound {
  readonly factor: number;
  readonly plain: number;
}

/** Bounds of all sizes in the arguments; `undefined` if one is unbounded. */
function sizesOf(args: string): Bound[] | undefined {
  const found: Bound[] = [];
  let position = 0;
  for (const arg of args === '' ? [] : args.split(':')) {
    const [, key, value = ''] = /^\s*(?:(\w+)\s*=)?(.*)$/.exec(arg) ?? [];
    const place = position++;
    if (key === undefined ? place > 3 : NO_SIZE.test(key)) continue;
    // Two sides, a name such as hd720, or flags as the third argument of scale.
    const sides = parseSides(value.trim());
    if (sides) found.push({ factor: 0, plain: sides.width }, { factor: 0, plain: sides.height });
    else if (/^(?:s|size)$/.test(key ?? '') || (place === 2 && /^[a-z][\w+]*$/.test(value))) continue;
    else {
      const bound = new Expression(value).bound();
      if (bound === undefined) return undefined;
      found.push(bound);
    }
  }
  return found;
}

class Expression {
  readonly #tokens: string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.replaceAll(' ', '').match(/\d+(?:\.\d+)?|\.\d+|\w+|./g) ?? [];
  }

  bound(): Bound | undefined {
    const bound = this.#sum();
    return this.#at === this.#tokens.length ? bound : undefined;
  }

  #take(...wanted: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  /** Adds bounds of subtracted terms too, since these may be negative. */
  #sum(): Bound | undefined {
    let sum = this.#product();
    while (sum && this.#take('+', '-')) {
      const next = this.#product();
      sum = next && { factor: sum.factor + next.factor, plain: sum.plain + next.plain };
    }
    return sum;
  }

  #product(): Bound | undefined {
    let product = this.#value();
    for (let by = this.#take('*', '/'); product && by; by = this.#take('*', '/')) {
      const literal = Number(this.#tokens[this.#at]);
      const next = this.#value();
      if (!next) return undefined;
      if (by === '*') {
        if (product.factor > 0 && next.factor > 0) return undefined;
        product = {
          factor: product.factor * next.plain + product.plain * next.factor,
          plain: product.plain * next.plain,
        };
      } else if (literal >= 1) product = { factor: product.factor / literal, plain: product.plain / literal };
      // A ratio of two sizes, or a size divided by a ratio.
      else if (!/^[a-z_]+$/.test(this.#tokens[this.#at - 1] ?? '')) return undefined;
      else if (next.factor > 0) product = { factor: 0, plain: product.factor + product.plain };
    }
    return product;
  }

  #value(): Bound | undefined {
    if (this.#take('-', '+')) return this.#value();
    const token = this.#tokens[this.#at++] ?? '';
    if (/^\.?\d/.test(token)) return { factor: 0, plain: Number(token) };
    if (/^(?:[io]?[wh]|in_[wh]|out_[wh])$/.test(token)) return { factor: 1, plain: 0 };
    if (/^(?:a|sar|dar|x|y|o?[hv]sub)$/.test(token)) return { factor: 0, plain: 1 };
    if (token !== '(' && !(/^(?:trunc|ceil|floor|round|abs)$/.test(token) && this.#take('(')))
      return undefined;
    const inner = this.#sum();
    return this.#take(')') ? inner : undefined;
  }
}
