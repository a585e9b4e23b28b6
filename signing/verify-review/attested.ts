/**
 * Attested records: signed results of judge, callbacks, circuit breakers and limits over many changes.
 *
 * R1 Every record must be signed by an attestor key, for this change, input, plan and logic, and its input digest must equal the
 *    one computed here; otherwise the check fails. The record of a revoked key does not count (`keysAt`), nor a row that contains no
 *    record.
 * R2 If a validator has several records, the strictest counts, regardless of the dry run it was made for: neither asking again
 *    nor staging again and asking again can loosen a result.
 * R3 A missing record is an ERROR, so a person must answer. An ERROR does not hide the result of another record: the finding
 *    then contains both, and so differs from everything that was disclosed.
 * R4 For a commit every record counts. A review that commits nothing rests on what was disclosed: records that came after it are kept
 *    apart, so that asking again cannot make what people were shown invalid.
 */
import { attestedInputDigest, type AttestedPredicate } from '../../policy/contracts/attested';
import { ValidatorResult, type ValidatorFinding } from '../../policy/contracts/finding';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { MAX_REASON_LENGTH } from '../../policy/contracts/limits';
import type { PlanValidator } from '../../policy/contracts/plan';
import { errorResult } from '../../policy/decide/findings';
import {
  givenToAggregate,
  givenToCallback,
  givenToJudge,
  givenToWorldFact,
  recordKindOf,
  type Given,
} from '../../policy/evidence/attested-given';
import { disclosedFindings } from '../../policy/evidence/disclosed-findings';
import { strictness as rank, untilSettled } from '../../policy/evidence/recorded-findings';
import { unreadableRows, unreadableRowText } from '../../policy/evidence/unreadable-rows';
import { AggregateRecord, aggregateResult, countsAll } from '../../policy/rules/aggregate/aggregate';
import { AggregateConfig } from '../../policy/rules/aggregate/config';
import { verifyWithRegistry } from '../registry-verify';
import { keysAt, assertSame, fail, NEVER_OPENED, openedOf, rowOf, supplied, type OpenedReview } from './checking';
import type { Passed, Review } from './record';

/** The rows that count: all of them before a commit, otherwise those before the settlement. */
export function countedRows({ sources, rows }: Review): readonly LedgerRow[] {
  return sources.context === 'commit' ? rows : untilSettled(rows);
}

export function checkAttested(review: Review): Passed {
  const opened = openedOf(review);
  const rows = countedRows(review).filter(({ kind }) => kind === 'attested');
  if (opened === null) return [NEVER_OPENED, { records: [], laterRecords: [], revokedRecords: 0 }];
  const expected = { keyKind: 'attestor', development: opened.plan.development, use: null } as const;
  const disclosed = review.end?.action === 'COMMIT' ? null : rowOf(review.rows, 'disclosed');
  const records: AttestedPredicate[] = [];
  const laterRecords: AttestedPredicate[] = [];
  const unreadable = unreadableRows(rows);
  for (const row of rows) {
    if (unreadable.some(({ n }) => n === row.n)) continue;
    const keys = keysAt(review, row.at);
    const verified = verifyWithRegistry(row.body['envelope'], 'attested', { ...expected, keys });
    if (!verified.ok && verified.code === 'revoked_key') continue;
    if (!verified.ok) fail(`row ${row.n}: ${verified.message}`);
    assertBound(verified.predicate, row, opened, review.rows);
    (disclosed !== null && row.n > disclosed.n ? laterRecords : records).push(verified.predicate);
  }
  const since = laterRecords.length;
  const revoked = rows.length - unreadable.length - records.length - since;
  const signedBefore = records.filter(({ keyId }) => review.need('keys')(keyId)?.revokedAt != null).length;
  const notes = [
    ...(revoked === 0 ? [] : [`${revoked} of revoked keys that do not count`]),
    ...(signedBefore === 0 ? [] : [`${signedBefore} of keys that were revoked later, which do not support a commit`]),
    ...(since === 0 ? [] : [`${since} after the disclosure`]),
    ...unreadable.map(unreadableRowText),
  ];
  return [[`${records.length} records`, ...notes].join('; '), { records, laterRecords, revokedRecords: revoked }];
}

