/**
 * What an operator says of an effect that nobody else can tell (`countersign resolve`).
 *
 * O1 It counts only where marker and read-back do not tell, or the target cannot be asked: what the target says is stronger.
 * O2 It is signed by an operator key that this committer trusts, for this change and target. Of several the first stands.
 * O3 That nothing was applied stops every attempt that comes to its effect later (P1 of apply-change.ts), and counts only
 *    when those that had asked before are over.
 */
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { StoredRow } from '../../policy/evidence/chain';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { EffectResolution } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import { signedByOperator } from '../../signing/operator-verify';

export function resolutionOf(
  rows: readonly StoredRow[],
  of: { readonly changeId: string; readonly target: string },
  operators: readonly string[],
): EffectResolution | null {
  for (const { row } of rows) {
    if (row.kind !== 'resolved') continue;
    const said = signedByOperator('effect-resolution', row.body['envelope'], operators);
    if (said !== null && said.changeId === of.changeId && said.target === of.target) return said;
  }
  return null;
}

/** What the receipt tells of it: whose word it rests on. */
export function resolvedEffect({ keyId, resolvedAt, reason }: EffectResolution): JsonObject {
  return { resolution: { keyId, resolvedAt, reason } };
}

/** Signs it and appends it to the change's rows. */
export async function recordResolution(
  ledger: Ledger,
  said: Omit<EffectResolution, 'keyId'>,
  operator: SigningKey,
): Promise<void> {
  const envelope = signPredicate('effect-resolution', { ...said, keyId: operator.keyId }, operator);
  const body = { envelope: envelope as unknown as JsonObject, applied: said.applied, reason: said.reason };
  await ledger.append(said.changeId, [
    {
      kind: 'resolved',
      at: said.resolvedAt,
      actor: `operator:${operator.keyId.slice(0, 16)}`,
      factKey: sha256HexOfText(canonicalJson(envelope)),
      body,
    },
  ]);
}
