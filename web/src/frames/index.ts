/**
 * @module web/frames
 * The frame on show: reference and distorted, compared. The viewer is loaded when the first frame is asked for.
 */
import type { Session } from '../session.js';

/** Shows the session's frame in a dialog within an element while one is chosen. */
export function mountFrames(element: HTMLElement, session: Session): void {
  const stop = session.cursor.watch(async (cursor) => {
    if (!cursor) return;
    // Only the first time: the viewer watches by itself.
    queueMicrotask(() => stop());
    const { FrameViewer } = await import('./viewer.js');
    new FrameViewer(element, session);
  });
}
