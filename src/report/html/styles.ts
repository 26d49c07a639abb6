/**
 * @module report/html/styles
 * The page's style sheet: light and dark, from phone to desktop, and for print.
 */

/**
 * Colours of encodes in the light and the dark scheme. Any two of a scheme differ by 0.07 in OKLab, also as
 * dichromats see them, and have a contrast of 3 to the background.
 */
const SERIES_COLOURS: readonly (readonly [light: string, dark: string])[] = [
  ['#2a62d8', '#7aa5ff'],
  ['#d9660f', '#ff9d57'],
  ['#27996c', '#86a788'],
  ['#ba4199', '#bd2e8e'],
  ['#19595f', '#aadde8'],
  ['#a882d0', '#8a72ee'],
  ['#7b5f04', '#f0d38f'],
  ['#621c78', '#b89fc7'],
  ['#c97a9d', '#e0b1b1'],
  ['#363c11', '#787734'],
  ['#8a76fb', '#783ef7'],
  ['#1407ef', '#2f7bb8'],
  ['#660149', '#b96675'],
  ['#4f14a8', '#c1b9fe'],
  ['#564f26', '#bf8f15'],
  ['#496e53', '#82ffce'],
];

const DARK = `
  --bg: #111318; --card: #191c23; --sunk: #13161c; --ink: #eceef3; --soft: #a8aebb; --faint: #9097a6;
  --line: #2a2f3a; --grid: #242933; --good: #45cf9f; --warn: #ffc15e; --bad: #ff7d92; --note: #7aa5ff;
  --shadow: none; color-scheme: dark;
${SERIES_COLOURS.map(([, dark], i) => `  --s${i}: ${dark};`).join('')}
`;

