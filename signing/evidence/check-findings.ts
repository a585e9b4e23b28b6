import { attestedInputDigest, type AttestedPredicate } from '../../policy/contracts/attested';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Submission } from '../../policy/contracts/diff';
import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { ValidatorFinding } from '../../policy/contracts/finding';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { PolicyCallbackResult, type PolicyViolation } from '../../policy/contracts/violation';
import { assembleFindings, findingsSha } from '../../policy/decide/findings';
import { applyWaivers, WAIVED } from '../../policy/decide/waivers';
import {
  buildViolations,
  callbackKey,
  callbackResultsSha,
  cardinalityOf,
  fingerprint,
  matchPolicies,
} from '../../policy/decide/violations';
import {
  givenToAggregate,
  givenToCallback,
  givenToJudge,
  givenToWorldFact,
  recordKindOf,
  type Given,
} from '../../policy/evidence/attested-given';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import {
  recordedFindings,
  strictness,
  untilSettled,
  waivingOf,
  writtenFindings,
  type RecordedChange,
} from '../../policy/evidence/recorded-findings';
import { AggregateRecord, aggregateResult } from '../../policy/rules/aggregate/aggregate';
import { AggregateConfig } from '../../policy/rules/aggregate/config';
import { verifyWithRegistry } from '../registry-verify';
import { assertSame, fail } from './check';
import { rowOf } from './check-rows';

/** What findings, violations and answers are checked against. */
export interface EvidenceScope {
  readonly changeId: string;
  readonly submission: Submission;
  readonly plan: Plan;
  readonly planHash: string;
  readonly staging: { readonly record: StagingRecord; readonly sha: string } | null;
  readonly rows: readonly LedgerRow[];
  readonly keys: KeyLookup;
  readonly end: RecordedChange['end'];
}

/** Every attested record by a registered attestor, about this change, over exactly the input that is recomputed here. */
export function checkAttested(scope: EvidenceScope): readonly [string, readonly AttestedPredicate[]] {
  const records: AttestedPredicate[] = [];
  let revoked = 0;
  for (const row of untilSettled(scope.rows)) {
    if (row.kind !== 'attested') continue;
    const verified = verifyWithRegistry(row.body['envelope'], 'attested', {
      keys: scope.keys,
      keyKind: 'attestor',
      development: scope.plan.development,
    });
    // A revoked attestor's record is as good as none; its finding then needs another one.
    if (!verified.ok && verified.code === 'revoked_key') revoked++;
    else if (!verified.ok) fail(`row ${row.n}: ${verified.message}`);
    else records.push(bound(verified.predicate, row, scope));
  }
  return [
    `${records.length} records${revoked === 0 ? '' : `, and ${revoked} of revoked keys that do not count`}`,
    records,
  ];
}

function bound(record: AttestedPredicate, row: LedgerRow, scope: EvidenceScope): AttestedPredicate {
  const { changeId, planHash, submission } = scope;
  if (record.changeId !== changeId || record.inputSha !== inputShaOf(submission) || record.planHash !== planHash)
    fail(`row ${row.n}: the record is about another change or plan`);
  const given = givenOf(record, scope);
  if (given === null) fail(`row ${row.n}: the plan asks for no such record (${record.kind} ${record.subject})`);
  if (record.inputDigest !== attestedInputDigest(record.kind, given))
    fail(`row ${row.n}: the record was made of another input`);
  return record;
}

function givenOf(record: AttestedPredicate, scope: EvidenceScope): Given | null {
  const { changeId, submission, plan, planHash } = scope;
  const inputSha = inputShaOf(submission);
  if (record.kind === 'callback') {
    const [index = '', ...key] = record.subject.split('/');
    const finding = disclosedFindings(scope.rows)?.[Number(index)];
    const policy = plan.policies.find((p) => p.key === key.join('/'));
    const validator = plan.validators[Number(index)];
    if (finding === undefined || policy === undefined || validator?.logic_hash !== record.logicHash) return null;
    return givenToCallback(
      finding,
      { findingIndex: Number(index), policyKey: policy.key, callback: policy.callback },
      inputSha,
    );
  }
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
    ? givenToSum(record, validator, scope, inputSha)
    : givenToWorldFact({ changeId, inputSha, tenant: submission.tenant, sourceTool: submission.sourceTool });
}

