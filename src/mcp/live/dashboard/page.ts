/**
 * @module mcp/live/dashboard/page
 * The page that shows running measurements: self-contained, in the style of reports.
 */
import { createHash } from 'node:crypto';
import { STYLES } from '../../../report/html/styles.js';
import { VIEWER_SCRIPT } from './viewer-script.js';

const STYLE = `${STYLES}
header { flex-wrap: wrap; } header > * { white-space: nowrap; }
#state { --tone: var(--soft); margin: 0; }
#line { color: var(--soft); font-size: 13px; white-space: normal; }
#choice select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 4px 8px; }
#now .head { grid-template-columns: auto 1fr; gap: 12px 32px; margin-top: 8px; }
#now .score { font-size: 54px; }
#changes { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 8px 24px; font-size: 13px; }
#changes input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: 8px; padding: 6px 8px; width: 190px; max-width: 60vw; }
#now .tiles { --n: 6; --half: 3; }
#notice { color: var(--warn); font-weight: 600; overflow-wrap: anywhere; }
#line.bad, #notice.bad { color: var(--bad); font-weight: 600; }
#chart { position: static; display: block; width: 100%; height: 244px; touch-action: pan-y; }
#second { min-height: 1.5em; }
.key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
.key .mean i { background: var(--s0); } .key .low i { background: var(--s1); }
.pair { display: grid; gap: 0 14px; } .pair section { min-width: 0; }
.pair td, .pair th { text-align: left; } .pair td:first-child { padding-left: 0; }
#events td:last-child { white-space: normal; overflow-wrap: anywhere; }
.pair :is(td, th):nth-child(4) { text-align: right; }
@media (min-width: 900px) { .pair { grid-template-columns: 1fr 1fr; } }
`;

const BODY = `<main>
<header><span class="mark">any<i>vmaf</i></span><span class="kind">live quality</span><label id="choice" hidden>Measurement <select id="which"></select></label><span id="line" role="status">connecting</span></header>
<section id="now" aria-label="status">
<h1 id="what">waiting for a measurement</h1>
<p class="files" id="pair"></p>
<div class="head">
<div><div class="score" id="mean">–</div><p class="soft small" id="metric">Mean so far</p></div>
<div><span class="badge" id="state">waiting</span><span id="steering" hidden><button class="tool" id="pause">Pause</button> <button class="tool" id="stop" title="The program gets a report of the frames taken so far">Stop</button></span><p id="notice" role="status"></p></div>
<div id="changes" hidden><form id="swap"><label>Model <input id="model" name="model" required maxlength="1024" placeholder="vmaf_v0.6.1neg"></label> <button class="tool">Change</button></form>
<form id="watch"><label>Alarm <input id="rule" name="rule" required maxlength="200" placeholder="p5&lt;80 for 3s"></label> <button class="tool">Set</button></form></div>
</div>
<dl class="tiles">
<div><dd id="recent">–</dd><dt>last second</dt></div>
<div><dd id="lowest">–</dd><dt>its lowest</dt></div>
<div><dd id="frames">0</dd><dt>frames</dt></div>
<div><dd id="waiting">0</dd><dt>frames waiting</dt></div>
<div><dd id="rate">–</dd><dt>rate</dt></div>
<div><dd id="left">–</dd><dt>time left</dt></div>
</dl>
</section>
<section>
<div class="bar"><h2 id="chart-title">Score of each second</h2><span class="soft small" id="second"></span></div>
<p class="key small soft" aria-hidden="true"><span class="mean"><i></i>mean</span><span class="low"><i></i>lowest, with the worst moments marked</span></p>
<canvas id="chart" role="img" tabindex="0" aria-label="Score of each second: none yet"></canvas>
</section>
<div class="pair">
<section><h2 id="worst-title">Worst moments</h2>
<table aria-labelledby="worst-title"><thead><tr><th scope="col">time</th><th scope="col">frame</th><th scope="col">metric</th><th scope="col">score</th></tr></thead><tbody id="worst"></tbody></table></section>
<section><h2 id="events-title">Alarms and model changes</h2>
<table aria-labelledby="events-title"><thead><tr><th scope="col">time</th><th scope="col">frame</th><th scope="col">event</th></tr></thead><tbody id="events"></tbody></table></section>
</div>
</main>
`;

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const PAGE_POLICY =
  `default-src 'none'; script-src ${hash(VIEWER_SCRIPT)}; style-src ${hash(STYLE)}; connect-src 'self'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** @param path of the event stream, in characters that need no escaping */
export function dashboardPage(path: string): string {
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Live quality</title>' +
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">' +
    `<link rel="icon" href="data:,"><style>${STYLE}</style></head>` +
    `<body data-path="${path}">${BODY}<script>${VIEWER_SCRIPT}</script></body></html>\n`
  );
}
