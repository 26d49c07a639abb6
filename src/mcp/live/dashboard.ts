/**
 * @module mcp/live/dashboard
 * The page that shows a running measurement: rate, score over time and worst moments, from the event stream. Complete in
 * itself; it loads nothing from elsewhere.
 */
import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --soft: #545b64; --paper: #fff; --line: #d5d9de; --mean: #0b57d0; --low: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #a9b1ba; --paper: #16181b; --line: #3a3f45; --mean: #8ab4f8; --low: #f2b8b5; }
}
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: .25rem 0; color: var(--soft); overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1rem 0; }
dl div { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
canvas { display: block; width: 100%; height: 15rem; border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
.mean { color: var(--mean); } .low { color: var(--low); }
`;

const SCRIPT = `
'use strict';
const path = document.body.dataset.path;
const el = (id) => document.getElementById(id);
const states = new Map();
let shown;
const text = (id, value) => { if (el(id).textContent !== value) el(id).textContent = value; };
const number = (value, digits) => typeof value === 'number' ? value.toFixed(digits) : '\\u2013';

function take(message) {
  const state = states.get(message.measurement) ?? { seconds: [], swaps: [], alarms: [] };
  states.set(message.measurement, Object.assign(state, message));
  shown ??= message.measurement;
  return state;
}

function draw() {
  const state = states.get(shown);
  if (!state) return;
  text('what', state.reference ? state.reference + ' and ' + state.distorted : shown);
  text('state', state.state);
  text('frames', state.total ? state.frames + ' of ' + state.total : String(state.frames));
  text('rate', number(state.rate && state.rate.now, 1) + ' fps');
  text('metric', 'Mean of ' + (state.metric ?? 'the score'));
  text('mean', number(state.mean, 2));
  const last = state.seconds.at(-1);
  text('lowest', number(last && last.min, 2));
  rows('worst', (state.worst ?? []).map((one) => [one.frame, one.metric, number(one.value, 3)]));
  const events = [
    ...state.swaps.map((swap) => [swap.frame, 'model ' + swap.from + ' gives way to ' + swap.to]),
    ...state.alarms.map((alarm) => [alarm.frame, (alarm.raised ? 'alarm ' : 'over: ') + alarm.rule + ' (' + number(alarm.value, 2) + ')']),
  ].sort((a, b) => b[0] - a[0]).slice(0, 20);
  rows('events', events);
  chart(state.seconds);
}

function rows(id, list) {
  const body = el(id);
  body.replaceChildren(...list.map((cells) => {
    const row = document.createElement('tr');
    row.append(...cells.map((cell) => Object.assign(document.createElement('td'), { textContent: cell })));
    return row;
  }));
}

function chart(seconds) {
  const canvas = el('chart');
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const values = seconds.flatMap((one) => [one.mean, one.min]).filter(Number.isFinite);
  const low = Math.floor(Math.min(90, ...values.slice(-4000)) / 10) * 10;
  const high = Math.max(100, ...values.slice(-4000));
  const y = (value) => 10 + (height - 30) * (high - value) / (high - low || 1);
  const x = (i) => 40 + (width - 50) * i / Math.max(1, seconds.length - 1);
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = style.getPropertyValue('--soft');
  context.strokeStyle = style.getPropertyValue('--line');
  for (let mark = low; mark <= high; mark += (high - low) > 50 ? 20 : 10) {
    context.fillText(String(mark), 8, y(mark) + 4);
    context.beginPath();
    context.moveTo(40, y(mark));
    context.lineTo(width - 10, y(mark));
    context.stroke();
  }
  for (const key of ['min', 'mean']) {
    context.strokeStyle = style.getPropertyValue(key === 'mean' ? '--mean' : '--low');
    context.lineWidth = key === 'mean' ? 2 : 1;
    context.beginPath();
    seconds.forEach((one, i) => i ? context.lineTo(x(i), y(one[key])) : context.moveTo(x(i), y(one[key])));
    context.stroke();
  }
  const last = seconds.at(-1);
  canvas.setAttribute('aria-label', last
    ? 'Score of each second: ' + seconds.length + ' seconds, the last with mean ' + number(last.mean, 1) + ' and lowest ' + number(last.min, 1)
    : 'Score of each second: none yet');
}

const events = new EventSource(path);
events.addEventListener('ready', async () => {
  text('line', 'connected');
  for (const state of await (await fetch('/history')).json()) take(state);
  draw();
});
events.onerror = () => text('line', 'the connection is lost; trying again');
const on = (name, change) => events.addEventListener(name, (event) => {
  const data = JSON.parse(event.data);
  change(data, states.get(data.measurement));
  draw();
});
on('progress', (data) => {
  const state = take(data);
  const known = (state.seconds.at(-1) ?? { second: 0 }).second;
  state.seconds.push(...data.fresh.filter((one) => one.second > known));
  state.seconds.splice(0, state.seconds.length - 7200);
});
on('state', take);
on('swap', (data, state) => state && state.swaps.push(data));
on('alarm', (data, state) => {
  if (state) state.alarms.push(data);
  text('notice', (data.raised ? 'Alarm: ' : 'Alarm over: ') + data.rule);
});
on('end', (data) => {
  take(data);
  text('notice', 'The measurement has ended: ' + data.state);
  events.close();
  text('line', 'ended');
});
addEventListener('resize', draw);
`;

const BODY = `
<main>
<h1>Live quality</h1>
<p id="what">waiting</p>
<p>Connection: <span id="line">connecting</span></p>
<p id="notice" role="status"></p>
<dl>
<div><dt>State</dt><dd id="state">waiting</dd></div>
<div><dt>Frames</dt><dd id="frames">0</dd></div>
<div><dt>Rate</dt><dd id="rate">–</dd></div>
<div><dt id="metric">Mean</dt><dd id="mean">–</dd></div>
<div><dt>Lowest of the last second</dt><dd id="lowest">–</dd></div>
</dl>
<h2>Score over time</h2>
<p><span class="mean">Mean</span> and <span class="low">lowest</span> score of each second of video.</p>
<canvas id="chart" role="img" aria-label="Score of each second: none yet"></canvas>
<h2 id="worst-title">Worst moments</h2>
<table aria-labelledby="worst-title"><thead><tr><th scope="col">Frame</th><th scope="col">Metric</th><th scope="col">Score</th></tr></thead><tbody id="worst"></tbody></table>
<h2 id="events-title">Alarms and changes</h2>
<table aria-labelledby="events-title"><thead><tr><th scope="col">Frame</th><th scope="col">What</th></tr></thead><tbody id="events"></tbody></table>
</main>
`;

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** What the page may do: run its own script and style, and talk to its own server. */
export const PAGE_POLICY =
  `default-src 'none'; script-src ${hash(SCRIPT)}; style-src ${hash(STYLE)}; connect-src 'self'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page. @param path of the event stream, of plain characters */
export function dashboardPage(path: string): string {
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Live quality</title>' +
    `<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><style>${STYLE}</style></head>` +
    `<body data-path="${path}">${BODY}<script>${SCRIPT}</script></body></html>\n`
  );
}
