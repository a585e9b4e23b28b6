import type { ValidatorFinding } from '../contracts/finding';
import { fires } from '../contracts/readings';
import { FACTS_UNAVAILABLE } from './rule-maker';
import { counted } from '../text/counted';
import { isHardBlock } from '../decide/findings';

type Foldable = Pick<ValidatorFinding, 'class' | 'status' | 'reason' | 'reasonCode'>;

interface FoldedFindings<F> {
  readonly shown: readonly F[];
  /** Findings of checks that could not read the change. They say nothing that a shown finding does not say. */
  readonly unread: readonly F[];
}

/**
 * What every view shows of findings: one error of syntax once, and how many other checks could not read the change. Only for views;
 * records, hashes and decisions have all findings.
 *
 * A finding is left out only if it asks no one and adds nothing: the rule that refuses the change names the same error, or a shown
 * finding has the same reason, class and status. Without a hard block each POLICY finding is answered, so each is shown.
 */
export function foldUnread<F extends Foldable>(findings: readonly F[]): FoldedFindings<F> {
  const ends = findings.filter(isHardBlock);
  const refusals = ends.flatMap(({ reasonCode }) =>
    reasonCode === undefined || reasonCode === FACTS_UNAVAILABLE ? [] : [`(${reasonCode})`],
  );
  const said = new Set<string>();
  const shown: F[] = [];
  const unread: F[] = [];
  for (const finding of findings) {
    const { class: hookClass, status, reason, reasonCode } = finding;
    const mayFold = reasonCode === FACTS_UNAVAILABLE && fires(finding) && (hookClass === 'SAFETY' || ends.length > 0);
    const text = JSON.stringify([hookClass, status, reason]);
    if (mayFold && (said.has(text) || refusals.some((refusal) => reason.includes(refusal)))) unread.push(finding);
    else {
      shown.push(finding);
      if (mayFold) said.add(text);
    }
  }
  return { shown, unread };
}

/** `and 21 more checks could not read the change`; null for 0. */
export function unreadText(count: number): string | null {
  return count === 0 ? null : `and ${counted(count, 'more check')} could not read the change`;
}

/**
 * The explanation of a decision, without the lines of findings that `foldUnread` leaves out. The explanation has lines only for findings
 * that ended the review; the number counts all findings that are left out, as in the rest of each view.
 */
export function foldedExplanation(
  explanation: string,
  findings: readonly (Foldable & Pick<ValidatorFinding, 'validator_id'>)[],
): string {
  const { unread } = foldUnread(findings);
  const lines = new Set(unread.map(({ validator_id: id, reason }) => `\n${id}: ${reason}\n`));
  let text = `\n${explanation}\n`;
  for (const omitted of lines) text = text.replace(omitted, () => '\n');
  const isShorter = text.length < explanation.length + 2;
  return isShorter ? `${text.slice(1)}${unreadText(unread.length)}` : explanation;
}