/**
 * Of the change as it was opened, and with the result that its own sum gives. The other changes are not in the file: that none
 * is missing the committer has checked, and their ids are there to look up.
 */
function givenToSum(said: AttestedPredicate, validator: PlanValidator, scope: EvidenceScope, inputSha: string): Given {
  const { changeId, submission, rows } = scope;
  const name = `the sum of ${validator.id}`;
  const record = AggregateRecord.safeParse(said.record).data ?? fail(`${name} cannot be read`);
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
    `${name} is about another change than was opened`,
  );
  assertSame(
    said.result,
    aggregateResult(validator.id, changeId, config, record),
    `${name}: its result is not what the changes that it counts come to`,
  );
  return givenToAggregate({ changeId, inputSha, record });
}

/** The array is what the rows have, each entry of the plan's validator, each attested one borne out by its records. */
export function checkFindings(
  findings: readonly ValidatorFinding[],
  records: readonly AttestedPredicate[],
  scope: EvidenceScope,
): readonly [string, readonly ValidatorFinding[]] {
  const { plan, changeId, rows, end } = scope;
  const written = writtenFindings(plan, untilSettled(rows), scope.staging?.sha ?? null);
  assertSame(
    findings,
    recordedFindings({ plan, changeId, rows, end }),
    'they are not the findings that the rows hold, in their order',
  );
  for (const finding of findings) {
    const validator = plan.validators.find((v) => v.id === finding.validator_id);
    if (validator === undefined) fail(`${finding.validator_id}: the plan has no such validator`);
    const { phase, class: hookClass, logic_hash } = finding;
    if (phase !== validator.phase || hookClass !== validator.class || logic_hash !== validator.logic_hash)
      fail(`${validator.id}: the finding is not of the plan's validator`);
    if (validator.kind === 'attested') checkBorneOut(finding, validator, records, changeId, plan);
    else checkNotLoosened(finding, written.get(validator.id), scope);
  }
  return [`${findings.length} findings, findingsSha ${findingsSha(findings)}`, findings];
}

/** An attested finding says what a record says, and is no milder than any: asking again never helps. An ERROR may stand for a missing one. */
function checkBorneOut(
  finding: ValidatorFinding,
  validator: PlanValidator,
  records: readonly AttestedPredicate[],
  changeId: string,
  plan: Plan,
): void {
  const said = records
    .filter((r) => r.subject === validator.id && r.kind === recordKindOf(validator))
    .map(
      (r) =>
        assembleFindings({
          plan: { ...plan, validators: [validator] },
          changeId,
          outcomes: new Map([[validator.id, { kind: 'result', result: r.result }]]),
        })[0],
    );
  if (finding.status === 'SKIPPED') {
    if (said.length > 0) fail(`${validator.id}: it is marked as not run, and a record of it stands`);
    return;
  }
  if (said.some((s) => strictness(s) > strictness(finding))) fail(`${validator.id}: a stricter record of it stands`);
  if (finding.errorClass === undefined && !said.some((s) => canonicalJson(s) === canonicalJson(finding)))
    fail(`${validator.id}: no valid record says ${finding.status}`);
}

/** What a guardian wrote down must not be disclosed as less (P5); one on a dry run, on the dry run that counts. */
function checkNotLoosened(
  finding: ValidatorFinding,
  written: ValidatorFinding | undefined,
  scope: EvidenceScope,
): void {
  if (finding.phase !== 'preflight') return;
  if (finding.reasonCode === WAIVED) return checkWaived(finding, written, scope);
  if (written !== undefined && written.status !== 'ALLOW' && finding.status === 'ALLOW')
    fail(`${finding.validator_id}: its row says ${written.status}, and ALLOW was disclosed`);
}

