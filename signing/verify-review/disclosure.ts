import { z } from 'zod';
import type { AttestedPredicate } from '../../policy/contracts/attested';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { PolicyCallbackResult } from '../../policy/contracts/violation';
import {
  buildViolations,
  callbackKey,
  cardinalityOf,
  fingerprintOf,
  matchPolicies,
  type TriggeredPolicy,
} from '../../policy/decide/violations';
import { DisclosedRow } from '../../policy/evidence/disclosed-findings';
import type { StandingReject } from '../../policy/evidence/ledger-port';
import { resultOf } from '../../policy/evidence/recorded-findings';
import { assertSame, fail, NEVER_OPENED, notChecked, openedOf, rowOf, supplied } from './checking';
import type { Passed, Review } from './record';

/** Builds violations, callback results and fingerprint again. The disclosed ones must be identical. */
export function checkDisclosure(review: Review): Passed {
  const { rows, record, end } = review;
  const opened = openedOf(review);
  const none = { violations: [], fingerprint: null, at: null, reachable: [] };
  if (opened === null) return [NEVER_OPENED, { disclosure: none }];
  const { changeId, inputSha, plan, planHash } = opened;
  const [findings, staging, requester] = [review.need('findings'), review.need('staging'), review.need('requester')];
  const row = rowOf(rows, 'disclosed');
  const triggered =
    end === null && row === null ? [] : matchPolicies(plan, findings, cardinalityOf(staging?.record ?? null));
  const asked = record.asked?.fingerprint ?? null;
  if (row === null) {
    if (triggered.length > 0 && end?.action === 'COMMIT') fail('there are violations that were not disclosed');
    if (asked !== null) fail('the commit request has a fingerprint, but nothing was disclosed');
    return ['nothing was disclosed', { disclosure: none }];
  }
  if (triggered.length === 0) fail(`row ${row.n}: the disclosed violations do not exist`);
  const stagingSha = staging?.sha ?? null;
  const callbackResults = callbackResultsOf(review.need('records'), triggered, stagingSha);
  assertSame(
    row.body['callbackResults'],
    callbackResults,
    `row ${row.n}: the callback results differ from the signed records`,
  );
  const violations = buildViolations({ plan, planHash, inputSha, findings, triggered, callbackResults, requester });
  assertSame(
    row.body['violations'],
    violations,
    `row ${row.n}: the disclosed violations differ from the recomputed ones`,
  );
  const bound = fingerprintOf({ changeId, inputSha, planHash, stagingSha }, findings, callbackResults, violations);
  if (row.body['fingerprint'] !== bound) fail(`row ${row.n}: its fingerprint does not match its contents`);
  if (record.asked !== null && asked !== bound) fail('the commit request has another fingerprint than was disclosed');
  if ((row.body['stagingSha'] ?? null) !== stagingSha) fail(`row ${row.n}: it is about another dry run`);
  const reachable = DisclosedRow.shape.reachable.safeParse(row.body['reachable']).data;
  if (reachable === undefined) fail(`row ${row.n}: it does not say who could answer`);
  return [
    `${violations.length} violations, fingerprint ${bound}`,
    { disclosure: { violations, fingerprint: bound, at: row.at, reachable } },
  ];
}

/** If one of the records of a callback did not pass, that one counts, regardless of their order. */
export function callbackResultsOf(
  records: readonly AttestedPredicate[],
  triggered: readonly TriggeredPolicy[],
  stagingSha: string | null,
): Record<string, PolicyCallbackResult> {
  const results: Record<string, PolicyCallbackResult> = {};
  for (const t of triggered) {
    if (t.callback === null) continue;
    const key = callbackKey(t);
    const answers = records
      .filter((r) => r.kind === 'callback' && r.subject === key && r.stagingSha === stagingSha)
      .flatMap((r) => PolicyCallbackResult.safeParse(r.result).data ?? []);
    const result = answers.find((r) => !r.passed) ?? answers[0];
    if (result !== undefined) results[key] = result;
  }
  return results;
}

/** Rejects are attested at the opening. A later reject of the same change was not disclosed to the approvers of this review. */
export function checkPreviouslyRejected(review: Review): Passed {
  const { rejects } = review.sources;
  if (rejects === null) notChecked('the ledger of other reviews is not in the file');
  const opened = openedOf(review) ?? fail(NEVER_OPENED);
  const findings = review.need('findings');
  const factsSha = supplied(review.sources.factsSha, 'the facts were not computed again');
  if (rowOf(review.rows, 'submitted')?.body['factsSha'] !== factsSha)
    fail('the digest of the facts in the row `submitted` differs from that of the bytes');
  const disclosed = disclosedRejects(opened.plan, findings, rejects.length === 0 ? [] : review.need('records'));
  const hidden = rejects.find(({ changeId, n }) => !disclosed.some((r) => r.changeId === changeId && r.n === n));
  if (hidden !== undefined)
    fail(`the same change was rejected at ${hidden.at}, after this review was opened; submit it again`);
  return [rejects.length === 0 ? 'none' : `${rejects.length} rejects, which were disclosed`];
}

/**
 * The rejects in the signed record whose result is what people were shown. The ledger gives the newest 20 at the opening and now, so an
 * older one is missing from the record only if a newer one is missing too.
 */
function disclosedRejects(
  plan: Plan,
  findings: readonly ValidatorFinding[],
  records: readonly AttestedPredicate[],
): readonly Pick<StandingReject, 'changeId' | 'n'>[] {
  const shown = findings.filter(({ status }, i) => {
    const validator = plan.validators[i];
    return validator?.unit === 'builtin' && validator.implementation === 'previously_rejected' && status === 'BLOCK';
  });
  return shown.flatMap((finding) => {
    const result = canonicalJson(resultOf(finding));
    const record = records.find((r) => r.subject === finding.validator_id && canonicalJson(r.result) === result);
    return Rejects.safeParse(record?.record).data?.rejects ?? [];
  });
}

const Rejects = z.object({ rejects: z.array(z.object({ changeId: z.string(), n: z.int() })) });
