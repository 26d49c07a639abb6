/**
 * @module test/unit/report/views
 * What the commands inspect and align print.
 */
import { describe, expect, it } from 'vitest';
import { alignmentAdvice } from '../../../src/cli/flags.js';
import type { AlignResult } from '../../../src/media/align/types.js';
import type { SideFacts } from '../../../src/media/preflight/types.js';
import { alignmentText } from '../../../src/report/alignment.js';
import { inspectionData, inspectionText } from '../../../src/report/inspection.js';
import { columns } from '../../../src/report/terminal.js';

const aligned: AlignResult = {
  offset: 12,
  confidence: 0.97,
  candidates: [{ offset: 12, similarity: 0.99 }],
  compared: 84,
  ambiguous: false,
  reason: 'clear',
  explanation: 'One offset fits better than all others.',
  similarity: 0.99,
  levels: { gain: 1, bias: 0 },
  repeated: { reference: 0, distorted: 0 },
};

describe('alignmentText', () => {
  it('says what the offset is, draws it, and how to use it', () => {
    expect(
      alignmentText(aligned, { rate: 25, advice: alignmentAdvice(aligned) }),
    ).toBe(`offset 12 frames (0.480 s)  confidence 0.97
One offset fits better than all others.

reference  ░░░░░░██████████████████████████████████████████
distorted        ██████████████████████████████████████████

To score with it: --offset 12
`);
  });

  it('draws the other way round what is before the reference', () => {
    const text = alignmentText({ ...aligned, offset: -12 });
    expect(text).toMatch(/^reference {8}█+$/m);
    expect(text).toMatch(/^distorted {2}░{6}█+$/m);
  });

  it('does not tell to score with an offset that is only the last one tried', () => {
    const edge = { ...aligned, offset: 26, ambiguous: true, reason: 'edge' } as const;
    const text = alignmentText(edge, { advice: alignmentAdvice(edge) });
    expect(text).toContain('To look further: --window');
    expect(text).not.toContain('--offset');
  });

  it('lists what fits equally well when it is not certain', () => {
    const candidates = [5, 17].map((offset) => ({ offset, similarity: 0.98765 }));
    const text = alignmentText({ ...aligned, offset: 5, ambiguous: true, reason: 'repetitive', candidates });
    expect(text).toContain('not certain');
    expect(text).toContain('       5      0.9877\n      17      0.9877\n');
  });
});

const side: SideFacts = {
  name: 'ref.mov',
  width: 1920,
  height: 1080,
  bitDepth: 10,
  chroma: '422',
  frameCount: 250,
  frameRate: { num: 24000, den: 1001 },
  colorRange: 'limited',
  codec: 'prores',
  fieldOrder: 'progressive',
};

describe('inspectionText', () => {
  it('sets facts side by side and marks those that differ', () => {
    const text = inspectionText({
      reference: side,
      distorted: { ...side, name: 'dis.mp4', codec: 'h264', bitDepth: 8, chroma: '420', colorRange: 'full' },
      findings: [],
      alignment: { ...aligned, offset: 0 },
    });
    expect(text).toBe(`            reference               distorted
file        ref.mov                 dis.mp4
codec       prores                  h264
picture     1920x1080               1920x1080
samples     10 bit 4:2:2         ≠  8 bit 4:2:0
range       limited              ≠  full
scan        progressive             progressive
frame rate  23.976 fps              23.976 fps
frames      250                     250

alignment  the videos begin together, confidence 0.97

Preflight has nothing to object.
`);
  });

  it('keeps to 80 columns and harmless characters whatever files declare', () => {
    const hostile = `\u001b[2J${'very long '.repeat(30)}`;
    const text = inspectionText({
      reference: { ...side, name: hostile, container: hostile, codec: hostile },
      distorted: { ...side, name: hostile, primaries: hostile },
      findings: [{ code: 'size', severity: 'error', message: hostile, fix: hostile }],
    });
    expect(text).not.toContain('\u001b');
    for (const line of text.split('\n')) expect(columns(line)).toBeLessThanOrEqual(80);
  });
});

it('inspectionData has snake_case keys and fractions as text', () => {
  const data = JSON.parse(JSON.stringify(inspectionData({ reference: side, distorted: side, findings: [] })));
  expect(data.reference).toMatchObject({
    bit_depth: 10,
    frame_rate: '24000/1001',
    field_order: 'progressive',
  });
  expect(data.preflight).toEqual([]);
});
