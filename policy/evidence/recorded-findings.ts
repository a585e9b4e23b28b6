/**
 * Reconstructs `validatorFindings` of a change from its ledger rows; used by the exporter, `verify` and `replay`.
 *
 * F1 If findings were disclosed, they are the array: people answered exactly those. An unreadable disclosure counts as not
 *    disclosed; the check `findings` then fails, and the change can only be rolled back.
 * F2 Otherwise the array is built from the `findings` rows and the attested records. Of several records of one validator
 *    the strictest counts. Findings of the dry run are those after the `staged` row of the effective dry run.
 * F3 A validator without a row did not run and is SKIPPED; after a COMMIT it is missing instead, a contract violation.
 */
import { Submission } from '../contracts/diff';
import { inputSha } from '../contracts/change-id';
import type { ValidatorFinding } from '../contracts/finding';
import type { LedgerRow } from '../contracts/ledger';
import type { RollbackReason } from '../contracts/outcome';
import type { Plan, PlanValidator } from '../contracts/plan';
import { assembleAnswered, assembleFindings, COMPUTED_BY_ASSEMBLY, isHardBlock } from '../decide/findings';
import type { RawOutcome, SkipReason } from '../decide/findings';
import { waiveFindings, type Waiving } from '../decide/waivers';
import { disclosedFindings } from './disclosed-findings';
import { openEnvelope } from './dsse';
import { findingsOfRow } from './unreadable-rows';

export interface RecordedChange {
  readonly plan: Plan;
  readonly changeId: string;
  readonly rows: readonly LedgerRow[];
  /** How the review ended; null while it is open, and then the array has only the validators that ran. */
  readonly end: {
    readonly action: 'COMMIT' | 'ROLLBACK';
    readonly reason: RollbackReason | null;
    readonly stagingSha: string | null;
  } | null;
}

/** The rows that the decision was based on: those before the `intent` or `decided` row, or all rows if there is none. */
export function untilSettled(rows: readonly LedgerRow[]): readonly LedgerRow[] {
  const settled = rows.findIndex((row) => row.kind === 'intent' || row.kind === 'decided');
  return settled === -1 ? rows : rows.slice(0, settled);
}

/** Reconstructs the findings in declared order. */
export function recordedFindings({ plan, changeId, rows: all, end }: RecordedChange): readonly ValidatorFinding[] {
  const rows = untilSettled(all);
  const disclosed = rows.find((row) => row.kind === 'disclosed');
  const shown = disclosed === undefined ? null : disclosedFindings(plan, disclosed);
  if (shown !== null) return shown;
  const written = writtenFindings(plan, rows, end === null ? lastStaged(rows) : end.stagingSha);
  const outcomes = recordedOutcomes(plan, written, rows);
  const asWritten = (f: ValidatorFinding): ValidatorFinding => written.get(f.validator_id) ?? f;
  const waived = (findings: ValidatorFinding[]): ValidatorFinding[] =>
    waiveFindings(plan, changeId, findings, waivingOf(all));
  if (end === null) return waived(assembleAnswered({ plan, changeId, outcomes }).map(asWritten));
  const skipped = skipReason(plan, written, end);
  for (const { id } of plan.validators) {
    if (skipped !== null && !outcomes.has(id) && !COMPUTED_BY_ASSEMBLY.has(id))
      outcomes.set(id, { kind: 'skipped', reasonCode: skipped });
  }
  return waived(assembleFindings({ plan, changeId, outcomes }).map(asWritten));
}

/**
 * The findings that people will be shown, in declared order. They come from the rows of the change, not from the workflow. `unrecorded`:
 * outcomes of validators that have no row, because they were skipped or could not answer. Ignored for a validator that has one.
 */
export function findingsToDisclose(
  { plan, changeId, rows }: Pick<RecordedChange, 'plan' | 'changeId' | 'rows'>,
  stagingSha: string | null,
  unrecorded: Readonly<Record<string, RawOutcome>>,
): readonly ValidatorFinding[] {
  const written = writtenFindings(plan, rows, stagingSha);
  const outcomes = recordedOutcomes(plan, written, rows);
  // `unrecorded` comes from the workflow: it may not state what is computed here, nor replace what has a row.
  for (const { id } of plan.validators)
    if (!COMPUTED_BY_ASSEMBLY.has(id) && !outcomes.has(id) && Object.hasOwn(unrecorded, id))
      outcomes.set(id, unrecorded[id] as RawOutcome);
  const findings = assembleFindings({ plan, changeId, outcomes }).map((f) => written.get(f.validator_id) ?? f);
  return waiveFindings(plan, changeId, findings, waivingOf(rows));
}

