/**
 * @module scripts/fuzz/hostile
 * Writes the files of test/fixtures/hostile that a few lines can describe. Each broke the contract once.
 *
 *   node scripts/fuzz/hostile.mjs
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../lib/project.mjs';

function y4m(width, height) {
  const chroma = 2 * Math.ceil(width / 2) * Math.ceil(height / 2);
  const frame = (seed) =>
    Buffer.from({ length: width * height + chroma }, (_, i) => i).map((_, i) => (i * seed) & 255);
  const parts = [Buffer.from(`YUV4MPEG2 W${width} H${height} F25:1 C420\n`)];
  for (const seed of [7, 11]) parts.push(Buffer.from('FRAME\n'), frame(seed));
  return Buffer.concat(parts);
}

const DIGITS = '7'.repeat(3000);
const FILES = {
  // Wrote past the core's memory.
  'narrow-18x20.y4m': y4m(18, 20),
  'narrow-17x19.y4m': y4m(17, 19),
  // Took quadratic time when longer than these.
  'digits.csv': `Frame,vmaf,\n0,${DIGITS}x,\n`,
  'digits.sub': `{0}{1}frame: 0|vmaf: ${DIGITS}x\n`,
  'digits.xml': `<VMAF><frames><frame frameNum="0" vmaf="${DIGITS}x" /></frames></VMAF>`,
  'nested.xml': `${'<VMAF>'.repeat(600)}${'</VMAF>'.repeat(600)}`,
  // Messages of several lines, or that change what a terminal shows.
  'lines.report.json': '{"version":"3.0.0","frames":[{"frameNum":"1\\n2\\u001b[31m","metrics":{"vmaf":1}}]}',
  'lines.sidecar.json': '{"name":"a\\nb\\u202e","kind":"fr\\nnr"}',
  'lines.model.json': '{"param_dict":{"C":1},"model_dict":{"model_type":"LIB\\nSVM\\u0007"}}',
  // Names of every object.
  'proto.report.json':
    '{"version":"3","frames":[{"frameNum":0,"metrics":{"__proto__":1,"constructor":2}}],"__proto__":{}}',
  // A playlist with the name of a video.
  'playlist.mp4': '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/hostname\n#EXT-X-ENDLIST\n',
  'concat.mp4': "ffconcat version 1.0\nfile '/etc/hostname'\n",
};

for (const [name, content] of Object.entries(FILES))
  writeFileSync(join(ROOT, 'test/fixtures/hostile', name), content);
