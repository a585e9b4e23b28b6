import type { ReviewResult } from '../../client/result';
import { foldedExplanation } from '../../policy/rules/fold-unread';
import { line, styled, type Printer } from '../printer';
import { printViolation, violationLabels } from './finding-view';
import { shownState, stateLine, stateText, takesAnswers } from './state-view';

/** Prints the outcome of a review, or that it is open, in the words of `show`. `title` is null for a review that does not verify. */
export function printResult(
  out: Printer,
  changeId: string,
  title: string | null,
  result: ReviewResult,
  now: Date,
): void {
  if (title !== null) out.block(title, '', () => 'bold');
  switch (result.state) {
    case 'PENDING': {
      const { status } = result;
      const state = status === null ? styled('yellow', 'open, not verified yet') : stateLine(shownState(status), now);
      out.line(state);
      out.line(line`  id  ${changeId}`);
      if (status === null) return;
      const view = { extent: 'full', label: violationLabels(status) } as const;
      for (const violation of status.violations)
        if (violation.resolution === 'pending') printViolation(out, violation, null, view, takesAnswers(status.state));
      return;
    }
    case 'ABORTED':
      out.line(line`${styled('red', 'ABORTED')}  ${styled('red', 'unverified')}`);
      out.line(line`  id  ${changeId}`);
      out.block(result.why, '  ');
      return;
    case 'COMMITTED':
    case 'ROLLED_BACK':
    case 'COMPENSATED': {
      const { outcome, verified, why } = result;
      const proof = verified ? styled('green', 'verified') : styled('red', 'unverified');
      out.line(line`${stateText(outcome.state, outcome.reason)}  ${outcome.mode}  ${proof}`);
      out.line(line`  id  ${changeId}`);
      // Text that no receipt covers is not printed.
      if (verified) out.block(foldedExplanation(outcome.explanation, outcome.findings), '  ');
      if (why !== null) out.block(why, '  ', () => 'red');
      return;
    }
    default:
      result satisfies never;
  }
}
