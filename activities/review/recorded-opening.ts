import { ValidatorResult } from '../../policy/contracts/finding';
import type { Stopped } from '../../policy/contracts/withdrawal';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { isJudge } from '../../policy/contracts/readings';
import type { StoredRow } from '../../policy/evidence/chain';
import { openEnvelope } from '../../policy/evidence/dsse';
import { findingsOfRow } from '../../policy/evidence/unreadable-rows';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { rowOf, stoppedIn } from '../rows';

/** A change as it was opened. Its rows were appended in one transaction: either all of them exist or none. */
export interface RecordedOpening {
  readonly planHash: string;
  readonly openedAt: string;
  /** Set if the change was withdrawn or superseded since. Not verified here: any such row forbids the commit. */
  readonly stopped: Stopped | null;
  /** Ids of the validators whose findings are recorded. */
  readonly found: ReadonlySet<unknown>;
  /** The results that were attested at the opening, by validator id. Not verified here: the committer verifies every record. */
  readonly results: (plan: Plan) => Readonly<Record<string, ValidatorResult>>;
}

/** Null if the change was not opened yet. */
export async function readRecordedOpening(
  ledger: Pick<Ledger, 'readKinds'>,
  changeId: string,
): Promise<RecordedOpening | null> {
  const rows = await ledger.readKinds(changeId, [
    'submitted',
    'planned',
    'attested',
    'findings',
    'withdrawn',
    'superseded',
  ]);
  const openedAt = rowOf(rows, 'submitted')?.at;
  const planHash = rowOf(rows, 'planned')?.body['planHash'];
  if (openedAt === undefined || typeof planHash !== 'string') return null;
  const found = new Set(rows.flatMap(({ row }) => findingsOfRow(row)?.map((f) => f.validator_id) ?? []));
  return {
    planHash,
    openedAt,
    stopped: stoppedIn(rows),
    found,
    results: (plan) => attestedResults(rows, plan, planHash),
  };
}

function attestedResults(rows: readonly StoredRow[], plan: Plan, planHash: string): Record<string, ValidatorResult> {
  const attested = plan.validators.filter((v) => v.kind === 'attested' && !isJudge(v));
  const found = attested.map((v) => [v.id, attestedResult(rows, v, planHash)] as const);
  return Object.fromEntries(found.flatMap(([id, result]) => (result === null ? [] : [[id, result]])));
}

function attestedResult(
  rows: readonly StoredRow[],
  validator: PlanValidator,
  planHash: string,
): ValidatorResult | null {
  for (const { row } of rows) {
    const opened = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
    if (opened?.ok !== true) continue;
    const { predicate } = opened.statement;
    const parsed = ValidatorResult.safeParse(predicate.result);
    const matches =
      predicate.subject === validator.id &&
      predicate.logicHash === validator.logic_hash &&
      predicate.planHash === planHash;
    if (matches && parsed.success) return parsed.data;
  }
  return null;
}
