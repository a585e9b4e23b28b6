import type { DiffInput, Submission } from '../../policy/contracts/diff';
import type { PlanValidator } from '../../policy/contracts/plan';
import { changeEvaluator, type EvaluationInput } from '../../policy/rules/evaluate';
import type { Facts } from '../../policy/contracts/facts';
import { deepFreeze } from '../../policy/rules/deep-freeze';
import type { ValidatorRegistry } from '../../policy/rules/registry';
import { typedHash } from '../../policy/contracts/hash';
import { unknownSourceTool } from '../../policy/contracts/failure';
import type { UnitResults } from '../review-types';
import type { SourceTool, SourceToolRegistry } from '../../policy/contracts/source-tool';
import type { ByteStore } from '../../policy/evidence/byte-store';

/** Input of the derived validators of one change, without the facts: those are extracted on the thread that runs the rules. */
export type DerivedChange = Omit<EvaluationInput, 'facts' | 'tool' | 'onThrow'>;

/** Extracts facts and runs rules. Both are pure: the same input gives the same output on every thread. */
export interface Derivation {
  readonly facts: (diff: DiffInput) => Promise<Facts>;
  /** Digest of the normalized content of a diff. */
  readonly contentSha: (diff: DiffInput) => Promise<string>;
  /** The title that the tool gives a change before its dry run. */
  readonly title: (diff: DiffInput) => Promise<string>;
  /** Raw results by validator id. The caller has checked that this process has every implementation. */
  readonly results: (validators: readonly PlanValidator[], change: DerivedChange) => Promise<UnitResults>;
}

export interface DerivationParts {
  readonly tools: SourceToolRegistry;
  readonly validators: ValidatorRegistry;
}

/**
 * Runs on the calling thread: used inside the threads of the pool, and by commands that have no pool. Each function fails with
 * ErrUnknownDiffType, not retried.
 */
export function inlineDerivation({ tools, validators }: DerivationParts): Derivation {
  // Deeply frozen, since several validators share them.
  const factsOf = async (diff: DiffInput): Promise<Facts> =>
    deepFreeze(await toolFor(tools, diff.sourceTool).facts(diff));
  return {
    facts: factsOf,
    contentSha: (diff) => contentSha(tools, diff),
    title: async (diff) => toolFor(tools, diff.sourceTool).title(await factsOf(diff), diff, null),
    results: async (chosen, change) => {
      const tool = toolFor(tools, change.diff.sourceTool);
      return evaluateEach(validators, chosen, { ...change, facts: await factsOf(change.diff), tool });
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
    if (definition === undefined)
      throw new TypeError(`This process has no implementation "${validator.implementation}"`);
    results[validator.id] = evaluate(definition, validator);
  }
  return results;
}

/** By the bytes if the tool cannot normalize them. Fails with ErrUnknownDiffType, not retried. */
export async function contentSha(tools: SourceToolRegistry, diff: DiffInput): Promise<string> {
  const { sourceTool, diffSha } = diff;
  const content = await toolFor(tools, sourceTool).normalized(diff);
  if (content === null) return typedHash('content', { sourceTool, diffSha });
  try {
    return typedHash('content', { sourceTool, content });
  } catch (error) {
    // A text that is not well-formed, or content that is nested too deeply.
    if (error instanceof TypeError || error instanceof RangeError) return typedHash('content', { sourceTool, diffSha });
    throw error;
  }
}

/** Fails with ErrUnknownDiffType, not retried. */
export function toolFor(tools: SourceToolRegistry, sourceTool: string): SourceTool {
  const tool = tools.get(sourceTool);
  if (tool === undefined) throw unknownSourceTool(sourceTool, tools.keys());
  return tool;
}

/**
 * Reads the bytes by their digest, which the store recomputes. Fails with DIGEST_MISMATCH or ErrUnknownDiffType, not retried, or with
 * STORE_UNAVAILABLE, retried.
 */
export async function loadDiff(
  store: ByteStore,
  tools: SourceToolRegistry,
  ref: Pick<Submission, 'tenant' | 'sourceTool' | 'diffSha' | 'metadata'>,
): Promise<DiffInput> {
  toolFor(tools, ref.sourceTool);
  const raw = await store.get(ref.tenant, ref.diffSha);
  return { sourceTool: ref.sourceTool, raw, diffSha: ref.diffSha, metadata: ref.metadata };
}
