/**
 * @module media/filters/work
 * Bounds of the work that a chain of filters makes, for chains that somebody else than the user of the machine wrote.
 */
import { parseSides } from '../../core/size.js';

/** A filter of a chain; its arguments without quotes and backslashes. */
export interface BareFilter {
  readonly name: string;
  readonly args: string;
}

/** A filter that makes too much work, and what is taken instead. */
export interface Excess<Filter> {
  readonly filter: Filter;
  readonly why: string;
}

/** Filters of a chain. */
const MAX_FILTERS = 24;
/** Filters that change the size, or give more frames than they take. */
const MAX_REPEATED = 3;
/** Frames a second. */
const MAX_RATE = 1000;
/** Samples of a picture. */
const MAX_AREA = 8192 * 8192;
/** A size against the sizes that its expression names. */
const MAX_FACTOR = 4;
/** A number in an expression, such as the longest side of a picture. */
const MAX_SIDE = 16_384;

const RESIZING = new Set(['pad', 'scale', 'zscale']);
/** Options of filters that change the size which are no sizes. */
const NO_SIZE =
  /^(?:flags|interl|in_.*|out_.*|force_.*|eval|param\d|color|[dfcmtprna]|dither|filter|range|primaries|transfer|matrix|.*in|npl|agamma|chromal|reset_sar)$/;

/** What in a chain multiplies work without bound; `undefined` if nothing does. */
export function excessiveWork<Filter extends BareFilter>(
  filters: readonly Filter[],
): Excess<Filter> | undefined {
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

function addsFrames({ name, args }: BareFilter): boolean {
  if (name === 'fps') return true;
  if (name === 'yadif') return /(?:^|:)(?:mode=)?(?:send_field\w*|1|3)(?=:|$)/.test(args);
  // Its usual mode gives two frames for one.
  return name === 'bwdif' && !/(?:^|:)(?:mode=)?(?:send_frame\w*|0|2)(?=:|$)/.test(args);
}

/** Whether the arguments of `fps` are a rate that is not above {@link MAX_RATE}, and what cannot add frames. */
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

/** Whether the shape that `pad` pads to, if any, is not far from a square. */
function hasUsualAspect(args: string): boolean {
  const [, text] = /(?:^|:)\s*aspect\s*=([^:]*)/.exec(args) ?? [];
  if (text === undefined) return true;
  const [num = 0, den = 1] = text.split('/').map(Number);
  return num / den >= 1 / MAX_FACTOR && num / den <= MAX_FACTOR;
}

/** A bound of an expression: so many times the largest size that it may name, and so much beside. */
interface Bound {
  readonly factor: number;
  readonly plain: number;
}

/** Bounds of the sizes among the arguments of a filter that changes the size; `undefined` if one has none. */
function sizesOf(args: string): Bound[] | undefined {
  const found: Bound[] = [];
  let position = 0;
  for (const arg of args === '' ? [] : args.split(':')) {
    const [, key, value = ''] = /^\s*(?:(\w+)\s*=)?(.*)$/.exec(arg) ?? [];
    const place = position++;
    if (key === undefined ? place > 3 : NO_SIZE.test(key)) continue;
    // Two sides, a name such as hd720, or a flag as the third argument of scale.
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

/** Reads an expression of a size with sums, products by numbers and ratios, and rounding, as people write them. */
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

  /** What is subtracted may be negative: bounds add up. */
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
      // The ratio of two sizes, or a size by a ratio.
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
