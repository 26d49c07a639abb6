/**
 * @module scripts/lib/wrong-pairs
 * Recipes of deliberately wrong pairs, one kind of fault each, and of sound ones: ffmpeg options, and the finding that
 * preflight should name first. Drawn from fixed seeds: the pair of a kind and number is always the same.
 */
import { createHash } from 'node:crypto';

class Draw {
  #seed;
  #drawn = 0;
  constructor(seed) {
    this.#seed = seed;
  }
  #random() {
    return (
      createHash('sha256')
        .update(`${this.#seed} ${this.#drawn++}`)
        .digest()
        .readUInt32LE() /
      2 ** 32
    );
  }
  of = (list) => list[Math.floor(this.#random() * list.length)];
  /** A whole number from `low` to `high`. */
  whole = (low, high) => low + Math.floor(this.#random() * (high - low + 1));
  /** A number from `low` to `high`, with two decimals. */
  number = (low, high) => Number((low + this.#random() * (high - low)).toFixed(2));
  sign = () => (this.#random() < 0.5 ? -1 : 1);
}

/** Moving content, as ffmpeg sources or `sample:SEED` of this package. */
const CONTENTS = {
  'test pattern': ({ size, rate }) => `testsrc2=s=${size}:r=${rate}`,
  clock: ({ size, rate }) => `testsrc=s=${size}:r=${rate}`,
  fractal: ({ size, rate }) => `mandelbrot=s=${size}:r=${rate}`,
  pan: ({ width, height, rate }) =>
    `mandelbrot=s=${2 * width}x${2 * height}:r=${rate},loop=-1:1:0,crop=${width}:${height}:'n*1.5':${height >> 1}`,
  life: ({ width, height, size, rate, seed }) =>
    `life=s=${width >> 2}x${height >> 2}:r=${rate}:seed=${seed}:mold=10:ratio=0.3,scale=${size.replace('x', ':')}:flags=bicubic`,
  gradients: ({ size, rate, seed }) =>
    `gradients=s=${size}:r=${rate}:seed=${seed}:speed=0.05:c0=0x1a2b8c:c1=0xf0d060:c2=0x208040`,
  'object, noise': ({ size, rate, seed }) =>
    `mandelbrot=s=${size}:r=${rate},loop=-1:1:0,format=yuv420p[a];color=orange:s=40x30:r=${rate}[b];` +
    `[a][b]overlay=x='W/2+W/4*sin(t*3.1)':y='H/2+H/5*cos(t*2.3)',noise=alls=4:allf=t:all_seed=${seed}`,
  sample: ({ seed }) => `sample:${seed}`,
};

/** Usual encodes. */
const CODECS = {
  h264: (draw) => [
    'mp4',
    '-c:v',
    'libx264',
    '-preset',
    draw.of(['veryfast', 'fast', 'ultrafast']),
    '-crf',
    `${draw.whole(20, 38)}`,
  ],
  hevc: (draw) => [
    'mp4',
    '-c:v',
    'libx265',
    '-preset',
    'ultrafast',
    '-x265-params',
    'log-level=error',
    '-crf',
    `${draw.whole(20, 38)}`,
  ],
  vp9: (draw) => [
    'webm',
    '-c:v',
    'libvpx-vp9',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-b:v',
    '0',
    '-crf',
    `${draw.whole(25, 50)}`,
  ],
  av1: (draw) => ['mkv', '-c:v', 'libsvtav1', '-preset', '10', '-crf', `${draw.whole(25, 50)}`],
  mpeg2: (draw) => ['mkv', '-c:v', 'mpeg2video', '-bf', '2', '-q:v', `${draw.whole(3, 14)}`],
  mpeg4: (draw) => ['mp4', '-c:v', 'mpeg4', '-q:v', `${draw.whole(3, 12)}`],
  mjpeg: (draw) => ['mkv', '-c:v', 'mjpeg', '-q:v', `${draw.whole(3, 14)}`],
};

/** Lossless or nearly lossless, as references are. */
const MASTERS = [
  ['mkv', '-c:v', 'ffv1'],
  ['mkv', '-c:v', 'ffv1'],
  ['mkv', '-c:v', 'libx264', '-preset', 'veryfast', '-qp', '0'],
  ['mp4', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '8'],
  ['y4m'],
];

const SIZES = ['160x90', '192x144', '256x144', '320x180', '352x288', '480x270'];
/** Sizes with two fields of whole chroma blocks. */
const FIELD_SIZES = ['192x144', '256x144', '320x180', '352x288', '480x272'];
const RATES = ['24', '25', '30', '30000/1001', '50'];

/** A rate as a number; takes `30000/1001` too. */
const fps = (rate) => rate.split('/').reduce((num, den) => num / den);

const frames = (first, end) => `select='between(n,${first},${end - 1})',setpts=N/FRAME_RATE/TB`;
/** Shows frames in another order at the original times. */
const renumbered = (expression) => `select='${expression}',setpts=N/FRAME_RATE/TB`;

/** ffmpeg's names for the conversion of both sides. */
const to709 = 'scale=in_color_matrix=bt601:out_color_matrix=bt709:flags=accurate_rnd+full_chroma_int';
const to601 = 'scale=in_color_matrix=bt709:out_color_matrix=bt601:flags=accurate_rnd+full_chroma_int';
const labels = (matrix, primaries = matrix, transfer = matrix) => [
  ...['-colorspace', matrix, '-color_primaries', primaries, '-color_trc', transfer],
];
/** SDR as HDR, as grading tools convert it: graphics white at 203 nits. */
const toHdr = (transfer) =>
  'setparams=colorspace=bt709:color_trc=bt709:color_primaries=bt709:range=tv,' +
  `zscale=min=709:tin=709:pin=709:rin=limited:t=linear:npl=203,format=gbrpf32le,zscale=t=${transfer}:p=2020:m=2020_ncl:r=limited,format=yuv420p10le`;
/** Codecs that store colour labels. */
const LABELLED = ['h264', 'hevc', 'vp9', 'mpeg2'];

/** Sides of a pair: filters, output options, and whether the sides are swapped. */
const KINDS = {
  sound: {
    expect: [],
    make: (draw) => draw.of([{}, {}, {}, { same: 'pix_fmt' }, { same: 'still' }, { same: 'noise' }]),
  },
  offset: {
    expect: ['offset'],
    make(draw) {
      const [by, sign] = [draw.whole(1, 24), draw.sign()];
      return { [sign > 0 ? 'distorted' : 'reference']: [frames(by, 999)], what: `offset ${sign * by}` };
    },
  },
  slip: {
    expect: ['slip', 'freeze', 'duplicate-frames', 'lost-frames', 'missing-frames'],
    seconds: 4,
    make(draw) {
      const [at, by] = [draw.whole(28, 50), draw.whole(1, 10)];
      if (draw.sign() > 0)
        return {
          distorted: [renumbered(`not(between(n,${at},${at + by - 1}))`)],
          what: `${by} lost at ${at}`,
        };
      return { distorted: [`loop=${by}:1:${at},setpts=N/FRAME_RATE/TB`], what: `${by} doubled at ${at}` };
    },
  },
  crop: {
    expect: ['crop', 'black-borders', 'display-aspect', 'framing', 'cropped'],
    make(draw) {
      const [x, y] = [draw.number(0.03, 0.12), draw.number(0.03, 0.12)];
      const cut = `crop=2*floor(iw*${1 - x}/2):2*floor(ih*${1 - y}/2):2*floor(iw*${x}/4*${draw.of([0, 1, 2])}):2*floor(ih*${y}/4*${draw.of([0, 1, 2])})`;
      return draw.of([
        { distorted: [cut], what: 'cropped' },
        { distorted: [cut], back: true, what: 'cropped and scaled back' },
        { distorted: [cut], padded: true, what: 'black bars instead of picture' },
      ]);
    },
  },
  scale: {
    expect: ['size', 'display-aspect', 'sample-aspect'],
    make(draw) {
      const [x, y] = draw.of([
        [0.5, 0.5],
        [0.75, 0.75],
        [1.5, 1.5],
        [0.66, 0.66],
        [0.75, 1],
        [0.9, 0.9],
      ]);
      const how = draw.of(['bicubic', 'bilinear', 'lanczos']);
      return {
        distorted: [`scale=2*round(iw*${x}/2):2*round(ih*${y}/2):flags=${how}`],
        what: `scaled by ${x} and ${y}`,
      };
    },
  },
  swap: {
    expect: ['swapped'],
    // Gradients have no detail that an encode could lose.
    contents: Object.keys(CONTENTS).filter((name) => name !== 'gradients'),
    make: () => ({ swapped: true, what: 'swapped' }),
  },
  matrix: {
    expect: ['matrix'],
    // Life is grey, which no matrix changes.
    contents: Object.keys(CONTENTS).filter((name) => name !== 'life'),
    codecs: LABELLED,
    make(draw) {
      return draw.of([
        {
          referenceOptions: labels('bt709'),
          distorted: [to601],
          distortedOptions: labels('smpte170m'),
          what: 'converted, both labelled',
        },
        { distorted: [to709], what: 'converted to BT.709, no label' },
        { distorted: [to601], what: 'converted to BT.601, no label' },
        { referenceOptions: labels('bt709'), distortedOptions: labels('smpte170m'), what: 'labels only' },
      ]);
    },
  },
  range: {
    expect: ['color-range', 'levels'],
    // MPEG-2 has no range label.
    codecs: LABELLED.filter((codec) => codec !== 'mpeg2'),
    make(draw) {
      const widen = 'scale=in_range=limited:out_range=full';
      const narrow = 'scale=in_range=full:out_range=limited';
      return draw.of([
        { distorted: [widen], what: 'expanded, no label' },
        { distorted: [narrow], what: 'reduced, no label' },
        {
          distorted: [`${widen},setparams=range=pc`],
          distortedOptions: ['-color_range', 'pc'],
          what: 'expanded and labelled',
        },
        // If the reference is untagged, the same samples may have the labelled range.
        {
          reference: ['setparams=range=tv'],
          referenceOptions: ['-color_range', 'tv'],
          distorted: ['setparams=range=pc'],
          distortedOptions: ['-color_range', 'pc'],
          what: 'label only',
        },
      ]);
    },
  },
  transfer: {
    expect: ['dynamic-range', 'transfer', 'levels'],
    codecs: ['hevc', 'h264'],
    make(draw) {
      const name = draw.of(['smpte2084', 'arib-std-b67']);
      const hdr = { filter: toHdr(name), options: labels('bt2020nc', 'bt2020', name) };
      const sdr = labels('bt709');
      return draw.of([
        {
          reference: [hdr.filter],
          referenceOptions: hdr.options,
          distortedOptions: sdr,
          what: `${name} against SDR`,
        },
        {
          distorted: [hdr.filter],
          distortedOptions: hdr.options,
          referenceOptions: sdr,
          what: `SDR against ${name}`,
        },
        { reference: [hdr.filter], referenceOptions: hdr.options, what: `${name} against unlabelled SDR` },
        {
          distorted: [`lutyuv=y='16+219*pow(clip((val-16)/219,0,1),${draw.of([0.8, 1.25])})'`],
          what: 'another gamma, no label',
        },
      ]);
    },
  },
  fields: {
    expect: ['interlaced', 'fields', 'field-order', 'telecine', 'combed'],
    // Two fields of the clock differ less than its encodes differ from the source.
    contents: ['test pattern', 'pan', 'object, noise', 'sample', 'life'],
    codecs: ['h264', 'mpeg2'],
    rate: '50',
    sizes: FIELD_SIZES,
    make(draw) {
      const weave = 'tinterlace=interleave_top,fieldorder=tff';
      const half = { reference: ["select='not(mod(n,2))'", 'fps=25'] };
      return draw.of([
        {
          ...half,
          distorted: [weave],
          distortedOptions: ['-flags', '+ilme+ildct'],
          interlaced: true,
          what: 'interlaced against progressive',
        },
        { ...half, distorted: [weave, 'setfield=prog'], what: 'combed, no label' },
        {
          reference: [weave],
          distorted: [weave, 'fieldorder=bff'],
          distortedOptions: ['-flags', '+ilme+ildct'],
          interlaced: true,
          what: 'other field first',
        },
        {
          reference: [weave, 'setfield=prog'],
          distorted: [weave, 'setfield=prog', 'il=ls=1:cs=1'],
          what: 'fields swapped',
        },
      ]);
    },
  },
  rate: {
    expect: ['frame-rate', 'telecine', 'duplicate-frames', 'duration', 'frame-count', 'interlaced'],
    make(draw, { rate }) {
      const own = fps(rate);
      const other = draw.of(
        ['12.5', '15', '24', '25', '30', '50', '60'].filter((rate) => Math.abs(rate / own - 1) > 0.02),
      );
      return draw.of([
        { distorted: [`fps=${other}`], what: `${rate} to ${other} by dropping or doubling` },
        { distorted: [`fps=${other}`], what: `${rate} to ${other} by dropping or doubling` },
        {
          distorted: [`settb=AVTB,setpts=N/${other}/TB`],
          distortedOptions: ['-r', other],
          what: `${rate} shown at ${other}`,
        },
      ]);
    },
  },
  chroma: {
    expect: ['chroma'],
    contents: ['test pattern', 'clock', 'fractal', 'gradients', 'pan', 'sample'],
    make: (draw) =>
      draw.of([
        { distorted: ['shuffleplanes=0:2:1'], what: 'planes swapped' },
        { distorted: ['lutyuv=u=128:v=128'], what: 'grey' },
        { distorted: ['lutyuv=u=0:v=0'], what: 'green' },
        { distorted: ['lutyuv=u=128'], what: 'Cb lost' },
        { distorted: ['hue=h=120'], what: 'other hue' },
      ]),
  },
  other: { expect: ['unrelated'], make: () => ({ other: true, what: 'another video' }) },
};

/** Kinds of pairs, the sound ones first. */
export const KIND_NAMES = Object.keys(KINDS);

/**
 * One pair.
 * @returns clips as `{ source, size, rate, frames }`, both sides as filters and options, and the expected codes
 */
export function recipe(kind, number) {
  const {
    expect,
    make,
    seconds,
    contents = Object.keys(CONTENTS),
    codecs = Object.keys(CODECS),
    rate: fixed,
    sizes = SIZES,
  } = KINDS[kind];
  const draw = new Draw(`${kind} ${number}`);
  const size = draw.of(sizes);
  const rate = fixed ?? draw.of(RATES);
  const length = seconds ?? draw.number(2, 4);
  const [width, height] = size.split('x').map(Number);
  // Vary the content by kind.
  const at = number + KIND_NAMES.indexOf(kind);
  const content = contents[at % contents.length];
  const another = draw.of(Object.keys(CONTENTS));
  // Cycle codecs in steps of their own, so that each meets each content.
  const codec = codecs[(at + Math.floor(at / contents.length)) % codecs.length];
  const encoder = CODECS[codec](draw);
  let master = draw.of(MASTERS);
  const fault = make(draw, { rate });
  const clip = (name, seed) => {
    const shape = { size, width, height, rate, seed };
    return {
      source: CONTENTS[name](shape),
      size,
      width,
      height,
      rate,
      // Even, so that two fields or frames make one.
      frames: 2 * Math.round((length * fps(rate)) / 2),
    };
  };
  const clips = [clip(content, 1 + number), clip(another === content ? 'sample' : another, 101 + number)];
  let source = clips[0];
  if (fault.same === 'still') source = { ...source, source: `testsrc2=s=${size}:r=${rate},loop=-1:1:0` };
  if (fault.same === 'noise' && !source.source.startsWith('sample'))
    source = { ...source, source: `${source.source},noise=alls=12:allf=t:all_seed=${number}` };
  // Motion JPEG is full range; its master is too, and says so.
  const full = codec === 'mjpeg';
  const widened = full ? ['scale=in_range=limited:out_range=full,format=yuv420p'] : [];
  const masterFormat = full ? ['-pix_fmt', 'yuv420p', '-color_range', 'pc'] : undefined;
  const pixel = full ? 'yuvj420p' : fault.same === 'pix_fmt' && codec === 'hevc' ? 'yuv420p10le' : 'yuv420p';
  // y4m has no labels, and only one of the kinds of fields.
  if (full || kind === 'fields' || kind === 'transfer' || fault.referenceOptions) master = MASTERS[0];
  const deep = (filters = []) => filters.some((filter) => filter.includes('10le'));
  const format = (filters) => ['-pix_fmt', deep(filters) ? 'yuv420p10le' : pixel];
  const back = fault.back ? [`scale=${width}:${height}:flags=bicubic`] : [];
  const bars = fault.padded ? [`pad=${width}:${height}:-1:-1`] : [];
  const fields = fault.interlaced && codec === 'h264' ? ['-x264-params', 'tff=1'] : [];
  const sides = {
    reference: {
      clip: source,
      container: master[0],
      filters: [...(fault.reference ?? []), ...widened],
      options: [
        ...master.slice(1),
        ...(masterFormat ?? format(fault.reference)),
        ...(fault.referenceOptions ?? []),
      ],
    },
    distorted: {
      clip: fault.other ? clips[1] : source,
      container: encoder[0],
      filters: [...(fault.distorted ?? []), ...back, ...bars],
      options: [
        ...encoder.slice(1),
        ...format(fault.distorted),
        ...fields,
        ...(fault.distortedOptions ?? []),
      ],
    },
  };
  const { reference, distorted } = sides;
  return {
    name: `${kind} ${number}`,
    text: `${content}, ${size}, ${rate} fps, ${length} s, ${codec}; ${fault.what ?? fault.same ?? 'as it is'}`,
    expect,
    codec,
    sides: fault.swapped ? { reference: distorted, distorted: reference } : sides,
  };
}

/** Clips for measuring the certainty of offsets; some are ambiguous on purpose. */
const HARD_CONTENTS = {
  ...CONTENTS,
  'slow pan': ({ width, height, rate }) =>
    `mandelbrot=s=${2 * width}x${2 * height}:r=${rate},loop=-1:1:0,crop=${width}:${height}:'n*0.25':${height >> 1}`,
  'small object': ({ size, rate, seed }) =>
    `mandelbrot=s=${size}:r=${rate},loop=-1:1:0,format=yuv420p[a];color=white:s=8x8:r=${rate}[b];[a][b]overlay=x='W/2+W/8*sin(t*1.1)':y='H/2',noise=alls=6:allf=t:all_seed=${seed}`,
  'nearly still, noise': ({ size, rate, seed }) =>
    `mandelbrot=s=${size}:r=${rate},loop=-1:1:0,format=yuv420p,noise=alls=5:allf=t:all_seed=${seed}`,
  'slow gradients': ({ size, rate, seed }) =>
    `gradients=s=${size}:r=${rate}:seed=${seed}:speed=0.01:n=2:c0=0x803010:c1=0x40a0e0`,
  'repeats every 20': ({ size, rate }) => `testsrc2=s=${size}:r=${rate},loop=-1:20:0`,
};

/** What is done to them. */
const HARD_ENCODES = {
  'x264 CRF 28': ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '28'],
  'x264 CRF 46': ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '46'],
  'VP9 CRF 55': ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '0', '-crf', '55'],
  'MPEG-2 q 20': ['-c:v', 'mpeg2video', '-bf', '2', '-q:v', '20'],
  'small, noisy': [
    '-vf',
    'scale=2*trunc(iw/8):2*trunc(ih/8),noise=alls=10:allf=t:all_seed=3',
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-crf',
    '36',
  ],
};

/** One encode of a clip, and the offsets at which both are compared. */
export function certaintyRecipe(number) {
  const draw = new Draw(`certainty ${number}`);
  const names = Object.keys(HARD_CONTENTS);
  const content = names[number % names.length];
  const encode = draw.of(Object.keys(HARD_ENCODES));
  const [size, rate] = [draw.of(SIZES), draw.of(RATES)];
  const [width, height] = size.split('x').map(Number);
  const seed = 1 + number;
  const source = HARD_CONTENTS[content]({ size, width, height, rate, seed });
  const clip = { source, size, width, height, rate, frames: draw.whole(14, 90) };
  const most = Math.min(24, Math.floor(clip.frames / 3));
  // Answers of one encode are correlated: two offsets of many encodes say more than many of a few.
  const offsets = Array.from({ length: 2 }, () => draw.sign() * draw.whole(0, most));
  return {
    name: `certainty ${number}: ${content}, ${size}, ${encode}`,
    clip,
    encoder: HARD_ENCODES[encode],
    offsets,
  };
}
