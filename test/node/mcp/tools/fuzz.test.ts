/**
 * @module test/node/mcp/tools/fuzz
 * Whatever arguments a tool gets, it answers by its own schema, or refuses in one sentence. Seeded; a failure names its
 * seed and arguments.
 */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../../../src/core/errors.js';
import type { Tool } from '../../../../src/mcp/tool.js';
import { compareEncodesTool } from '../../../../src/mcp/tools/compare-encodes.js';
import { explainScoreTool } from '../../../../src/mcp/tools/explain-score.js';
import { findAlignmentTool, inspectPairTool } from '../../../../src/mcp/tools/inspect-pair.js';
import { describeModelTool } from '../../../../src/mcp/tools/models.js';
import { vmafScore, vmafScoreEncoded } from '../../../../src/mcp/tools/vmaf-score.js';
import type { FixtureClip } from '../../../support/fixtures.js';
import { fakeContext, videoFolder, writePair } from '../../../support/mcp-tools.js';
import { type SeededRandom, seeded } from '../../../support/random.js';
import { tier } from '../../../support/tier.js';

const CLIP: FixtureClip = { content: 'T', width: 64, height: 64, bitDepth: 8, chroma: '420', frames: 3 };

/** Parameters of every tool here, so that a call that can be answered is the start of every mutation. */
function sound(): Record<string, unknown> {
  const { ref, dis } = writePair(CLIP, 'yuv');
  const y4m = writePair(CLIP, 'y4m');
  return {
    ref,
    dis,
    reference: ref,
    distorted: dis,
    reference_encoded: y4m.ref,
    distorted_encoded: y4m.dis,
    width: 64,
    height: 64,
    pixfmt: '420',
    bitdepth: 8,
    name: 'vmaf_v0.6.1',
  };
}

const STRINGS: readonly string[] = [
  ...['', 'auto', 'none', '\0', ':', '=', '__proto__', '0x0', '99999x99999', 'a'.repeat(5000), '\u{1f3ac}'],
  ...['../../etc/passwd', '/dev/zero', 'path=', 'path=/etc/passwd:version=vmaf_v0.6.1', 'version='],
  ...['version=vmaf_v0.6.1:name=__proto__', 'version=vmaf_v0.6.1:name=', 'adm=', 'psnr=enable_mse=true'],
  'version=vmaf_v0.6.1:adm.adm_norm_view_dist=x',
];

const NUMBERS: readonly number[] = [
  ...[0, -1, 1, 2, 3, 1.5, 64, 1e9, 2 ** 31, 2 ** 32, 2 ** 53, -0, 1e308],
  ...[Number.NaN, Number.POSITIVE_INFINITY],
];

function anything(random: SeededRandom, depth = 0): unknown {
  const length = random.int(0, 3);
  const inner = () => anything(random, depth + 1);
  const key = () => random.pick(['unit', 'start', 'end', 'constructor', 'x']);
  const kinds: readonly (() => unknown)[] = [
    () => random.pick(STRINGS),
    () => random.pick(NUMBERS),
    () => random.pick([true, false]),
    () => null,
    () => undefined,
    () => Array.from({ length }, inner),
    () => Object.fromEntries(Array.from({ length }, () => [key(), inner()])),
  ];
  return random.pick(kinds.slice(0, depth > 2 ? 5 : 7))();
}

/** A value that a parameter's schema is likely to take. */
function likely(schema: z.core.JSONSchema.JSONSchema, random: SeededRandom): unknown {
  if (schema.enum) return random.pick(schema.enum);
  switch (schema.type) {
    case 'boolean':
      return random.pick([true, false]);
    case 'integer':
    case 'number':
      return random.int(schema.minimum ?? 0, 12);
    case 'array':
      return [random.pick(STRINGS)];
    default:
      return random.pick(STRINGS);
  }
}

function mutated(tool: Tool, random: SeededRandom): Record<string, unknown> {
  const { properties = {} } = z.toJSONSchema(tool.inputSchema, { io: 'input' });
  const args = Object.fromEntries(Object.entries(sound()).filter(([name]) => name in properties));
  if (tool === compareEncodesTool) args.distorted = [args.distorted];
  const names = Object.keys(properties);
  for (let changes = random.int(1, 3); changes > 0; changes--) {
    const name = random.pick(names);
    const schema = properties[name];
    const wild = random.int(0, 2) === 0 || typeof schema !== 'object';
    args[name] = wild ? anything(random) : likely(schema, random);
  }
  return args;
}

describe('arguments of all kinds', () => {
  const seed = 20261121;
  const tools = [
    vmafScore,
    vmafScoreEncoded,
    compareEncodesTool,
    inspectPairTool,
    findAlignmentTool,
    explainScoreTool,
    describeModelTool,
  ];

  it.each(tools.map((tool) => [tool.name, tool] as const))('%s', async (_, tool) => {
    const random = seeded(seed);
    let answered = 0;
    let refusals = 0;
    for (let i = 0; i < tier(25, 60); i++) {
      const args = mutated(tool, random);
      const told = `seed ${seed}, call ${i}: ${JSON.stringify(args)?.slice(0, 400)}`;
      try {
        const { document } = await tool.call(args, fakeContext(videoFolder()));
        const text: unknown = JSON.parse(JSON.stringify(document));
        expect(tool.outputSchema.parse(text), told).toEqual(text);
        answered++;
      } catch (error) {
        if (error instanceof z.ZodError) continue;
        expect(error, told).toBeInstanceOf(AnyvmafError);
        if (!(error instanceof AnyvmafError)) throw error;
        expect(error.code, told).not.toBe('internal');
        expect(error.message, told).not.toMatch(/\n|--(?!qscale)[a-z]+-/);
        refusals++;
      }
    }
    // Neither a wall nor a sieve.
    expect(answered + refusals).toBeGreaterThan(5);
    // Where there is more than the one parameter that was changed, some calls are sound.
    if (Object.keys(tool.inputSchema.shape).length > 1) expect(answered).toBeGreaterThan(0);
  });
});
