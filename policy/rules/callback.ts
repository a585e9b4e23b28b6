import { z } from 'zod';
import { Name, type Metadata } from '../contracts/diff';
import type { ValidatorFinding } from '../contracts/finding';
import type { PlanPolicy } from '../contracts/plan';
import { PolicyCallbackResult } from '../contracts/violation';
import { frozenWhole } from './frozen';
import type { Facts } from '../contracts/facts';
import { frozenRegistry, type Registry } from '../contracts/registry';
import { cutText } from '../text/cut-text';

/**
 * What a callback is given: composed and small (V32), frozen, and a copy. It says which finding triggered which policy, on
 * what, and for whom. Whether a policy fires never depends on who asks (V33); only the callback's own answer may.
 */
export interface PolicyCallContext {
  readonly finding: ValidatorFinding;
  readonly policy: Pick<PlanPolicy, 'key' | 'name' | 'metadata'>;
  /** What the extractor read from the bytes; never the bytes. */
  readonly facts: Facts;
  /** The caller's claim. */
  readonly metadata: Metadata;
  /** The person behind the submission; null when it is unknown. */
  readonly requester: string | null;
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
}

/** Code that answers for a policy (V2). May read the world: it runs in an activity, and its answer is recorded (C16). */
export interface CallbackDefinition {
  readonly key: string;
  readonly version: string;
  readonly evaluate: (context: PolicyCallContext) => PolicyCallbackResult | Promise<PolicyCallbackResult>;
}

/** Throws TypeError where key or version is missing. Give it a new version whenever its answer may change. */
export function defineCallback(callback: CallbackDefinition): CallbackDefinition {
  const shape = z.object({ key: Name, version: z.string().min(1).max(50), evaluate: z.function() });
  const checked = shape.safeParse(callback);
  if (!checked.success)
    throw new TypeError(
      `Callback "${String(callback?.key)}": ${checked.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`,
    );
  return Object.freeze({ key: callback.key, version: callback.version, evaluate: callback.evaluate });
}

/** By key; a policy names key and version, never a path to code (V30). Frozen: late registration is impossible (V31, T67). */
export type CallbackRegistry = Registry<CallbackDefinition>;

export function callbackRegistry(callbacks: readonly CallbackDefinition[], expectedCount?: number): CallbackRegistry {
  return frozenRegistry(
    'Callback',
    callbacks.map((callback) => [callback.key, defineCallback(callback)] as const),
    expectedCount,
  );
}

const MAX_MESSAGE = 2000;

/**
 * Asks one callback. Never rejects: one that is unknown, throws, takes too long or answers out of shape (a bare `true`,
 * say) is unevaluable, which is `passed: false` with the reason, and the violation stands (V26, T54).
 * `timeout` settles when the callback has had its time: the caller brings the clock, and bounds it elsewhere if absent.
 */
export async function evaluateCallback(
  registry: CallbackRegistry,
  callback: { readonly key: string; readonly version: string },
  context: PolicyCallContext,
  timeout?: Promise<unknown>,
): Promise<PolicyCallbackResult> {
  const definition = registry.get(callback.key);
  if (definition === undefined) return unevaluable(callback.key, 'it is not registered here');
  if (definition.version !== callback.version) {
    return unevaluable(callback.key, `version ${callback.version} was asked for, ${definition.version} is here`);
  }
  try {
    const answer = Promise.resolve(frozenCopy(context)).then(definition.evaluate);
    const late = timeout?.then(
      () => TOO_LATE,
      () => TOO_LATE,
    );
    const result: unknown = await (late === undefined ? answer : Promise.race([answer, late]));
    if (result === TOO_LATE) return unevaluable(callback.key, 'it took too long');
    const parsed = PolicyCallbackResult.safeParse(result);
    return parsed.success
      ? parsed.data
      : unevaluable(callback.key, `expected {passed: boolean, message: string | null}, got ${describe(result)}`);
  } catch (error) {
    return unevaluable(
      callback.key,
      `it threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
    );
  }
}

/** Only the members of the type: what else the caller's objects hold (a whole policy, say) is none of a callback's business. */
function frozenCopy(context: PolicyCallContext): PolicyCallContext {
  const { finding, policy, facts, metadata, requester, tenant, target, sourceTool } = context;
  const { key, name } = policy;
  const copies = structuredClone({ finding, metadata, policyMetadata: policy.metadata });
  return frozenWhole({
    finding: copies.finding,
    policy: { key, name, metadata: copies.policyMetadata },
    facts,
    metadata: copies.metadata,
    requester,
    tenant,
    target,
    sourceTool,
  });
}

const TOO_LATE = Symbol('too late');

function unevaluable(key: string, why: string): PolicyCallbackResult {
  return { passed: false, message: cutText(`Callback "${key}" could not be evaluated: ${why}`, MAX_MESSAGE) };
}

function describe(value: unknown): string {
  if (value === null || typeof value !== 'object')
    return value === undefined || typeof value === 'boolean' ? String(value) : typeof value;
  return `an object with ${Object.keys(value).slice(0, 10).join(', ') || 'no members'}`;
}
