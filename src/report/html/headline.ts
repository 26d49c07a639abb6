/**
 * @module report/html/headline
 * The top of the page: the score and what it means, or the table of several encodes with quality over bit rate.
 */
import { flawsOf } from '../flaws.js';
import { causeText, TRUST_WORDS } from '../trust.js';
import { bdTable } from '../view/bd.js';
import {
  compare,
  comparedText,
  flawNote,
  flawSign,
  furtherMetrics,
  headlineOf,
  matchText,
  meaningOf,
  scale,
  tiles,
  track,
  verdictBadge,
} from '../view/headline.js';
import { baseName, colourOf, inputFacts, joined, labelOf, NONE, skippedText } from '../view/numbers.js';
import { leftOutText, rateChart, ratePoints } from '../view/rates.js';
import { html, type Markup, templates } from './markup.js';
import type { Page, ReportEncode } from './page.js';
import { foundSection } from './sections.js';

/** The first section. */
export function headline(page: Page): Markup {
  return page.list.length === 1 ? single(page, page.list[0]) : several(page);
}

function single(page: Page, encode: ReportEncode): Markup {
  const { facts } = encode;
  const metric = page.ranking?.metric;
  const pooled = page.pooled(encode, metric);
  const top = headlineOf(page, encode);
  const { trust, model, word, tone, text } = meaningOf(page, encode);
  const against = facts.noReference ? 'by itself' : `against ${baseName(facts.reference.name)}`;
  return html`<section>
<h1>${baseName(facts.distorted.name)}</h1>
<p class="files">${joined([against, ...inputFacts(facts.reference), matchText(facts)], ' · ')}</p>
${
  metric !== undefined &&
  pooled &&
  top &&
  html`<div class="head">
<div><div class="score is-${trust.verdict}">${page.valueText(top.metric, top.value)}${flawSign(templates, trust)}<sup>${labelOf(top.metric)}</sup></div>
${word && html`<span class="word" .style=${`--tone:var(--${tone})`}>${word}</span>`}${verdictBadge(templates, facts)}</div>
<div>${model && scale(templates, page, metric, pooled, word)}<p class="soft small">${text}</p><p class="soft small">${comparedText(facts)}</p></div>
</div>`
}
${flaws(page)}
${tiles(templates, page, encode)}
</section>`;
}

/** The flaws, encodes with the same one together, then all that was found, folded. */
function flaws({ list }: Page): Markup {
  const notes = flawsOf(list.map(({ facts }) => facts)).map((flaw) => {
    const names = list.length > 1 ? flaw.of.map((i) => list[i]?.name).join(', ') : undefined;
    return flawNote(templates, flaw.trust, TRUST_WORDS[flaw.trust.verdict], causeText(flaw), names);
  });
  return html`${notes}${foundSection(list)}`;
}

function several(page: Page): Markup {
  const { list, ranking, apart } = page;
  const metric = ranking?.metric ?? '';
  const [{ facts: first }] = list;
  const model = first.models.find(({ name }) => name === metric);
  const range = model && page.rangeOf(metric);
  const compared = compare(page);
  const reference = apart ? { ...first.reference, skipped: 0 } : first.reference;
  const further = furtherMetrics(page);
  const rows = compared.map((row, i) => {
    const { facts, name } = list[i] ?? list[0];
    const [mean, tail, rate, size] = row.texts;
    return html`<div class="encode" .style=${colourOf(i)}>
<div class="name"><span class="swatch"></span><span title="${facts.distorted.name}">${name}</span></div>
<b>${mean ?? NONE}${flawSign(templates, row.trust)}</b>
${track(templates, row)}
${row.further.map(({ text }, k) => html`<div class="num" data-label="${labelOf(further[k] ?? '')}">${text ?? NONE}</div>`)}
<div class="num" data-label="worst 1 %">${tail ?? NONE}</div>
<div class="num" data-label="bit rate">${rate ?? NONE}</div>
<div class="num" data-label="size">${size ?? NONE}</div>
${apart && html`<div class="skipped soft small">skipped at the start: ${skippedText(facts)}</div>`}
</div>`;
  });
  return html`<section>
<h1>${list.length} encodes of ${baseName(first.reference.name)}</h1>
<p class="files">${joined([...inputFacts(reference), model?.source, matchText(...page.list.map(({ facts }) => facts))], ' · ')}</p>
<div class="encodes${further.length > 0 && ' more'}${further.length > 2 && ' wide'}" .style=${`--nums:${3 + further.length}`}><div class="encode headings"><span>encode</span><span>${labelOf(metric)}</span><span>${range && `${range[0]} to ${range[1]}, `}the bar holds 98 % of the frames</span>${further.map((name) => html`<span class="num" title="${name}">${labelOf(name)}</span>`)}<span class="num">worst 1 %</span><span class="num">bit rate</span><span class="num">size</span></div>
${rows}</div>
${flaws(page)}
${rateCurve(page)}
</section>`;
}

/** Pixels of the chart on a desk. */
const ROOM = { width: 940, height: 240 } as const;

/** Quality over bit rate; `undefined` unless at least two encodes have both. */
function rateCurve(page: Page): Markup | undefined {
  const metric = page.ranking?.metric;
  const points = ratePoints(page, metric);
  if (metric === undefined || points.length < 2) return undefined;
  const label = labelOf(metric);
  const left = leftOutText(page);
  const { drawing, key } = rateChart(templates, page, metric, points, ROOM);
  return html`<h2 style="margin-top:18px">${label} over bit rate</h2>
${key.length > 0 && html`<p class="key small soft" aria-hidden="true">${key}</p>`}
<div class="plot" role="img" aria-label="${label} over bit rate; the values are in the table above">${drawing}</div>
${left !== '' && html`<p class="soft small">${left}</p>`}
${bdTable(templates, page, points, label)}`;
}
