import type { DiffInput } from '../contracts/diff';
import type { ValidatorResult, ValidatorSignature } from '../contracts/finding';
import type { PlanValidator } from '../contracts/plan';
import type { StagingRecord } from '../contracts/staging-record';
import { errorResult } from '../decide/findings';
import type { ValidatorDefinition } from './define';
import type { Facts } from '../contracts/facts';
import { frozenWhole } from './frozen';
import { definitionHash, type HashedTool } from './definition-hash';
import type { ValidatorRegistry } from './registry';
import { declaredView, viewOf, type ToolView, type ViewedTool } from './tool-view';

/** Everything a derived validator may read; the same for review worker, committer and `replay`. */
export interface EvaluationInput {
  readonly changeId: string;
  readonly inputSha: string;
  readonly diff: DiffInput;
  readonly facts: Facts;
  /** The source tool that `facts` are from. */
  readonly tool: ViewedTool;
  readonly staging: { readonly record: StagingRecord; readonly sha: string } | null;
}

/** What a plan's validator resolves to in this process, or why it does not (G33): other version, other logic. */
export type Resolved =
  | { readonly ok: true; readonly definition: ValidatorDefinition }
  | { readonly ok: false; readonly explanation: string };

/** `tool`: the one of the plan's source tool; undefined if this process does not have it. */
export function resolveValidator(
  registry: ValidatorRegistry,
  validator: PlanValidator,
  tool: HashedTool | undefined,
): Resolved {
  // A compiled plan is frozen and lives as long as its process: what it resolves to is worked out once.
  if (!Object.isFrozen(validator)) return resolve(registry, validator, tool);
  const before = resolvedBefore.get(validator);
  if (before?.registry === registry && before.parser === tool?.parser && before.render === tool?.render)
    return before.resolved;
  const resolved = resolve(registry, validator, tool);
  resolvedBefore.set(validator, { registry, parser: tool?.parser, render: tool?.render, resolved });
  return resolved;
}

interface ResolvedBefore {
  readonly registry: ValidatorRegistry;
  readonly parser: HashedTool['parser'] | undefined;
  readonly render: HashedTool['render'] | undefined;
  readonly resolved: Resolved;
}

const resolvedBefore = new WeakMap<PlanValidator, ResolvedBefore>();

function resolve(registry: ValidatorRegistry, validator: PlanValidator, tool: HashedTool | undefined): Resolved {
  const definition = registry.get(validator.implementation);
  if (definition === undefined)
    return {
      ok: false,
      explanation: `${validator.id}: this process has no implementation "${validator.implementation}"`,
    };
  const here = definitionHash(definition, validator, tool);
  if (here === validator.logic_hash) return { ok: true, definition };
  return {
    ok: false,
    explanation: `${validator.id}: the plan was made with ${validator.version} revision ${validator.logicRevision} (${validator.logic_hash.slice(0, 12)}), this process has ${definition.version} revision ${definition.logicRevision} (${here.slice(0, 12)})`,
  };
}

/** Runs one derived validator of the change. */
export type ChangeEvaluator = (definition: ValidatorDefinition, validator: PlanValidator) => unknown;

/**
 * Evaluates the derived validators of one change over frozen copies, which are made once for all of them. Never throws on
 * what a validator does: a throwing one is an ERROR, which a human answers (C11). The same throw comes on every machine,
 * so it is reproducible.
 */
export function changeEvaluator(input: EvaluationInput): ChangeEvaluator {
  const diff = new OwnDiff(input.diff);
  // In place: they can be large, and nobody else has business changing them.
  const facts = frozenWhole(input.facts);
  const staging = frozenWhole(input.staging);
  const viewFor = viewsOf(viewOf(input.tool, facts, input.diff));
  return (definition, validator) => {
    if (definition.evaluate === null) throw new TypeError(`${validator.id} is no derived validator`);
    try {
      const { signature, config } = askedOf(validator);
      diff.handOn();
      return definition.evaluate({
        signature,
        phase: validator.phase,
        config,
        diff,
        inputSha: input.inputSha,
        facts,
        tool: viewFor(definition),
        staging,
      });
    } catch (error) {
      return thrown(validator, input.changeId, error);
    }
  };
}

/** One view for each list of reads; all rules of a pack share a few lists. */
function viewsOf(whole: ToolView): (definition: ValidatorDefinition) => ToolView {
  const views = new Map<ValidatorDefinition['reads'], ToolView>();
  return ({ reads }) => {
    const known = views.get(reads);
    if (known !== undefined) return known;
    const view = declaredView(whole, reads);
    views.set(reads, view);
    return view;
  };
}

/** What is a validator's own among what it is given. */
interface Asked {
  readonly signature: ValidatorSignature;
  readonly config: PlanValidator['config'];
}

const askedBefore = new WeakMap<PlanValidator, Asked>();

function askedOf(validator: PlanValidator): Asked {
  const known = askedBefore.get(validator);
  if (known !== undefined) return known;
  const { id: validator_id, version: validator_version, logic_hash, class: hookClass } = validator;
  const signature = Object.freeze({
    validator_id,
    validator_version,
    logic_hash,
    class: hookClass,
    deterministic: true as const,
  });
  const asked = { signature, config: frozenCopy(validator.config) };
  // Of a validator that can still change nothing is remembered.
  if (Object.isFrozen(validator)) askedBefore.set(validator, asked);
  return asked;
}

/** A diff as validators see it. Its bytes are copied for each that looks at them: a typed array cannot be frozen, and most rules read facts alone. */
class OwnDiff implements DiffInput {
  readonly sourceTool: string;
  readonly diffSha: string;
  readonly metadata: DiffInput['metadata'];
  readonly #staged: Uint8Array;
  #own: Uint8Array | null = null;

  constructor(diff: DiffInput) {
    this.sourceTool = diff.sourceTool;
    this.diffSha = diff.diffSha;
    this.metadata = frozenCopy(diff.metadata);
    this.#staged = diff.raw;
    Object.freeze(this);
  }

  get raw(): Uint8Array {
    return (this.#own ??= this.#staged.slice());
  }

  /** Before each validator: what the last one may have written into its bytes is not seen by the next. */
  handOn(): void {
    this.#own = null;
  }
}

function thrown(validator: PlanValidator, changeId: string, error: unknown): ValidatorResult {
  return errorResult(validator.id, changeId, {
    errorClass: 'ErrValidatorBackend',
    // The name only: a message may quote the diff, and differs between engines.
    reason: `The validator threw ${error instanceof Error ? error.name : 'a non-error'}`,
    reasonCode: 'validator_threw',
    reproducible: true,
  });
}

const copies = new WeakMap<object, object>();

/** One deeply frozen copy for each object, made when it is first asked for: a validator can change neither it nor the original. */
function frozenCopy<T extends object>(value: T): T {
  const known = copies.get(value) as T | undefined;
  if (known !== undefined) return known;
  const copy = frozenWhole(structuredClone(value));
  copies.set(value, copy);
  return copy;
}
