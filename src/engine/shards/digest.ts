/**
 * @module engine/shards/digest
 * A digest of what a run measures and predicts with, so that machines with other models are noticed.
 */

import { sha256 } from '../inputs/identity.js';
import type { RunPlan } from '../plan/plan.js';

/** Equal for runs whose records mean the same and whose models are the same. */
export async function planDigest({ features, models, tiny, metrics }: RunPlan): Promise<string> {
  const { extraction, layout, compat } = features;
  const plain = {
    extraction,
    layout,
    compat,
    metrics,
    models: models.map(({ name, disableClip, enableTransform, members }) => ({
      name,
      disableClip,
      enableTransform,
      members: members.map(({ definition }) => definition),
    })),
    tiny: tiny?.attached.map(({ model }) => [model.sha256, model.manifestSha256]),
  };
  const text = JSON.stringify(plain, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value,
  );
  return sha256(new TextEncoder().encode(text));
}
