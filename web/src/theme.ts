/**
 * @module web/theme
 * Switches between the light, dark and system theme; the browser stores the choice.
 */
import { fill, h, icon, storedText, storeText } from './dom.js';
import { text } from './text.js';

const KEY = 'anyvmaf-theme';
const CHOICES = ['auto', 'light', 'dark'] as const;
const ICONS = { auto: 'system', light: 'sun', dark: 'moon' } as const;

export function themeSwitch(): HTMLElement {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let choice = CHOICES.find((name) => name === storedText(KEY)) ?? 'auto';
  const button = h('button', {
    class: 'tool',
    type: 'button',
    onclick: () => {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length] ?? 'auto';
      storeText(KEY, choice);
      apply();
    },
  });
  const apply = () => {
    document.documentElement.dataset.theme = choice === 'auto' ? (dark.matches ? 'dark' : 'light') : choice;
    fill(button, icon(ICONS[choice]));
    button.setAttribute('aria-label', text.page.theme[choice]);
    button.title = text.page.theme[choice];
  };
  dark.addEventListener('change', apply);
  apply();
  return button;
}
