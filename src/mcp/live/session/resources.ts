/**
 * @module mcp/live/session/resources
 * The report so far of each measurement, as a resource that clients may subscribe to.
 */
import type { History } from '../../../live/history.js';
import { CODE, ProtocolFailure } from '../failures.js';
import type { Hub } from '../hub.js';
import { statusOf } from '../tools/read.js';

/** Latest frames in the report so far. */
const FRAMES = 100;

/** The address of a measurement's report. */
export function uriOf({ name }: History): string {
  return `vmaf://measurement/${name}/report`;
}

export function listResources(hub: Hub): object[] {
  return hub.measurements.map((measurement) => ({
    uri: uriOf(measurement),
    name: `report of ${measurement.name}`,
    title: 'Report so far',
    description:
      'The report so far: where the measurement stands, pooled values, worst moments, latest frames.',
    mimeType: 'application/json',
  }));
}

/** @throws {ProtocolFailure} if there is no such resource */
export function measurementOf(hub: Hub, uri: unknown): History {
  if (typeof uri !== 'string')
    throw new ProtocolFailure(CODE.params, 'uri must be the address of a resource.');
  const found = hub.measurements.find((measurement) => uriOf(measurement) === uri);
  if (found) return found;
  throw new ProtocolFailure(CODE.params, `There is no resource ${uri.slice(0, 200)}.`, { uri });
}

export function readResource(hub: Hub, uri: unknown): object {
  const measurement = measurementOf(hub, uri);
  const last = Math.max(0, measurement.last - FRAMES + 1);
  const frames = Array.from({ length: Math.max(0, measurement.last - last + 1) }, (_, i) => ({
    frame: last + i,
    metrics: measurement.frame(last + i),
  })).filter(({ metrics }) => metrics !== undefined);
  const pooled = measurement.metrics.map((name) => [name, measurement.pooled(name) ?? null]);
  const report = {
    ...statusOf(measurement, hub),
    pooled: Object.fromEntries(pooled),
    worst: measurement.worst(10),
    frames,
  };
  return {
    contents: [{ uri: uriOf(measurement), mimeType: 'application/json', text: JSON.stringify(report) }],
  };
}