/** The context for matching waivers, from the `submitted` row; null if the row is absent or invalid. */
export function waivingOf(rows: readonly LedgerRow[]): Waiving | null {
  const row = rows.find(({ kind }) => kind === 'submitted');
  const submission = Submission.safeParse(row?.body['submission']);
  if (row === undefined || !submission.success) return null;
  const { tenant, target, sourceTool } = submission.data;
  const requester = row.body['requester'];
  return {
    context: {
      tenant,
      target,
      sourceTool,
      requester: typeof requester === 'string' ? requester : null,
      inputSha: inputSha(submission.data),
    },
    at: row.at,
  };
}

/** Hash of the last successful dry run; null if there is none. */
function lastStaged(rows: readonly LedgerRow[]): unknown {
  return rows.findLast((row) => row.kind === 'staged' && row.body['rejected'] !== true)?.body['stagingSha'] ?? null;
}

/** Findings by validator id. The first readable row of each counts; for validators of the dry run the first one on `stagingSha`. */
export function writtenFindings(
  plan: Plan,
  rows: readonly LedgerRow[],
  stagingSha: unknown,
): ReadonlyMap<string, ValidatorFinding> {
  const written = new Map<string, ValidatorFinding>();
  const ofDryRun = new Set(
    plan.validators.filter((v) => v.kind === 'derived' && (v.needsStaging || v.phase === 'post')).map((v) => v.id),
  );
  let staged: unknown = null;
  for (const row of rows) {
    if (row.kind === 'staged') staged = row.body['stagingSha'] ?? null;
    for (const finding of findingsOfRow(row) ?? []) {
      const { validator_id: id } = finding;
      if (ofDryRun.has(id) && staged !== stagingSha) continue;
      if (!written.has(id)) written.set(id, finding);
    }
  }
  return written;
}

/** The outcomes that the rows prove, by validator id. */
function recordedOutcomes(
  plan: Plan,
  written: ReadonlyMap<string, ValidatorFinding>,
  rows: readonly LedgerRow[],
): Map<string, RawOutcome> {
  const outcomes = new Map<string, RawOutcome>();
  for (const validator of plan.validators) {
    const outcome = COMPUTED_BY_ASSEMBLY.has(validator.id) ? null : outcomeOf(validator, written, rows);
    if (outcome !== null) outcomes.set(validator.id, outcome);
  }
  return outcomes;
}

function outcomeOf(
  validator: PlanValidator,
  written: ReadonlyMap<string, ValidatorFinding>,
  rows: readonly LedgerRow[],
): RawOutcome | null {
  const finding = written.get(validator.id);
  if (finding !== undefined) return { kind: 'result', result: resultOf(finding) };
  if (validator.kind !== 'attested') return null;
  const results = rows.flatMap((row) => recordOf(validator, row));
  const [first, ...rest] = results;
  return first === undefined
    ? null
    : { kind: 'result', result: rest.reduce((w, r) => (strictness(r) > strictness(w) ? r : w), first) };
}

/** The finding as its validator returned it, without the members that come from the plan. */
export function resultOf(finding: ValidatorFinding): Omit<ValidatorFinding, 'phase' | 'class' | 'logic_hash'> {
  const { phase: _phase, class: _class, logic_hash: _hash, ...result } = finding;
  return result;
}

function recordOf(validator: PlanValidator, row: LedgerRow): unknown[] {
  if (row.kind !== 'attested') return [];
  const opened = openEnvelope('attested', row.body['envelope']);
  if (!opened.ok) return [];
  const { subject, logicHash, result } = opened.statement.predicate;
  return subject === validator.id && logicHash === validator.logic_hash ? [result] : [];
}

/** Order of strictness: ALLOW 0, WARN 1, everything else 2. */
export function strictness(result: unknown): number {
  const status = typeof result === 'object' && result !== null && 'status' in result ? result.status : null;
  return status === 'ALLOW' ? 0 : status === 'WARN' ? 1 : 2;
}

function skipReason(
  plan: Plan,
  written: ReadonlyMap<string, ValidatorFinding>,
  end: NonNullable<RecordedChange['end']>,
): SkipReason | null {
  if (end.action === 'COMMIT') return null;
  if (end.reason === 'withdrawn' || end.reason === 'superseded') return 'withdrawn';
  const isStatic = (v: PlanValidator): boolean => !v.needsStaging && v.phase === 'preflight';
  const forbidden = plan.validators.some((v) => {
    const finding = written.get(v.id);
    return finding !== undefined && isStatic(v) && isHardBlock(finding);
  });
  return forbidden ? 'static_block' : 'staged_block';
}
