/**
 * @module web/results/open
 * Opens saved reports, ours and libvmaf's, in place of the results on show.
 */
import { type CurveResult, type FrameMetrics, isReport } from 'anyvmaf';
import { framesText, sizeText } from 'anyvmaf/view';
import { readSaved } from '../saved/client.js';
import type { EncodeResult, Session } from '../session.js';
import { announce } from '../setup/announce.js';
import { text } from '../text.js';

/** Bytes. A text of more is longer than browsers let strings be. */
const LIMIT = 500_000_000;

/**
 * Reads reports and shows each as an encode, growing while it is read.
 * @throws {Error} with a sentence for people when a file is no report; what was on show before is shown again
 */
export async function openReports(files: readonly File[], session: Session): Promise<void> {
  const before = session.results.value;
  const opened: EncodeResult[] = [];
  session.cursor.value = null;
  try {
    for (const file of files) {
      if (file.size > LIMIT) throw new Error(text.saved.tooLarge(file.name, sizeText(file.size) ?? ''));
      announce(text.saved.opening(file.name));
      const frames: FrameMetrics[] = [];
      const curves: CurveResult[] = [];
      let result: EncodeResult = { name: file.name, frames };
      await readSaved(file, (event) => {
        if ('curves' in event) {
          curves.push(event.curves);
          return;
        }
        if ('saved' in event)
          result = { name: event.saved.distorted?.name ?? file.name, frames, saved: event.saved };
        else for (const frame of event.frames) frames.push(frame);
        session.results.value = [...opened, result];
      });
      const [found] = curves;
      if (found) {
        session.curves.value = { name: file.name, result: found };
        announce(text.curves.opened(file.name));
        continue;
      }
      const whole = result.saved && { ...result.saved, frames };
      if (whole && isReport(whole)) result = { ...result, report: whole };
      opened.push(result);
      session.results.value = [...opened];
      announce(text.saved.opened(file.name, framesText(frames.length)));
    }
  } catch (error) {
    session.results.value = before;
    throw error;
  }
}
