/**
 * @module mcp/tools/probe-backend
 * `probe_backend`: whether a backend really scores.
 */
import * as z from 'zod/v4';
import { BACKENDS } from '../scoring/parameters.js';
import { defineTool, READ_ONLY } from '../tool.js';

const adapterDocument = z.object({
  vendor: z.string(),
  architecture: z.string(),
  device: z.string(),
  description: z.string(),
  software: z.boolean().describe('A processor does its work: right, but slow.'),
});

export const probeBackendTool = defineTool({
  name: 'probe_backend',
  title: 'Probe a backend',
  description:
    'Scores one 64x64 grey frame against itself on a backend, which tells "built with" from "driver present and working". ' +
    'If it does not work, error has the reason.',
  inputSchema: z.object({ backend: z.enum(BACKENDS).describe('cpu is the built-in core.') }),
  outputSchema: z.object({
    backend: z.enum(BACKENDS),
    compiled_in: z.boolean(),
    runtime_healthy: z.boolean(),
    latency_ms: z.number().nullable(),
    score: z.number().nullable().describe('Near 100 where the backend works.'),
    error: z.string().nullable(),
    adapter: adapterDocument.optional().describe('Of webgpu and hybrid: the GPU that measured.'),
  }),
  annotations: READ_ONLY,
  async handler({ backend }, { pool, signal }) {
    const { probeBackend } = await import('../../index.js');
    const health = await pool.run('probe_backend', 1, () => probeBackend(backend, { signal }));
    const { latency_ms: latency } = health;
    return { document: { ...health, backend, latency_ms: latency && Number(latency.toFixed(1)) } };
  },
});
