/**
 * Records in the ledger that a step of a review failed permanently, so that the review need not wait for the step's time-out. The
 * worker in which the step failed writes the row with its own database role: a workflow cannot write it, and a failure that an
 * attacker reports to Temporal in place of the worker leaves no row.
 */
import { asyncLocalStorage } from '@temporalio/activity';
import { CountersignFailure } from '../policy/contracts/failure';
import { FailureType } from '../policy/contracts/failure-type';
import { MAX_GUARDIAN_ATTEMPTS } from '../policy/contracts/limits';
import type { Ledger } from '../policy/evidence/ledger-port';
import { STEP_FAILED, type FailedStep } from '../policy/contracts/ledger';
import { refusedEntry } from './review/refused-entry';

interface RecordingDeps {
  readonly ledger: Pick<Ledger, 'readKinds' | 'append'>;
  readonly now: () => Date;
}

type Activity = (input: never) => Promise<unknown>;

const STEPS: ReadonlySet<string> = new Set<FailedStep>(['runGuardians', 'stage', 'disclose', 'commit']);

/** Failures that no retry can resolve and that do not depend on the input. */
const FINAL: ReadonlySet<FailureType> = new Set([FailureType.Configuration, FailureType.UnknownDiffType]);

/** Wraps the activities: a final failure is recorded, and every failure is rethrown unchanged. */
export function recordFailures<A extends object>(deps: RecordingDeps, activities: A): A {
  const recording = Object.entries(activities as Record<string, Activity>).map(([name, activity]) => {
    if (!STEPS.has(name)) return [name, activity] as const;
    const step = name as FailedStep;
    return [
      name,
      async (input: unknown): Promise<unknown> => {
        try {
          return await activity(input as never);
        } catch (error) {
          if (isFinal(step, error)) await recordFailure(deps, step, input, error);
          throw error;
        }
      },
    ] as const;
  });
  return Object.fromEntries(recording) as A;
}

/** For the guardians, any failure of the last attempt is also final. */
function isFinal(step: FailedStep, error: unknown): boolean {
  const attempt = asyncLocalStorage.getStore()?.info.attempt ?? 1;
  if (step === 'runGuardians' && attempt >= MAX_GUARDIAN_ATTEMPTS) return !isOfInput(error);
  return error instanceof CountersignFailure && error.nonRetryable && FINAL.has(error.type);
}

/** Whether the failure depends on the input, which anyone with access to the namespace can choose. */
function isOfInput(error: unknown): boolean {
  const types: readonly FailureType[] = [FailureType.Validation, FailureType.DigestMismatch, FailureType.PolicyMoved];
  return error instanceof CountersignFailure && types.includes(error.type);
}

/** Writes no row if the change was never opened. A repeated failure of the same type is one row. */
async function recordFailure(deps: RecordingDeps, step: FailedStep, input: unknown, error: unknown): Promise<void> {
  const { changeId, unit } = input as { readonly changeId?: unknown; readonly unit?: unknown };
  if (typeof changeId !== 'string') return;
  const type = error instanceof CountersignFailure ? error.type : 'Error';
  const failed = { step, type, ...(step === 'runGuardians' && typeof unit === 'string' ? { unit } : {}) };
  const explanation = error instanceof Error ? error.message : String(error);
  if ((await deps.ledger.readKinds(changeId, ['submitted'])).length === 0) return;
  const entry = refusedEntry(deps.now(), { check: STEP_FAILED, of: failed, explanation }, failed);
  await deps.ledger.append(changeId, [entry]);
}
