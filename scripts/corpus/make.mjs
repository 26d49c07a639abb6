/**
 * @module scripts/corpus/make
 * Files of the corpus, made with ffmpeg from its own sources.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A camera pans over a larger picture, with a little noise. */
const pan = (speed) =>
  `mandelbrot=s=960x540:r=RATE,loop=-1:1:0,crop=WIDTH:HEIGHT:x='60+${speed}*t':y='30+20*t',noise=alls=4:allf=t:all_seed=3`;

/** Filter graphs of ffmpeg's sources, with placeholders WIDTH, HEIGHT, SIZE and RATE. */
const CONTENTS = {
  pan: pan(40),
  /** So fast that fields differ. */
  run: pan(200),
  cards: 'testsrc2=s=SIZE:r=RATE',
  clock: 'testsrc=s=SIZE:r=RATE',
  zoom: 'mandelbrot=s=SIZE:r=RATE:end_pts=200',
  cells: 'cellauto=s=SIZE:r=RATE:rule=110:seed=12:scroll=1,boxblur=1',
  life: 'life=s=80x45:r=RATE:seed=11:mold=10:ratio=0.3:death_color=#406080:life_color=#f0e0c0,scale=SIZE:flags=bilinear',
  /** Rolling credits, with boxes instead of letters. */
  credits: `color=gray:s=SIZE:r=RATE,format=yuv420p,geq=lum='if(lt(mod(Y+floor(50*T)\\,18)\\,8)*gt(sin(X*1.7+floor((Y+floor(50*T))/18)*5)\\,0.2)\\,220\\,40)':cb=120:cr=134`,
  noise: 'color=gray:s=SIZE:r=RATE,format=yuv420p,noise=alls=60:allf=t:all_seed=8,boxblur=2',
  bars: 'smptehdbars=s=SIZE:r=RATE',
  /** Twelve frames, repeated. */
  pulse: `nullsrc=s=SIZE:r=RATE,format=yuv420p,geq=lum='128+60*sin(X/30+2*PI*N/12)+30*sin(Y/17)':cb=128:cr=128`,
  /** A small object in the dark, and two stars. */
  moon: `color=black:s=SIZE:r=RATE,format=yuv420p,drawbox=x=24:y=20:w=2:h=2:c=0x404040:t=fill,drawbox=x=290:y=150:w=2:h=2:c=0x404040:t=fill[sky];color=0xd0d0c0:s=40x40:r=RATE,format=yuv420p,noise=alls=20:all_seed=4[moon];[sky][moon]overlay=x='140+20*t':y='60+9*t':format=yuv420`,
  /** Small grey marks on paper. */
  paper: `color=0xf8f8f8:s=SIZE:r=RATE,format=yuv420p[sheet];color=0xf2f2f2:s=48x30:r=RATE,format=yuv420p,noise=alls=3:all_seed=4[mark];[sheet][mark]overlay=x='120+30*t':y='50+12*t':format=yuv420`,
};

/** ffmpeg arguments from texts, which are split at spaces, and lists, which are passed as they are. */
function args(...parts) {
  return parts.flatMap((part) => (typeof part === 'string' ? part.split(' ').filter(Boolean) : part));
}

export const X264 = '-c:v libx264 -preset veryfast -crf 30 -threads 1';
export const FFV1 = '-c:v ffv1 -level 3 -threads 1';
export const BT601 = '-color_primaries smpte170m -color_trc smpte170m -colorspace smpte170m';
export const BT709 = '-color_primaries bt709 -color_trc bt709 -colorspace bt709';
export const PQ = '-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv';
export const HLG = '-color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc -color_range tv';

/**
 * Tools that cases make their files with.
 * @param host `ffmpeg(path, args)`, which makes a missing file, and the `folder` for files
 */
export function corpusFiles({ ffmpeg, folder }) {
  // Otherwise SVT-AV1 prints its settings among the results.
  process.env.SVT_LOG ??= '1';
  const at = (name) => join(folder, `corpus-${name}`);
  const make = (name, ...parts) => ffmpeg(at(name), args(...parts));
  /** Options that read a source: by default 50 frames of 320x180 in the source's format. */
  const source = (content, { size = '320x180', rate = '25', frames = 50, format = 'yuv420p' } = {}) => {
    const [width, height] = size.split('x');
    const filled = { WIDTH: width, HEIGHT: height, SIZE: size, RATE: rate };
    const graph = CONTENTS[content].replace(/WIDTH|HEIGHT|SIZE|RATE/g, (name) => filled[name]);
    const options = ['-frames:v', String(frames), ...(format ? ['-pix_fmt', format] : [])];
    return ['-f', 'lavfi', '-i', graph, ...options];
  };
  return {
    at,
    make,
    source,
    put(name, bytes) {
      writeFileSync(at(name), bytes);
      return at(name);
    },
    master(content = 'pan', { options = '', ...shape } = {}) {
      const key = [content, options, ...Object.values(shape)].join('-').replaceAll(/[^\w.-]+/g, '_');
      return make(`${key}.mkv`, source(content, shape), options, FFV1);
    },
    /** An encode of a file: its name gives the container; texts such as `-vf` are options. */
    encode: (name, input, ...options) => make(name, ['-i', input, '-an'], ...options),
  };
}

/** A sound encode by x264. */
export const sound =
  (name, options = '') =>
  (files, reference) =>
    files.encode(name, reference, X264, options);

/** Every `step`-th number from `first` to before `end`. */
export function frames(first, end, step = 1) {
  return Array.from({ length: Math.ceil((end - first) / step) }, (_, n) => first + n * step);
}
