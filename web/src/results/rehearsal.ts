/**
 * @module web/results/rehearsal
 * Results that nobody sees, once before the first run: the browser then has their fonts, which it asks another process for,
 * and has compiled what draws them. While scorers have the cores, each of that would hold the page up.
 */
import { h } from '../dom.js';
import { type EncodeResult, Session } from '../session.js';
import { mountResults } from './index.js';

/** Milliseconds after which all parts are drawn on a machine that has little else to do. */
const LASTS = 2000;

/** Made up: as many features as the default model has, and enough frames for curves. */
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

/** Begins, and returns what ends it early. */
export function rehearse(): () => void {
  const session = new Session();
  session.results.value = [RESULT];
  const stage = h('section', {});
  // The word for a score, which goes by a size that nothing made up has.
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
