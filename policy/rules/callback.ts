import { z } from 'zod';
import { AnyFunction, givenName, requireShape } from '../contracts/definition-shape';
import { Name, type Metadata } from '../contracts/diff';
import type { ValidatorFinding } from '../contracts/finding';
import type { PlanPolicy } from '../contracts/plan';
import { PolicyCallbackResult } from '../contracts/violation';
import { deepFreeze } from './deep-freeze';
import type { Facts } from '../contracts/facts';
import { frozenRegistry, type Registry } from '../contracts/registry';
import { toWellFormed } from '../contracts/canonical-json';
import { cutWellFormed } from '../text/cut-text';
import { errorMessage } from '../contracts/error-message';

/**
 * The argument of a callback: a small, frozen copy. It contains the finding, the policy that the finding triggered, the
 * change and the requester. Whether a policy fires never depends on the requester; only the callback's answer may.
 */
export interface PolicyCallContext {
  readonly finding: ValidatorFinding;
  readonly policy: Pick<PlanPolicy, 'key' | 'name' | 'metadata'>;
  /** What the extractor read from the bytes. A callback never receives the bytes. */
  readonly facts: Facts;
  /** The caller's claim. */
  readonly metadata: Metadata;
  /** The person behind the submission; null if unknown. */
  readonly requester: string | null;
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
}

/** Code that decides for a policy. May do I/O: it runs in an activity, and its answer is recorded. */
export interface CallbackDefinition {
  readonly key: string;
  readonly version: string;
  readonly evaluate: (context: PolicyCallContext) => PolicyCallbackResult | Promise<PolicyCallbackResult>;
}

const CallbackShape = z.strictObject({ key: Name, version: z.string().min(1).max(50), evaluate: AnyFunction });

/** Throws TypeError if the key or the version is missing or invalid. Raise the version whenever the answer may change. */
export function defineCallback(callback: CallbackDefinition): CallbackDefinition {
  requireShape(`Callback${givenName(callback, 'key')}`, CallbackShape, callback);
  return Object.freeze({ key: callback.key, version: callback.version, evaluate: callback.evaluate });
}

/** Callbacks by key. A policy names a key and a version, never a path to code. Frozen: nothing can be registered later. */
export type CallbackRegistry = Registry<CallbackDefinition>;

export function callbackRegistry(callbacks: readonly CallbackDefinition[], expectedCount?: number): CallbackRegistry {
  return frozenRegistry(
    'Callback',
    callbacks.map(defineCallback).map((callback) => [callback.key, callback] as const),
    expectedCount,
  );
}

const MAX_MESSAGE = 2000;

/**
 * Evaluates one callback. Never rejects. If the callback is unknown, throws, takes too long or returns an invalid result (such
 * as a bare `true`), the result is `passed: false` with the reason, and the violation remains. The message is well-formed, because
 * it is signed.
 * `timeout` settles when the time limit is reached; the caller owns the clock. Without it the caller must bound the call.
 */
export async function evaluateCallback(
  registry: CallbackRegistry,
  callback: { readonly key: string; readonly version: string },
  context: PolicyCallContext,
  timeout?: Promise<unknown>,
): Promise<PolicyCallbackResult> {
  const definition = registry.get(callback.key);
  if (definition === undefined) return unevaluable(callback.key, 'it is not registered in this process');
  if (definition.version !== callback.version) {
    return unevaluable(
      callback.key,
      `the policy names version ${callback.version}, this process has version ${definition.version}`,
    );
  }
  try {
    const answer = Promise.resolve(frozenCopy(context)).then(definition.evaluate);
    const expired = timeout?.then(
      () => TIMED_OUT,
      () => TIMED_OUT,
    );
    const result: unknown = await (expired === undefined ? answer : Promise.race([answer, expired]));
    if (result === TIMED_OUT) return unevaluable(callback.key, 'it took too long');
    const parsed = PolicyCallbackResult.safeParse(result);
    if (!parsed.success)
      return unevaluable(callback.key, `expected {passed: boolean, message: string | null}, got ${describe(result)}`);
    const { passed, message } = parsed.data;
    return { passed, message: message === null ? null : toWellFormed(message) };
  } catch (error) {
    return unevaluable(
      callback.key,
      `it threw ${error instanceof Error ? `${error.name}: ` : ''}${errorMessage(error)}`,
    );
  }
}

/** Copies only the members of the type: the caller's objects may contain more, such as the full policy. */
function frozenCopy(context: PolicyCallContext): PolicyCallContext {
  const { finding, policy, facts, metadata, requester, tenant, target, sourceTool } = context;
  const { key, name } = policy;
  const copies = structuredClone({ finding, metadata, policyMetadata: policy.metadata });
  return deepFreeze({
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

const TIMED_OUT = Symbol('timed out');

function unevaluable(key: string, why: string): PolicyCallbackResult {
  return { passed: false, message: cutWellFormed(`Callback "${key}" could not be evaluated: ${why}`, MAX_MESSAGE) };
}

function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return typeof value;
  return `an object with ${Object.keys(value).slice(0, 10).join(', ') || 'no members'}`;
}
