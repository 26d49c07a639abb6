/**
 * @module core/hint
 * Remedies of findings and refusals as data, and sentences of them with the names of the API or another door.
 */

import type { PartName } from './choices.js';
import type { ChromaFormat } from './frame.js';
import type { OptionName, OptionsOf, ValueOf } from './options.js';
import { shown } from './printable.js';
import { quotedWord, shellWord } from './shell.js';

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
    /** `accept`: only turns the finding into an info. `omit`: it was passed, and must not be. */
    readonly purpose: 'fix' | 'accept' | 'omit';
    readonly option: Option;
    readonly value: Advised[Option];
    /** Follows the option in a sentence: `to score what comes before`. */
    readonly aim?: string;
  };
}[keyof Advised];

/** An ffmpeg command that writes a replacement for one of the two files. */
export interface FfmpegCommand {
  /** The file that is replaced. */
  readonly side: 'reference' | 'distorted';
  readonly input: string;
  /** Options before `-i`, such as the format of raw video. */
  readonly inputOptions: readonly string[];
  /** Options between input and output. */
  readonly options: readonly string[];
  readonly output: string;
}

/** Files to prepare with ffmpeg and compare instead. */
export interface PrepareHint {
  readonly purpose: 'prepare';
  readonly option?: never;
  readonly commands: readonly FfmpegCommand[];
  /** Options with the same effect without another file, if there are any. */
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
  /** What is wrong, without names of options: a full sentence, or a clause that goes on with what to do. */
  readonly message: string;
  /** An option whose name every door puts before the message. */
  readonly about?: OpenHint['option'];
  /** What resolves it; each is enough by itself. */
  readonly hints?: readonly Remedy[];
}

/** How a door writes a hint: `--scale bicubic`. */
export type HintName = (hint: OptionHint | OpenHint | PullHint | InstallHint) => string;

/**
 * A hint in a few words: `scale: 'bicubic'`, `to accept, pass scale: 'bicubic'`, or ffmpeg command lines.
 * @param name writes options, which then replace command lines where the hint has both
 */
export function hintText(hint: Exclude<Remedy, string>, name?: HintName): string {
  if (hint.purpose === 'prepare') {
    if (name && hint.instead) return hint.instead.map(name).join(' ');
    return hint.commands.map(ffmpegCommand).join(' && ');
  }
  return namedText(hint, name ?? nameInApi);
}

function namedText(hint: Exclude<Remedy, string | PrepareHint>, name: HintName): string {
  return hint.purpose === 'accept' ? `to accept, pass ${name(hint)}` : name(hint);
}

/** A sentence per refusal, with what resolves it. */
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
