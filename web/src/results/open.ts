/**
 * @module web/results/open
 * Opens saved reports, ours and libvmaf's, and attaches chosen videos to results that have none.
 */
import { type CurveResult, type FrameMetrics, isReport, type ReadReport } from 'anyvmaf';
import { type Baseline, baselineFrom, baseName, framesText, referenceOf, sizeText } from 'anyvmaf/view';
import { announce } from '../dom.js';
import { readSaved } from '../saved/client.js';
import { type EncodeResult, type PairFacts, pairingOf, type Session } from '../session.js';
import { runOptions } from '../setup/options.js';
import { text } from '../text.js';

/** In bytes; more exceeds the longest string of browsers. */
const LIMIT = 500_000_000;

/** Shows reports while they are read. @throws {Error} with a sentence for people; the earlier results are restored */
export async function openReports(files: readonly File[], session: Session): Promise<void> {
  const before = session.results.value;
  const opened: EncodeResult[] = [];
  session.cursor.value = null;
  try {
    for (const file of files) {
      checkSize(file);
      announce(text.saved.opening(file.name));
      const found: EncodeResult[] = [];
      const curve = await readReports(file, (reports) => {
        for (const { frames, head } of reports.slice(found.length))
          found.push({ name: head.distorted?.name ?? file.name, frames, saved: head });
        session.results.value = [...opened, ...found];
      });
      if (curve) {
        session.curves.value = { name: file.name, result: curve };
        announce(text.curves.opened(file.name));
        continue;
      }
      if (found.length === 0) throw new Error(text.saved.empty(file.name));
      opened.push(...found.map(whole));
      session.results.value = [...opened];
      const frames = found.reduce((sum, report) => sum + report.frames.length, 0);
      announce(text.saved.opened(file.name, framesText(frames)));
    }
  } catch (error) {
    session.results.value = before;
    throw error;
  }
}

function checkSize({ name, size }: File): void {
  if (size > LIMIT) throw new Error(text.saved.tooLarge(name, sizeText(size) ?? ''));
}

interface Read {
  readonly head: Omit<ReadReport, 'frames'>;
  readonly frames: FrameMetrics[];
}

/** @param onRead gets the reports so far, whose frames grow @returns the result of a search, if the file holds one */
async function readReports(
  file: File,
  onRead: (reports: readonly Read[]) => void,
): Promise<CurveResult | undefined> {
  const reports: Read[] = [];
  let curve: CurveResult | undefined;
  await readSaved(file, (event) => {
    if ('curves' in event) {
      curve ??= event.curves;
      return;
    }
    if ('saved' in event) reports.push({ head: event.saved, frames: [] });
    else for (const frame of event.frames) reports.at(-1)?.frames.push(frame);
    onRead(reports);
  });
  return curve;
}

/** Adds the report, if the file is complete. */
function whole(result: EncodeResult): EncodeResult {
  const read = result.saved && { ...result.saved, frames: result.frames };
  return read && isReport(read) ? { ...result, report: read } : result;
}

/** Reads the reports of an earlier run as a baseline. @throws {Error} with a sentence for people */
export async function readBaselines(files: readonly File[]): Promise<Baseline> {
  const reads: ReadReport[] = [];
  for (const file of files) {
    checkSize(file);
    let read: readonly Read[] = [];
    const curve = await readReports(file, (reports) => {
      read = reports;
    });
    if (curve) throw new Error(text.results.changes.curves(file.name));
    reads.push(...read.map(({ head, frames }) => ({ ...head, frames })));
  }
  return baselineFrom(reads, files.map(({ name }) => name).join(', '));
}

// --- videos ---

/** `undefined` if the result has videos or its frames cannot be shown. */
function factsOf({ report, saved, source }: EncodeResult): PairFacts | undefined {
  const facts = report ?? saved;
  const reference = facts && referenceOf(facts);
  if (source || !reference || !facts.distorted) return undefined;
  return { reference, distorted: facts.distorted, pairing: facts.pairing };
}

/**
 * Attaches chosen videos by name and stated size, and to results of the last session only if their times are the same.
 * @returns the outcome for people; empty if no name matches a report
 */
export function attachVideos(session: Session): string {
  const reference = session.reference.value?.file;
  const wrong = new Set<string>();
  const taken = new Set(session.results.value.map(({ source }) => source?.distorted));
  /** Of equal files, one that no result has yet. */
  const fileOf = (files: readonly File[], name: string, bytes?: number, modified?: number) => {
    const named = files.filter((file) => file.name === baseName(name));
    const sized = named.filter(({ size }) => bytes === undefined || bytes === size);
    const fitting = sized.filter((file) => modified === undefined || modified === file.lastModified);
    const [other] = named;
    if (other && sized.length > 0 && fitting.length === 0) wrong.add(text.saved.changedFile(other.name));
    else if (other && bytes !== undefined && sized.length === 0)
      wrong.add(text.saved.otherFile(other.name, sizeText(other.size) ?? '', sizeText(bytes) ?? ''));
    return fitting.find((file) => !taken.has(file)) ?? fitting[0];
  };
  let attached = 0;
  const results = session.results.value.map((result): EncodeResult => {
    const facts = factsOf(result);
    if (!facts || !reference) return result;
    const bytes = (side: 'reference' | 'distorted') => facts.pairing?.[side].fileSize ?? facts[side].fileSize;
    const files = session.distorted.value.map(({ file }) => file);
    const { modified } = result.was ?? {};
    const distorted = fileOf(files, facts.distorted.name, bytes('distorted'), modified?.distorted);
    const isReference = fileOf([reference], facts.reference.name, bytes('reference'), modified?.reference);
    if (!isReference || !distorted) return result;
    taken.add(distorted);
    attached++;
    const { was, ...rest } = result;
    const scored = was && { ...was, reference, distorted };
    const options = was
      ? runOptions(was.settings, was.raw, was.tiny)
      : pairingOf(facts, session.settings.value);
    return { ...rest, source: { reference, distorted, options }, ...(scored && { scored }) };
  });
  if (attached > 0) {
    const { kept } = session;
    const restored = results.filter(
      (result) => result.scored && result.report && !kept.value.includes(result),
    );
    kept.value = [...kept.value, ...restored];
    session.results.value = results;
  }
  return [...(attached > 0 ? [text.saved.withVideos(attached)] : []), ...wrong].join(' ');
}