export const STYLES = `
:root {
  --bg: #f5f5f2; --card: #ffffff; --sunk: #f8f8f6; --ink: #181b22; --soft: #565c6b; --faint: #686e7c;
  --line: #e2e2dd; --grid: #ecece8; --good: #0b7a58; --warn: #965900; --bad: #b92a44; --note: #2a62d8;
  --shadow: 0 1px 2px rgb(20 22 30 / 5%), 0 4px 16px rgb(20 22 30 / 4%); color-scheme: light;
${SERIES_COLOURS.map(([light], i) => `  --s${i}: ${light};`).join('')}
}
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {${DARK}} }
:root[data-theme=dark] {${DARK}}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--bg); color: var(--ink);
  font: 15px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; text-rendering: optimizeLegibility;
}
main { max-width: 1240px; margin: 0 auto; padding: 14px 20px 32px; }
header { display: flex; align-items: center; gap: 12px; padding: 0 0 12px; }
header .mark { font-weight: 700; letter-spacing: -0.01em; font-size: 17px; }
header .mark i { font-style: normal; color: var(--s0); }
header .kind { color: var(--faint); flex: 1; }
button { font: inherit; color: inherit; cursor: pointer; }
.tool {
  border: 1px solid var(--line); background: var(--card); border-radius: 8px; min-width: 32px; height: 32px;
  padding: 0 10px; font-size: 13px; color: var(--soft); line-height: 1;
}
.tool:hover { color: var(--ink); border-color: var(--faint); }
.tool:disabled { opacity: .45; cursor: default; }
:focus-visible { outline: 2px solid var(--note); outline-offset: 2px; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 14px; box-shadow: var(--shadow);
  padding: 16px 22px 18px; margin-bottom: 14px;
}
h1 { font-size: 20px; line-height: 1.3; letter-spacing: -0.012em; margin: 0; overflow-wrap: anywhere; font-weight: 650; }
h2 { font-size: 15px; margin: 0; font-weight: 650; letter-spacing: -0.005em; }
h3 { font-size: 13px; margin: 0; font-weight: 600; color: var(--soft); }
p { margin: 0; }
.soft { color: var(--soft); }
.faint { color: var(--faint); }
.small { font-size: 13px; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; min-height: 32px; margin-bottom: 10px; }
.bar h2 { flex: 1 1 auto; }
.tools { display: flex; gap: 6px; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 3px; background: var(--k, none), var(--c); flex: none; }
.files { margin-top: 4px; color: var(--soft); font-size: 13.5px; overflow-wrap: anywhere; }

/* The headline. */
.head { display: grid; grid-template-columns: minmax(190px, auto) 1fr; gap: 20px 40px; align-items: center; margin-top: 14px; }
.score { font-size: 68px; line-height: 1; letter-spacing: -0.035em; font-weight: 680; white-space: nowrap; }
.score sup { font-size: 15px; letter-spacing: 0; font-weight: 600; color: var(--soft); vertical-align: top; position: relative; top: 8px; margin-left: 6px; }
.word { display: inline-block; margin-top: 10px; padding: 2px 11px; border-radius: 99px; font-size: 13px; font-weight: 600;
  background: color-mix(in srgb, var(--tone) 10%, transparent); color: var(--tone); }
.score.is-untrusted { font-weight: 400; color: var(--soft); }
.badge { display: inline-block; margin: 10px 8px 0 0; padding: 1px 10px; border-radius: 6px; font-size: 13px; font-weight: 600;
  border: 1.5px solid color-mix(in srgb, var(--tone) 60%, transparent); color: var(--tone); }
.word + .badge { margin-left: 8px; }
.scale { position: relative; padding: 4px 0 40px; }
.scale .bands { display: flex; gap: 3px; }
.scale .bands i { flex: 1; height: 10px; background: var(--grid); border-radius: 2px; }
.scale .bands i:first-child { border-radius: 6px 2px 2px 6px; } .scale .bands i:last-child { border-radius: 2px 6px 6px 2px; }
.scale .range { position: absolute; top: 4px; height: 10px; border-radius: 5px; background: color-mix(in srgb, var(--c) 34%, transparent); }
.scale .dot { position: absolute; top: 1px; width: 16px; height: 16px; margin-left: -8px; border-radius: 50%; background: var(--c); border: 3px solid var(--card); box-shadow: 0 0 0 1px var(--c); }
.scale .tick { position: absolute; top: 22px; transform: translateX(-50%); font-size: 12px; color: var(--faint); text-align: center; line-height: 1.25; }
.scale .words { display: flex; gap: 3px; margin-top: 5px; font-size: 12px; color: var(--faint); text-align: center; } .scale .words b { color: var(--ink); font-weight: 600; }
.scale.worded { padding-bottom: 12px; }
.scale .tick:first-of-type { transform: none; } .scale .tick.last { transform: translateX(-100%); }
.tiles { display: flex; flex-wrap: wrap; gap: 1px; margin: 14px -22px -18px;
  border-top: 1px solid var(--line); border-radius: 0 0 14px 14px; overflow: hidden; }
.tiles > div { flex: 1 1 max(104px, clamp(100% / var(--n) - 1px, (var(--n) * 124px - 100%) * 999, 100% / var(--half) - 1px)); padding: 9px 8px 10px 22px; box-shadow: 0 0 0 1px var(--line); min-width: 0; display: flex; flex-direction: column-reverse;
  justify-content: flex-end; }
.tiles dd { font-size: 18px; font-weight: 620; letter-spacing: -0.02em; line-height: 1.3; white-space: nowrap; }
.tiles dt { font-size: 12.5px; color: var(--soft); }

.flaw { color: var(--tone); font-weight: 700; margin-left: .22em; font-size: .72em; }
.flaw-note { margin-top: 14px; padding: 8px 14px; border-left: 3px solid var(--tone); border-radius: 4px; overflow-wrap: anywhere;
  background: color-mix(in srgb, var(--tone) 9%, transparent); }
.flaw-note b { font-weight: 650; }

/* Several encodes. */
.encodes { display: grid; gap: 0; margin: 14px -22px 0; }
.encode { display: grid; grid-template-columns: minmax(0, 1.4fr) 88px minmax(90px, 1.5fr) repeat(var(--nums, 3), 84px); gap: 4px 14px; align-items: center; padding: 11px 22px; border-top: 1px solid var(--line); }
.encode.headings { padding: 4px 22px 6px; border: 0; font-size: 12.5px; color: var(--faint); }
.encode .name { display: flex; gap: 9px; align-items: center; min-width: 0; }
.encode .name span:last-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.encode b { font-size: 21px; letter-spacing: -0.02em; font-weight: 650; text-align: right; }
.encode .skipped { grid-column: 1 / -1; margin: -2px 0 0 19px; }
.encode .num { text-align: right; white-space: nowrap; }
.encode.headings > :nth-child(2) { text-align: right; }
.track { position: relative; height: 8px; border-radius: 4px; background: var(--grid); }
.track .range { position: absolute; top: 0; bottom: 0; border-radius: 4px; background: color-mix(in srgb, var(--c) 34%, transparent); }
.track .dot { position: absolute; top: -3px; width: 14px; height: 14px; margin-left: -7px; border-radius: 50%; background: var(--c); border: 3px solid var(--card); }
.key { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 4px 0 10px; overflow-wrap: anywhere; } .key span { display: inline-flex; gap: 8px; align-items: center; }
.plot { position: relative; height: 240px; margin: 6px 8px 48px 40px; border-left: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.plot svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.plot .x, .plot .y { position: absolute; font-size: 12px; color: var(--faint); white-space: nowrap; }
.plot .x { top: calc(100% + 5px); transform: translateX(-50%); } .plot .y { right: calc(100% + 8px); transform: translateY(-50%); }
.plot .axis { position: absolute; top: calc(100% + 24px); left: 0; right: 0; text-align: center; font-size: 12px; color: var(--faint); }
.plot .gx, .plot .gy { position: absolute; background: var(--grid); } .plot .gx { top: 0; bottom: 0; width: 1px; } .plot .gy { left: 0; right: 0; height: 1px; }
.plot .dot { position: absolute; width: 14px; height: 14px; margin: -7px; border-radius: 50%; background: var(--k, none), var(--c); border: 2px solid var(--card); }
.plot .tag { position: absolute; font-size: 12px; transform: translate(8px, 4px); white-space: nowrap; color: var(--soft); line-height: 18px; }
.plot .tag.left { transform: translate(calc(-100% - 4px), calc(-100% - 4px)); } .plot .tag.after { transform: translate(12px, -50%); }
.plot .tag.before { transform: translate(calc(-100% - 12px), -50%); } .plot .tag.over { transform: translate(-50%, calc(-100% - 10px)); }

@media (min-width: 721px) { .encodes.wide .encode { grid-template-columns: minmax(0, 1fr) 88px repeat(var(--nums), minmax(0, 84px)); } .encodes.wide .track, .encodes.wide .headings > :nth-child(3) { display: none; } }
@media (min-width: 721px) and (max-width: 1100px) { .encodes.more .encode { grid-template-columns: 88px repeat(var(--nums), minmax(0, 1fr)); } .encodes.more .encode > :first-child { grid-column: 1 / -1; } .encodes.more .track, .encodes.more .headings > :nth-child(3) { display: none; } .encodes.more b { text-align: left; } .encodes.more .headings > :nth-child(2) { text-align: left; } }
.bd { margin-top: 6px; } .bd td.less { color: var(--good); font-weight: 600; } .bd td.more { color: var(--bad); } .bd table { width: auto; margin: 6px 0 8px; } .bd th + th, .bd td { min-width: 110px; } .bd p { max-width: 76ch; }
.found { margin-top: 14px; } .found > summary { cursor: pointer; font-size: 13.5px; color: var(--soft); display: flex; gap: 8px; align-items: center; } .found[open] > summary { margin-bottom: 10px; } .found[open] { padding-bottom: 4px; }

/* Charts over the frames. */
.legend { display: flex; flex-wrap: wrap; gap: 6px 8px; margin: -2px 0 12px; }
.legend button { display: inline-flex; align-items: center; gap: 7px; border: 1px solid var(--line); background: none; border-radius: 99px; padding: 3px 12px 3px 9px; font-size: 13px; max-width: 100%; }
.legend button span:last-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 320px; }
.legend button[aria-pressed=false] { color: var(--faint); text-decoration: line-through; } .legend button[aria-pressed=false] .swatch { background: none; box-shadow: inset 0 0 0 1.5px var(--c); }
.chart { position: relative; touch-action: pan-y; user-select: none; -webkit-user-select: none; cursor: crosshair; }
.chart canvas { position: absolute; width: 100%; height: 100%; }
.chart.big { height: 244px; } .chart.tiny { height: 64px; border-bottom: 1px solid var(--grid); } .chart.map { height: 36px; margin: 10px 4px 0 40px; background: var(--sunk); border-radius: 6px; overflow: hidden; cursor: grab; }
.marks { position: absolute; } .marks > * { position: absolute; pointer-events: none; } .marks > :not(.dot) { top: 0; bottom: 0; } .marks .at { width: 1px; background: var(--faint); }
.marks .dot { width: 10px; height: 10px; margin: -5px; border-radius: 50%; background: var(--k, none), var(--c); border: 2px solid var(--card); }
.marks .select { background: color-mix(in srgb, var(--note) 14%, transparent); }
.marks .window { border: 1.5px solid var(--faint); border-radius: 4px; box-shadow: 0 0 0 2000px color-mix(in srgb, var(--card) 72%, transparent); }
.still svg { width: 100%; height: 240px; display: block; overflow: visible; } .still { position: relative; }
.live .still, body:not(.live) .needs-script { display: none; }
.tip { position: absolute; top: 14px; z-index: 2; pointer-events: none; background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: 7px 11px 8px; font-size: 13px; box-shadow: 0 4px 18px rgb(0 0 0 / 16%); max-width: 280px; white-space: nowrap; } .tiny .tip { top: -8px; }
.tip div { display: flex; gap: 8px; align-items: center; } .tip div span:nth-child(2) { overflow: hidden; text-overflow: ellipsis; } .tip b { margin-left: auto; padding-left: 12px; } .tip .current b { text-decoration: underline; text-underline-offset: 3px; }
.features { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 12px 24px; }
.feature .meaning { font-size: 12px; line-height: 1.35; margin-bottom: 4px; }
.feature h3 { display: flex; gap: 8px; margin-bottom: 4px; font-size: 12.5px; font-weight: 550; } .feature h3 span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .feature h3 .now { margin-left: auto; color: var(--ink); white-space: nowrap; }

/* Distribution. */
.hist { position: relative; flex: 1 0 168px; max-height: 360px; margin: 4px 0 26px; border-bottom: 1px solid var(--line); }
.hist svg { position: absolute; inset: 24px 0 0; width: 100%; height: calc(100% - 24px); }
.hist .x { position: absolute; top: calc(100% + 4px); transform: translateX(-50%); font-size: 12px; color: var(--faint); }
.hist .x.first { transform: none; } .hist .x.last { transform: translateX(-100%); }
.hist .mark { position: absolute; top: 2px; bottom: 0; width: 0; border-left: 1px dashed var(--faint); }
.hist .mark span { position: absolute; top: -3px; left: 5px; font-size: 12px; color: var(--soft); white-space: nowrap; background: color-mix(in srgb, var(--card) 78%, transparent); padding: 0 2px; border-radius: 3px; }
.hist .mark.left span { left: auto; right: 5px; }
.tight th, .tight td { padding-left: 11px; font-size: 12.5px; } .tight th:first-child { padding-left: 0; max-width: 160px; overflow: hidden; text-overflow: ellipsis; }
.charts > section { display: flex; flex-direction: column; min-width: 0; }
@media (min-width: 1000px) { .charts:has(> :nth-child(2)) { display: grid; grid-template-columns: minmax(0, 2.2fr) minmax(0, 1fr); gap: 0 14px; } }

/* Tables and lists. */
.scroll { overflow-x: auto; margin: 0 -22px; padding: 0 22px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
thead th { font-weight: 500; color: var(--faint); font-size: 12.5px; }
th, td { padding: 6px 0 6px 18px; border-bottom: 1px solid var(--grid); white-space: nowrap; text-align: right; font-weight: 400; }
th:first-child { text-align: left; padding-left: 0; } tbody tr:last-child > * { border-bottom: 0; }
tr.main > * { font-weight: 620; } .whole { margin-top: 10px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th .swatch { margin-right: 6px; }
th.name { max-width: 200px; overflow: hidden; text-overflow: ellipsis; }
details details { border-top: 1px solid var(--line); margin: 10px -22px 0; padding: 10px 22px 0; } details summary { cursor: pointer; font-size: 13.5px; color: var(--soft); display: flex; gap: 8px; align-items: center; overflow-wrap: anywhere; } details[open] > summary { margin-bottom: 6px; }
.fold { padding: 10px 22px; } .fold > [open] { padding-bottom: 10px; } .fold h2 { color: var(--ink); white-space: nowrap; } .fold .scroll + h3 { margin-top: 12px; }
@media (min-width: 721px) { .folds { display: grid; grid-template-columns: 1fr 1fr; gap: 0 14px; } .folds > :has(> [open]) { grid-column: 1 / -1; } }
summary::before { content: "›"; display: inline-block; transition: transform .12s; color: var(--faint); font-size: 17px; line-height: 1; } details[open] > summary::before { transform: rotate(90deg); }
.worst { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(300px, 100%), 1fr)); gap: 0 18px; } .worst + h3, .worst-of { margin-top: 12px; display: flex; gap: 7px; align-items: center; overflow-wrap: anywhere; }
.worst button { display: grid; grid-template-columns: 64px 74px 1fr 58px; gap: 10px; align-items: center; width: 100%; border: 0; background: none; text-align: left; padding: 6px 8px; margin: 0 -8px; width: calc(100% + 16px); border-radius: 7px; font-size: 13.5px; }
.live .worst button:hover { background: var(--sunk); } body:not(.live) .worst button { cursor: default; }
.worst.pictured { grid-template-columns: repeat(auto-fill, minmax(min(200px, 100%), 1fr)); gap: 8px 32px; } .pictured li { align-self: end; }
@media (min-width: 1000px) { .moments > :not(:only-child) .pictured { grid-template-columns: repeat(var(--most), minmax(0, 1fr)); } .moments[data-many] { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 40px; } } .pictured .line { visibility: hidden; } .worst.pictured button { grid-template-columns: minmax(3ch, auto) auto minmax(0, 1fr) auto; }
.shots { grid-column: 1 / -1; display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 4px; }
.shot { display: grid; font-size: 12px; line-height: 1.4; } .shot img { width: 100%; height: auto; border-radius: 4px; }
.split { --at: 50%; max-width: 890px; margin: 10px 0 0; } .split .pictures { position: relative; overflow: hidden; border-radius: 6px; isolation: isolate; background: #000; } .split img { display: block; width: 100%; }
.split img + img { position: absolute; inset: 0; height: 100%; } .split input { display: block; width: 100%; margin: 6px 0 2px; accent-color: var(--note); }
.split:not([data-view=loss]) img:nth-child(3), .split[data-view=blink]:not(.other) img:nth-child(2), .split:not([data-view=split]) input { visibility: hidden; }
.split[data-view=split] img:nth-child(2) { clip-path: inset(0 calc(100% - var(--at)) 0 0); } .split[data-view=difference] img:nth-child(2) { mix-blend-mode: difference; } .split[data-view=difference] .pictures { filter: brightness(4); }
.split[data-view=split] .pictures::after { content: ""; position: absolute; inset: 0 auto 0 var(--at); width: 2px; margin-left: -1px; background: var(--card); box-shadow: 0 0 0 1px rgb(0 0 0 / 30%); }
.split[data-view=blink] .pictures::before { content: "reference"; position: absolute; z-index: 1; top: 8px; left: 8px; padding: 0 8px; border-radius: 4px; font-size: 13px; background: #000; color: #fff; } .split.other .pictures::before { content: "encode"; }
.tool[aria-pressed=true] { color: var(--ink); border-color: var(--ink); }
.worst .line { height: 6px; border-radius: 3px; background: var(--grid); overflow: hidden; } .worst .line i { display: block; height: 100%; background: var(--c); border-radius: 3px; } .worst b { text-align: right; font-weight: 600; }
.findings { list-style: none; margin: 0; padding: 0; display: grid; gap: 10px; }
.finding { display: grid; grid-template-columns: auto 1fr; gap: 2px 11px; padding: 11px 14px; border-radius: 10px; background: color-mix(in srgb, var(--tone) 7%, transparent); border: 1px solid color-mix(in srgb, var(--tone) 26%, transparent); overflow-wrap: anywhere; }
.finding.follows { margin-left: 30px; padding-block: 6px; font-size: 13px; color: var(--soft); }
.finding .sign { width: 20px; height: 20px; border-radius: 50%; background: var(--tone); color: var(--card); font-weight: 700; font-size: 12.5px; display: grid; place-items: center; margin-top: 1px; }
.finding .more { grid-column: 2; font-size: 13px; color: var(--soft); display: flex; flex-wrap: wrap; gap: 2px 16px; }
code { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.run { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 18px 32px; margin-bottom: 6px; }
.run dl { display: grid; grid-template-columns: auto 1fr; gap: 3px 16px; margin: 6px 0 0; font-size: 13.5px; align-content: start; } .run dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 14px 0 0; padding: 11px 14px; background: var(--sunk); border: 1px solid var(--line); border-radius: 9px; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { color: var(--faint); font-size: 12.5px; padding: 6px 2px; }

@media screen and (max-width: 720px) {
  main { padding: 12px 12px 32px; } section { padding: 16px; border-radius: 12px; } h1 { font-size: 17px; }
  .head { grid-template-columns: 1fr; gap: 22px; } .score { font-size: 58px; }
  .tiles { margin: 18px -16px -16px; } .tiles > div { padding-left: 16px; padding-right: 4px; } .tiles dd { font-size: 17px; }
  .encodes { margin: 12px -16px 0; } .encode { grid-template-columns: repeat(3, 1fr); padding: 12px 16px; } .encode.headings { display: none; }
  .encode .name { grid-column: 1 / 3; } .encode .track { grid-column: 1 / -1; margin: 6px 0; } .encode .num { text-align: left; } .encode .num::before { content: attr(data-label) " "; color: var(--faint); display: block; font-size: 12px; }
  .plot .tag { display: none; } .chart.big { height: 220px; } .scroll { margin: 0 -16px; padding: 0 16px; } details details { margin: 10px -16px 0; padding: 10px 16px 0; }
  .scale .tick { font-size: 11px; } .bar .hint, .fold .hint { display: none; } .run { grid-template-columns: 1fr; }
  .features { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px 18px; } .feature .now { font-size: 12px; } .chart.tiny { height: 70px; }
  .worst button { grid-template-columns: 56px 66px 1fr 54px; }
}
/* As wide as a sheet, so that charts are drawn for it. */
.paper main { width: 186mm; padding: 0; } .paper .charts:has(> :nth-child(2)), .paper .features { display: block; } .paper .feature { display: inline-block; width: 31%; margin: 0 2% 8px 0; vertical-align: top; }
@page { size: A4; margin: 12mm; }
@media print {
  :root { --bg: #fff; --shadow: none; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .tools, .hint, .tool, .chart.map, .split, .legend button[aria-pressed=false] { display: none !important; }
  body { font-size: 12.5px; } main { padding: 0; max-width: none; } section { margin-bottom: 8px; }
  h2, h3, .bar, .worst-of, summary { break-after: avoid; } .head, .tiles, .chart, .still, .plot, .hist, .encode, .worst li, .feature, .finding, .flaw-note, .run > *, tr, pre, .bd, .rates { break-inside: avoid; }
  thead { display: table-header-group; } summary::before, details details:not([open]) { display: none !important; } .run dl { font-size: 11px; }
  .charts > section { break-inside: avoid; } .hist { flex-basis: 130px; height: 130px; }
  .scroll { overflow: visible; margin: 0; padding: 0; } table { font-size: 10px; } th, td { padding: 3px 0 3px 6px; white-space: normal; overflow-wrap: anywhere; } th.name { max-width: none; } .bd th + th, .bd td { min-width: 0; } .bd th:first-child { overflow-wrap: normal; }
  table:has(th:nth-child(8) .swatch) :is(th, td) { font-size: 8.5px; padding-left: 4px; } table:has(th:nth-child(8) .swatch) td { white-space: nowrap; }
  .encode { grid-template-columns: minmax(0, 1.4fr) 64px minmax(40px, 1fr) repeat(var(--nums, 3), minmax(0, 64px)); gap: 2px 8px; padding: 6px 22px; } .encode b { font-size: 15px; }
  .encodes.wide .encode { grid-template-columns: minmax(0, 1fr) 64px repeat(var(--nums), minmax(0, 64px)); } .encodes.wide .track, .encodes.wide .headings > :nth-child(3) { display: none; }
  .folds { display: block; } .moments[data-many] { display: block; } .worst.pictured { grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); gap: 6px 22px; } .moments > :only-child .pictured { grid-template-columns: 1fr; }
}
`;
