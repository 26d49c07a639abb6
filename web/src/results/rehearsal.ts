/**
 * @module web/results/rehearsal
 * Draws hidden results before the first run: loading fonts and compiling code would block the page during it.
 */
import { h } from '../dom.js';
import { type EncodeResult, Session } from '../session.js';
import { mountResults } from './index.js';

/** Milliseconds until all parts are drawn on an idle machine. */
const LASTS = 2000;

/** With the default model's features, and enough frames for curves. */
const RESULT: EncodeResult = {
  name: 'rehearsal',
  frames: Array.from({ length: 24 }, (_, frameNum) => {
    const value = 0.9 + 0.05 * Math.sin(frameNum);
    const scales = [0, 1, 2, 3].map((scale) => [`integer_vif_scale${scale}`, value] as const);
    return {
      frameNum,
      metrics: {
        integer_adm2: value,
        ...Object.fromEntries(scales),
        integer_motion2: value,
        vmaf: 100 * value,
      },
    };
  }),
};

export function rehearse(): () => void {
  const session = new Session();
  session.results.value = [RESULT];
  const stage = h('section', {});
  // Words for scores, which need a picture size that the made-up result lacks.
  const word = h('span', { class: 'pill' }, 'good');
  const host = h('div', { class: 'rehearsal', inert: true, 'aria-hidden': 'true' }, stage, word);
  document.querySelector('main')?.append(host);
  const unmount = mountResults(stage, session);
  const end = () => {
    clearTimeout(timer);
    unmount();
    host.remove();
  };
  const timer = setTimeout(end, LASTS);
  return end;
}