function assertBound(
  record: AttestedPredicate,
  { n }: LedgerRow,
  opened: OpenedReview,
  rows: readonly LedgerRow[],
): void {
  const { changeId, inputSha, planHash } = opened;
  if (record.changeId !== changeId || record.inputSha !== inputSha || record.planHash !== planHash)
    fail(`row ${n}: the record is for another change or plan`);
  const given = givenOf(record, opened, rows);
  if (given === null) fail(`row ${n}: the plan does not require this record (${record.kind} ${record.subject})`);
  if (record.inputDigest !== attestedInputDigest(record.kind, given))
    fail(`row ${n}: the record was made from another input`);
}

function givenOf(record: AttestedPredicate, opened: OpenedReview, rows: readonly LedgerRow[]): Given | null {
  if (record.kind === 'callback') return givenToCallbackOf(record, opened, rows);
  const { changeId, inputSha, planHash, submission, plan } = opened;
  const validator = plan.validators.find((v) => v.id === record.subject);
  if (
    validator?.kind !== 'attested' ||
    validator.logic_hash !== record.logicHash ||
    recordKindOf(validator) !== record.kind
  )
    return null;
  if (record.kind === 'judge')
    return givenToJudge({ inputSha, stagingSha: record.stagingSha, planHash, logicHash: record.logicHash });
  return record.kind === 'aggregate'
    ? givenToSum(record, validator, opened, rows)
    : givenToWorldFact({ changeId, inputSha, tenant: submission.tenant, sourceTool: submission.sourceTool });
}

function givenToCallbackOf(
  record: AttestedPredicate,
  { plan, inputSha }: OpenedReview,
  rows: readonly LedgerRow[],
): Given | null {
  const [index = '', ...key] = record.subject.split('/');
  const findingIndex = Number(index);
  const row = rowOf(rows, 'disclosed');
  const disclosed = row === null ? [] : disclosedFindings(plan, row);
  if (disclosed === null) fail(`row ${row?.n ?? 0}: its findings cannot be read`);
  const finding = disclosed[findingIndex];
  const policy = plan.policies.find((p) => p.key === key.join('/'));
  if (finding === undefined || policy === undefined) return null;
  if (plan.validators[findingIndex]?.logic_hash !== record.logicHash) return null;
  return givenToCallback(finding, { findingIndex, policyKey: policy.key, callback: policy.callback }, inputSha);
}

/** The record must be about the opened change, with the result of its own sum. The check `sums` finds changes that it omits. */
function givenToSum(
  attested: AttestedPredicate,
  validator: PlanValidator,
  { changeId, inputSha, submission }: OpenedReview,
  rows: readonly LedgerRow[],
): Given {
  const name = `the sum of ${validator.id}`;
  const record = AggregateRecord.safeParse(attested.record).data ?? fail(`${name} cannot be read`);
  const config = AggregateConfig.safeParse(validator.config).data ?? fail(`${name}: the plan's limits cannot be read`);
  const row = rowOf(rows, 'submitted');
  const { tenant, target, sourceTool, requester, openedAt, own } = record;
  assertSame(
    { tenant, target, sourceTool, requester, openedAt, own },
    {
      tenant: submission.tenant,
      target: submission.target,
      sourceTool: submission.sourceTool,
      requester: row?.body['requester'] ?? null,
      openedAt: row?.at ?? null,
      own: row?.body['measure'] ?? null,
    },
    `${name} is for another change than was opened`,
  );
  assertSame(
    attested.result,
    aggregateResult(validator.id, changeId, config, record),
    `${name}: its result does not follow from the changes that it counts`,
  );
  return givenToAggregate({ changeId, inputSha, record });
}