/** A finding that says it is waived is what the plan's waivers make of the one that was written down. */
function checkWaived(
  finding: ValidatorFinding,
  written: ValidatorFinding | undefined,
  { plan, rows }: EvidenceScope,
): void {
  const waiving = waivingOf(rows);
  const [after] =
    written !== undefined && waiving !== null
      ? applyWaivers(plan, [written], waiving.context, waiving.at).findings
      : [undefined];
  if (after === undefined || canonicalJson(after) !== canonicalJson(finding))
    fail(`${finding.validator_id}: it is marked as waived, and no waiver of the plan covers it`);
}

function disclosedFindings(rows: readonly LedgerRow[]): readonly ValidatorFinding[] | null {
  const row = rowOf(rows, 'disclosed');
  return row === null
    ? null
    : (ValidatorFinding.array().safeParse(row.body['findings']).data ??
        fail(`row ${row.n}: its findings cannot be read`));
}

export interface Disclosure {
  readonly violations: readonly PolicyViolation[];
  readonly fingerprint: string | null;
  readonly at: string | null;
  /** How many policies fired; with none of them disclosed, the change must not be committed. */
  readonly triggered: number;
}

/** Violations, callback results and fingerprint built again; what people were shown must be exactly that. */
export function checkDisclosure(
  findings: readonly ValidatorFinding[],
  records: readonly AttestedPredicate[],
  scope: EvidenceScope,
  requester: string | null,
): readonly [string, Disclosure] {
  const { changeId, submission, plan, planHash, rows, staging, end } = scope;
  const row = rowOf(rows, 'disclosed');
  const triggered =
    end === null && row === null ? [] : matchPolicies(plan, findings, cardinalityOf(staging?.record ?? null));
  if (row === null) {
    if (triggered.length > 0 && end?.action === 'COMMIT') fail('violations stand that nobody was shown');
    return ['nothing was disclosed', { violations: [], fingerprint: null, at: null, triggered: triggered.length }];
  }
  if (triggered.length === 0) fail(`row ${row.n}: violations were shown that do not stand`);
  const callbackResults: Record<string, PolicyCallbackResult> = {};
  for (const t of triggered) {
    const key = callbackKey(t);
    const said = records.filter(
      (r) => r.kind === 'callback' && r.subject === key && r.stagingSha === (staging?.sha ?? null),
    );
    const results = said.flatMap((r) => PolicyCallbackResult.safeParse(r.result).data ?? []);
    const result = results.find((r) => !r.passed) ?? results[0];
    if (t.callback !== null && result !== undefined) callbackResults[key] = result;
  }
  assertSame(
    row.body['callbackResults'],
    callbackResults,
    `row ${row.n}: the callback results are not those of the signed records`,
  );
  const inputSha = inputShaOf(submission);
  const violations = buildViolations({ plan, planHash, inputSha, findings, triggered, callbackResults, requester });
  assertSame(row.body['violations'], violations, `row ${row.n}: other violations were shown than those that stand`);
  const bound = fingerprint({
    changeId,
    inputSha,
    stagingSha: staging?.sha ?? null,
    planHash,
    findingsSha: findingsSha(findings),
    callbackResultsSha: callbackResultsSha(callbackResults),
    violationIds: violations.map((v) => v.violationId),
  });
  if (row.body['fingerprint'] !== bound) fail(`row ${row.n}: its fingerprint is not that of what it shows`);
  if ((row.body['stagingSha'] ?? null) !== (staging?.sha ?? null))
    fail(`row ${row.n}: it was shown on another dry run`);
  return [
    `${violations.length} violations, fingerprint ${bound}`,
    { violations, fingerprint: bound, at: row.at, triggered: triggered.length },
  ];
}
