/**
 * The key registry over the tables `keys` and `key_revocations`.
 *
 * K1 A row counts only if it is signed by an operator key that this process trusts. The database itself is not trusted.
 * K2 A revocation that cannot be verified still revokes the key, and is reported: a changed byte must not reactivate a key.
 * K3 Results are at most CACHE_MS old. If the database is unreachable, reads throw instead of using older entries. The committer
 *    makes the last check and reads the registry for each commit.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { FailureType } from '../../policy/contracts/failure-type';
import type { Envelope } from '../../policy/contracts/diff';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { IgnoredKeyRow, KeyRegistry, KeySnapshot, RegisteredKey } from '../../policy/evidence/key-registry';
import type { PredicateOf } from '../../policy/evidence/statement';
import { verifyEnvelope } from '../../signing/verify-envelope';
import { assertPublicKey, keyIdOf } from '../../signing/key-id';
import type { Queryable } from '../database/database';

export const CACHE_MS = 1_000;

export interface KeyRegistryDeps {
  readonly db: Queryable;
  /** Trusted operator public keys, 64 hexadecimal digits each. If empty, no entry counts. */
  readonly trustedOperators: readonly string[];
  /** Milliseconds of any monotonic clock. */
  readonly now: () => number;
  /** Called once for each row that does not count. */
  readonly report?: (ignored: IgnoredKeyRow) => void;
}

interface KeyRow {
  key_id: string;
  envelope: unknown;
  revocation: unknown;
}

type Signed = <K extends 'key' | 'key-revocation'>(kind: K, envelope: unknown) => PredicateOf<K> | string;

/** Reads and verifies all rows. `signed` returns the predicate that a trusted operator signed, or why the envelope does not count. */
function keyReader(deps: KeyRegistryDeps): { readonly signed: Signed; readonly load: () => Promise<KeySnapshot> } {
  const operators = new Map(deps.trustedOperators.map((publicKey) => [keyIdOf(publicKey), publicKey]));
  const reported = new Set<string>();
  // Cache by envelope text, so that a row is not verified again with each read.
  const verified = new Map<string, PredicateOf<'key'> | string>();

  function signed<K extends 'key' | 'key-revocation'>(kind: K, envelope: unknown): PredicateOf<K> | string {
    const opened = openEnvelope(kind, envelope);
    if (!opened.ok) return opened.message;
    const publicKey = operators.get(opened.keyid);
    if (publicKey === undefined)
      return `signed by ${opened.keyid}, which is not a trusted operator key of this process`;
    const result = verifyEnvelope(envelope, publicKey, kind);
    return result.ok ? result.predicate : result.message;
  }

  function entryOf(envelope: unknown): PredicateOf<'key'> | string {
    const text = JSON.stringify(envelope);
    const known = verified.get(text);
    if (known !== undefined) return known;
    const entry = signed('key', envelope);
    const result = typeof entry === 'string' ? entry : (keyProblem(entry) ?? entry);
    verified.set(text, result);
    return result;
  }

  async function load(): Promise<KeySnapshot> {
    const { rows } = await deps.db.query<KeyRow>(
      'select k.key_id, k.envelope, r.envelope as revocation from keys k left join key_revocations r using (key_id) order by k.key_id',
      [],
      'keys_all',
    );
    const keys: RegisteredKey[] = [];
    const ignored: IgnoredKeyRow[] = [];
    for (const row of rows) {
      const entry = entryOf(row.envelope);
      if (typeof entry === 'string' || entry.keyId !== row.key_id) {
        ignored.push({
          keyId: row.key_id,
          problem: typeof entry === 'string' ? entry : 'the key id of the row differs from that of its signed entry',
        });
        continue;
      }
      const revocation = row.revocation === null ? null : signed('key-revocation', row.revocation);
      const problem = revocationProblem(entry, revocation);
      if (problem !== null)
        ignored.push({
          keyId: row.key_id,
          problem: `its revocation cannot be verified but still counts: ${problem}`,
        });
      const revokedAt = typeof revocation === 'string' ? entry.addedAt : (revocation?.revokedAt ?? null);
      keys.push({ ...entry, revokedAt });
    }
    for (const row of ignored) {
      if (reported.has(`${row.keyId} ${row.problem}`)) continue;
      reported.add(`${row.keyId} ${row.problem}`);
      deps.report?.(row);
    }
    const byId = new Map(keys.map((key) => [key.keyId, key]));
    return { find: (keyId) => byId.get(keyId), keys, ignored };
  }

  return { signed, load };
}

