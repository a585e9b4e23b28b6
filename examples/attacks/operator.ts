import { setTimeout as pause } from 'node:timers/promises';
import { withDatabase } from '../../storage/database/database';
import { publishBundle } from '../../storage/plans/publish';
import type { Envelope } from '../../policy/contracts/diff';
import { signPredicate } from '../../signing/envelope';
import type { KeyLabel } from '../../signing/key-file';
import { newKeyPair, type SigningKey } from '../../signing/keys';
import { ANY_TENANT } from '../../policy/evidence/predicates';
import { fullGrant, type KeyGrant } from '../../signing/registry-entry';
import { compileAll } from '../../workers/compile';
import type { DevClient } from '../../dev/client';
import type { Dev } from '../../dev/start';
import { loadExtensions } from '../../workers/extensions';
import { query } from '../../dev/query';

/** Processes cache the registry for up to one second. */
const REGISTRY_CACHED_MS = 1_100;

/** What the (trusted) operator does with keys and policies, and what an attacker with write access to the same tables could do. */
export class Operator {
  constructor(
    private readonly dev: Dev,
    private readonly client: DevClient,
    private readonly extensions: string,
  ) {}

  get key(): SigningKey {
    return this.dev.setup.keys.operator.key;
  }

  /** By default with every right of its kind, in every tenant. */
  async addKey(
    label: Pick<KeyLabel, 'kind' | 'subject'> & Partial<KeyLabel>,
    grant: Partial<Pick<KeyGrant, 'tenants' | 'rights'>> = {},
  ): Promise<SigningKey & KeyLabel> {
    const key = { ...newKeyPair(), onBehalfOf: null, demo: true, ...label };
    await this.client.asOperator((registry) =>
      // Not `signKeyEntry`: it refuses entries that an operator should never sign, and this simulates one who did.
      registry.add(
        signPredicate(
          'key',
          {
            keyId: key.keyId,
            publicKey: key.publicKey,
            kind: key.kind,
            subject: key.subject,
            onBehalfOf: key.onBehalfOf,
            ...fullGrant(key.kind, [ANY_TENANT]),
            ...grant,
            demo: key.demo,
            addedAt: new Date().toISOString(),
            operatorKeyId: this.key.keyId,
          },
          this.key,
        ),
      ),
    );
    await pause(REGISTRY_CACHED_MS);
    return key;
  }

  async revokeKey(keyId: string): Promise<void> {
    await this.client.revokeKey(keyId);
    await pause(REGISTRY_CACHED_MS);
  }

  /** Writes a registry entry directly to the database, bypassing the checks of the registry. */
  async writeKeyRow(keyId: string, envelope: Envelope): Promise<void> {
    await query(
      this.dev.runtime.postgres.superuserUrl('countersign'),
      'insert into keys (key_id, envelope) values ($1, $2)',
      [keyId, JSON.stringify(envelope)],
    );
    await pause(REGISTRY_CACHED_MS);
  }

  /** Publishes a bundle signed with any key. Returns the plan hash for SQLDryRun on the target `shop`. */
  async publish(bundleText: string, operator: SigningKey): Promise<string> {
    const plans = compileAll(bundleText, await loadExtensions(this.extensions));
    const database = { url: this.dev.setup.databaseUrls.cs_operator, applicationName: 'attacks' };
    await withDatabase(database, (db) => publishBundle(db, { bundleText, plans, operator }));
    // Processes cache the policy revision for up to one second.
    await pause(1_100);
    return plans.find((p) => p.target === 'shop' && p.sourceTool === 'SQLDryRun')?.planHash ?? '';
  }
}
