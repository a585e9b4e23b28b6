import type { DiffInput } from '../../policy/contracts/diff';
import type { PlanValidator } from '../../policy/contracts/plan';
import { changeEvaluator, type EvaluationInput } from '../../policy/rules/evaluate';
import type { Facts } from '../../policy/contracts/facts';
import { frozenWhole } from '../../policy/rules/frozen';
import type { ValidatorRegistry } from '../../policy/rules/registry';
import { unknownSourceTool } from '../../policy/contracts/failure';
import type { UnitResults } from '../review-types';
import type { SourceTool, SourceToolRegistry } from '../../policy/contracts/source-tool';

/** One change as its derived validators see it, but for the facts, which are read from the bytes where they run. */
export type DerivedChange = Omit<EvaluationInput, 'facts' | 'tool'>;

/** Where bytes are read and rules run. Both are pure: the same input gives the same output on every thread. */
export interface Derivation {
  readonly facts: (diff: DiffInput) => Promise<Facts>;
  /** Raw results by id, of validators that this process is known to have. */
  readonly results: (validators: readonly PlanValidator[], change: DerivedChange) => Promise<UnitResults>;
}

export interface DerivationParts {
  readonly tools: SourceToolRegistry;
  readonly validators: ValidatorRegistry;
}

/** On the thread that calls: in a thread of the pool, and in commands that have nothing else to do. */
export function derivationHere({ tools, validators }: DerivationParts): Derivation {
  return {
    facts: (diff) => factsHere(tools, diff),
    results: async (chosen, change) => {
      const tool = toolFor(tools, change.diff.sourceTool);
      const facts = await factsHere(tools, change.diff);
      return evaluateEach(validators, chosen, { ...change, facts, tool });
    },
  };
}

export function evaluateEach(
  registry: ValidatorRegistry,
  validators: readonly PlanValidator[],
  input: EvaluationInput,
): UnitResults {
  const evaluate = changeEvaluator(input);
  const results: Record<string, unknown> = {};
  for (const validator of validators) {
    const definition = registry.get(validator.implementation);
    if (definition === undefined) throw new TypeError(`No implementation "${validator.implementation}" here`);
    results[validator.id] = evaluate(definition, validator);
  }
  return results;
}

/** Frozen to the last member, once for all that read them. Fails with ErrUnknownDiffType, not retried. */
export async function factsHere(tools: SourceToolRegistry, diff: DiffInput): Promise<Facts> {
  return frozenWhole(await toolFor(tools, diff.sourceTool).facts(diff));
}

/** Fails with ErrUnknownDiffType, not retried. */
export function toolFor(tools: SourceToolRegistry, sourceTool: string): SourceTool {
  const tool = tools.get(sourceTool);
  if (tool === undefined) throw unknownSourceTool(sourceTool, tools.keys());
  return tool;
}
