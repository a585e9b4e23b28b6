import type { AdmittedAnswer, AnswerCode } from '../../policy/contracts/answer';
import type { PolicyViolation } from '../../policy/contracts/violation';
import { decide, lastCountedAt, type Decided, type DecideInput } from '../../policy/decide/decide';
import { cardinalityOf, matchPolicies } from '../../policy/decide/violations';
import { untilSettled } from '../../policy/evidence/recorded-findings';
import { answerScopeOf } from '../assess-answer';
import { statementsOf, verifyAcceptedAnswers } from '../verify-answers';
import { countedRows } from './attested';
import { claimOf, fail, NEVER_OPENED, notChecked, openedOf, rowOf, type OpenedReview } from './checking';
import type { Passed, Review } from './record';
import { ROLLBACK_SUPPORT } from './rollback-reasons';

/**
 * Verifies each accepted answer again. An answer whose key was revoked since, or whose person may not answer, does not count;
 * the check `decision` finds whether enough others do. An answer that could never have been admitted fails this check.
 */
export function checkAnswers(review: Review): Passed {
  const opened = openedOf(review);
  const disclosure = review.need('disclosure');
  if (opened === null) return [NEVER_OPENED, { answers: NO_ANSWERS }];
  const { changeId, submission, plan } = opened;
  const { violations, fingerprint } = disclosure;
  const requester = review.need('requester');
  const scope = answerScopeOf({ changeId, submission, plan, fingerprint, requester, violations });
  const answers = verifyAcceptedAnswers({
    rows: countedRows(review),
    scope,
    keys: review.need('keys'),
    nonces: review.sources.nonces,
    at: review.at,
  });
  const forged = answers.refused.find(({ code }) => NEVER_ADMITTED.has(code));
  if (forged !== undefined) fail(`row ${forged.n}: ${forged.code}: ${forged.message}`);
  const refused = answers.refused.map((r) => `; row ${r.n} does not count: ${r.code}, ${r.message}`);
  return [`${answersText(answers.answers, violations)}${refused.join('')}`, { answers }];
}

const NO_ANSWERS = { answers: [], lapsed: [], standingRejects: [], rejectsOfRevoked: [], refused: [] };

/** Codes that an admitted answer can never get later, so the row was not written by admission. */
const NEVER_ADMITTED: ReadonlySet<AnswerCode> = new Set([
  'malformed',
  'bad_signature',
  'unknown_key',
  'wrong_context',
  'unsigned_not_accepted',
]);

/** Who decided what, and when it was admitted, so that a reader of a file need not decode its rows. */
function answersText(answers: readonly AdmittedAnswer[], violations: readonly PolicyViolation[]): string {
  const rules = new Map(violations.map(({ violationId, validatorId }) => [violationId, validatorId]));
  const texts = new Map<string, string[]>();
  for (const { decision, person, signed, admittedAt, violationId } of answers) {
    const who = `${decision} by ${person}${signed ? '' : ' (NOT SIGNED)'} at ${admittedAt}`;
    texts.set(who, [...(texts.get(who) ?? []), rules.get(violationId) ?? violationId]);
  }
  return [...texts].map(([who, of]) => `${who}: ${of.join(', ')}`).join('; ') || 'none';
}

/** The table of spent nonces is in the database only; in a file two rows that spend the same nonce are found. */
export function checkNonces(review: Review): Passed {
  const { refused, answers } = review.need('answers');
  if (review.sources.nonces === null) notChecked('the table of spent nonces is not in the file');
  const reused = refused.find(({ code }) => code === 'nonce_reused');
  if (reused !== undefined) fail(`row ${reused.n}: ${reused.code}: ${reused.message}`);
  return [`${answers.length} answers, each with its own spent nonce`];
}

/** A reject stays valid after a reset, a restart and a new disclosure. */
export function checkStandingReject(review: Review): Passed {
  const { standingRejects, rejectsOfRevoked } = review.need('answers');
  const texts = [
    ...standingRejects.map(({ person, admittedAt }) => `${person} rejected this change at ${admittedAt}`),
    ...rejectsOfRevoked.map(
      ({ person, admittedAt }) => `a key of ${person} that was revoked before rejected this change at ${admittedAt}`,
    ),
  ];
  const [text = 'none'] = texts;
  return claimOf(review).action === 'COMMIT' && texts.length > 0 ? fail(text) : [text];
}

function decideInputOf(review: Review, { plan }: OpenedReview): DecideInput {
  const { violations, fingerprint, at: disclosedAt, reachable: reached } = review.need('disclosure');
  // For this reason only: people whose keys were registered after the disclosure can answer as well.
  const reachable = fingerprint !== null && claimOf(review).reason === 'no_handler' ? reached : null;
  const answers = statementsOf(review.need('answers'));
  const [findings, requester] = [review.need('findings'), review.need('requester')];
  return { plan, findings, violations, answers, requester, reachable, disclosedAt, at: review.at };
}

/** Runs `decide` again. */
export function checkDecision(review: Review): Passed {
  const opened = openedOf(review);
  const { action, reason } = claimOf(review);
  if (opened === null) fail('a change without a plan has no outcome');
  const decided = decide(decideInputOf(review, opened));
  if (action === 'ROLLBACK') return [checkReason(review, opened, reason, decided)];
  if (decided.action === 'COMMIT') return ['COMMIT follows from findings and answers'];
  const why =
    decided.action === 'WAIT'
      ? `${decided.pending.length} violations lack a valid answer`
      : `${decided.reason}: ${decided.explanation}`;
  const { refused } = review.need('answers');
  return fail([why, ...refused.map((r) => `row ${r.n}: ${r.code}: ${r.message}`)].join('; '));
}

/**
 * The commit window starts with the last answer that counts, or with the disclosure if callbacks resolved everything. The bound
 * is exact in every context, because the row `intent` has the time at which the committer verified.
 */
export function checkCommitWindow(review: Review): Passed {
  const opened = openedOf(review);
  if (opened === null || claimOf(review).action === 'ROLLBACK') return ['nothing was committed'];
  const since = lastCountedAt(decideInputOf(review, opened)) ?? review.need('disclosure').at;
  if (since === null) return ['no answer was needed'];
  const { commitWindowMs } = opened.plan;
  if (!(Date.parse(review.at) <= Date.parse(since) + commitWindowMs))
    fail(`the commit window of ${commitWindowMs} ms has expired: it started at ${since}`);
  return [`within ${commitWindowMs} ms of ${since}`];
}

/** Checks the reason of a rollback by the table that the committer used before it signed. */
function checkReason(
  review: Review,
  opened: OpenedReview,
  reason: NonNullable<Review['end']>['reason'],
  decided: Decided,
): string {
  if (reason === null) fail('the rollback has no reason');
  const recomputed = decided.action === 'ROLLBACK' ? `ROLLBACK (${decided.reason})` : decided.action;
  const { plan } = opened;
  const findings = review.need('findings');
  const input = decideInputOf(review, opened);
  const supported = ROLLBACK_SUPPORT[reason]({
    rows: untilSettled(review.rows),
    begun: rowOf(review.rows, 'intent') !== null,
    at: review.at,
    plan,
    findings,
    decided,
    triggered: matchPolicies(plan, findings, cardinalityOf(review.need('staging')?.record ?? null)).length,
    given: { ...input, answers: [...input.answers, ...review.need('answers').lapsed] },
    live: null,
  });
  return supported !== null
    ? `ROLLBACK (${reason}) follows from findings, answers and rows, which give ${recomputed}`
    : fail(`the receipt says ROLLBACK (${reason}), but findings, answers and rows give ${recomputed}`);
}
