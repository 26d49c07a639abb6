/**
 * @module core/errors
 * The error type of this package: a full sentence that says what to do, and a stable code for programs. Remedies are
 * data; their sentences use the names of the API, or those of another interface.
 */
import type { PartName } from './choices.js';
import type { ChromaFormat } from './frame.js';
import { quotedWord, shellWord } from './names.js';
import type { OptionName, OptionsOf, ValueOf } from './options.js';
import { sentence, shown } from './printable.js';

/** Stable, documented reasons for an {@link AnyvmafError}. */
export type ErrorCode =
  /** An argument, option or option value that cannot be used. */
  | 'usage'
  /** A file that cannot be opened, read or written. */
  | 'io'
  /** A file that is not a video, or one that is damaged, truncated or unsupported. */
  | 'media'
  /** Two videos that cannot be compared as they are. */
  | 'mismatch'
  /** A model that does not exist or cannot be used. */
  | 'model'
  /** A feature extractor or one of its options that does not exist or cannot be used. */
  | 'feature'
  /** A backend that is missing, broken, or cannot do what was requested. */
  | 'backend'
  /** Files, memory, processes or the allowed time ran out: raise the limit, or run less at once. */
  | 'resource'
  /** The caller's signal asked to stop. */
  | 'aborted'
  /** A worker or the core failed; not the caller's fault. */
  | 'internal';

/** Which of the two videos. */
export type InputRole = 'reference' | 'distorted';

/** What an error carries besides its message. */
export interface AnyvmafErrorOptions extends ErrorOptions {
  /** What resolves it; appended to the message, which says only what is wrong. */
  readonly hints?: readonly Remedy[];
  readonly objections?: readonly Objection[];
  /** An option, whose name precedes the message. */
  readonly about?: Objection['about'];
  readonly file?: string;
  readonly role?: InputRole;
}

/** The message can be shown to users: one printable line of at most about 3,000 characters, whatever it quotes. */
export class AnyvmafError extends Error {
  override readonly name: string = 'AnyvmafError';
  readonly code: ErrorCode;

  /**
   * What was refused and what resolves it, for programs with their own names of options; {@link message} uses those of
   * the API. Absent if there is no remedy in anyvmaf.
   */
  readonly objections?: readonly Objection[];

  /** Name of the video that caused it. */
  readonly file?: string;

  /** The input that caused it. */
  readonly role?: InputRole;

  constructor(code: ErrorCode, message: string, options: AnyvmafErrorOptions = {}) {
    const { hints, about, file, role } = options;
    const own = [{ message, about, hints: hints ?? [] }];
    const objections = hints?.length || about ? own : options.objections;
    super(
      sentence(hints || about ? objectionsText(own) : message),
      options.cause === undefined ? undefined : { cause: legible(options.cause) },
    );
    this.code = code;
    if (objections) this.objections = objections.map((one) => ({ ...one, message: sentence(one.message) }));
    if (file !== undefined) this.file = file;
    if (role) this.role = role;
  }
}

/** Codes of errors that a file can cause; others only pass through its reader. */
const OF_FILES: ReadonlySet<ErrorCode> = new Set(['io', 'media', 'usage']);

/** Adds the input's role to an error that a file can cause, unless the error has one. */
export function aboutInput<E>(error: E, role: InputRole): E {
  if (error instanceof AnyvmafError && !error.role && OF_FILES.has(error.code))
    Object.assign(error, { role });
  return error;
}

/** Runs work on an input, whose role its errors get. */
export async function ofInput<T>(role: InputRole, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw aboutInput(error, role);
  }
}

const errorOf =
  (code: ErrorCode) =>
  (message: string, options?: AnyvmafErrorOptions): AnyvmafError =>
    new AnyvmafError(code, message, options);

export const usageError = errorOf('usage');
export const ioError = errorOf('io');
export const mediaError = errorOf('media');
export const mismatchError = errorOf('mismatch');
export const modelError = errorOf('model');
export const featureError = errorOf('feature');
export const backendError = errorOf('backend');
export const internalError = errorOf('internal');

/** The code of a system's error, such as `ENOENT`; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error as data for other threads; `new AnyvmafError(code, message, data)` restores it. */
export interface ErrorData extends Pick<AnyvmafErrorOptions, 'objections' | 'file' | 'role'> {
  readonly code: ErrorCode;
  readonly message: string;
}

export function errorData({ code, message, objections, file, role }: AnyvmafError): ErrorData {
  return { code, message, objections, file, role };
}

/** Replaces a cause whose message is unprintable or too long by a clean copy, since causes are printed too. */
function legible(cause: unknown): unknown {
  if (typeof cause === 'string') return sentence(cause);
  if (!(cause instanceof Error) || cause instanceof AnyvmafError) return cause;
  const message = sentence(cause.message);
  if (message === cause.message.trim()) return cause;
  return Object.assign(new Error(message), { name: cause.name }, 'code' in cause && { code: cause.code });
}

/** Options that findings advise, with values as the API takes them. */
type Advised = {
  readonly [Name in keyof OptionsOf<'pair'>]-?: ValueOf<Name>;
} & {
  /** An additional feature, such as `cvvdp=display=standard_hdr_pq`. */
  readonly features: string;
  readonly model: string;
  readonly raw: {
    readonly width: number;
    readonly height: number;
    readonly bitDepth: number;
    readonly chroma: ChromaFormat;
  };
  /** The files in the right roles. */
  readonly swap: { readonly reference: string; readonly distorted: string };
};

/** An option and the value to give it. */
export type OptionHint = {
  readonly [Option in keyof Advised]: {
    /** `accept` only turns the finding into an info. `omit`: it was passed, but must not be. */
    readonly purpose: 'fix' | 'accept' | 'omit';
    readonly option: Option;
    readonly value: Advised[Option];
    /** Follows the option in a sentence: `to score the frames before it`. */
    readonly aim?: string;
  };
}[keyof Advised];

