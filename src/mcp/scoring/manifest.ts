/**
 * @module mcp/scoring/manifest
 * The rungs of a ladder as a manifest: an object, an HLS master playlist or a DASH MPD, with the names of files that the
 * ladder's command makes.
 */
import type { LadderPoint } from '../../index.js';

/** Forms of a manifest. */
export type ManifestFormat = 'json' | 'hls' | 'dash';

const ABOUT =
  'Rates are averages of what was measured: the encodes are not made yet, and their peaks not known.';

/** Rungs, by rate. */
export function manifestOf(points: readonly LadderPoint[], format: ManifestFormat) {
  const rungs = points.map(({ width, height, kbps, quality, value }) => ({
    width,
    height,
    bitrate_kbps: kbps,
    bandwidth_bps: Math.round(kbps * 1000),
    vmaf: quality,
    crf: value,
  }));
  switch (format) {
    case 'hls':
      return hlsText(rungs);
    case 'dash':
      return dashText(rungs);
    default:
      return { rungs };
  }
}

interface Rung {
  readonly width: number;
  readonly height: number;
  readonly bandwidth_bps: number;
}

function hlsText(rungs: readonly Rung[]): string {
  const lines = rungs.flatMap(({ width, height, bandwidth_bps: rate }, i) => [
    `#EXT-X-STREAM-INF:BANDWIDTH=${rate},AVERAGE-BANDWIDTH=${rate},RESOLUTION=${width}x${height}`,
    `media_${i}.m3u8`,
  ]);
  return `${['#EXTM3U', '#EXT-X-VERSION:6', `# ${ABOUT}`, ...lines].join('\n')}\n`;
}

function dashText(rungs: readonly Rung[]): string {
  const lines = rungs.map(
    ({ width, height, bandwidth_bps: rate }, i) =>
      `      <Representation id="${i}" bandwidth="${rate}" width="${width}" height="${height}" mimeType="video/mp4">\n` +
      `        <BaseURL>rung-${i}-${width}x${height}.mp4</BaseURL>\n      </Representation>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${ABOUT} -->
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT4S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
  <Period>
    <AdaptationSet contentType="video" segmentAlignment="true">
${lines.join('\n')}
    </AdaptationSet>
  </Period>
</MPD>
`;
}
