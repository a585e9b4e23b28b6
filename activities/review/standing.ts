import { ValidatorResult } from '../../policy/contracts/finding';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { isJudge } from '../../policy/contracts/readings';
import type { StoredRow } from '../../policy/evidence/chain';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { Ledger } from '../../policy/evidence/ledger-port';

/** A change as it was opened: its rows were appended in one transaction, so where one stands all of them do. */
export interface Standing {
  readonly planHash: string;
  readonly openedAt: string;
  /** What was attested then, by validator id. The committer verifies the records like every other. */
  readonly results: (plan: Plan) => Readonly<Record<string, ValidatorResult>>;
}

/** Null where the change was not opened yet. */
export async function standingOpening(ledger: Pick<Ledger, 'readKinds'>, changeId: string): Promise<Standing | null> {
  const rows = await ledger.readKinds(changeId, ['submitted', 'planned', 'attested']);
  const openedAt = rows.find(({ row }) => row.kind === 'submitted')?.row.at;
  const planHash = rows.find(({ row }) => row.kind === 'planned')?.row.body['planHash'];
  if (openedAt === undefined || typeof planHash !== 'string') return null;
  return { planHash, openedAt, results: (plan) => attestedResults(rows, plan, planHash) };
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
    const { subject, logicHash, planHash: of, result } = opened.statement.predicate;
    const parsed = ValidatorResult.safeParse(result);
    const isIt = subject === validator.id && logicHash === validator.logic_hash && of === planHash;
    if (isIt && parsed.success) return parsed.data;
  }
  return null;
}
