import { Envelope, Submission } from '../../policy/contracts/diff';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { EvidenceBundle, KeyRegistration } from '../../policy/evidence/bundle';
import { revocableIds, type RegisteredKey, type RegisteredPasskey } from '../../policy/evidence/key-registry';
import type { KeyEntry } from '../../policy/evidence/predicates';
import { verifyEnrolled, verifyLink } from '../enrollment';
import { keyProblem } from '../key-id';
import { signedByOperator } from '../signed-by';
import { fail, fileOf, signedByOne, wasRevoked } from './checking';
import type { Passed, Review } from './record';
import type { OperatorKey } from '../operator-key';

/**
 * The sorted ids of the keys whose registry entries an evidence file must contain: those that signed the submission, attested
 * records, admitted answers, withdrawals, and the submission of a change that replaced this one. Excludes the committer's key,
 * which the verifier trusts directly.
 */
export function signerIds(submission: EvidenceBundle['submission'], rows: readonly LedgerRow[]): readonly string[] {
  const ids = new Set<string>();
  const add = (value: unknown): void => {
    const envelope = Envelope.safeParse(value);
    for (const { keyid } of envelope.data?.signatures ?? []) ids.add(keyid);
  };
  add(submission?.envelope);
  for (const row of rows) {
    if (row.kind === 'attested') add(row.body['envelope']);
    if (row.kind === 'answer_accepted' || row.kind === 'retracted') add(row.body['answer']);
    if (row.kind === 'withdrawn' || row.kind === 'superseded') {
      add(row.body['statement']);
      add(Submission.safeParse(row.body['other']).data?.envelope);
    }
  }
  return [...ids].sort();
}

/**
 * Keys as they were when the review was settled: a later revocation does not invalidate what was signed before. Nor does one that no
 * trusted operator signed: anyone with the operator's database role can write it, and the committer refused the key from then on.
 */
export function checkKeys(review: Review): Passed {
  const file = fileOf(review);
  const operators = review.sources.trust?.operators ?? [];
  // Of an open review, a revocation that cannot be verified counts from now on, as for the processes (key-reader.ts, K2).
  const unsignedSince = review.sources.context === 'open' ? review.at : null;
  const entries = file.keys.map((key) => registeredKey(key, operators, unsignedSince));
  const ids = entries.map(({ keyId }) => keyId);
  const expected = signerIds(file.submission, review.rows);
  const missing = expected.filter((id) => !ids.includes(id));
  if (missing.length > 0) fail(`no registry entry for ${missing.join(', ')}, which signed something in the file`);
  if (ids.join() !== expected.join())
    fail('expected exactly the entries of the keys that signed something in the file, sorted by key id');
  const asOf = new Map(
    entries.map((key) => [
      key.keyId,
      key.revokedAt !== null && wasRevoked(key.revokedAt, review) ? key : { ...key, revokedAt: null },
    ]),
  );
  const revoked = entries.filter(({ revokedAt }) => revokedAt !== null).length;
  const unsigned = entries.filter((key, i) => file.keys[i]?.revocation != null && key.revokedAt === null).length;
  const note = unsigned === 0 ? '' : `; ${unsigned} revocations that no trusted operator signed do not count`;
  return [
    `${entries.length} registry entries signed by an operator, ${revoked} revoked${note}`,
    { keys: (keyId) => asOf.get(keyId) },
  ];
}

/**
 * The key that one of the operators registered. Throws the failure of a check if none of them signed it. `unsignedSince`: from when a
 * revocation counts that none of them signed; null if it does not count.
 */
export function registeredKey(
  registration: KeyRegistration,
  operators: readonly OperatorKey[],
  unsignedSince: string | null,
): RegisteredKey {
  const key = 'entry' in registration ? entryOf(registration.entry, operators) : enrolledOf(registration, operators);
  const { revocation } = registration;
  if (revocation === null) return { ...key, revokedAt: null };
  const revoked = signedByOperator('key-revocation', revocation, operators);
  const isSigned = revoked !== null && revocableIds(key).includes(revoked.keyId);
  return { ...key, revokedAt: isSigned ? revoked.revokedAt : unsignedSince };
}

function entryOf(entry: Envelope, operators: readonly OperatorKey[]): KeyEntry {
  const key = signedByOne('key', entry, operators, 'operator');
  const problem = keyProblem(key);
  return problem === null ? key : fail(`key ${key.keyId}: ${problem}`);
}

function enrolledOf(
  { enrollment, passkey }: Extract<KeyRegistration, { readonly passkey: unknown }>,
  operators: readonly OperatorKey[],
): Omit<RegisteredPasskey, 'revokedAt'> {
  const link = verifyLink(enrollment, operators);
  if (typeof link === 'string') return fail(`enrollment: ${link}`);
  const key = verifyEnrolled(link, passkey);
  return typeof key === 'string' ? fail(`enrollment ${link.enrollment.keyId}: ${key}`) : key;
}
