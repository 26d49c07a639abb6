/**
 * @module test/support/unit-setup
 * Refuses processes, sockets, threads and temporary folders to unit tests and to all that they call.
 */
import childProcess, { spawnSync } from 'node:child_process';
import cluster from 'node:cluster';
import dgram from 'node:dgram';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import threads from 'node:worker_threads';

const STARTERS: readonly (readonly [module: object, names: string])[] = [
  [childProcess, 'exec execFile execFileSync execSync fork spawn spawnSync'],
  [cluster, 'fork'],
  [dgram, 'createSocket'],
  [fs, 'mkdtemp mkdtempSync'],
  [fs.promises, 'mkdtemp'],
  [http, 'createServer get request'],
  [http2, 'connect createSecureServer createServer'],
  [https, 'createServer get request'],
  [net, 'connect createConnection createServer'],
  [tls, 'connect createServer'],
  [threads, 'Worker'],
];

for (const [module, names] of STARTERS)
  for (const name of names.split(' '))
    Object.assign(module, {
      [name]: function refused() {
        throw new Error(`A unit test uses ${name}; see docs/testing.md.`);
      },
    });
syncBuiltinESMExports();

if (spawnSync.name !== 'refused') throw new Error('Unit tests could start processes.');
