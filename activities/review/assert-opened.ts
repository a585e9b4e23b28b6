import type { CountersignFailure } from '../../policy/contracts/failure';
import { inputSha } from '../../policy/contracts/change-id';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { digestMismatch, invalid } from '../../policy/contracts/failure';
import type { ChangeRef } from '../review-types';
import { cutExplanation } from '../../policy/text/cut-text';
import { refusalKey } from './refusal-key';

export interface OpenedDeps {
  readonly ledger: Pick<Ledger, 'readKinds' | 'append'>;
  readonly now: () => Date;
}

/** Kinds of the rows that `assertOpened` reads. */
export const OPENED_ROWS = ['submitted', 'planned'] as const satisfies readonly LedgerKind[];

/**
 * Compares the input of an activity with the rows of the change as it was opened, before anything is run, asked or signed: a `changeId`
 * does not prove that the rest of the input belongs to that change. A mismatch is recorded as refused in the ledger. Fails with DIGEST_MISMATCH, or with VALIDATION_ERROR if no change was opened under this id; then no
 * row is written. Neither is retried.
 */
export async function assertOpened(
  deps: OpenedDeps,
  activity: string,
  ref: Pick<ChangeRef, keyof Parameters<typeof inputSha>[0] | 'changeId' | 'inputSha' | 'planHash'>,
  rows: readonly LedgerRow[],
): Promise<void> {
  const rowOf = (kind: (typeof OPENED_ROWS)[number]) => rows.find((row) => row.kind === kind);
  const [submitted, planned] = [rowOf('submitted'), rowOf('planned')];
  if (submitted === undefined && planned === undefined)
    throw invalid(
      'changeId',
      'the id of a change that was opened',
      ref.changeId,
      'Submit the change; its workflow opens it',
    );
  const members = [
    ['inputSha', inputSha(ref), ref.inputSha],
    ['inputSha', submitted?.body['inputSha'], ref.inputSha],
    ['planHash', planned?.body['planHash'], ref.planHash],
  ] as const;
  const mismatch = members.find(([, expected, got]) => expected !== got);
  if (mismatch === undefined) return;
  const [member, expected, got] = mismatch;
  const failure = digestMismatch(`${activity}: ${member} of ${ref.changeId}`, String(expected), String(got));
  throw await recordRefusal(deps, ref.changeId, { check: `${activity}: ${member}`, message: ref }, failure);
}

/** Kinds of the rows that `isEnding` reads. */
export const ENDING_ROWS = ['intent', 'decided', 'closed'] as const satisfies readonly LedgerKind[];

/**
 * Whether the change ends or has ended. An activity that is scheduled after that, manually or by a reset workflow, must have no
 * effect; the ledger also refuses its rows.
 */
export function isEnding(rows: readonly LedgerRow[]): boolean {
  return rows.some(({ kind }) => ENDING_ROWS.some((ending) => ending === kind));
}

/** Records the failure as refused in the ledger, if the change was opened. Returns the failure to throw. `message`: what was refused. */
export async function recordRefusal(
  { ledger, now }: OpenedDeps,
  changeId: string,
  { check, message }: { readonly check: string; readonly message: unknown },
  failure: CountersignFailure,
): Promise<CountersignFailure> {
  const body = { check, explanation: cutExplanation(failure.message) };
  const factKey = refusalKey(check, message);
  const entry = { kind: 'refused', at: now().toISOString(), factKey, body } as const;
  if ((await ledger.readKinds(changeId, ['submitted'])).length > 0) await ledger.append(changeId, [entry]);
  return failure;
}
