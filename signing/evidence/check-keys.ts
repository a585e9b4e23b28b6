import type { Envelope } from '../../policy/contracts/diff';
import { Envelope as EnvelopeSchema } from '../../policy/contracts/diff';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { EvidenceBundle, EvidenceKey } from '../../policy/evidence/bundle';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { KeyLookup, RegisteredKey } from '../../policy/evidence/key-registry';
import type { PredicateOf, StatementKind } from '../../policy/evidence/statement';
import { verifyEnvelope } from '../envelope';
import { keyIdOf, toPublicKeyObject } from '../keys';
import { fail } from './check';

/** The statement of an envelope that one of these public keys signed; fails where none did. */
export function signedByOne<K extends StatementKind>(
  kind: K,
  envelope: Envelope,
  trusted: readonly string[],
  who: string,
): PredicateOf<K> {
  const opened = openEnvelope(kind, envelope);
  if (!opened.ok) fail(`${kind}: ${opened.message}`);
  const publicKey = trusted.find((key) => keyIdOf(key) === opened.keyid);
  if (publicKey === undefined) fail(`${kind}: it names key ${opened.keyid}, which is no trusted ${who}`);
  const verified = verifyEnvelope(envelope, publicKey, kind);
  if (!verified.ok) fail(`${kind}: ${verified.message}`);
  return verified.predicate;
}

/**
 * The key ids whose registry entries a bundle must hold, in order: of submission, attested records and accepted answers.
 * The committer's key is not among them, since the verifier's own trust names it.
 */
export function signerIds(submission: EvidenceBundle['submission'], rows: readonly LedgerRow[]): readonly string[] {
  const ids = new Set<string>();
  const add = (value: unknown): void => {
    const envelope = EnvelopeSchema.safeParse(value);
    for (const { keyid } of envelope.data?.signatures ?? []) ids.add(keyid);
  };
  add(submission?.envelope);
  for (const row of rows) {
    if (row.kind === 'attested') add(row.body['envelope']);
    if (row.kind === 'answer_accepted') add(row.body['answer']);
  }
  return [...ids].sort();
}

/** The registry that the bundle carries, as it stood at `at`: a later revocation takes nothing back. */
export interface CarriedKeys {
  readonly lookupAt: (at: string) => KeyLookup;
  readonly revoked: number;
}

/** Each entry by a trusted operator, each revocation too, and exactly the keys that occur. */
export function readKeys(
  keys: readonly EvidenceKey[],
  expected: readonly string[],
  operators: readonly string[],
): CarriedKeys {
  const entries = keys.map(({ entry, revocation }): RegisteredKey => {
    const key = signedByOne('key', entry, operators, 'operator');
    if (keyIdOf(key.publicKey) !== key.keyId) fail(`key ${key.keyId}: its id is not that of its public key`);
    toPublicKeyObject(key.publicKey);
    if (revocation === null) return { ...key, revokedAt: null };
    const revoked = signedByOne('key-revocation', revocation, operators, 'operator');
    if (revoked.keyId !== key.keyId) fail(`key ${key.keyId}: its revocation names another key`);
    return { ...key, revokedAt: revoked.revokedAt };
  });
  const ids = entries.map(({ keyId }) => keyId);
  const missing = expected.filter((id) => !ids.includes(id));
  if (missing.length > 0) fail(`no registry entry for ${missing.join(', ')}, which signed something here`);
  if (ids.join() !== expected.join()) fail('the entries are not exactly those of the keys that signed here, by key id');
  return {
    revoked: entries.filter(({ revokedAt }) => revokedAt !== null).length,
    lookupAt: (at) => {
      const asOf = new Map(
        entries.map((key) => [key.keyId, isAfter(key.revokedAt, at) ? { ...key, revokedAt: null } : key]),
      );
      return (keyId) => asOf.get(keyId);
    },
  };
}

function isAfter(revokedAt: string | null, at: string): boolean {
  return revokedAt !== null && Date.parse(revokedAt) > Date.parse(at);
}
