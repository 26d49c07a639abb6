/**
 * @module mcp/live/tools/steer
 * `vmaf.request_model_swap`, `vmaf.set_alarm`, `vmaf.pause`, `vmaf.resume` and `vmaf.stop`: carried out at a frame boundary.
 */
import { parseAlarm } from '../../../live/alarms.js';
import { type LiveTool, READS, textOf } from '../tool.js';
import { MEASUREMENT, RULE } from './read.js';

const STEERS = { ...READS, readOnlyHint: false, destructiveHint: false };

/** Changes the model. */
export const SWAP: LiveTool = {
  name: 'vmaf.request_model_swap',
  title: 'Change the model',
  description:
    'Changes the model at a frame boundary; the answer names the first frame of the new one. Refused if the model needs ' +
    'features that the run does not measure.',
  parameters: {
    ...MEASUREMENT,
    model: { type: 'string', description: 'Model string, such as vmaf_v0.6.1neg.', maxLength: 1024 },
    replace: {
      type: 'string',
      description: 'Key of the score to end. Default: the only one.',
      maxLength: 256,
    },
  },
  required: ['model'],
  annotations: STEERS,
  call(args, hub) {
    const model = textOf(args, 'model') ?? '';
    const replace = textOf(args, 'replace');
    const measurement = hub.measurement(textOf(args, 'measurement'));
    return hub.command(measurement, { kind: 'swap', model, replace });
  },
};

/** Watches a rule for all who follow the measurement. */
export const SET_ALARM: LiveTool = {
  name: 'vmaf.set_alarm',
  title: 'Set an alarm',
  description:
    'Watches a rule from the next frame on, as --alarm does: all clients and the program hear when it comes true and when it ' +
    'is over. vmaf.watch waits for a rule without that.',
  parameters: { ...MEASUREMENT, rule: RULE },
  required: ['rule'],
  annotations: STEERS,
  call(args, hub) {
    const rule = parseAlarm(textOf(args, 'rule') ?? '');
    return hub.command(hub.measurement(textOf(args, 'measurement')), { kind: 'alarm', rule });
  },
};

const EFFECTS = {
  pause: [
    'Pause a measurement',
    'Pauses the measurement at a frame boundary; what is being measured is finished.',
  ],
  resume: ['Resume a measurement', 'Goes on after a pause.'],
  stop: [
    'Stop a measurement',
    'Ends the measurement with the frames that were taken; its program gets a report of these.',
  ],
} as const;

/** Pause, resume, stop. */
export const STEERING: readonly LiveTool[] = (['pause', 'resume', 'stop'] as const).map((kind) => ({
  name: `vmaf.${kind}`,
  title: EFFECTS[kind][0],
  description: EFFECTS[kind][1],
  parameters: MEASUREMENT,
  annotations: { ...STEERS, destructiveHint: kind === 'stop' },
  call: (args, hub) => hub.command(hub.measurement(textOf(args, 'measurement')), { kind }),
}));
