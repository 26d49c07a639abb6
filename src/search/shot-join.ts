/**
 * @module search/shot-join
 * Joins the encodes of shots, scores the whole against the source, and compares it with what the shots gave.
 */
import { AnyvmafError } from '../core/errors.js';
import { counted, shown } from '../core/printable.js';
import type { FrameValues } from './allocate.js';
import { inUnitOf } from './estimate.js';
import { isHevc } from './ladder-commands.js';
import { pooledOf } from './points.js';
import { measuredOf, scoreEncode, total } from './probe.js';
import type { Session } from './session.js';
import type { ShotProbe, ShotTask } from './shot-probe.js';
import type { JoinedEncode } from './shots-types.js';
import { poolingOf } from './targets.js';

/** Frames at either end of a shot whose motion is measured across the cut. */
const EDGE = 5;
/** Difference within a shot that no way of measuring motion explains. */
const WRONG = 1;

/** A joined file, and its values shot by shot. */
export interface Joined {
  readonly final: Omit<JoinedEncode, 'reached'>;
  readonly frames: readonly FrameValues[];
}

/**
 * Joins the encodes of the chosen values.
 * @param expected what the shots gave
 * @throws {AnyvmafError} `media` where the joined file has other frames than the source, or shows other pictures than the shots
 */
export async function joinShots(
  session: Session,
  task: ShotTask,
  shots: readonly ShotProbe[],
  values: readonly number[],
  expected: readonly FrameValues[],
  output: string,
): Promise<Joined> {
  const { folder, facts, source, perSecond, signal } = session;
  const segments: { readonly name: string; readonly frames: ShotProbe['shot'] }[] = [];
  for (const [i, shot] of shots.entries()) {
    const value = values[i] as number;
    segments.push({ name: await shot.probe.file(value), frames: shot.shot });
    await shot.probe.removeFiles(value);
    await shot.release();
  }
  const { args } = task.setting;
  const hevc = isHevc(task.setting.encoder.name) && /\.(?:mp4|m4v|mov)$/i.test(output) ? 'hvc1' : undefined;
  const tag = args.includes('-tag:v') ? args[args.indexOf('-tag:v') + 1] : hevc;
  let frames: readonly FrameValues[] = [];
  const { sizes } = await folder.join({
    segments,
    source,
    facts,
    tag,
    output,
    signal,
    async check(path) {
      frames = await scoreJoined(session, task, shots, path, output);
      const { within } = differenceOf(expected, frames, task);
      if (within <= WRONG) return;
      throw new AnyvmafError(
        'media',
        `The joined file differs from the shots by up to ${within.toFixed(2)} within a shot, so that ${task.setting.encoder.name} ` +
          'cannot be joined in this container; it was removed. Write to another one.',
      );
    },
  });
  const bytes = total(sizes);
  const kbps = (bytes * 8 * perSecond) / facts.times.length / 1000;
  const names = Object.keys(frames[0] ?? {});
  const all = Object.fromEntries(names.map((name) => [name, frames.map((one) => one[name] ?? [])]));
  const difference = differenceOf(expected, frames, task);
  return { final: { file: output, bytes, kbps, pooled: pooledOf(all), difference }, frames };
}

/** Scores a joined file against the source. @returns its values, shot by shot */
async function scoreJoined(
  session: Session,
  { metrics }: ShotTask,
  shots: readonly ShotProbe[],
  path: string,
  output: string,
): Promise<readonly FrameValues[]> {
  const { facts, source, signal } = session;
  const report = await scoreEncode(session, source, path);
  signal.throwIfAborted();
  if (report.frames.length !== facts.times.length) {
    throw new AnyvmafError(
      'media',
      `${counted(report.frames.length, 'frame')} of ${shown(output)} could be compared with the source's ${facts.times.length}; ` +
        'it was removed.',
    );
  }
  const runs = shots.map(({ shot }) => ({ from: shot.first, count: shot.count }));
  const measured = measuredOf(session, report, runs, metrics);
  return shots.map((_, i) =>
    Object.fromEntries(Object.entries(measured).map(([name, samples]) => [name, samples[i] ?? []])),
  );
}

function differenceOf(
  expected: readonly FrameValues[],
  found: readonly FrameValues[],
  { targets: [target] }: ShotTask,
): JoinedEncode['difference'] {
  let [within, edges] = [0, 0];
  if (!target) return { within, edges };
  const { from, by } = poolingOf(target);
  for (const [shot, values] of expected.entries()) {
    const [wanted = [], got = []] = inUnitOf(by, [values[from] ?? [], found[shot]?.[from] ?? []]);
    wanted.forEach((value, i) => {
      const off = Math.abs(value - (got[i] ?? Number.NaN));
      if (i < EDGE || i >= wanted.length - EDGE) edges = Math.max(edges, off);
      else within = Math.max(within, off);
    });
  }
  return { within, edges };
}
