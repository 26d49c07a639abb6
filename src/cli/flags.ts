/**
 * @module cli/flags
 * Errors and findings in the words of the command line, with hints as flags.
 */
import type { AnyvmafError } from '../core/errors.js';
import { type HintName, hintText, type OptionHint, objectionsText } from '../core/hint.js';
import { wordsOf } from '../core/option-words.js';
import { shown } from '../core/printable.js';
import { shellWord } from '../core/shell.js';
import { formatSize } from '../core/size.js';
import type { AlignResult, Finding } from '../index.js';

/** Writes a hint as a flag, such as `--offset 12`. */
const flags: HintName = (hint) => {
  if (hint.purpose === 'pull') return `'anyvmaf models pull ${hint.model}'`;
  if (hint.purpose === 'install') return `'anyvmaf setup ${hint.part}', or add --yes`;
  const { flag: name, written = `--${name}` } = wordsOf(hint.option);
  const flag = hint.option === 'raw' ? '-w, -h, -p and -b' : written;
  if (hint.value === undefined || hint.value === true) return flag;
  switch (hint.option) {
    case 'range': {
      const { unit, start, end } = hint.value;
      const text = (value: number) => (unit === 'seconds' ? `${Number(value.toFixed(3))}s` : String(value));
      return `${flag} ${text(start)}-${end === undefined ? '' : text(end)}`;
    }
    case 'raw': {
      const { width, height, chroma, bitDepth } = hint.value;
      return `--width ${width} --height ${height} --pixel_format ${chroma} --bitdepth ${bitDepth}`;
    }
    case 'swap':
      return `--reference ${shellWord(shown(hint.value.reference))} --distorted ${shellWord(shown(hint.value.distorted))}`;
    case 'vfDistorted':
    case 'vfReference':
      return `${flag} ${shellWord(hint.value)}`;
    case 'window':
      return `--offset auto --window ${hint.value}`;
    default:
      return `${flag} ${formatSize(hint.value)}`;
  }
};

/** The fix for one of several encodes, each of which has its own offset. */
const SEARCHED: OptionHint = { purpose: 'fix', option: 'offset', value: 'auto' };

export function messageInFlags({ message, objections }: AnyvmafError): string {
  return objections ? objectionsText(objections, flags) : message;
}

/**
 * Adds to each finding the flag that resolves it.
 * @param ofAll for one of several encodes: true if a finding is about all of them. Flags apply to all encodes, so one
 * that would harm the others is not advised
 */
export function findingsInFlags(
  findings: readonly Finding[],
  ofAll: (finding: Finding) => boolean = () => true,
): Finding[] {
  return findings.map((one) => {
    const { hint } = one;
    if (!hint) return one;
    if (ofAll(one)) return { ...one, fix: hintText(hint, flags) };
    if (hint.option === 'offset') return { ...one, fix: hintText(SEARCHED, flags) };
    const fix = hintText(hint, flags);
    return { ...one, fix: hint.purpose === 'prepare' ? `score it alone with ${fix}` : fix };
  });
}

export function alignmentAdvice({ reason, offset }: Pick<AlignResult, 'reason' | 'offset'>): string {
  return reason === 'edge' ? 'To look further: --window N' : `To score with it: --offset ${offset}`;
}