/** An ffmpeg command that writes a replacement for one of the files. */
export interface FfmpegCommand {
  /** The file to replace. */
  readonly side: 'reference' | 'distorted';
  readonly input: string;
  /** Options before `-i`, such as the format of raw video. */
  readonly inputOptions: readonly string[];
  /** Options between input and output. */
  readonly options: readonly string[];
  readonly output: string;
}

/** Files to prepare with ffmpeg, for comparing these instead. */
export interface PrepareHint {
  readonly purpose: 'prepare';
  readonly option?: never;
  readonly commands: readonly FfmpegCommand[];
  /** Options with the same effect without new files, if there are any. */
  readonly instead?: readonly OptionHint[];
}

/** An option whose value only the user knows. */
export interface OpenHint {
  /** `declare`: state that a file is raw video, and its format. */
  readonly purpose: 'check' | 'choose' | 'correct' | 'declare' | 'name' | 'omit';
  readonly option: OptionName | 'from' | 'raw';
  readonly value?: never;
  readonly aim?: string;
}

/** A model to fetch. */
export interface PullHint {
  readonly purpose: 'pull';
  readonly option?: never;
  readonly value?: never;
  readonly model: string;
}

/** A part of anyvmaf to install. */
export interface InstallHint {
  readonly purpose: 'install';
  readonly option?: never;
  readonly value?: never;
  readonly part: PartName;
  /** Arguments of `npm install`. */
  readonly packages: string;
}

/** What resolves a finding, as data. */
export type Hint = OptionHint | PrepareHint;

/** What resolves a refusal: data, or words such as `download the video` if no option of anyvmaf helps. */
export type Remedy = Hint | OpenHint | PullHint | InstallHint | string;

/** One thing that was refused. */
export interface Objection {
  /** What is wrong, without names of options: a full sentence, or a clause that a remedy continues. */
  readonly message: string;
  /** An option, whose name every interface puts before the message. */
  readonly about?: OpenHint['option'];
  /** What resolves it; any one of them suffices. */
  readonly hints?: readonly Remedy[];
}

/** Writes a hint for an interface: `--scale bicubic`. */
export type HintName = (hint: OptionHint | OpenHint | PullHint | InstallHint) => string;

/**
 * A hint in a few words: `scale: 'bicubic'`, `to accept, pass scale: 'bicubic'`, or ffmpeg commands.
 * @param name writes options, which then replace commands if the hint has both
 */
export function hintText(hint: Exclude<Remedy, string>, name?: HintName): string {
  if (hint.purpose === 'prepare') {
    if (name && hint.instead) return hint.instead.map(name).join(' ');
    return hint.commands.map(ffmpegCommand).join(' && ');
  }
  const named = (name ?? nameInApi)(hint);
  return hint.purpose === 'accept' ? `to accept, pass ${named}` : named;
}

/** A sentence per refusal, with its remedies. */
export function objectionsText(objections: readonly Objection[], name: HintName = nameInApi): string {
  const texts = objections.map(({ message: wrong, about, hints }) => {
    const message = about === undefined ? wrong : `${name({ purpose: 'name', option: about })} ${wrong}`;
    const whole = message.endsWith('.');
    const steps = hints?.map((hint) => stepText(hint, name)).join(', or ');
    if (!steps) return whole || !hints ? message : `${message}.`;
    return whole ? `${message} ${capital(steps)}.` : `${message}; ${steps}.`;
  });
  return texts.join(' ');
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const VERBS: Readonly<Record<Exclude<Remedy, string>['purpose'], string>> = {
  accept: '',
  check: 'check ',
  choose: 'choose another ',
  correct: 'correct ',
  declare: 'if it is raw YUV, give its width, height, pixel format and bit depth: ',
  fix: 'pass ',
  install: 'run ',
  name: 'name it with ',
  omit: 'leave out ',
  prepare: 'use ',
  pull: 'run ',
};

function stepText(hint: Remedy, name: HintName): string {
  if (typeof hint === 'string') return hint;
  const step = VERBS[hint.purpose] + hintText(hint, name === nameInApi ? undefined : name);
  if (hint.purpose === 'pull') return `${step} once; it then works offline`;
  return 'aim' in hint ? `${step} ${hint.aim}` : step;
}

function nameInApi(hint: Parameters<HintName>[0]): string {
  if (hint.purpose === 'pull') return `pullModel('${hint.model}')`;
  if (hint.purpose === 'install') return `npm install ${hint.packages}`;
  const { option, value } = hint;
  if (value === undefined) return option === 'raw' ? 'width, height, chroma and bitDepth of raw' : option;
  if (option === 'model') return `models: ${literal([value])}`;
  if (option === 'features') return `features: ${literal([value])}`;
  if (option === 'swap') return literal(value).slice(2, -2);
  if (option === 'window') return `offset: 'auto', window: ${value}`;
  return value === true ? option : `${option}: ${literal(value)}`;
}

function literal(value: unknown): string {
  if (typeof value === 'number') return String(Number(value.toFixed(3)));
  if (typeof value === 'string') return `'${shown(value)}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  const members = Object.entries(Object(value)).map(([key, member]) => `${key}: ${literal(member)}`);
  return `{ ${members.join(', ')} }`;
}

function ffmpegCommand({ input, inputOptions, options, output }: FfmpegCommand): string {
  const file = (name: string) => shellWord(shown(name));
  const before = [...inputOptions, '-i'].map(quotedWord);
  return ['ffmpeg', ...before, file(input), ...options.map(quotedWord), file(output)].join(' ');
}
