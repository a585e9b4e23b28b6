import type { Envelope } from '../../../policy/contracts/diff';
import type { KeyRegistry, RegisteredKey } from '../../../policy/evidence/key-registry';
import { signKeyEntry, signKeyRevocation } from '../../../signing/registry-entry';
import type { KeyEnvelopes } from '../../../storage/keys/key-envelopes';
import type { EvidenceSources } from '../../../activities/review/export-evidence';
import { testKey, testRegistry, type TestKey } from '../keys';
import { seededKey } from '../seeded-key';
import { enrolledPasskey } from '../seeded-passkey';

/** The keys of the published vectors, made from seeds, and their registry entries, signed by the operator. */
export class SeededKeys {
  readonly operator = seededKey('operator');
  readonly attestor = this.#key('attestor', 'attestor', 'review-worker');
  readonly judge = this.#key('judge', 'attestor', 'judge-worker');
  readonly committer = this.#key('committer', 'committer', 'committer');
  readonly agent = this.#key('agent', 'service', 'shop-agent', {
    subject: { type: 'agent', id: 'shop-agent' },
    onBehalfOf: 'dana',
  });
  readonly passkeys = ['alice', 'bob'].map((person) => enrolledPasskey(person, this.operator));
  readonly approvers = ['alice', 'bob', 'dana'].map((person) => this.#key(person, 'approver', person));
  readonly #revocations = new Map<string, Pick<RegisteredKey, 'revokedAt' | 'unsignedRevocation'>>();
  readonly #statements = new Map<string, Envelope>();

  #key(name: string, kind: TestKey['entry']['kind'], id: string, more: Partial<TestKey['entry']> = {}): TestKey {
    const entry = { addedAt: '2026-01-01T00:00:00.000Z', operatorKeyId: this.operator.keyId, ...more };
    return testKey(kind, id, entry, seededKey(name));
  }

  get #registered(): readonly TestKey[] {
    return [this.attestor, this.judge, this.committer, this.agent, ...this.approvers];
  }

  /** The registry as it is now. */
  registry(): KeyRegistry {
    return testRegistry(
      ...[...this.#registered, ...this.passkeys].map(({ entry }) => ({
        entry: { ...entry, ...this.#revocations.get(entry.keyId) },
      })),
    );
  }

  /** Revokes the key made from `name` with a statement of the key made from `signer`. */
  revoke(name: string, revokedAt: string, signer = 'operator'): void {
    const { keyId } = seededKey(name);
    const unsigned = signer === 'operator' ? {} : { unsignedRevocation: true as const };
    this.#revocations.set(keyId, { revokedAt, ...unsigned });
    this.#statements.set(keyId, signKeyRevocation({ keyId, reason: 'lost', revokedAt }, seededKey(signer)));
  }

  readonly envelopesOf: EvidenceSources['keys']['envelopesOf'] = async (ids) =>
    ids.flatMap((keyId): KeyEnvelopes[] => {
      const revocation = this.#statements.get(keyId) ?? null;
      const passkey = this.passkeys.find(({ entry }) => entry.keyId === keyId);
      if (passkey !== undefined) return [{ keyId, registration: { ...passkey.statements, revocation } }];
      const key = this.#registered.find((registered) => registered.keyId === keyId);
      return key === undefined
        ? []
        : [{ keyId, registration: { entry: signKeyEntry(key.entry, this.operator), revocation } }];
    });
}
