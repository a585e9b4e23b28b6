import type { ReviewStatus } from '../../policy/contracts/status';
import type { VerifiedReview } from '../../signing/verified-review';
import { printDiff } from '../../cli/reviews/diff-view';
import { printStaging } from '../../cli/reviews/staging-view';
import type { Printer } from '../../cli/printer';

export type Person = 'alice' | 'bob';

export interface GivenAnswer {
  readonly person: Person;
  readonly decision: 'confirm' | 'reject';
  readonly violationId: string;
  readonly reason: string;
}

/** Asks a question and returns the line that the user typed; null at the end of the input. */
export type Ask = (question: string) => Promise<string | null>;

/**
 * Shows the change with its rows, then asks for an answer to each pending violation and yields it. A word that is not one of the choices
 * is asked again: it never becomes a decision. Stops after a reject, and at the end of the input without a decision.
 */
export async function* askPerson(ask: Ask, out: Printer, review: VerifiedReview): AsyncGenerator<GivenAnswer> {
  const { status, bytes } = review;
  if (bytes !== null) printDiff(out, status.sourceTool, bytes);
  printStaging(out, review);
  for (const violation of status.violations.filter(({ resolution }) => resolution === 'pending')) {
    describe(out, violation);
    const person = await choose(ask, 'Who answers', ['alice', 'bob']);
    const decision = person === null ? null : await choose(ask, `${person}`, ['confirm', 'reject']);
    const reason = decision === null ? null : await ask('  Reason? ');
    if (person === null || decision === null || reason === null) return;
    yield { person, decision, violationId: violation.violationId, reason: reason.trim() };
    if (decision === 'reject') return;
  }
}

function describe(out: Printer, { validatorId, message, mayAnswer }: ReviewStatus['violations'][number]): void {
  out.block(`${validatorId}: ${message}`, '  ');
  out.block(`may answer: ${mayAnswer.join(', ')}`, '    ');
}

async function choose<W extends string>(ask: Ask, who: string, choices: readonly W[]): Promise<W | null> {
  for (;;) {
    const typed = await ask(`  ${who}, ${choices.join(' or ')}? `);
    if (typed === null) return null;
    const word = choices.find((choice) => choice === typed.trim().toLowerCase());
    if (word !== undefined) return word;
  }
}