/** The other changes are not in an evidence file; the records contain their ids. */
export function checkSums(review: Review): Passed {
  const opened = openedOf(review);
  const records = review.need('records').filter(({ kind }) => kind === 'aggregate');
  if (opened === null || !opened.plan.validators.some((v) => recordKindOf(v) === 'aggregate'))
    return ['the plan has no limit over many changes'];
  const { own, needed } = supplied(review.sources.sums, 'the other changes that a limit counts are not in the file');
  assertSame(
    rowOf(review.rows, 'submitted')?.body['measure'],
    own,
    'the measure in the row differs from that of the bytes',
  );
  for (const { subject, record } of records) {
    const expected = needed.get(subject) ?? fail(`${subject}: its sum was not computed again`);
    if (!countsAll(AggregateRecord.parse(record), expected))
      fail(`${subject}: its record leaves out changes that it must count`);
  }
  return [`${records.length} sums, each of all the changes that it must count`];
}

export function recordsOf(
  validator: PlanValidator,
  records: readonly AttestedPredicate[],
): readonly AttestedPredicate[] {
  const kind = recordKindOf(validator);
  return records.filter((record) => record.subject === validator.id && record.kind === kind);
}

/** Which validators have a record since the disclosure that is stricter than their finding (R4). It makes a commit impossible. */
export function stricterSince(
  findings: readonly ValidatorFinding[],
  laterRecords: readonly AttestedPredicate[],
): readonly string[] {
  return findings
    .filter((f) => laterRecords.some(({ subject, result }) => subject === f.validator_id && rank(result) > rank(f)))
    .map((f) => f.validator_id);
}

/** The result of an attested validator by its records (R2, R3). Null if it has no record. */
export function strictestResult(
  validator: PlanValidator,
  records: readonly AttestedPredicate[],
  of: { readonly changeId: string; readonly stagingSha: string | null },
): unknown {
  const expectedSha = recordKindOf(validator) === 'judge' ? of.stagingSha : null;
  const own = recordsOf(validator, records);
  if (own.length === 0) return null;
  const results: ValidatorResult[] = [];
  for (const { result } of own) {
    const parsed = ValidatorResult.safeParse(result);
    // Violates the validator contract; the assembly turns it into a BLOCK.
    if (!parsed.success || parsed.data.validator_id !== validator.id) return result;
    results.push(parsed.data);
  }
  const exact = own.some(({ stagingSha }) => stagingSha === expectedSha);
  return strictestOf(exact ? results : [...results, missingRecord(validator.id, of.changeId)]);
}

/**
 * The first of the strictest results. Neither a BLOCK or WARN nor an ERROR is stricter than the other (a callback may resolve a
 * BLOCK, a plan may forbid on an ERROR), so a combination of them contains both.
 */
function strictestOf(results: readonly ValidatorResult[]): ValidatorResult | null {
  const answered = results.filter((r) => r.errorClass === undefined);
  const error = results.find((r) => r.errorClass !== undefined);
  const worst = answered.reduce<ValidatorResult | null>((w, r) => (w === null || rank(r) > rank(w) ? r : w), null);
  if (error?.errorClass === undefined) return worst;
  if (worst === null || worst.status === 'ALLOW') return error;
  const reason = `${worst.reason}\n${error.reason}`;
  return {
    ...worst,
    status: 'BLOCK',
    reason: reason.length > MAX_REASON_LENGTH ? worst.reason : reason,
    reasonCode: 'records_differ',
    errorClass: error.errorClass,
    reproducible: true,
  };
}

export function missingRecord(validatorId: string, changeId: string): ValidatorResult {
  return errorResult(validatorId, changeId, {
    errorClass: 'ErrValidatorBackend',
    reason: 'No valid attested record',
    reasonCode: MISSING_RECORD,
    reproducible: false,
  });
}

/** `reasonCode` of the ERROR in place of a record that is missing. */
export const MISSING_RECORD = 'attestation_missing';
