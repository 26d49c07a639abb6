/**
 * @module platform/node/encoding/library-version
 * Which release of its library an encoder of ffmpeg runs. It may be another tomorrow with the same ffmpeg, and encode
 * otherwise; ffmpeg does not list it.
 */
import { runTool } from '../ffmpeg/tool.js';

const TRIAL = ['-f', 'lavfi', '-i', 'color=s=128x128:r=25', '-frames:v', '1'];

/** Where encoders name themselves: in the log, or in what they write. */
const NAMED = [
  /^x265 \[info\]: HEVC encoder version (\S+)/m,
  /^Svt\[info\]: SVT \[version\]:\s+(?:\S+ )*?v?(\d\S*)\s*$/m,
  /^\[[\w.-]+ @ \w+\] v(\d+\.\S+)\s*$/m,
  /x264 - core (\d+(?: r\d+)?)/,
];

/**
 * Encodes one small frame to see it.
 * @returns `undefined` for encoders that do not tell, or do not take that frame
 */
export async function libraryVersion(encoder: string, signal?: AbortSignal): Promise<string | undefined> {
  const { stdout, stderr } = await runTool(
    'ffmpeg',
    ['-hide_banner', '-nostdin', ...TRIAL, '-c:v', encoder, '-f', 'nut', 'pipe:1'],
    { signal },
  );
  return versionIn(stderr) ?? versionIn(stdout);
}

/** The version that an encoder's log or stream names. */
export function versionIn(text: string): string | undefined {
  for (const named of NAMED) {
    const version = named.exec(text)?.[1];
    if (version !== undefined) return version;
  }
  return undefined;
}
