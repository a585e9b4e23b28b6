/**
 * The sweep's checker. It uses only what it reads from the target, the ledger rows and the workflow history, and shares no
 * code with the system that it checks. `rules/` has the rules by subject.
 *
 * K1 At most one effect per change.
 * K2 Marker with an effect ⇔ effect in the target ⇔ `COMMITTED` in the ledger. Without markers, the latter two. Marker and effect row name
 *    the same effect.
 * K3 No effect unless every finding that fired was disclosed, has a violation, and had every required answer before the intent; none
 *    after a reject of any fingerprint, a withdrawal or a SAFETY BLOCK.
 * K4 Intent before effect: the intent row is written before the target, names what was disclosed and staged, and is the only settlement.
 * K5 Each review is terminal and has one outcome: each row of its end once and in order, no statement after the settlement, and a
 *    completed workflow with that outcome. Only the reconciler reset it, which leaves a row for each reset.
 * K6 Receipt and head are signed by the committer. The receipt agrees with ledger, marker and workflow, and the reason of a rollback has a
 *    row that supports it.
 * K7 The hash chain of the review is intact.
 */
import { DISCLOSURE } from './rules/disclosure';
import { EFFECT } from './rules/effect';
import { RECEIPT } from './rules/receipt';
import { reviewOf, type Body, type Observed, type Rule } from './rules/review';
import { ROWS } from './rules/rows';

const RULES: readonly Rule[] = [...ROWS, ...EFFECT, ...DISCLOSURE, ...RECEIPT];

/** The violated invariants, as `K2: …`; empty if there are none. `committer` is the committer's public key, 64 hex digits. */
export function violationsOf(observed: Observed, committer: string): string[] {
  const review = reviewOf(observed, committer);
  return RULES.flatMap((rule) => rule(review));
}

/** What the reconciler did about a review, by a row `repaired`. */
export interface Repaired {
  readonly did: string;
  /** The kind of problem that it found. */
  readonly found: string;
  readonly explanation: string;
}

export function repairsOf({ ledger }: Pick<Observed, 'ledger'>): Repaired[] {
  return ledger
    .filter(({ kind }) => kind === 'repaired')
    .map(({ body }) => {
      const { did, found, explanation } = JSON.parse(body) as Body;
      return { did: String(did), found: String(found), explanation: String(explanation) };
    });
}
