/**
 * @module mcp/live/dashboard/viewer
 * The dashboard's script: follows the event stream and shows the chosen measurement, with a chart of each second's
 * scores for pointer and keys.
 */
import { messageOf } from '../../../core/errors.js';
import type { SecondPoint } from '../../../live/history.js';
import {
  type Colours,
  drawAxes,
  drawLine,
  drawMoment,
  penOf,
  Scale,
} from '../../../report/view/chart-drawing.js';
import { baseName, grouped, labelOf, NONE, scoreText, timeText } from '../../../report/view/numbers.js';
import { extentOf, frameTicks, nearestFrame, valueRange } from '../../../report/view/scales.js';
import type { Story } from '../hub.js';
import {
  alarmsOn,
  Board,
  type BoardEvents,
  incidentsOf,
  secondsLeft,
  timeOf,
  worstSeconds,
} from './board.js';

const INCIDENTS = 8;
const TONES: Readonly<Record<Story['state'], string>> = {
  waiting: 'soft',
  running: 'good',
  paused: 'warn',
  stopping: 'warn',
  finished: 'soft',
  failed: 'bad',
};

/** Padding of the chart in pixels. */
const [TOP, RIGHT, BOTTOM, LEFT] = [12, 8, 26, 40] as const;
/** Smallest range of scores that fills the chart. */
const LEAST = 2;
const [MEAN, LOWEST] = ['--s0', '--s1'] as const;

/** Outcome of the last command. */
let answer = '';
const board = new Board();
const which = element('which', HTMLSelectElement);

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** Changes a text only if it differs: screen readers announce changes. */
function say(id: string, text: string): void {
  const place = element(id, HTMLElement);
  if (place.textContent !== text) place.textContent = text;
}

// --- the measurement ---

function draw(): void {
  drawChoice();
  const story = board.shown;
  if (!story) return;
  const { measurement, reference, distorted, state, metric, mean, seconds, total, frames, queued } = story;
  const label = metric === null ? 'the score' : labelOf(metric);
  const last = seconds.at(-1);
  const left = secondsLeft(story);
  say('what', distorted === null ? measurement : baseName(distorted));
  say('pair', reference === null ? '' : `against ${baseName(reference)}`);
  say('state', state);
  element('state', HTMLElement).style.setProperty('--tone', `var(--${TONES[state]})`);
  say('mean', scoreText(mean ?? undefined));
  const isOver = state === 'finished' || state === 'failed';
  say('metric', `Mean of ${label}${isOver ? '' : ' so far'}`);
  for (const id of ['steering', 'changes']) element(id, HTMLElement).hidden = isOver || state === 'waiting';
  say('pause', state === 'paused' ? 'Resume' : 'Pause');
  say('recent', scoreText(last?.mean));
  say('lowest', scoreText(last?.min));
  say('frames', total === null ? grouped(frames) : `${grouped(frames)} of ${grouped(total)}`);
  say('waiting', grouped(queued));
  say('rate', `${story.rate.now.toFixed(1)} fps`);
  say('left', left === undefined ? NONE : timeText(Math.round(left), 0));
  say('chart-title', metric === null ? 'Score of each second' : `${label} of each second`);
  say('notice', noticeOf(story));
  element('notice', HTMLElement).classList.toggle('bad', state === 'failed');
  rows(
    'worst',
    story.worst.map((moment) => [
      timeOf(story, moment.frame),
      grouped(moment.frame),
      labelOf(moment.metric),
      scoreText(moment.value),
    ]),
  );
  rows(
    'events',
    incidentsOf(story)
      .slice(0, INCIDENTS)
      .map(({ frame, text }) => [timeOf(story, frame), grouped(frame), text]),
  );
  drawChart();
  document.title = `${scoreText(mean ?? undefined)} · ${state} · ${element('what', HTMLElement).textContent}`;
}

function noticeOf(story: Story): string {
  const { state, error } = story;
  if (state === 'failed') return `The measurement failed: ${error ?? 'unknown error'}`;
  if (state === 'finished') return 'The measurement has ended.';
  const alarms = alarmsOn(story).map(({ rule, frame }) => `Alarm since ${timeOf(story, frame)}: ${rule}`);
  return [answer, ...alarms].filter((text) => text !== '').join('; ');
}

function drawChoice(): void {
  const { names } = board;
  element('choice', HTMLElement).hidden = names.length < 2;
  if (which.options.length !== names.length) which.replaceChildren(...names.map((name) => new Option(name)));
  which.value = board.shown?.measurement ?? '';
}

function rows(id: string, list: readonly (readonly string[])[]): void {
  const text = (cells: readonly string[]) => cells.join('\t');
  const body = element(id, HTMLElement);
  const before = [...body.children].map((row) =>
    text([...row.children].map((cell) => cell.textContent ?? '')),
  );
  if (before.join('\n') === list.map(text).join('\n')) return;
  body.replaceChildren(
    ...list.map((cells) => {
      const row = document.createElement('tr');
      row.append(...cells.map((cell) => Object.assign(document.createElement('td'), { textContent: cell })));
      return row;
    }),
  );
}

