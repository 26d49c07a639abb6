/**
 * @module scripts/queue-overhead
 * Prints the cost of a queue per part (see lib/queue-overhead), and its share of a part of ten seconds.
 *
 *   npm run queue:overhead -- [--parts N]
 */

import { readOptions } from './lib/project.mjs';
import { measureOverhead, PART_SECONDS } from './lib/queue-overhead.mjs';
import { hasRedis } from './lib/redis-server.mjs';

const { values } = readOptions({ options: { parts: { type: 'string', default: '300' } } });

if (!hasRedis()) {
  console.log('redis-server is not installed');
  process.exit(2);
}
const { count, total, seconds, rows, scripts } = await measureOverhead(Number(values.parts));
const sent = /^(evalsha|eval|exists|hmget|hget|hkeys|hgetall|mget|set|zadd|bzpopmin|xread|smembers)$/;
const each = rows
  .filter(({ name, calls }) => sent.test(name) && calls > 0)
  .map(({ name, calls }) => `${name} ${calls.toFixed(2)}`);
console.log(
  `${count} parts in ${total.toFixed(1)} s: ${(1000 * seconds).toFixed(1)} ms per part, with opening and measuring it`,
);
console.log(`that is ${((100 * seconds) / PART_SECONDS).toFixed(2)} % of a part of ${PART_SECONDS} s`);
console.log(
  `commands per part (inside scripts, too): ${each.join(', ')}; ${scripts.toFixed(0)} us of Redis in scripts`,
);
