import type { ValidatorFinding } from '../policy/contracts/finding';
import type { Sha256 } from '../policy/contracts/hash';
import { explanationSha, violationsSha, type ReceiptPredicate } from '../policy/contracts/outcome';
import type { PolicyViolation } from '../policy/contracts/violation';
import { findingsSha } from '../policy/decide/findings';

/** Why action, state and reason of a receipt cannot belong together; null if they can. */
export function contradictionIn({ action, state, reason }: ReceiptPredicate): string | null {
  const commits = action === 'COMMIT';
  return commits === (state === 'COMMITTED') && commits === (reason === null)
    ? null
    : `action ${action}, state ${state} and reason ${reason ?? '(none)'} contradict each other`;
}

/** The texts and data that are printed with a receipt. Findings and violations are absent if the caller does not have them. */
interface ReceiptWords {
  readonly explanation: unknown;
  readonly findings?: readonly ValidatorFinding[];
  readonly violations?: readonly PolicyViolation[];
}

/** The first member whose digest is not the one in the receipt; null if the receipt binds all that are given. */
export function unboundWord(
  receipt: ReceiptPredicate,
  { explanation, findings, violations }: ReceiptWords,
): keyof ReceiptWords | null {
  if (typeof explanation !== 'string' || digest(() => explanationSha(explanation)) !== receipt.explanationSha)
    return 'explanation';
  if (findings !== undefined && !areBound(findings, receipt)) return 'findings';
  if (violations === undefined) return null;
  return digest(() => violationsSha(violations)) === receipt.violationsSha ? null : 'violations';
}

/** Only a rollback may lack the digest: its committer could not compile the plan, or the findings are too long. Then none may be printed. */
function areBound(findings: readonly ValidatorFinding[], { findingsSha: bound, action }: ReceiptPredicate): boolean {
  return bound === null
    ? action === 'ROLLBACK' && findings.length === 0
    : digest(() => findingsSha(findings)) === bound;
}

/** Null for a forged value that has no canonical encoding. */
function digest(of: () => Sha256): Sha256 | null {
  try {
    return of();
  } catch {
    return null;
  }
}
