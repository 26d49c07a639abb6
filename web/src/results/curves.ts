/**
 * @module web/results/curves
 * The result of a search, a ladder or a comparison of encoders that was opened: its page in a frame that runs no scripts.
 */
import { h } from '../dom.js';
import { text } from '../text.js';

/**
 * Shows the page of a result, as tall as it is.
 * @param page as `formatEncodingResult` writes it
 */
export function showCurves(element: HTMLElement, { name, page }: { name: string; page: string }): void {
  // Same origin, so that its height and colours can be set from here; nothing in it runs.
  const frame = h('iframe', {
    style: 'display: block; width: 100%; border: 0',
    title: text.curves.label(name),
    sandbox: 'allow-same-origin',
    srcdoc: page,
  });
  const fit = () => {
    const inner = frame.contentDocument?.documentElement;
    if (!inner) return;
    const { theme } = document.documentElement.dataset;
    if (theme === undefined) delete inner.dataset.theme;
    else inner.dataset.theme = theme;
    frame.style.height = `${inner.querySelector('main')?.scrollHeight ?? inner.scrollHeight}px`;
  };
  frame.addEventListener('load', fit);
  const watched = new ResizeObserver(fit);
  watched.observe(frame);
  const themed = new MutationObserver(fit);
  themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const close = h(
    'button',
    {
      class: 'tool',
      onclick: () => {
        watched.disconnect();
        themed.disconnect();
        element.hidden = true;
        element.replaceChildren();
      },
    },
    text.curves.close,
  );
  element.replaceChildren(h('div', { class: 'bar' }, h('h2', {}, name), close), frame);
  element.hidden = false;
}
