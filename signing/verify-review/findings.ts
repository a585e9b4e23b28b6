import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { AttestedPredicate } from '../../policy/contracts/attested';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { PlanValidator } from '../../policy/contracts/plan';
import { assembleFindings, COMPUTED_BY_ASSEMBLY, findingsSha, type RawOutcome } from '../../policy/decide/findings';
import { isJudge } from '../../policy/contracts/readings';
import { applyWaivers, WAIVED, waiveFindings } from '../../policy/decide/waivers';
import { disclosedFindings } from '../../policy/evidence/disclosed-findings';
import {
  recordedFindings,
  resultOf,
  strictness,
  waivingOf,
  writtenFindings,
} from '../../policy/evidence/recorded-findings';
import { counted } from '../../policy/text/counted';
import { unreadableRows, unreadableRowText } from '../../policy/evidence/unreadable-rows';
import { agrees } from './agreement';
import { countedRows, missingRecord, recordsOf, stricterSince, strictestResult } from './attested';
import { assertSame, fail, NEVER_OPENED, openedOf, rowOf, type OpenedReview } from './checking';
import { outcomesWithoutRow } from './outcomes-without-row';
import type { Passed, Review } from './record';

/** Runs no rules: the findings must be those of the rows, and none may be milder than its row or its records. */
export function checkFindings(review: Review): Passed {
  const { record, rows, end } = review;
  const opened = openedOf(review);
  if (opened === null) {
    if ((record.file?.findings.length ?? 0) > 0) fail('there are findings, but the change has no plan');
    return [NEVER_OPENED, { findings: [] }];
  }
  const { plan, changeId } = opened;
  const shown = rowOf(rows, 'disclosed');
  if (shown !== null && disclosedFindings(plan, shown) === null)
    fail(`row ${shown.n} (disclosed): its findings cannot be read`);
  const findings = recordedFindings({ plan, changeId, rows, end });
  if (record.file !== null)
    assertSame(record.file.findings, findings, 'the findings differ from those in the rows, or are in another order');
  const written = writtenFindings(plan, countedRows(review), review.need('staging')?.sha ?? null);
  for (const finding of findings) {
    const validator = plan.validators.find((v) => v.id === finding.validator_id);
    if (validator === undefined) fail(`${finding.validator_id}: the plan has no such validator`);
    const { phase, class: hookClass, logic_hash } = finding;
    if (phase !== validator.phase || hookClass !== validator.class || logic_hash !== validator.logic_hash)
      fail(`${validator.id}: phase, class or logic hash differ from those in the plan`);
    if (validator.kind === 'attested') checkAttestedFinding(finding, validator, review, opened);
    else checkNotLoosened(finding, written.get(validator.id), review, opened);
  }
  if (review.sources.context !== 'commit' && rowOf(rows, 'disclosed') !== null)
    checkDisclosedWords(findings, written, review, opened);
  const unreadable = unreadableRows(rows.filter(({ kind }) => kind === 'findings')).map(unreadableRowText);
  const stricter = stricterSince(findings, review.need('laterRecords')).map(
    (id) => `a record of ${id} after the disclosure is stricter, which refuses a commit`,
  );
  return [
    [`${findings.length} findings, findingsSha ${findingsSha(findings)}`, ...unreadable, ...stricter].join('; '),
    { findings },
  ];
}

/**
 * The disclosed findings come from the workflow, which anyone with write access to the namespace can replace: each must equal
 * its row or the result of a record, after waivers. A validator that has neither has one of the fixed results for that. The
 * committer does not need this check, because it computes the findings again.
 */
function checkDisclosedWords(
  findings: readonly ValidatorFinding[],
  written: ReadonlyMap<string, ValidatorFinding>,
  review: Review,
  opened: OpenedReview,
): void {
  const { plan, changeId } = opened;
  const waiving = waivingOf(review.rows);
  const before = plan.validators.map((validator, i): ValidatorFinding => {
    const finding = findings[i];
    if (finding?.validator_id !== validator.id) fail(`${validator.id}: it has no disclosed finding`);
    if (COMPUTED_BY_ASSEMBLY.has(validator.id))
      return assembled(opened, validator, { kind: 'skipped', reasonCode: 'withdrawn' })[0] ?? finding;
    const row = written.get(validator.id);
    const possible =
      row === undefined
        ? possibleOutcomes(validator, finding, review.need('records'), opened).flatMap((outcome) =>
            assembled(opened, validator, outcome),
          )
        : [row];
    const found = possible.find((f) => {
      const [after] = waiving === null ? [f] : applyWaivers(plan, [f], waiving.context, waiving.at).findings;
      return canonicalJson(after ?? null) === canonicalJson(finding);
    });
    return found ?? fail(`${validator.id}: neither a row nor a record has the disclosed finding`);
  });
  assertSame(
    waiveFindings(plan, changeId, before, waiving),
    findings,
    'the disclosed findings differ from those that follow from rows and records',
  );
}

