/**
 * @module mcp/live/tools/watch
 * `vmaf.watch`: waits for an alarm, no longer than hosts wait for an answer.
 */
import { type Alarm, parseAlarm } from '../../../live/alarms.js';
import type { History } from '../../../live/history.js';
import type { NextAction } from '../../context.js';
import { type LiveTool, numberOf, READS, textOf } from '../tool.js';
import { MEASUREMENT } from './read.js';

/** Seconds that a call waits at most; many hosts give up after 60. */
const LONGEST = 45;

/** Seconds of video before an alarm that its next action asks about. */
const BEFORE = 5;

/** A rule of alarms. */
export const RULE = {
  type: 'string',
  description:
    'A pooled value (mean, min, p5, psnr_y.min), < or >, a limit; for so many seconds (3s) or frames (50f).',
  maxLength: 200,
} as const;

/** Waits for an alarm. */
export const WATCH: LiveTool = {
  name: 'vmaf.watch',
  title: 'Wait for an alarm',
  description:
    "Waits until a rule comes true, such as 'p5<80 for 3s' or 'psnr_y.min<30 for 50f'; at once if it is true now. " +
    `After ${LONGEST} s at most it answers and next_action goes on, without a gap.`,
  parameters: {
    ...MEASUREMENT,
    rule: RULE,
    after: {
      type: 'integer',
      description: 'Only an alarm after this frame, also one that is over.',
      minimum: 0,
    },
    wait: {
      type: 'number',
      description: `Seconds to wait. Default ${LONGEST}.`,
      minimum: 0,
      maximum: LONGEST,
    },
  },
  required: ['rule'],
  annotations: READS,
  async call(args, hub, { signal, progress }) {
    const rule = parseAlarm(textOf(args, 'rule') ?? '');
    const measurement = hub.measurement(textOf(args, 'measurement'));
    const milliseconds = 1000 * (numberOf(args, 'wait') ?? LONGEST);
    let after = numberOf(args, 'after');
    const look = (): Alarm | 'over' | undefined => {
      const { facts, last, measured } = measurement;
      if (facts) {
        progress({ done: measured, total: facts.total ?? null });
        const told = measurement.watch(rule);
        const latest = told.at(-1);
        after ??= latest?.raised ? latest.frame - 1 : last;
        const since = after;
        const found = told.find(({ raised, frame }) => raised && frame > since);
        if (found) return found;
      }
      return measurement.isOver ? 'over' : undefined;
    };
    const found = await hub.until(look, milliseconds, signal);
    return documentOf(measurement, rule.text, found === 'over' ? undefined : found);
  },
};

function documentOf(measurement: History, rule: string, alarm: Alarm | undefined): object {
  const { name, state, measured, isOver } = measurement;
  const { metric, frame, value } = alarm ?? {};
  const summary = alarm
    ? `The rule came true with frame ${frame}: ${metric} is ${value}. To wait for the next one, pass after: ${frame}.`
    : isOver
      ? 'The measurement is over; the rule did not come true.'
      : 'The rule has not come true yet; next_action goes on waiting.';
  return {
    summary,
    ...{ measurement: name, state, frames: measured, rule, raised: alarm !== undefined },
    ...(alarm && { alarm: { metric, frame, value } }),
    next_action: nextOf(measurement, rule, alarm),
  };
}

function nextOf(measurement: History, rule: string, alarm: Alarm | undefined): NextAction {
  const { name, last, isOver, framesPerSecond, facts } = measurement;
  const named = { measurement: name };
  if (alarm) {
    const span = Math.round(BEFORE * framesPerSecond * (facts?.subsample ?? 1));
    const frames = { first: Math.max(0, alarm.frame - span + 1), last: alarm.frame };
    return { tool: 'vmaf.score', arguments: { ...named, ...frames } };
  }
  if (isOver) return { tool: 'vmaf.score', arguments: named };
  return { tool: 'vmaf.watch', arguments: { ...named, rule, ...(last >= 0 && { after: last }) } };
}
