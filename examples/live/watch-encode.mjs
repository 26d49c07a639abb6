/**
 * Encodes a video with ffmpeg and watches its quality: the encoder's output is decoded, compared with its source frame by frame, and
 * served at a port during the encode.
 *
 *     node watch-encode.mjs SOURCE.y4m OUTPUT.mkv [CRF]
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { createEmbeddedServer, prepareRun } from 'anyvmaf';

const [source, output, crf = '28'] = process.argv.slice(2);
if (source === undefined || output === undefined) {
  console.error('usage: node watch-encode.mjs SOURCE.y4m OUTPUT.mkv [CRF]');
  process.exit(1);
}

const quiet = ['-hide_banner', '-loglevel', 'error'];
const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', crf, '-f', 'matroska', '-'];
const encoder = spawn('ffmpeg', [...quiet, '-i', source, ...encode], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const keep = ['-c', 'copy', output];
const decoder = spawn('ffmpeg', [...quiet, '-y', '-i', '-', ...keep, '-f', 'yuv4mpegpipe', '-'], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
pipeline(encoder.stdout, decoder.stdin, () => {});
for (const child of [encoder, decoder])
  child.once('exit', (code) => {
    // ffmpeg printed why.
    if (code !== 0) process.exit(1);
  });

const run = await prepareRun(
  {
    reference: Readable.toWeb(createReadStream(source)),
    distorted: Readable.toWeb(decoder.stdout.pipe(new PassThrough())),
  },
  { keep: { frames: 500 } },
);
const server = await createEmbeddedServer(run, {
  keepFrames: 500,
  alarms: ['p5<70 for 2s'],
  onAlarm: ({ rule, raised, frame, value }) =>
    console.log(`${raised ? 'alarm' : 'over'}: ${rule}, ${value.toFixed(1)} at frame ${frame}`),
  onSecond: ({ second, mean, min }) =>
    console.log(`${second} s: mean ${mean.toFixed(1)}, lowest ${min.toFixed(1)}`),
});
try {
  const { address } = await server.listen({ transport: 'sse', port: 0, dashboard: true });
  console.log(`watch it at ${new URL('/', address)}`);
  const report = await run.start();
  console.log(`VMAF ${report.pooled_metrics.vmaf.mean.toFixed(2)} over ${report.frameCount} frames`);
} finally {
  await server.close();
}
