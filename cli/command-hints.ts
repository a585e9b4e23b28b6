const CONFIRM = 'to confirm: countersign answer ID --violation K --confirm';
const REJECT = 'to reject: countersign answer ID --violation K --reject --reason WHY';
const WITHDRAW =
  'before the commit: countersign withdraw ID, or countersign answer ID --violation K --reject --reason WHY; a committed change is undone by another change';

/** Words that people try, of which the most similar command would be another one. */
const HINTS: Readonly<Record<string, string>> = {
  approve: CONFIRM,
  confirm: CONFIRM,
  accept: CONFIRM,
  reject: REJECT,
  decline: REJECT,
  deny: REJECT,
  rollback: WITHDRAW,
  revert: WITHDRAW,
  undo: WITHDRAW,
  cancel: WITHDRAW,
  retract: 'to take your confirmation back: countersign answer ID --violation K --retract',
  status: 'to see a review: countersign show ID; to see what runs: countersign doctor',
};

/** What to use instead of a command that does not exist; null without such a hint. */
export function hintFor(word: string): string | null {
  return Object.hasOwn(HINTS, word) ? (HINTS[word] ?? null) : null;
}
