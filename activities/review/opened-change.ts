import type { CountersignFailure } from '../../policy/contracts/failure';
import { inputSha } from '../../policy/contracts/change-id';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { digestMismatch, invalid } from '../../policy/contracts/failure';
import type { ChangeRef } from '../review-types';
import { cutExplanation } from '../../policy/text/cut-text';

export interface OpenedDeps {
  readonly ledger: Pick<Ledger, 'readKinds' | 'append'>;
  readonly now: () => Date;
  readonly actor: string;
}

/**
 * Holds what an activity was called with against the change as it was opened, before anything is run, asked or signed:
 * a `changeId` says nothing of an input that stands beside it. What does not fit is refused in that change's ledger, once
 * for each activity and member. Fails, never retried, with DIGEST_MISMATCH, or with VALIDATION_ERROR where nothing was
 * opened under this id: an invented one makes no row.
 */
export async function assertOpened(
  deps: OpenedDeps,
  activity: string,
  ref: Pick<ChangeRef, keyof Parameters<typeof inputSha>[0] | 'changeId' | 'inputSha' | 'planHash'>,
): Promise<void> {
  const rows = await deps.ledger.readKinds(ref.changeId, ['submitted', 'planned']);
  const opened = (kind: string, member: string): unknown => rows.find((r) => r.row.kind === kind)?.row.body[member];
  if (rows.length === 0)
    throw invalid('changeId', 'a change that was opened', ref.changeId, 'Submit it; its own workflow opens it');
  const members = [
    ['inputSha', inputSha(ref), ref.inputSha],
    ['inputSha', opened('submitted', 'inputSha'), ref.inputSha],
    ['planHash', opened('planned', 'planHash'), ref.planHash],
  ] as const;
  const wrong = members.find(([, expected, got]) => expected !== got);
  if (wrong === undefined) return;
  const [member, expected, got] = wrong;
  const failure = digestMismatch(`${activity}: ${member} of ${ref.changeId}`, String(expected), String(got));
  throw await refusedAttempt(deps, ref.changeId, `${activity}: ${member}`, failure);
}

/** Records the refusal in the ledger of a change that was opened, once for each check, and returns it. */
export async function refusedAttempt(
  { ledger, now, actor }: OpenedDeps,
  changeId: string,
  check: string,
  failure: CountersignFailure,
): Promise<CountersignFailure> {
  const body = { check, explanation: cutExplanation(failure.message) };
  const entry = { kind: 'refused', at: now().toISOString(), actor, factKey: `refused:${check}`, body } as const;
  if ((await ledger.readKinds(changeId, ['submitted'])).length > 0) await ledger.append(changeId, [entry]);
  return failure;
}