/** The outcomes that a validator without a row `findings` can have: the results of its records, and the fixed ones. */
function possibleOutcomes(
  validator: PlanValidator,
  finding: ValidatorFinding,
  records: readonly AttestedPredicate[],
  { plan, changeId }: OpenedReview,
): RawOutcome[] {
  return [
    ...recordsOf(validator, records).map(({ result }): RawOutcome => ({ kind: 'result', result })),
    ...outcomesWithoutRow(plan, validator, changeId, { ...resultOf(finding), status: 'BLOCK' }),
  ];
}

/** The finding that the assembly makes of one outcome of a validator, before waivers. Always one. */
function assembled(
  { plan, changeId }: OpenedReview,
  validator: PlanValidator,
  outcome: RawOutcome,
): readonly ValidatorFinding[] {
  const outcomes = new Map([[validator.id, outcome]]);
  return assembleFindings({ plan: { ...plan, validators: [validator] }, changeId, outcomes });
}

/** The outcome of an attested validator by its records (R2, R3), before the assembly. */
export function attestedOutcome(
  validator: PlanValidator,
  review: Review,
  { changeId, plan }: OpenedReview,
): RawOutcome {
  const stagingSha = review.need('staging')?.sha ?? null;
  const result = strictestResult(validator, review.need('records'), { changeId, stagingSha });
  if (result !== null) return { kind: 'result', result };
  if (isJudge(validator) && plan.judgeWhen === 'onlyIfClean') return { kind: 'skipped', reasonCode: 'judge_when' };
  return { kind: 'result', result: missingRecord(validator.id, changeId) };
}

/**
 * An attested finding must equal the result of its records, and must not be milder than any of them. A review that did not
 * commit may contain an ERROR without a record.
 */
function checkAttestedFinding(
  finding: ValidatorFinding,
  validator: PlanValidator,
  review: Review,
  opened: OpenedReview,
): void {
  const recorded = recordsOf(validator, review.need('records')).flatMap(({ result }) =>
    assembled(opened, validator, { kind: 'result', result }),
  );
  if (finding.status === 'SKIPPED' && recorded.length > 0)
    fail(`${validator.id}: it is marked as skipped, but there is a record of it`);
  if (finding.status === 'SKIPPED' && review.end?.action !== 'COMMIT') return;
  if (recorded.some((s) => strictness(s) > strictness(finding)))
    fail(`${validator.id}: there is a stricter record of it`);
  if (review.end?.action === 'COMMIT') {
    const [now] = assembled(opened, validator, attestedOutcome(validator, review, opened));
    if (now === undefined || !agrees(opened.plan, finding, now)) {
      const found =
        recorded.length === 0 ? `no record of it counts${revokedText(review)}` : `its records give ${now?.status}`;
      fail(
        `${validator.id}: ${found}, but ${now?.status === finding.status ? 'another ' : ''}${finding.status} was recorded`,
      );
    }
  } else if (finding.errorClass === undefined && !recorded.some((s) => canonicalJson(s) === canonicalJson(finding)))
    fail(`${validator.id}: no valid record contains ${finding.status}`);
}

function revokedText(review: Review): string {
  const revoked = review.need('revokedRecords');
  return revoked === 0 ? '' : ` (the review has ${counted(revoked, 'record')} by a revoked key)`;
}

/** A finding that a guardian recorded as BLOCK or WARN, on this dry run, must not be disclosed as ALLOW unless it was waived. */
function checkNotLoosened(
  finding: ValidatorFinding,
  written: ValidatorFinding | undefined,
  review: Review,
  { plan }: OpenedReview,
): void {
  if (finding.phase !== 'preflight') return;
  if (finding.reasonCode === WAIVED) {
    const waiving = waivingOf(review.rows);
    const [after] =
      written !== undefined && waiving !== null
        ? applyWaivers(plan, [written], waiving.context, waiving.at).findings
        : [undefined];
    if (after === undefined || canonicalJson(after) !== canonicalJson(finding))
      fail(`${finding.validator_id}: it is marked as waived, but no waiver of the plan covers it`);
  } else if (written !== undefined && written.status !== 'ALLOW' && finding.status === 'ALLOW')
    fail(`${finding.validator_id}: its row says ${written.status}, but ALLOW was disclosed`);
}
