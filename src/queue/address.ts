/**
 * @module queue/address
 * Redis addresses of a queue: user, password, TLS and name. Messages never show the password. Pure.
 */
import { usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';

export interface QueueAddress {
  readonly host: string;
  readonly port: number;
  /** A Unix socket, used instead of host and port. */
  readonly path?: string;
  readonly database: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
  /** Several queues may share a database. */
  readonly name: string;
  /** Without the password, for messages. */
  readonly shown: string;
}

/** Used if the address has no password. */
const PASSWORD_VARIABLE = 'ANYVMAF_QUEUE_PASSWORD';

const FORM =
  'redis://HOST:PORT/DATABASE, rediss:// for TLS, or redis+unix:///PATH for a socket, each with USER@ if needed';

/** @throws {AnyvmafError} `usage`, without the password */
export function queueAddress(
  text: string,
  env: Readonly<Record<string, string | undefined>> = {},
): QueueAddress {
  const refuse = (why: string) => usageError(`--queue ${shown(withoutPassword(text))} ${why}; give ${FORM}`);
  const scheme = /^(rediss?|valkeys?|redis\+unix):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !URL.canParse(text)) throw refuse('is not the URL of a Redis server');
  const url = new URL(text);
  const password = decoded(url.password) || env[PASSWORD_VARIABLE] || undefined;
  const username = decoded(url.username) || undefined;
  const name = url.searchParams.get('queue') ?? 'anyvmaf';
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw refuse('must have a queue name of 1 to 64 letters, digits, dots, dashes and underscores');
  }
  const unix = scheme === 'redis+unix';
  // Other schemes have the database in their path.
  const known = unix ? ['queue', 'db'] : ['queue'];
  const others = [...url.searchParams.keys()].filter((key) => !known.includes(key));
  if (others.length > 0)
    throw refuse(`has ${shown(others.join(', '))} after the question mark, which takes ${known.join(', ')}`);
  const path = unix ? decoded(url.pathname) : undefined;
  if (unix && (!['', 'localhost'].includes(url.host) || path === undefined || path.length < 2))
    throw refuse('must have the path of a socket and no host');
  const number = unix ? (url.searchParams.get('db') ?? '') : url.pathname.replace(/^\//, '');
  if (!/^\d{0,5}$/.test(number)) throw refuse('must have a database number of up to 5 digits');
  if (!unix && url.hostname === '') throw refuse('has no host');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    ...(path !== undefined && { path }),
    database: Number(number),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    tls: scheme === 'rediss' || scheme === 'valkeys',
    name,
    shown: withoutPassword(text),
  };
}

export function withoutPassword(text: string): string {
  // A password may contain an at sign.
  return text
    .replace(/\b([a-z][a-z+]*:\/\/[^\s:/?#@]*):[^\s/]*@/gi, '$1:***@')
    .replace(/\*\*\*@[^\s/]*@/g, '***@');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
