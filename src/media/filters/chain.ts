/**
 * @module media/filters/chain
 * Checks a chain of ffmpeg's filters that somebody wrote: only filters that read and write pictures, no files, no network.
 */
import { usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Filters that give one picture for each, and that cost no more than the picture's size says. */
const PLAIN = words(`
  colorspace crop eq format hflip hqdn3d null pad scale setfield setparams setrange setsar setdar tonemap transpose
  unsharp vflip yadif zscale`);

/** Others that give one picture for each. */
const ONE_TO_ONE = words(`
  atadenoise avgblur bilateral bm3d boxblur cas chromanr colorbalance colorchannelmixer colorcontrast colorcorrect
  colorlevels colormatrix colortemperature convolution curves dctdnoiz deband deblock dedot deflate deflicker delogo
  dilation erosion exposure fftdnoiz field fieldorder fillborders fspp gblur geq gradfun greyedge histeq hqx hue
  huesaturation il inflate kerndeint lenscorrection limiter lut lutrgb lutyuv median monochrome negate nlmeans noise
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

/** Bounds of what multiplies work in a foreign chain: frames a second, samples of a picture, filters that change its size. */
const MAX_RATE = 1000;
const MAX_AREA = 8192 * 8192;
const MAX_RESIZES = 3;
const RESIZING = new Set(['pad', 'scale', 'zscale']);
/** A factor in an expression of a size. */
const MAX_FACTOR = 4;

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
  if (foreign) checkWork(option, filters);
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
  const bare = args.replace(/\\(.)/g, '$1').replaceAll("'", '');
  // ffmpeg reads the value of an option whose name begins with a slash from a file.
  const reads = /(?:^|:)\s*\//.test(bare) || (name === 'curves' && /(?:psfile|plot)\s*=/.test(bare));
  if (reads)
    throw usageError(`lets the filter ${name} open a file (${quoted(args)}), which is refused.`, {
      about: option,
    });
  if (!foreign) return;
  const numbers = name === 'fps' ? [] : (bare.match(/\d+/g) ?? []);
  // In hexadecimal, with an exponent or a unit a number is larger than its digits say.
  const disguised = /\b0x|\d(?:\.\d*)?(?:e[+-]?\d|[kKMGTPEZY]i?\b)/i.test(bare);
  if (
    disguised ||
    /[^\w.:=+\-*/()|@ ]|while|print|random/.test(bare) ||
    numbers.some((one) => Number(one) > MAX_NUMBER)
  ) {
    throw usageError(
      `gives the filter ${name} ${quoted(args)}; here only plain values and numbers up to ${MAX_NUMBER} are taken.`,
      { about: option },
    );
  }
}

function keepsFrames({ name, args }: Filter): boolean {
  const bare = args.replaceAll("'", '');
  if (name === 'yadif') return !FIELD_BY_FIELD.test(bare);
  if (/^(?:bwdif|w3fdif|estdif)$/.test(name)) return FRAME_BY_FRAME.test(bare);
  return !RETIMING.has(name);
}

/**
 * Refuses foreign filters that multiply work: rates, sizes and repeated scaling without bound.
 * @throws {AnyvmafError} `usage`
 */
function checkWork(option: FilterText, filters: readonly Filter[]): void {
  const refuse = ({ name, args }: Filter, why: string) =>
    usageError(`gives the filter ${name} ${quoted(args)}; here ${why}.`, { about: option });
  const resizes = filters.filter(({ name }) => RESIZING.has(name));
  const excess = resizes[MAX_RESIZES];
  if (excess) throw refuse(excess, `a chain changes the size at most ${MAX_RESIZES} times`);
  for (const filter of filters) {
    const bare = filter.args.replace(/\\(.)/g, '$1').replaceAll("'", '');
    if (filter.name === 'fps' && !isBoundedRate(bare))
      throw refuse(filter, `the rate is a number or fraction up to ${MAX_RATE}, without start_time`);
    if (!RESIZING.has(filter.name)) continue;
    const sides = bare.split(':').map(numberAtEnd);
    const [largest = 1, second = 1] = sides.sort((a, b) => b - a);
    if (largest * second > MAX_AREA) throw refuse(filter, `pictures have at most ${MAX_AREA} samples`);
    const factors = [...bare.matchAll(/(\d+(?:\.\d+)?)\s*\*|\*\s*(\d+(?:\.\d+)?)/g)];
    if (factors.some(([, before, after]) => Number(before ?? after) > MAX_FACTOR) || factors.length > 2)
      throw refuse(filter, `a size is at most ${MAX_FACTOR} times another`);
  }
}

/** The number that an argument is, or the value of its option; 1 for an expression. */
function numberAtEnd(arg: string): number {
  return Number(/^(?:\w+=)?(\d+)$/.exec(arg.trim())?.[1] ?? 1);
}

/** Whether the arguments of `fps` are a rate that is not above {@link MAX_RATE}, and what cannot add frames. */
function isBoundedRate(args: string): boolean {
  return args.split(':').every((arg, i) => {
    const [, key = i === 0 ? 'fps' : '', value = ''] = /^(?:(\w+)=)?(.*)$/.exec(arg.trim()) ?? [];
    if (key === 'round' || key === 'eof_action') return /^\w+$/.test(value);
    if (key !== 'fps') return key === '' && value === '';
    if (/^(?:ntsc|pal|film|ntsc_film|source_fps)$/.test(value)) return true;
    const [, num, den = '1'] = /^(\d+(?:\.\d+)?)(?:\/(\d+))?$/.exec(value) ?? [];
    const rate = Number(num) / Number(den);
    return rate > 0 && rate <= MAX_RATE;
  });
}
