/**
 * Signed statement of an operator about an unknown effect (`countersign resolve`).
 *
 * O1 It counts only if marker and read-back give no answer, or the target is unavailable: the target takes precedence.
 * O2 It must be signed by an operator key that this committer trusts, for this change and target. The first one counts.
 * O3 "Not applied" stops every later attempt before its effect (P1 of apply-change.ts). It settles the change only after the
 *    attempts that checked earlier can no longer apply it. "Applied" forbids that an attempt begins to undo the effect; if one has
 *    begun, it settles the change only after that one can no longer do so.
 */
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { StoredRow } from '../../policy/evidence/chain';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { EffectResolution } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import { signedByOperator } from '../../signing/signed-by';
import type { OperatorKey } from '../../signing/operator-key';

export function resolutionOf(
  rows: readonly StoredRow[],
  of: { readonly changeId: string; readonly target: string },
  operators: readonly OperatorKey[],
): EffectResolution | null {
  for (const { row } of rows) {
    if (row.kind !== 'resolved') continue;
    const resolution = signedByOperator('effect-resolution', row.body['envelope'], operators, row.at);
    if (resolution?.changeId === of.changeId && resolution.target === of.target) return resolution;
  }
  return null;
}

/** The effect in the receipt of a resolved change. It names the operator's statement. */
export function resolvedEffect({ keyId, resolvedAt, reason }: EffectResolution): JsonObject {
  return { resolution: { keyId, resolvedAt, reason } };
}

/** Signs the statement and appends it to the rows of the change. */
export async function recordResolution(
  ledger: Ledger,
  resolution: Omit<EffectResolution, 'keyId'>,
  operator: SigningKey,
): Promise<void> {
  const envelope = signPredicate('effect-resolution', { ...resolution, keyId: operator.keyId }, operator);
  const body = { envelope: envelope as unknown as JsonObject, applied: resolution.applied, reason: resolution.reason };
  await ledger.append(resolution.changeId, [
    {
      kind: 'resolved',
      at: resolution.resolvedAt,
      factKey: sha256HexOfText(canonicalJson(envelope)),
      body,
    },
  ]);
}
