/**
 * The findings in a row `disclosed`, in declared order. An ALLOW without reason and evidence is written as the id of its validator, because
 * the plan has the other members. This keeps the row short: most findings are of this kind.
 */
import { frozenJson, type JsonValue } from '../contracts/canonical-json';
import { ValidatorFinding } from '../contracts/finding';
import type { LedgerRow } from '../contracts/ledger';
import type { Plan, PlanValidator } from '../contracts/plan';
import { memoizeByObject } from '../text/memoize';
import { z } from 'zod';
import { Sha256Hex } from '../contracts/diff';
import { PolicyCallbackResult, PolicyViolation } from '../contracts/violation';

/** What the row has instead of the findings. `disclosedFindings` is the inverse. */
export function writeDisclosed(plan: Plan, findings: readonly ValidatorFinding[]): JsonValue[] {
  const validators = byId(plan);
  return findings.map((finding): JsonValue => {
    const validator = validators.get(finding.validator_id);
    return validator !== undefined && isPlainAllow(finding, validator)
      ? finding.validator_id
      : (finding as unknown as JsonValue);
  });
}

/** Memoized by row: rows and plans do not change, and each check reads them. */
const readRows = new WeakMap<
  LedgerRow,
  { readonly plan: Plan; readonly findings: readonly ValidatorFinding[] | null }
>();

/** The findings of the row `disclosed`, in its order; null if one of them cannot be read, or is of a validator that is not in the plan. */
export function disclosedFindings(plan: Plan, row: LedgerRow): readonly ValidatorFinding[] | null {
  const known = readRows.get(row);
  if (known?.plan === plan) return known.findings;
  const findings = readFindings(plan, row);
  readRows.set(row, { plan, findings });
  return findings;
}

function readFindings(plan: Plan, { body }: LedgerRow): readonly ValidatorFinding[] | null {
  const written = body['findings'];
  if (!Array.isArray(written)) return null;
  const validators = byId(plan);
  const findings: ValidatorFinding[] = [];
  for (const entry of written) {
    const validator = typeof entry === 'string' ? validators.get(entry) : undefined;
    const finding = validator === undefined ? ValidatorFinding.safeParse(entry).data : plainAllow(validator);
    if (finding === undefined) return null;
    findings.push(frozenJson(finding));
  }
  return Object.freeze(findings);
}

function byId({ validators }: Plan): ReadonlyMap<string, PlanValidator> {
  return new Map(validators.map((validator) => [validator.id, validator]));
}

/** Memoized: plans do not change, and many reviews have the same. */
const plainAllow = memoizeByObject(({ id, phase, class: hookClass, logic_hash }: PlanValidator): ValidatorFinding =>
  frozenJson({ validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [], phase, class: hookClass, logic_hash }),
);

function isPlainAllow(finding: ValidatorFinding, validator: PlanValidator): boolean {
  const { status, reason, evidenceRefs, phase, class: hookClass, logic_hash } = finding;
  const isPlain = status === 'ALLOW' && reason === '' && evidenceRefs.length === 0;
  const isOfPlan = phase === validator.phase && hookClass === validator.class && logic_hash === validator.logic_hash;
  return isPlain && isOfPlan && Object.keys(finding).length === Object.keys(plainAllow(validator)).length;
}

/** What a review needs of the body of its row `disclosed`. Without one of these members the row discloses nothing. */
export const DisclosedRow = z.object({
  violations: z.array(PolicyViolation),
  callbackResults: z.record(z.string(), PolicyCallbackResult),
  fingerprint: Sha256Hex,
  /** Who could answer then. */
  reachable: z.array(z.string()),
});
