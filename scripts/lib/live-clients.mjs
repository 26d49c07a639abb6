/**
 * @module scripts/lib/live-clients
 * Clients of a live server, in a separate process, so that their time and memory do not count as the server's:
 * some ask for the status ten times a second, others hang up in every possible way. Started with `startClients`.
 */
import { fork } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

/** Milliseconds between two requests of a client. */
export const PAUSE = 100;
/** Concurrent streams that stop reading, and milliseconds after which their client checks whether it was dropped. */
const [DEAF, DEAF_TIME] = [4, 60_000];
/** Half-sent requests that stay open. */
const HALF = 16;

const STATUS = rpc('tools/call', { name: 'vmaf.status', arguments: {} });
const HUGE = 'x'.repeat(5 << 20);

/**
 * Starts clients in another process, at the same priority.
 * @param settings address of the event stream; number of `clients` that ask; `path` of a Unix socket and milliseconds per
 * hang-up (`every`), or neither
 * @returns `counts()`: counts so far; `rest()`: pauses the clients that ask until `go()`, and gives the counts;
 * `stop()`: ends them, and gives the last counts
 */
export function startClients(settings) {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  child.send(settings);
  const ask = (what) =>
    new Promise((resolve, reject) => {
      const dead = () => reject(new Error('the clients have died'));
      child.once('exit', dead);
      child.once('message', (answer) => {
        child.off('exit', dead);
        resolve(answer);
      });
      child.send(what);
    });
  const counts = () => ask('counts');
  return {
    counts,
    rest: () => ask('rest'),
    go: () => void child.send('go'),
    async stop() {
      const last = await counts();
      const ended = new Promise((done) => child.once('exit', done));
      child.disconnect();
      await ended;
      return last;
    },
  };
}

function rpc(method, params) {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

const done = { answers: 0, failures: 0, hangUps: 0, overHttp: 0, dropped: 0 };

/**
 * Asks for the status, each client on its own connection. Uses raw bytes instead of a library, because a client should
 * cost less than what it watches.
 */
function ask(address, clients) {
  const { host, hostname, port, pathname } = new URL(address);
  const question = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${STATUS.length}\r\n\r\n${STATUS}`;
  for (let i = 0; i < clients; i++) {
    let socket;
    let waiting = false;
    let text = '';
    const take = (chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n') + 4;
      if (head < 4 || text.length < head + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)) return;
      if (text.startsWith('HTTP/1.1 200 ')) done.answers++;
      else done.failures++;
      text = '';
      waiting = false;
    };
    const open = () => {
      const opened = connect(Number(port), hostname).setNoDelay(true);
      opened.on('data', take).on('error', () => {});
      // A server may end an idle connection just when the client asks; the client then asks again.
      opened.once('close', () => {
        if (text !== '') done.failures++;
        text = '';
        waiting = false;
        socket = undefined;
      });
      return opened;
    };
    const once = () => {
      if (waiting || resting) return;
      waiting = true;
      socket ??= open();
      socket.write(question);
    };
    // Spread over the pause, not all at once.
    setTimeout(() => setInterval(once, PAUSE), (i * PAUSE) / clients);
  }
}

/** Hangs up on the socket and the port alternately, in every way. */
function hangUp(address, path, every) {
  const { port, pathname } = new URL(address);
  const open = (where) => connect(...where).on('error', () => {});
  const [unix, tcp] = [[path], [Number(port), '127.0.0.1']];
  const head = (line, length) => `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${length}\r\n`;
  const post = (body, to = pathname) => head(`POST ${to}`, `Content-Length: ${body.length}\r\n`) + body;
  const get = head(`GET ${pathname}`, 'Last-Event-ID: 1\r\n');
  const opening = post(rpc('initialize', { protocolVersion: '2025-06-18', capabilities: {} }), '/mcp');
  /** Sends something, waits a moment, and disconnects. */
  const say =
    (where, text, leave = 'destroy', wait = 20) =>
    () => {
      const socket = open(where);
      socket.once('connect', () => socket.write(text));
      socket.once('close', () => done.hangUps++);
      setTimeout(() => socket[leave](), wait);
    };
  const onSocket = ['', '{"jsonrpc":', `${HUGE}\n`, 'garbage\n'.repeat(100), `${STATUS}\n`.repeat(50)];
  const onPort = ['', 'POST /mcp', post(STATUS).slice(0, -10), post(STATUS), post(HUGE), get, opening];
  const ways = [
    ...onSocket.map((text) => say(unix, text)),
    ...onPort.flatMap((text) => [say(tcp, text), say(tcp, text, 'resetAndDestroy')]),
    // Gone before the answer.
    say(tcp, post(STATUS).repeat(20), 'resetAndDestroy', 0),
    say(tcp, 'nonsense\r\n\r\n'),
    () => deaf(open(tcp), get),
    () => half(open(tcp), post(STATUS).slice(0, -10)),
    () => half(open(unix), STATUS),
  ];
  let turn = 0;
  setInterval(() => {
    const way = turn++ % ways.length;
    if (way >= onSocket.length && way < ways.length - 1) done.overHttp++;
    ways[way]?.();
  }, every);
}

let resting = false;
let listeningNot = 0;

/** A stream that stops reading; the server must drop it. */
function deaf(socket, get) {
  if (listeningNot >= DEAF) {
    socket.destroy();
    return;
  }
  listeningNot++;
  socket.once('connect', () => socket.write(get));
  socket.once('data', () => socket.pause());
  socket.once('close', () => {
    listeningNot--;
    done.hangUps++;
  });
  // After the data in the system's buffers, there is an end or none.
  setTimeout(() => {
    socket.once('end', () => done.dropped++).resume();
    setTimeout(() => socket.destroy(), 2000);
  }, DEAF_TIME);
}

const halves = [];

/** A half-sent request that stays open; the oldest is closed. */
function half(socket, text) {
  socket.once('connect', () => socket.write(text));
  socket.once('close', () => done.hangUps++);
  halves.push(socket.resume());
  if (halves.length > HALF) halves.shift()?.destroy();
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.send) {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    if (message === 'go' || message === 'rest') resting = message === 'rest';
    if (message === 'go') return;
    if (message === 'counts' || message === 'rest') {
      const { user, system } = process.cpuUsage();
      process.send({ ...done, seconds: (user + system) / 1e6 });
      return;
    }
    const { address, clients, path, every } = message;
    ask(address, clients);
    if (path) hangUp(address, path, every);
  });
}
