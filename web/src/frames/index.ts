/**
 * @module web/frames
 * Mounts the frame viewer, which loads when the first frame is selected.
 */
import type { Session } from '../session.js';

/** Shows the session's selected frame in a dialog. */
export function mountFrames(element: HTMLElement, session: Session): void {
  const stop = session.cursor.watch(async (cursor) => {
    if (!cursor) return;
    // Runs once; the viewer then watches the cursor itself.
    queueMicrotask(() => stop());
    const { FrameViewer } = await import('./viewer.js');
    new FrameViewer(element, session);
  });
}
