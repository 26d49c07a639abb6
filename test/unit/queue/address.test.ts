/**
 * @module test/unit/queue/address
 * Addresses of queues: what is read from them, and that no message shows a password.
 */
import { describe, expect, it } from 'vitest';
import { queueAddress, withoutPassword } from '../../../src/queue/address.js';
import { QueueConnection } from '../../../src/queue/connect.js';

describe('an address', () => {
  it('has host, port, database, user, password, TLS and a name', () => {
    expect(queueAddress('rediss://ann:p%40ss%2Fw@queue.example:7000/3?queue=night')).toEqual({
      host: 'queue.example',
      port: 7000,
      database: 3,
      username: 'ann',
      password: 'p@ss/w',
      tls: true,
      name: 'night',
      shown: 'rediss://ann:***@queue.example:7000/3?queue=night',
    });
    expect(queueAddress('redis://[::1]')).toMatchObject({ host: '::1', port: 6379, database: 0, tls: false });
    expect(queueAddress('valkey://v')).toMatchObject({ host: 'v', name: 'anyvmaf' });
    expect(queueAddress('redis+unix:///run/a%20b.sock?db=2')).toMatchObject({
      path: '/run/a b.sock',
      database: 2,
    });
  });

  it('takes its password from the environment, unless it has one', () => {
    const env = { ANYVMAF_QUEUE_PASSWORD: 'secret' };
    expect(queueAddress('redis://h', env).password).toBe('secret');
    expect(queueAddress('redis://:own@h', env).password).toBe('own');
    expect(queueAddress('redis://h').password).toBeUndefined();
  });

  it.each([
    ['localhost:6379', /is not the address/],
    ['http://h', /is not the address/],
    ['redis://:pw@h/x', /database that is not a number/],
    ['redis://:pw@h?queue=a/b', /a name of a queue/],
    ['redis://:pw@h?queue=__proto__&x=1', /has x, but only/],
    ['redis+unix://host/path', /names no path of a socket/],
    ['redis://:pw@', /not the address|names no host/],
    ['', /is not the address/],
  ])('%s is refused, without its password', (text, why) => {
    const refuse = () => queueAddress(text);
    expect(refuse).toThrow(why);
    expect(refuse).not.toThrow(/pw/);
  });

  it.each([
    ['redis://u:pw@h/1', 'redis://u:***@h/1'],
    ['at redis://:p:w@x@h: no', 'at redis://:***@h: no'],
    ['rediss://u@h', 'rediss://u@h'],
    ['nothing here', 'nothing here'],
  ])('%s is shown as %s', (text, shown) => {
    expect(withoutPassword(text)).toBe(shown);
  });
});

describe('a queue', () => {
  it('without its packages says what to install', async () => {
    const missing = () => Promise.reject(new Error("Cannot find package 'bullmq'"));
    await expect(QueueConnection.open(queueAddress('redis://h'), false, missing)).rejects.toThrow(
      /needs the packages bullmq and ioredis.*npm install bullmq ioredis/,
    );
  });
});
