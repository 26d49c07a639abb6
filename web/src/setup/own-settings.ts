/**
 * @module web/setup/own-settings
 * Dialog with the settings of a single encode. Loaded when opened.
 */
import { button, fill, h } from '../dom.js';
import { type ChosenFile, type Session, settingsOf } from '../session.js';
import { html, made } from '../templates.js';
import { text } from '../text.js';
import { failureWords, sentence } from './failure.js';
import {
  type Change,
  fieldGroup,
  offsetField,
  type Part,
  pairingFields,
  pictureFields,
  rangeField,
} from './fields.js';
import { dropOwn, setOwn } from './fixes.js';
import { changeWords } from './models.js';

const words = text.setup.ownForm;

export function openOwnSettings(session: Session, { id, file }: ChosenFile): void {
  const set: Change = (change) => setOwn(session, (chosen) => chosen.id === id, change);
  const frames = [offsetField(set, 'own-'), rangeField(set, 'own-'), pairingFields(set, 'own-')];
  const pictures = pictureFields(set, 'own-');
  const parts: readonly Part[] = [...frames, pictures];
  const state = h('p', { class: 'small', role: 'status' });
  const refused = h('p', { class: 'wrong small', role: 'alert' });
  const reset = button({ onclick: () => dropOwn(session, id) }, text.setup.dropOwn);
  const pairing = frames.flatMap(({ elements }) => elements);
  const dialog = made<HTMLDialogElement>(
    html`<dialog class="card own-dialog" aria-labelledby="own-heading"><h2 id="own-heading">${words.heading(file.name)}</h2><p class="soft small">${words.explain}</p>${[fieldGroup(text.settings.pairing, pairing), fieldGroup(text.settings.pictures, pictures.elements)]}<p class="faint small">${words.beyond}</p>${[state, refused]}<div class="tools end">${reset}<button type="button" class="tool strong" @click=${() => dialog.close()}>${words.done}</button></div></dialog>`,
  );
  const update = () => {
    const chosen = session.distorted.value.find((other) => other.id === id);
    if (!chosen) return dialog.close();
    for (const part of parts) part.show(settingsOf(session, chosen));
    const own = chosen.own ? changeWords(chosen.own).join(', ') : '';
    fill(state, own === '' ? words.none : `${text.setup.own} ${own}`);
    reset.disabled = !chosen.own;
  };
  const showRefusal = () => {
    const pair = session.inspections.value.get(id);
    if (pair?.phase === 'pending') return;
    const why = pair?.phase === 'failed' ? words.refused(sentence(failureWords(pair.failure))) : '';
    if (refused.textContent !== why) refused.textContent = why;
  };
  document.body.append(dialog);
  dialog.showModal();
  const ends = [session.distorted.watch(update), session.inspections.watch(showRefusal)];
  dialog.addEventListener('close', () => {
    for (const end of ends) end();
    dialog.remove();
  });
}