/** Calls a steering tool for the shown measurement and shows a refusal. @returns true if it succeeded */
async function steer(tool: string, wanted: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const params = { name: `vmaf.${tool}`, arguments: { measurement: board.shown?.measurement, ...wanted } };
  try {
    const response = await fetch(document.body.dataset.path ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const { error, result } = await response.json();
    const refusal =
      error?.message ?? (result?.isError ? JSON.parse(result.content[0].text).error : undefined);
    answer = '';
    if (refusal === undefined) return true;
    answer = String(refusal);
  } catch (error) {
    answer = `The server did not answer: ${messageOf(error)}`;
  }
  draw();
  return false;
}

const pause = element('pause', HTMLElement);
pause.addEventListener('click', () => void steer(pause.textContent === 'Resume' ? 'resume' : 'pause'));
element('stop', HTMLElement).addEventListener('click', () => void steer('stop'));

for (const [id, name, tool] of [
  ['swap', 'model', 'request_model_swap'],
  ['watch', 'rule', 'set_alarm'],
] as const)
  element(id, HTMLFormElement).addEventListener('submit', async (event) => {
    event.preventDefault();
    const field = element(name, HTMLInputElement);
    if (!(await steer(tool, { [name]: field.value.trim() }))) return;
    if (name === 'rule') answer = `Alarm set: ${field.value.trim()}`;
    draw();
    field.value = '';
  });

which.addEventListener('change', () => {
  board.chosen = which.value;
  draw();
});

// --- the chart ---

const canvas = element('chart', HTMLCanvasElement);
let scale = new Scale(1, 1, [0, 1], [0, 1]);
/** The second chosen by pointer or keys. */
let pointed: number | undefined;

const secondsShown = (): readonly number[] => board.shown?.seconds.map(({ second }) => second) ?? [];

function point(second: number | undefined): void {
  if (second === pointed) return;
  pointed = second;
  drawChart();
}

canvas.addEventListener('pointermove', ({ clientX }) => {
  const x = clientX - canvas.getBoundingClientRect().left - LEFT;
  point(nearestFrame([secondsShown()], scale.frameAt(x)));
});
for (const name of ['pointerleave', 'blur'] as const) canvas.addEventListener(name, () => point(undefined));
canvas.addEventListener('keydown', (event) => {
  const seconds = secondsShown();
  const at = pointed === undefined ? seconds.length : seconds.indexOf(pointed);
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    Home: 0,
    End: seconds.length - 1,
  };
  const next = steps[event.key];
  if (next === undefined) return;
  event.preventDefault();
  point(seconds[Math.min(seconds.length - 1, Math.max(0, next))]);
});

function drawChart(): void {
  const story = board.shown;
  if (!story) return;
  const { seconds } = story;
  canvas.setAttribute('aria-label', summaryOf(story));
  const { clientWidth, clientHeight } = canvas;
  const pen = clientWidth > 0 ? penOf(canvas, clientWidth, clientHeight) : null;
  if (!pen) return;
  const frames = secondsShown();
  const [means, lows] = [seconds.map(({ mean }) => mean), seconds.map(({ min }) => min)];
  const [first, last] = [frames[0] ?? 0, frames.at(-1) ?? 1];
  const extent = extentOf([means, lows]);
  const [width, height] = [clientWidth - LEFT - RIGHT, clientHeight - TOP - BOTTOM];
  scale = new Scale(width, height, [first, Math.max(first + 1, last)], valueRange(extent, LEAST, true));
  const style = getComputedStyle(canvas);
  const colour: Colours = (name) => style.getPropertyValue(name).trim();
  pen.translate(LEFT, TOP);
  if (extent) drawAxes(pen, scale, frameTicks(scale.span, Math.max(2, width / 90), 1, 0), colour);
  pen.lineWidth = 1.6;
  for (const [name, values] of [
    [LOWEST, lows],
    [MEAN, means],
  ] as const) {
    pen.strokeStyle = pen.fillStyle = colour(name);
    drawLine(pen, scale, { frames, values }, true);
  }
  pen.fillStyle = colour(LOWEST);
  for (const { second, min } of worstSeconds(story))
    drawMoment(pen, scale.x(second), scale.y(min), colour('--card'));
  const chosen = seconds.find(({ second }) => second === pointed);
  if (chosen) {
    pen.fillStyle = colour('--faint');
    pen.fillRect(Math.round(scale.x(chosen.second)), 0, 1, height);
  }
  say('second', chosen ? readoutOf(chosen) : '');
}

function readoutOf({ second, mean, min }: SecondPoint): string {
  const span = `${timeText(second - 1, 0)} to ${timeText(second, 0)}`;
  return `${span}: mean ${scoreText(mean)}, lowest ${scoreText(min)}`;
}

new ResizeObserver(drawChart).observe(canvas);

function summaryOf({ seconds }: Story): string {
  const last = seconds.at(-1);
  if (!last) return 'Score of each second: none yet';
  const { mean, min } = last;
  return `Score of each second: ${seconds.length} seconds, the last with mean ${scoreText(mean)} and lowest ${scoreText(min)}`;
}

// --- the stream ---

const events = new EventSource(document.body.dataset.path ?? '');

/** Shows the state of the connection. @param lost marks the page as out of date */
function connection(text: string, lost = false): void {
  say('line', text);
  element('line', HTMLElement).classList.toggle('bad', lost);
}

async function earlier(): Promise<readonly Story[]> {
  const response = await fetch('/history');
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return response.json();
}

events.addEventListener('ready', async () => {
  try {
    await board.restore(earlier());
    connection('connected');
    draw();
  } catch (error) {
    connection(`earlier data could not be loaded: ${messageOf(error)}`, true);
  }
});

events.addEventListener('error', () => {
  // The server ends with its measurements.
  if (board.isOver) {
    events.close();
    connection('ended');
    return;
  }
  const next = events.readyState === EventSource.CLOSED ? 'reload the page' : 'trying again';
  connection(`connection lost, the page is out of date; ${next}`, true);
});

function follow<K extends keyof BoardEvents>(kind: K): void {
  events.addEventListener(kind, ({ data }) => {
    board.take(kind, JSON.parse(data));
    if (board.isOver) connection('ended');
    draw();
  });
}

for (const kind of ['progress', 'state', 'swap', 'alarm', 'end'] as const) follow(kind);
