import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { score } from 'anyvmaf';

// Any program that writes Y4M or raw video, such as ffmpeg -i FILE -f yuv4mpegpipe -
const decoder = spawn(process.execPath, [
  '-e',
  'require("fs").createReadStream("distorted.y4m").pipe(process.stdout)',
]);
const distorted = Readable.toWeb(decoder.stdout) as ReadableStream<Uint8Array>;

const report = await score({ reference: 'reference.y4m', distorted });

console.log(report.frameCount, report.warnings);
