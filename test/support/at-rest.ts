import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two looks, and looks in a row that must find every thread asleep. */
const [LOOK, ENOUGH] = [50, 12];

/**
 * Waits until a process waits for something: every thread sleeps for a while, which one that only lacks a processor does not.
 * Off Linux that cannot be seen, and this waits for a second.
 */
export async function atRest(pid: number | undefined): Promise<void> {
  if (process.platform !== 'linux') {
    await sleep(1000);
    return;
  }
  for (let asleep = 0; asleep < ENOUGH; await sleep(LOOK)) asleep = sleeps(pid) ? asleep + 1 : 0;
}

/** Whether all threads sleep. @throws {Error} if the process is gone */
function sleeps(pid: number | undefined): boolean {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).every((thread) => {
    try {
      const stat = readFileSync(`${folder}/${thread}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')')).startsWith(') S');
    } catch {
      // A thread that ends just now.
      return false;
    }
  });
}
