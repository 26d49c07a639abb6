/**
 * @module web/setup/failure-kind
 * Sorts failures into those that people meet.
 */
import type { Failure } from '../engine/calls.js';
import type { Settings } from '../session.js';

/** What kind of failure it is; decides on the heading, the advice and the buttons. */
export type FailureKind =
  | 'undecodable'
  | 'differs'
  | 'memory'
  | 'died'
  | 'media'
  | 'io'
  | 'model'
  | 'absent'
  | 'feature'
  | 'usage'
  | 'other';

/** The model that a message says has to be pulled, first or again; `undefined` where it says nothing of the kind. */
export function absentModel(message: string): string | undefined {
  return /\bpullModel\('([^']+)'\)/.exec(message)?.[1];
}

/** Sorts a failure by its code and, where that does not tell, by what it says. */
export function kindOfFailure({ code, message, name }: Failure, settings: Settings): FailureKind {
  if (/out of memory|allocation failed|memory access|cannot allocate|could not allocate/i.test(message))
    return 'memory';
  if (name === 'RangeError' && /alloc|array buffer|length/i.test(message)) return 'memory';
  if (name === 'NotReadableError' || name === 'NotFoundError') return 'io';
  switch (code) {
    case 'died':
    case 'internal':
      return 'died';
    case 'mismatch':
      return 'differs';
    case 'media':
      return settings.decoder === 'mediabunny' &&
        /decoder wasm|ffmpeg\.wasm|mediabunny|WebCodecs/i.test(message)
        ? 'undecodable'
        : 'media';
    case 'model':
      return absentModel(message) === undefined ? 'model' : 'absent';
    case 'io':
    case 'feature':
    case 'usage':
      return code;
    default:
      return 'other';
  }
}

/** What command lines have to be told, and what stands for it here, where there are forms and buttons. */
const ADVICE: readonly (readonly [asked: RegExp, here: string])[] = [
  [
    /(?:;| \()\s*if it is raw YUV, give its width, height, pixel format and bit depth: -w, -h, -p and -b\)?/,
    '',
  ],
  [/, or pass --allow-damaged to score what comes before/, ', or score what comes before'],
];

/** What a failure says, where there are forms and buttons instead of options. */
export function failureWords({ message, objections }: Failure): string {
  return objections ? objections.map((one) => one.message).join(' ') : pageWords(message);
}

/** A message of the library without the options of its command line. */
export function pageWords(message: string): string {
  return ADVICE.reduce((words, [asked, here]) => words.replace(asked, here), message);
}
