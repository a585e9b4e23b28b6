import type { DiffInput } from '../contracts/diff';
import type { ValidatorResult, ValidatorSignature } from '../contracts/finding';
import type { PlanValidator } from '../contracts/plan';
import type { StagingRecord } from '../contracts/staging-record';
import { errorResult } from '../decide/findings';
import type { ValidatorDefinition } from './define';
import type { Facts } from '../contracts/facts';
import { memoizeByObject } from '../text/memoize';
import { deepFreeze } from './deep-freeze';
import { definitionHash, type HashedTool } from './definition-hash';
import type { ValidatorRegistry } from './registry';
import { declaredView, viewOf, type ToolView, type ViewedTool } from './tool-view';

/** Everything a derived validator may read. The same in the review worker, the committer and `replay`. */
export interface EvaluationInput {
  readonly changeId: string;
  readonly inputSha: string;
  readonly diff: DiffInput;
  readonly facts: Facts;
  /** The source tool that extracted `facts`. */
  readonly tool: ViewedTool;
  readonly staging: { readonly record: StagingRecord; readonly sha: string } | null;
  /** Gets what a validator threw. The finding has only its name. */
  readonly onThrow?: (validatorId: string, error: unknown) => void;
}

/** What a plan's validator resolves to in this process, or why it cannot be resolved: another version or another logic. */
type Resolved =
  | { readonly ok: true; readonly definition: ValidatorDefinition }
  | { readonly ok: false; readonly explanation: string };

/** `tool`: the source tool of the plan; undefined if this process does not have it. */
export function resolveValidator(
  registry: ValidatorRegistry,
  validator: PlanValidator,
  tool: HashedTool | undefined,
): Resolved {
  // A compiled plan is frozen and lives as long as its process, so its validators are resolved once.
  if (!Object.isFrozen(validator)) return resolve(registry, validator, tool);
  const cached = resolutionCache.get(validator);
  if (cached?.registry === registry && cached.parser === tool?.parser && cached.render === tool?.render)
    return cached.resolved;
  const resolved = resolve(registry, validator, tool);
  resolutionCache.set(validator, { registry, parser: tool?.parser, render: tool?.render, resolved });
  return resolved;
}

interface CachedResolution {
  readonly registry: ValidatorRegistry;
  readonly parser: HashedTool['parser'] | undefined;
  readonly render: HashedTool['render'] | undefined;
  readonly resolved: Resolved;
}

const resolutionCache = new WeakMap<PlanValidator, CachedResolution>();

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
type ChangeEvaluator = (definition: ValidatorDefinition, validator: PlanValidator) => unknown;

/**
 * Evaluates the derived validators of one change over frozen copies that all of them share. If a validator throws, its result
 * is an ERROR that a person must answer. The result is reproducible: validators are pure, so they throw on every machine.
 */
export function changeEvaluator(input: EvaluationInput): ChangeEvaluator {
  const diff = new IsolatedDiff(input.diff);
  // Frozen in place, not copied: facts and staging record can be large, and no caller changes them.
  const facts = deepFreeze(input.facts);
  const staging = deepFreeze(input.staging);
  const viewFor = declaredViews(viewOf(input.tool, facts, input.diff));
  return (definition, validator) => {
    if (definition.evaluate === null) throw new TypeError(`${validator.id} is not a derived validator`);
    try {
      const { signature, config } = argumentsFor(validator);
      diff.discardCopy();
      return definition.evaluate({
        signature,
        phase: validator.phase,
        config,
        diff,
        inputSha: input.inputSha,
        get facts() {
          return declared(definition, 'facts', facts);
        },
        tool: viewFor(definition),
        get staging() {
          return declared(definition, 'staging', staging);
        },
      });
    } catch (error) {
      input.onThrow?.(validator.id, error);
      return thrownResult(validator, input.changeId, error);
    }
  };
}

/** `logic_hash` covers the parser of the facts, and the validator waits for the dry run, only if its `reads` name them. */
function declared<T>({ reads }: ValidatorDefinition, read: 'facts' | 'staging', value: T): T {
  if (!reads.includes(read)) throw new TypeError(`${read}: add "${read}" to the validator's reads`);
  return value;
}

/** One view for each distinct `reads` list; the rules of a pack share a few lists. */
function declaredViews(full: ToolView): (definition: ValidatorDefinition) => ToolView {
  const viewOfReads = memoizeByObject((reads: ValidatorDefinition['reads']) => declaredView(full, reads));
  return ({ reads }) => viewOfReads(reads);
}

/** The arguments that are specific to one validator. */
interface ValidatorArguments {
  readonly signature: ValidatorSignature;
  readonly config: PlanValidator['config'];
}

const argumentsCache = new WeakMap<PlanValidator, ValidatorArguments>();

function argumentsFor(validator: PlanValidator): ValidatorArguments {
  const known = argumentsCache.get(validator);
  if (known !== undefined) return known;
  const { id: validator_id, version: validator_version, logic_hash, class: hookClass } = validator;
  const signature = Object.freeze({
    validator_id,
    validator_version,
    logic_hash,
    class: hookClass,
    deterministic: true as const,
  });
  const args = { signature, config: frozenCopy(validator.config) };
  // Cache only for a frozen validator: another one may still change.
  if (Object.isFrozen(validator)) argumentsCache.set(validator, args);
  return args;
}

/**
 * The diff that validators receive. Its bytes are copied for each validator that reads them, because a typed array cannot be
 * frozen. The copy is lazy: most rules read only facts.
 */
class IsolatedDiff implements DiffInput {
  readonly sourceTool: string;
  readonly diffSha: string;
  readonly metadata: DiffInput['metadata'];
  readonly #staged: Uint8Array;
  #copy: Uint8Array | null = null;

  constructor(diff: DiffInput) {
    this.sourceTool = diff.sourceTool;
    this.diffSha = diff.diffSha;
    this.metadata = frozenCopy(diff.metadata);
    this.#staged = diff.raw;
    Object.freeze(this);
  }

  get raw(): Uint8Array {
    return (this.#copy ??= this.#staged.slice());
  }

  /** Call before each validator, so that it does not see what the previous one may have written into its copy. */
  discardCopy(): void {
    this.#copy = null;
  }
}

function thrownResult(validator: PlanValidator, changeId: string, error: unknown): ValidatorResult {
  return errorResult(validator.id, changeId, {
    errorClass: 'ErrValidatorBackend',
    // Only the name: a message may quote the diff and differs between engines.
    reason: `The validator threw ${error instanceof Error ? error.name : 'a non-error'}`,
    reasonCode: 'validator_threw',
    reproducible: true,
  });
}

/** A deeply frozen copy of the object, memoized: a validator can change neither the copy nor the original. */
const frozenCopy = memoizeByObject((value: DiffInput['metadata'] | PlanValidator['config']) =>
  deepFreeze(structuredClone(value)),
);
