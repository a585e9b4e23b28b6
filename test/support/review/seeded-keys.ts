import type { Envelope } from '../../../policy/contracts/diff';
import type { KeyRegistry } from '../../../policy/evidence/key-registry';
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
  readonly #revocations = new Map<string, { readonly envelope: Envelope; readonly revokedAt: string }>();

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
        entry: { ...entry, revokedAt: this.#revocations.get(entry.keyId)?.revokedAt ?? null },
      })),
    );
  }

  /** The operator revokes the key made from `name`. */
  revoke(name: string, revokedAt: string): void {
    const { keyId } = seededKey(name);
    const envelope = signKeyRevocation({ keyId, reason: 'lost', revokedAt }, this.operator);
    this.#revocations.set(keyId, { revokedAt, envelope });
  }

  readonly envelopesOf: EvidenceSources['keys']['envelopesOf'] = async (ids) =>
    ids.flatMap((keyId): KeyEnvelopes[] => {
      const revocation = this.#revocations.get(keyId)?.envelope ?? null;
      const passkey = this.passkeys.find(({ entry }) => entry.keyId === keyId);
      if (passkey !== undefined) return [{ keyId, registration: { ...passkey.statements, revocation } }];
      const key = this.#registered.find((registered) => registered.keyId === keyId);
      return key === undefined
        ? []
        : [{ keyId, registration: { entry: signKeyEntry(key.entry, this.operator), revocation } }];
    });
}
