/**
 * @module scripts/lib/accuracy-film
 * Compares the perceptual metrics with the authors' programs on frames of real film, where environment variables name them:
 *
 *   SSIMULACRA2_BIN, BUTTERAUGLI_BIN   take two PNG files; the first built without FMA, the second of libjxl since 0.8
 *   CVVDP_PY                           a Python that imports pycvvdp
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { table } from './project.mjs';

const FRAMES = 20;
const RATE = 25;
const SIZE = { width: 160, height: 90 };

/** JOD of the clip, of PNG files in order. */
const CVVDP_SCRIPT = `
import subprocess, sys, numpy, torch, pycvvdp
width, height, rate = (int(value) for value in sys.argv[3:6])
def read(pattern):
    command = ['ffmpeg', '-v', 'error', '-i', pattern, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']
    data = subprocess.run(command, capture_output=True, check=True).stdout
    return numpy.frombuffer(data, numpy.uint8).reshape(-1, height, width, 3)
metric = pycvvdp.cvvdp(display_name='standard_4k', device=torch.device('cpu'), quiet=True)
jod, _ = metric.predict(read(sys.argv[2]), read(sys.argv[1]), dim_order='FHWC', frames_per_second=rate)
print(float(jod))
`;

/**
 * @param score anyvmaf's
 * @param shared URL of ../shared
 * @param folder for pictures
 * @returns the table; `undefined` if there is no film or no program
 */
export async function filmAccuracy(score, shared, folder) {
  const clips = ['00', '01'].map((hrc) => fileURLToPath(new URL(`clips/src01_hrc${hrc}_160x90.yuv`, shared)));
  const { SSIMULACRA2_BIN, BUTTERAUGLI_BIN, CVVDP_PY } = process.env;
  if (!clips.every(existsSync) || !(SSIMULACRA2_BIN || BUTTERAUGLI_BIN || CVVDP_PY)) return undefined;
  const [reference, distorted] = clips.map((clip, side) => writePictures(clip, join(folder, `film${side}`)));
  const report = await score(
    { reference, distorted },
    {
      ...{ noPrediction: true, threads: 0, preflight: false, rate: RATE },
      features: ['ssimulacra2=mode=exact', 'butteraugli', 'cvvdp'],
    },
  );
  const pictures = report.frames.map((_, i) =>
    [reference, distorted].map((pattern) => pattern.replace('%02d', String(i + 1).padStart(2, '0'))),
  );
  const found = (name) => report.frames.map(({ metrics }) => metrics[name]);
  const rows = [];
  if (SSIMULACRA2_BIN) {
    const expected = pictures.map((pair) => Number(run(SSIMULACRA2_BIN, pair)));
    rows.push(row('`ssimulacra2`, `mode=exact`', found('ssimulacra2'), expected, { digits: 8 }));
  }
  if (BUTTERAUGLI_BIN) {
    const printed = pictures.map((pair) =>
      run(BUTTERAUGLI_BIN, pair)
        .match(/[\d.]+(?=\s|$)/g)
        .map(Number),
    );
    const options = { relative: true };
    rows.push(
      row(
        '`butteraugli`',
        found('butteraugli'),
        printed.map(([maximum]) => maximum),
        options,
      ),
    );
    rows.push(
      row(
        '`butteraugli_3norm`',
        found('butteraugli_3norm'),
        printed.map((all) => all.at(-1)),
        options,
      ),
    );
  }
  if (CVVDP_PY) {
    const args = ['-c', CVVDP_SCRIPT, reference, distorted, SIZE.width, SIZE.height, RATE].map(String);
    rows.push(row('`cvvdp`, the clip', [report.aggregate_metrics.cvvdp], [Number(run(CVVDP_PY, args))], {}));
  }
  return table(['metric', 'values', 'equal as printed', 'worst difference'], rows);
}

/** Writes the first frames of a raw clip as PNG files. @returns their pattern */
function writePictures(clip, path) {
  const pattern = `${path}-%02d.png`;
  const input = [
    '-f',
    'rawvideo',
    '-pix_fmt',
    'yuv420p',
    '-s',
    `${SIZE.width}x${SIZE.height}`,
    '-r',
    String(RATE),
  ];
  run('ffmpeg', [...['-v', 'error', '-y', ...input, '-i', clip], '-frames:v', String(FRAMES), pattern]);
  return pattern;
}

function run(program, args) {
  return execFileSync(program, args, { encoding: 'utf8' }).trim();
}

function row(metric, found, expected, { digits, relative }) {
  const differences = found.map((value, i) => {
    const difference = Math.abs((digits === undefined ? value : Number(value.toFixed(digits))) - expected[i]);
    return relative ? difference / Math.abs(expected[i]) : difference;
  });
  const equal =
    digits === undefined ? '' : String(differences.filter((difference) => difference === 0).length);
  const worst = Math.max(...differences);
  const text = worst === 0 ? '0' : worst.toExponential(1);
  return [metric, String(found.length), equal, relative ? `${text} relative` : text];
}
