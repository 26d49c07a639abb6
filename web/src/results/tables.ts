/**
 * @module web/results/tables
 * What is text and tables: findings, pooled values, and how it was run.
 */
import type { Finding } from 'anyvmaf';
import { pooledTables, remarks, runGroups } from 'anyvmaf/view';
import { text } from '../text.js';
import type { Encodes } from './encodes.js';
import type { Section } from './section.js';
import { html, made, render, type TemplateResult, templates } from './templates.js';

const words = text.results;

/** A section that is rendered again with every update. */
function section(
  element: HTMLElement,
  hasContent: () => boolean,
  content: () => TemplateResult | readonly TemplateResult[],
): Section {
  const body = element.lastElementChild as HTMLElement;
  return {
    element,
    update() {
      element.hidden = !hasContent();
      render(element.hidden ? '' : content(), body);
    },
    hasContent,
    close: () => {},
  };
}

function card(heading: string, id: string): HTMLElement {
  return made(
    html`<section class="card" aria-labelledby="${id}"><div class="bar"><h2 id="${id}">${heading}</h2></div><div></div></section>`,
  );
}

const SIGNS = { error: ['bad', '!'], warning: ['warn', '!'], info: ['note', 'i'] } as const;

export function findingsSection(encodes: Encodes): Section {
  const all = () => remarks(encodes.list.map(({ facts }) => facts));
  const value = (side: Finding['reference']) => (side === null ? words.findings.unknown : String(side));
  const item = ({ severity, message, finding, of }: ReturnType<typeof all>[number]) => {
    const [tone, sign] = SIGNS[severity];
    const { reference, distorted } = finding ?? {};
    const values =
      reference === undefined || distorted === undefined
        ? ''
        : html`<div class="small soft">${words.findings.values(value(reference), value(distorted))}</div>`;
    const which =
      of.length < encodes.list.length
        ? html`<b>${of.map((i) => encodes.list[i]?.name).join(', ')}: </b>`
        : '';
    return html`<li class="finding" .style=${`--tone:var(--${tone})`}><span class="sign" role="img" aria-label="${words.findings.severity[severity]}">${sign}</span><div>${which}${message}${values}</div></li>`;
  };
  return section(
    card(words.findings.heading, 'findings-heading'),
    () => all().length > 0,
    () => {
      const grave = all().filter(({ severity }) => severity !== 'info');
      const notes = all().filter(({ severity }) => severity === 'info');
      const open = grave.length === 0 && notes.length < 3;
      return html`${grave.length > 0 ? html`<ul class="findings">${grave.map(item)}</ul>` : ''}
${notes.length > 0 ? html`<details ?open=${open}><summary>${words.findings.notes(notes.length)}</summary><ul class="findings">${notes.map(item)}</ul></details>` : ''}`;
    },
  );
}

export function pooledSection(encodes: Encodes): Section {
  return section(
    card(words.pooled.heading, 'pooled-heading'),
    () => encodes.metrics.length > 0,
    () => pooledTables(templates, encodes),
  );
}

export function detailsSection(encodes: Encodes): Section {
  return section(
    made(
      html`<details class="card details"><summary><h2>${words.details.heading}</h2></summary><div class="run"></div></details>`,
    ),
    () => encodes.list.some(({ facts }) => facts.reference || facts.distorted || facts.models),
    () => runGroups(templates, encodes),
  );
}
