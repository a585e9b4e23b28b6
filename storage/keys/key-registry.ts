/**
 * The key registry: keys that operators registered, passkeys that people enrolled, and revocations (key-reader.ts has K1, K2, K4 and K5).
 *
 * K3 Results are at most CACHE_MS old. If the database is unreachable, reads throw instead of using older entries. The committer
 *    makes the last check and reads the registry for each commit.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { FailureType } from '../../policy/contracts/failure-type';
import type { Envelope } from '../../policy/contracts/diff';
import { isApprover, type KeyRegistry, type KeySnapshot, type RegisteredKey } from '../../policy/evidence/key-registry';
import type { PredicateOf } from '../../policy/evidence/statement';
import { assertPublicKey, keyIdOf, keyProblem } from '../../signing/key-id';
import { publicKeyOf } from '../../signing/operator-key';
import { signedBy } from '../../signing/signed-by';
import { keyReader, type KeyReaderDeps } from './key-reader';
import { storeRevocation } from './revocations';

export const CACHE_MS = 1_000;

interface KeyRegistryDeps extends KeyReaderDeps {
  /** Milliseconds of any clock. */
  readonly now: () => number;
}

/** Throws TypeError if a trusted operator key is malformed. */
export function createKeyRegistry(deps: KeyRegistryDeps): KeyRegistry {
  const { db, now } = deps;
  deps.trustedOperators.map(publicKeyOf).forEach(assertPublicKey);
  const load = keyReader(deps);
  let cache: { readonly at: number; readonly snapshot: Promise<KeySnapshot> } | null = null;

  function snapshot(maxAgeMs = CACHE_MS): Promise<KeySnapshot> {
    const at = now();
    // The clock can have been set back since.
    if (maxAgeMs > 0 && cache !== null && Math.abs(at - cache.at) <= maxAgeMs) return cache.snapshot;
    const fresh = load();
    const entry = { at, snapshot: fresh };
    cache = entry;
    fresh.catch(() => {
      if (cache === entry) cache = null; // Current callers get the error; the next call reads again.
    });
    return fresh;
  }

  function trusted<K extends 'key' | 'key-revocation'>(kind: K, envelope: Envelope): PredicateOf<K> {
    const result = signedBy(kind, envelope, deps.trustedOperators, 'operator');
    if (!result.ok) throw invalid(`${kind}: ${result.message}`);
    return result.predicate;
  }

  /** Whether a key, passkey or link has this id, even one whose row does not count. */
  async function isKnown(keyId: string): Promise<boolean> {
    const { rows } = await db.query<{ readonly known: boolean }>(
      `select exists (select from keys where key_id = $1) or exists (select from passkeys where key_id = $1)
         or exists (select from enrollments where key_id = $1) as known`,
      [keyId],
    );
    return rows[0]?.known === true;
  }

  /** A public key looks like a key id. */
  async function unknownId(given: string): Promise<string> {
    const keyId = keyIdOf(given);
    const hint = (await isKnown(keyId)) ? `: it is the public key of the key ${keyId}` : '';
    return `no key, passkey or link has the id ${given}${hint}. Nothing was revoked`;
  }

  return {
    snapshot,
    find: async (keyId) => (await snapshot()).find(keyId) ?? null,
    list: async () => (await snapshot()).keys,
    activeKeysOf: async (persons) => {
      const wanted = new Set(persons);
      return (await snapshot()).keys.filter(
        (key) => isApprover(key) && key.revokedAt === null && wanted.has(key.subject.id),
      );
    },

    async add(envelope) {
      const entry = trusted('key', envelope);
      const problem = keyProblem(entry);
      if (problem !== null) throw invalid(`key ${entry.keyId}: ${problem}`);
      const { rowCount } = await db.query(
        'insert into keys (key_id, envelope) values ($1, $2) on conflict do nothing',
        [entry.keyId, JSON.stringify(envelope)],
      );
      cache = null;
      return registered(await snapshot(), entry, rowCount === 0);
    },

    async revoke(envelope) {
      const { keyId } = trusted('key-revocation', envelope);
      if (!(await isKnown(keyId))) throw invalid(await unknownId(keyId));
      await storeRevocation(db, keyId, envelope, deps.trustedOperators);
      cache = null;
    },
  };
}

/** The key in the registry now. Throws unless it is `entry`, counts and is not revoked. `before`: it was there before. */
function registered({ find, ignored }: KeySnapshot, entry: PredicateOf<'key'>, before: boolean): RegisteredKey {
  const stored = find(entry.keyId);
  if (stored === undefined) {
    const problem = ignored.find(({ keyId }) => keyId === entry.keyId)?.problem ?? 'it cannot be read';
    throw invalid(
      `key ${entry.keyId}: a row with this id is stored already, and does not count: ${problem}. Only the trust file can make it count; otherwise give the owner a new key`,
    );
  }
  if (stored.revokedAt !== null)
    throw invalid(`key ${entry.keyId}: it was revoked on ${stored.revokedAt}, which is permanent. Register a new key`);
  if (before && ('passkey' in stored || !sameEntry(stored, entry)))
    throw invalid(
      `key ${entry.keyId}: the key is already registered for ${stored.subject.type} "${stored.subject.id}"`,
    );
  return stored;
}

function sameEntry(a: PredicateOf<'key'>, b: PredicateOf<'key'>): boolean {
  const identity = ({ keyId, kind, subject, onBehalfOf, tenants, rights, demo }: PredicateOf<'key'>): string =>
    canonicalJson({ keyId, kind, subject, onBehalfOf, tenants, rights, demo });
  return identity(a) === identity(b);
}

function invalid(message: string): CountersignFailure {
  return CountersignFailure.nonRetryable(message, FailureType.Validation);
}
