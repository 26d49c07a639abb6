/**
 * @module engine/backends/core/with-perceptual
 * The core and perceptual.wasm as one way to measure: each has its own memory and measures its calls on the same frames.
 */
import type { CoreCall } from '../../../core/kernel.js';
import { CompositeMeasurer } from '../composite.js';
import type { InstantKind } from '../measurer.js';
import { splitPlan } from '../split.js';

const isPerceptual = ({ module }: CoreCall): boolean => module === 'perceptual';

/** Joins the measurers of both modules. */
export function withPerceptual(core: InstantKind, perceptual: InstantKind): InstantKind {
  const kinds = [
    { ...core, problem: (call: CoreCall) => (isPerceptual(call) ? 'the core lacks it' : undefined) },
    { ...perceptual, problem: () => undefined },
  ];
  return {
    problem: () => undefined,
    open(plan) {
      if (plan.calls.every(isPerceptual)) return perceptual.open(plan);
      if (!plan.calls.some(isPerceptual)) return core.open(plan);
      const parts = splitPlan(plan, kinds);
      return new CompositeMeasurer(
        plan,
        kinds.flatMap((kind, i) => {
          const part = parts[i];
          return part ? [{ part, measurer: kind.open(part.plan) }] : [];
        }),
      );
    },
  };
}