/** Throws TypeError if a trusted operator key is malformed. */
export function createKeyRegistry(deps: KeyRegistryDeps): KeyRegistry {
  const { db, now } = deps;
  deps.trustedOperators.forEach(assertPublicKey);
  const { signed, load } = keyReader(deps);
  let cache: { readonly at: number; readonly snapshot: Promise<KeySnapshot> } | null = null;

  function snapshot(maxAgeMs = CACHE_MS): Promise<KeySnapshot> {
    const at = now();
    if (maxAgeMs > 0 && cache !== null && at - cache.at <= maxAgeMs) return cache.snapshot;
    const fresh = load();
    const entry = { at, snapshot: fresh };
    cache = entry;
    fresh.catch(() => {
      if (cache === entry) cache = null; // Current callers get the error; the next call reads again.
    });
    return fresh;
  }

  function trusted<K extends 'key' | 'key-revocation'>(kind: K, envelope: Envelope): PredicateOf<K> {
    const result = signed(kind, envelope);
    if (typeof result === 'string') throw invalid(`${kind}: ${result}`);
    return result;
  }

  return {
    snapshot,
    find: async (keyId) => (await snapshot()).find(keyId) ?? null,
    list: async () => (await snapshot()).keys,
    activeKeysOf: async (persons) => {
      const wanted = new Set(persons);
      return (await snapshot()).keys.filter((key) => isActiveApprover(key) && wanted.has(key.subject.id));
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
      const stored = (await snapshot()).find(entry.keyId);
      if (stored === undefined)
        throw invalid(`key ${entry.keyId}: an entry that does not count is already registered under this id`);
      if (rowCount === 0 && ('passkey' in stored || !sameEntry(stored, entry)))
        throw invalid(
          `key ${entry.keyId}: the key is already registered for ${stored.subject.type} "${stored.subject.id}"`,
        );
      return stored;
    },

    async revoke(envelope) {
      const { keyId } = trusted('key-revocation', envelope);
      await db.query('insert into key_revocations (key_id, envelope) values ($1, $2) on conflict do nothing', [
        keyId,
        JSON.stringify(envelope),
      ]);
      cache = null;
    },
  };
}

function revocationProblem(
  entry: PredicateOf<'key'>,
  revocation: PredicateOf<'key-revocation'> | string | null,
): string | null {
  if (revocation === null || typeof revocation === 'string') return revocation;
  return revocation.keyId === entry.keyId ? null : 'the revocation is for another key';
}

/** True if answers signed with this key count: it belongs to a person, is an approver key, and is not revoked. */
export function isActiveApprover(key: RegisteredKey): boolean {
  return key.kind === 'approver' && key.subject.type === 'person' && key.revokedAt === null;
}

function keyProblem(entry: PredicateOf<'key'>): string | null {
  if (keyIdOf(entry.publicKey) !== entry.keyId) return 'the key id does not match the public key';
  try {
    assertPublicKey(entry.publicKey);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function sameEntry(a: PredicateOf<'key'>, b: PredicateOf<'key'>): boolean {
  const identity = ({ keyId, kind, subject, onBehalfOf, tenants, rights, demo }: PredicateOf<'key'>): string =>
    canonicalJson({ keyId, kind, subject, onBehalfOf, tenants, rights, demo });
  return identity(a) === identity(b);
}

function invalid(message: string): CountersignFailure {
  return CountersignFailure.nonRetryable(message, FailureType.Validation);
}
