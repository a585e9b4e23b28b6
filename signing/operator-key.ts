import { z } from 'zod';
import { KeyEntry } from '../policy/evidence/predicates';
import type { StatementKind } from '../policy/evidence/statement';

/** An Ed25519 public key: 32 raw bytes, lower-case hex. */
export const PublicKey = KeyEntry.shape.publicKey;

/**
 * An operator whose statements count: the public key, or the public key with a time. Then only what the key signed until that time counts,
 * because its owner left, or because it is in other hands.
 */
export const OperatorKey = z.union(
  [
    PublicKey,
    z.strictObject({
      publicKey: PublicKey,
      until: z.iso.datetime('expected a time in UTC, such as 2026-01-31T18:00:00Z'),
    }),
  ],
  'expected a public key, 64 lower-case hex digits, or {"publicKey": …, "until": "2026-01-31T00:00:00Z"}',
);
export type OperatorKey = z.infer<typeof OperatorKey>;

/** A key that was listed twice, once with a time, would count without it. */
export const OperatorKeys = z
  .array(OperatorKey)
  .max(1000)
  .refine((keys) => new Set(keys.map(publicKeyOf)).size === keys.length, 'expected each public key once');

export function publicKeyOf(operator: OperatorKey): string {
  return typeof operator === 'string' ? operator : operator.publicKey;
}

export function untilOf(operator: OperatorKey): string | null {
  return typeof operator === 'string' ? null : operator.until;
}

/** Whether what this key signs now counts. */
export function canSign(operators: readonly OperatorKey[], publicKey: string, now: Date): boolean {
  const found = operators.find((operator) => publicKeyOf(operator) === publicKey);
  return found !== undefined && isUntil(untilOf(found), now.toISOString());
}

function isUntil(until: string | null, at: string): boolean {
  return until === null || Date.parse(at) <= Date.parse(until);
}

/** The member of each statement of an operator that says when it was made. */
const TIMES: Partial<Record<StatementKind, string>> = {
  key: 'addedAt',
  'key-revocation': 'revokedAt',
  enrollment: 'issuedAt',
  'policy-revision': 'issuedAt',
  'policy-revocation': 'revokedAt',
  'effect-resolution': 'resolvedAt',
  'breaker-reset': 'issuedAt',
  'target-freeze': 'at',
};

/**
 * Why a statement does not count that this key signed; null if it counts. `storedAt`: the time that the database gave its row, null if it is
 * not known. Someone who has the key can write an earlier time into the statement, but not into the row.
 */
export function tooLate(
  operator: OperatorKey,
  kind: StatementKind,
  predicate: object,
  storedAt: string | null,
): string | null {
  const until = untilOf(operator);
  if (until === null) return null;
  const made: unknown = Object.entries(predicate).find(([name]) => name === TIMES[kind])?.[1];
  if (typeof made !== 'string') return `the key counts only until ${until}, and the statement has no time`;
  if (!isUntil(until, made)) return `the key counts only until ${until}, and the statement is of ${made}`;
  if (storedAt === null || isUntil(until, storedAt)) return null;
  return `the key counts only until ${until}, and the row of the statement is of ${storedAt}`;
}
