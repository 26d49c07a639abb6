/**
 * @module media/preflight/hdr
 * Findings about high dynamic range: PQ, HLG, pairs that mix dynamic ranges, and Dolby Vision profile 5.
 */
import { filterFiles, finding, otherRole } from './text.js';
import type { Finding, PreflightContext, PrepareHint, SideFacts } from './types.js';

/** HDR transfer functions by ffmpeg's names. */
const HDR = new Map([
  ['smpte2084', 'PQ'],
  ['arib-std-b67', 'HLG'],
]);

export function isHdr({ transfer }: SideFacts): boolean {
  return transfer !== undefined && HDR.has(transfer);
}

/** zscale's input options, with defaults for untagged video, which zscale cannot convert. */
function fromHdr({ transfer = 'smpte2084', primaries = 'bt2020', matrix = 'bt2020nc' }: SideFacts) {
  return { from: `zscale=tin=${transfer}:pin=${primaries}:min=${matrix}`, primaries, matrix };
}

function toneMapping(side: SideFacts): string {
  const { from, primaries } = fromHdr(side);
  return (
    `${from}:t=linear:p=${primaries}:m=gbr:npl=100,format=gbrpf32le,tonemap=hable,` +
    'zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p'
  );
}

export function dynamicRangeFinding(reference: SideFacts, distorted: SideFacts): Finding {
  const named = ({ transfer }: SideFacts) =>
    HDR.get(transfer ?? '') ?? `standard dynamic range (${transfer ?? 'unlabelled, by its levels'})`;
  return finding(
    'dynamic-range',
    'warning',
    `reference is ${named(reference)} but distorted is ${named(distorted)}; equal sample values mean different light, so ` +
      'the score is meaningless, however high it is.',
    [reference.transfer ?? null, distorted.transfer ?? null],
    isHdr(reference) && isHdr(distorted)
      ? convertTransfer(reference, distorted)
      : toneMapped(reference, distorted),
  );
}

function convertTransfer(reference: SideFacts, distorted: SideFacts): PrepareHint {
  const { from, primaries, matrix } = fromHdr(distorted);
  const filter = `${from}:t=${reference.transfer}:p=${primaries}:m=${matrix}`;
  return filterFiles([['distorted', distorted, filter]]);
}

/** ColorVideoVDP's display for both videos, which must share one transfer function. */
function displayFor(reference: SideFacts, distorted: SideFacts): string | undefined {
  if (reference.transfer !== distorted.transfer) return undefined;
  return reference.transfer === 'smpte2084' ? 'standard_hdr_pq' : 'standard_hdr_hlg';
}

/** VMAF models were not trained on HDR. */
export function* hdrFindings(
  reference: SideFacts,
  distorted: SideFacts,
  { models = [{ name: 'vmaf_v0.6.1' }], extractors = [] }: PreflightContext,
): Generator<Finding> {
  if (models.length === 0 || (!isHdr(reference) && !isHdr(distorted))) return;
  const named = ({ transfer }: SideFacts) =>
    transfer === undefined ? null : (HDR.get(transfer) ?? transfer);
  const [ref, dis] = [named(reference), named(distorted)];
  const who =
    isHdr(reference) && isHdr(distorted)
      ? 'both videos are'
      : isHdr(reference)
        ? 'reference is'
        : 'distorted is';
  const kinds = [...new Set([reference, distorted].filter(isHdr).map(named))].join(' and ');
  const display = extractors.includes('cvvdp') ? undefined : displayFor(reference, distorted);
  yield finding(
    'hdr',
    'warning',
    `${who} high dynamic range (${kinds}), but ${models.map(({ name }) => name).join(', ')} was trained on standard ` +
      'dynamic range only, and there is no public VMAF model for HDR; compare such scores only with each other' +
      `${display ? `, or use ColorVideoVDP, which supports ${kinds}` : ''}.`,
    [ref, dis],
    display
      ? { purpose: 'fix', option: 'features', value: `cvvdp=display=${display}` }
      : toneMapped(reference, distorted),
  );
}

function toneMapped(reference: SideFacts, distorted: SideFacts): PrepareHint {
  const both = [
    ['reference', reference],
    ['distorted', distorted],
  ] as const;
  const sides = both.filter(([, side]) => isHdr(side));
  return filterFiles(sides.map(([side, facts]) => [side, facts, toneMapping(facts)] as const));
}

/** Profile 5 has no base layer that other displays can show. */
const UNSHOWABLE = 5;

const SAMPLES =
  'samples are IPT in PQ, which decoders output without the reshaping that the metadata describes';

/** The only finding about transfer and colours if either video is profile 5. */
export function* dolbyVisionFindings(reference: SideFacts, distorted: SideFacts): Generator<Finding> {
  const [ref, dis] = [reference, distorted].map(isProfile5);
  if (!ref && !dis) return;
  const named = ({ dolbyVision }: SideFacts) => (dolbyVision === undefined ? null : `profile ${dolbyVision}`);
  const values = [named(reference), named(distorted)] as const;
  if (ref && dis) {
    yield finding(
      'hdr',
      'warning',
      `both videos are Dolby Vision profile 5: ${SAMPLES}, so VMAF, trained on standard dynamic range, measures PQ intensity ` +
        'before reshaping; compare such scores only with each other.',
      values,
    );
    return;
  }
  const who = ref ? 'reference' : 'distorted';
  yield finding(
    'dolby-vision',
    'warning',
    `${who} is Dolby Vision profile 5 but ${otherRole(who)} is not: ${SAMPLES}; equal sample values mean different light and colours, so ` +
      'the score is meaningless, however high it is. Compare the sources of both, or two videos of profile 5.',
    values,
  );
}

export function isProfile5({ dolbyVision }: SideFacts): boolean {
  return dolbyVision === UNSHOWABLE;
}
