/**
 * @module test/support/cpu-time
 * Processor time of work in this process: unlike time on the clock, it does not grow with the load of the machine.
 */

/** Does `work`. @returns milliseconds of processor time that it took */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
