/**
 * @module engine/backends/native/survey
 * Finds installed programs that contain libvmaf and asks them what they are. Answers are remembered for as long as the
 * files stay the same.
 */
import { onAbort, unlessAborted } from '../../../core/abort.js';
import { buildFlags, ffmpegVersion, filterOptions, flavourOf, vmafOptions, vmafVersion } from './help.js';
import {
  type Candidate,
  failure,
  type NativeHost,
  type NativeOutcome,
  oneLine,
  programName,
} from './host.js';
import type { NativeOptions, NativeProgram } from './types.js';

/** Milliseconds in which a program must say what it is. */
const ANSWER_TIME = 5000;

/** A file that was looked at and is of no use. */
export interface Rejected {
  readonly path: string;
  readonly from: string;
  /** A full sentence without its full stop. */
  readonly problem: string;
}

/** What there is. */
export interface Survey {
  /** Usable programs, the preferred first. */
  readonly programs: readonly NativeProgram[];
  readonly rejected: readonly Rejected[];
}

type Identity = { readonly program: NativeProgram } | { readonly problem: string };

/** A program being asked, or its answer. */
interface Question {
  readonly answer: Promise<Identity>;
  /** Callers that wait for it; when none does any more, the program is ended. */
  waiting: number;
  readonly ending: AbortController;
}

const questions = new WeakMap<NativeHost, Map<string, Question>>();

/**
 * Looks for programs.
 * @param kinds `vmaf` looks for libvmaf's own tool only
 * @throws the signal's reason
 */
export async function survey(
  host: NativeHost,
  { vmafBin, signal }: NativeOptions,
  kinds: 'vmaf' | 'all' = 'all',
): Promise<Survey> {
  const candidates = [
    ...host.candidates('vmaf', vmafBin),
    // Whoever names a program wants that one.
    ...(kinds === 'all' && vmafBin === undefined ? host.candidates('ffmpeg') : []),
  ];
  const found = await Promise.all(candidates.map((candidate) => identify(host, candidate, signal)));
  const programs: NativeProgram[] = [];
  const rejected: Rejected[] = [];
  for (const [i, identity] of found.entries()) {
    const { path = '', from = '' } = candidates[i] ?? {};
    if ('program' in identity) programs.push(identity.program);
    else rejected.push({ path, from, problem: identity.problem });
  }
  return { programs, rejected };
}

async function identify(
  host: NativeHost,
  candidate: Candidate,
  signal: AbortSignal | undefined,
): Promise<Identity> {
  const { key, path, problem } = candidate;
  if (key === undefined) return { problem: `${oneLine(path)} ${problem ?? 'cannot run'}` };
  signal?.throwIfAborted();
  const known = questions.get(host) ?? new Map<string, Question>();
  questions.set(host, known);
  const question = known.get(key) ?? askOnce(host, path, key, known);
  return wait(question, signal);
}

/** Starts the one question that all callers wait for. */
function askOnce(host: NativeHost, path: string, key: string, known: Map<string, Question>): Question {
  const ending = new AbortController();
  const question: Question = { answer: ask(host, path, key, ending.signal), waiting: 0, ending };
  known.set(key, question);
  const forget = () => {
    if (known.get(key) === question) known.delete(key);
  };
  // An answer that nobody waited for to the end is none, from the moment on in which they gave up.
  onAbort(ending.signal, forget);
  question.answer.catch(forget);
  return question;
}

/** Waits for an answer with others, none of whose signals ends it for the rest. */
async function wait(question: Question, signal: AbortSignal | undefined): Promise<Identity> {
  question.waiting++;
  let answered = false;
  try {
    const identity = await unlessAborted(signal, question.answer);
    answered = true;
    return identity;
  } finally {
    question.waiting--;
    if (!answered && question.waiting === 0) question.ending.abort(signal?.reason);
  }
}

async function ask(host: NativeHost, path: string, key: string, signal: AbortSignal): Promise<Identity> {
  const run = (...args: string[]) => host.run({ path, args, timeout: ANSWER_TIME, signal });
  const help = await run('--help');
  const text = said(help);
  const flavour = flavourOf(text);
  if (flavour === 'vmaf') {
    const options = vmafOptions(text);
    const version = await run('--version');
    return {
      program: {
        flavour,
        path,
        key,
        options,
        version: failure(version) === undefined ? vmafVersion(said(version)) : null,
        build_flags: buildFlags(options),
      },
    };
  }
  if (flavour) {
    const filter = await run('-hide_banner', '-h', 'filter=libvmaf');
    const options = filterOptions(said(filter));
    const name = programName(flavour, path);
    if (!options) return { problem: `${name} was built without the libvmaf filter` };
    if (!options.has('model')) {
      return {
        problem: `the libvmaf filter of ${name} is of an ffmpeg before 5.0, which takes no model by name`,
      };
    }
    return {
      program: {
        flavour,
        path,
        key,
        options,
        version: ffmpegVersion(text),
        build_flags: buildFlags(new Set()),
      },
    };
  }
  // The tool itself ends with an error when it shows its help.
  if (help.kind !== 'ended' || help.signal !== null) return { problem: `${oneLine(path)} ${failure(help)}` };
  const found = text.trim() === '' ? 'nothing' : `"${oneLine(text, 80)}"`;
  return {
    problem: `${oneLine(path)} is neither vmaf nor an ffmpeg with the libvmaf filter: asked for help it says ${found}`,
  };
}

function said({ stdout, stderr }: NativeOutcome): string {
  return `${stdout}\n${stderr}`;
}
