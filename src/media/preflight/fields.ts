/**
 * @module media/preflight/fields
 * Findings about interlacing: what the pictures show, else what the labels say.
 */
import { deinterlacer, deinterlacing, type FieldEvidence, judgeFields } from '../evidence/fields.js';
import { filterFiles, finding, otherRole, type Role } from './text.js';
import type { Finding, FindingValue, OptionHint, PrepareHint, SideFacts } from './types.js';

interface Fields {
  readonly role: Role;
  readonly facts: SideFacts;
  /** The label says interlaced. */
  readonly labelled: boolean;
  readonly seen: FieldEvidence | undefined;
}

function fieldsOfBoth(reference: SideFacts, distorted: SideFacts): readonly [Fields, Fields] {
  return [fieldsOf('reference', reference, distorted), fieldsOf('distorted', distorted, reference)];
}

function fieldsOf(role: Role, facts: SideFacts, beside: SideFacts): Fields {
  const { fieldOrder } = facts;
  const labelled = fieldOrder === 'top-first' || fieldOrder === 'bottom-first';
  return { role, facts, labelled, seen: judgeFields(facts.measured?.fields ?? [], beside.measured?.fields) };
}

export function* fieldFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const both = fieldsOfBoth(reference, distorted);
  const values = both.map(scanOf) as [FindingValue, FindingValue];
  const of = (kind: FieldEvidence['kind']) => both.filter(({ seen }) => seen?.kind === kind);
  const [pulldown, exchanged] = [of('pulldown'), of('exchanged')];
  if (pulldown.length > 0) {
    const said = `${named(pulldown)} 3:2 pulldown (film at 29.97 fps): two of every five frames mix two pictures.`;
    yield finding('interlaced', 'warning', said, values, filtered(pulldown, pulldownFilter));
  }
  if (exchanged.length > 0) {
    const said = `${named(exchanged)} swapped field lines, as after a capture or cropping error.`;
    yield finding(
      'interlaced',
      'warning',
      said,
      values,
      filtered(exchanged, () => 'il=ls=1:cs=1'),
    );
  }
  const woven = both.filter(({ labelled, seen }) => seen?.kind === 'woven' || (labelled && !seen));
  const [first] = woven;
  if (first) {
    const [ref, dis] = values;
    const who =
      woven.length === 2
        ? `both videos are interlaced (reference ${ref}, distorted ${dis})`
        : `${first.role} is interlaced (${scanOf(first)}) but ${otherRole(first.role)} is not`;
    const unlabelled = woven.every(({ labelled, seen }) => !labelled && seen);
    const against =
      woven.length === 2 && unlabelled
        ? ', as their pictures show, although neither is labelled'
        : woven.map(contradicted).join('');
    const effect =
      '; VMAF is not designed for interlaced frames, whose two fields it compares as one picture.';
    yield finding('interlaced', 'warning', `${who}${against}${effect}`, values, bothDeinterlaced(woven));
  }
  const whole = both.filter(({ labelled, seen }) => labelled && seen?.kind === 'progressive');
  if (whole.length > 0 && !first) {
    const who = whole.length === 2 ? 'both videos are' : `${whole[0]?.role} is`;
    const said = `${who} labelled as interlaced, but the pictures are progressive: no deinterlacing is needed.`;
    yield finding('interlaced', 'info', said, values);
  }
}

/** The filter that removes pulldown if only one video has it: five frames become four. */
export function pulldownFix(reference: SideFacts, distorted: SideFacts): PrepareHint | undefined {
  const found = fieldsOfBoth(reference, distorted).filter(({ seen }) => seen?.kind === 'pulldown');
  return found.length === 1 ? filtered(found, pulldownFilter) : undefined;
}

function pulldownFilter({ seen }: Fields): string {
  const order = seen?.first === undefined ? '' : `=order=${seen.first === 'top-first' ? 'tff' : 'bff'}`;
  return `fieldmatch${order},decimate`;
}

function named(sides: readonly Fields[]): string {
  return sides.length === 2 ? 'both videos have' : `${sides[0]?.role} has`;
}

function scanOf({ facts, labelled, seen }: Fields): FindingValue {
  if (seen?.kind === 'pulldown' || seen?.kind === 'exchanged') return seen.kind;
  if (seen?.kind === 'woven') return seen.first ?? (labelled ? (facts.fieldOrder ?? null) : 'unknown order');
  return facts.fieldOrder ?? null;
}

function contradicted({ role, facts, labelled, seen }: Fields): string {
  if (seen?.kind !== 'woven') return '';
  if (!labelled) return `, as the pictures of ${role} show, although it is not labelled`;
  return seen.first && seen.first !== facts.fieldOrder
    ? `, although ${role} is labelled ${facts.fieldOrder}`
    : '';
}

/** Filters both alike, since a difference would count as damage. */
function bothDeinterlaced(sides: readonly Fields[]): PrepareHint {
  const filter = ({ facts, seen }: Fields) => {
    const how = deinterlacing(facts.fieldOrder, seen) ?? 'labelled';
    return how === 'labelled' ? 'bwdif=send_frame' : deinterlacer(how);
  };
  return filtered(sides, filter, [{ purpose: 'fix', option: 'deinterlace', value: true }]);
}

function filtered(
  sides: readonly Fields[],
  filter: (side: Fields) => string,
  instead?: readonly OptionHint[],
): PrepareHint {
  return filterFiles(
    sides.map((side) => [side.role, side.facts, filter(side)] as const),
    instead,
  );
}
