/** What fired, as cards: one for each violation, with the finding that raised it. */
import type { AdmittedAnswer } from '../../../../policy/contracts/answer';
import type { ValidatorFinding } from '../../../../policy/contracts/finding';
import { fires } from '../../../../policy/contracts/readings';
import type { ReviewStatus, ViolationStatus } from '../../../../policy/contracts/status';
import { confirmationsOf } from '../../../../client/retraction';
import { foldUnread } from '../../../../policy/rules/fold-unread';
import { lastWords } from '../../../../policy/decide/last-words';
import type { VerifiedReview } from '../../../../signing/verified-review';
import { withoutFirstLines } from '../../../../policy/text/without-first-lines';
import type { ShownChange } from './change-lines';
import { placeOf, type Place } from './evidence';
import { own } from './own';

export interface Card {
  /** From 1, in the order of the page. */
  readonly number: number;
  readonly violation: ViolationStatus;
  /** Null if the violation belongs to no finding. */
  readonly finding: ValidatorFinding | null;
  readonly places: readonly Place[];
  /** What the message says beyond the reason of the finding. */
  readonly message: string;
  readonly turn: Turn;
  /** Digest of this person's confirmation, which can be taken back until the commit begins; null without one. */
  readonly confirmation: string | null;
}

/** Whether this person can answer the violation now, and why not. */
export type Turn =
  'yours' | 'answered_by_you' | 'not_in_group' | 'four_eyes' | 'resolved' | 'needs_no_answer' | 'closed';

export interface Fired {
  readonly finding: ValidatorFinding;
  readonly places: readonly Place[];
}

export interface ReviewCards {
  readonly cards: readonly Card[];
  /** Findings of class SAFETY that ended the review, and violations that roll back without a question. */
  readonly endedBy: readonly Fired[];
  /** Findings that fired and need no answer: advice. */
  readonly advice: readonly Fired[];
  /** Findings of checks that could not read the change, as one of `endedBy` or `advice` says. */
  readonly unread: readonly ValidatorFinding[];
  readonly passed: readonly ValidatorFinding[];
  readonly skipped: readonly ValidatorFinding[];
}

export function cardsOf(review: VerifiedReview, change: ShownChange | null, person: string): ReviewCards {
  const { status, findings, answers } = review;
  const placesOf = (finding: ValidatorFinding | null): Place[] =>
    onePerPlace((finding?.evidenceRefs ?? []).map((reference) => placeOf(reference, status, change)));
  const open = status.state === 'INTERVENTION_REQUIRED';
  const confirmations = open ? confirmationsOf(answers, person) : new Map<string, string>();
  const cards = status.violations
    .filter(({ need }) => need !== 'hard')
    .map((violation, i): Card => {
      const found = findings[violation.findingIndex];
      const finding = found?.validator_id === violation.validatorId ? found : null;
      return {
        number: i + 1,
        violation,
        finding,
        places: placesOf(finding),
        // The message can repeat the reason, alone or in its first lines.
        message: withoutFirstLines(violation.message, finding?.reason ?? ''),
        turn: open ? turnOf(violation, answers, status, person) : 'closed',
        confirmation: confirmations.get(violation.violationId) ?? null,
      };
    });
  const asked = new Set(cards.map(({ finding }) => finding));
  const { shown: fired, unread } = foldUnread(findings.filter((finding) => fires(finding) && !asked.has(finding)));
  const hard = new Set(
    status.violations.filter(({ need }) => need === 'hard').map(({ findingIndex }) => findings[findingIndex]),
  );
  const ends = (finding: ValidatorFinding): boolean =>
    hard.has(finding) || (finding.class === 'SAFETY' && finding.status === 'BLOCK');
  const shown = (finding: ValidatorFinding): Fired => ({ finding, places: placesOf(finding) });
  return {
    cards,
    endedBy: fired.filter(ends).map(shown),
    advice: fired.filter((finding) => !ends(finding)).map(shown),
    unread,
    passed: findings.filter(({ status: of }) => of === 'ALLOW'),
    skipped: findings.filter(({ status: of }) => of === 'SKIPPED'),
  };
}

/** References to different columns of a line are the same place on the page. */
function onePerPlace(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function turnOf(
  { violationId, need, resolution, mayAnswer, fourEyes }: ViolationStatus,
  answers: readonly AdmittedAnswer[],
  { requester }: ReviewStatus,
  person: string,
): Turn {
  if (need !== 'human') return 'needs_no_answer';
  if (lastWords(answers).some((answer) => answer.violationId === violationId && answer.person === person))
    return 'answered_by_you';
  if (resolution !== 'pending') return 'resolved';
  if (fourEyes && person === requester) return 'four_eyes';
  return mayAnswer.includes(person) ? 'yours' : 'not_in_group';
}

/** `guardian.sql_affected_rows` → `SQL affected rows` */
export function ruleTitle(validatorId: string): string {
  const name = validatorId.slice(validatorId.lastIndexOf('.') + 1);
  const words = name.split('_').map((word) => own(ACRONYMS, word) ?? word);
  const [first = '', ...rest] = words;
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(' ');
}

const ACRONYMS: Readonly<Record<string, string>> = {
  sql: 'SQL',
  http: 'HTTP',
  llm: 'LLM',
  json: 'JSON',
  url: 'URL',
  ci: 'CI',
  api: 'API',
  iam: 'IAM',
  ddl: 'DDL',
  git: 'Git',
  tf: 'Terraform',
};
