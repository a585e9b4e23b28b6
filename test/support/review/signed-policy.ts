import type { EvidenceSources } from '../../../activities/review/export-evidence';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import type { Plan } from '../../../policy/contracts/plan';
import { signPredicate } from '../../../signing/envelope';
import type { SigningKey } from '../../../signing/keys';
import type { PlanSourceDeps, StoredRevision } from '../../../storage/plans/plan-source';
import { operatorVerifier } from '../../../storage/plans/stored-revisions';
import { compileAll, compileText } from '../../../workers/compile';
import type { Extensions } from '../../../workers/extensions';

const PUBLISHED_AT = '2026-02-01T00:00:00.000Z';
/** Compiling is slow. All policies here have the same validators, so they share plans. */
const compiled = new Map<string, ReturnType<typeof compileText>>();
const compiledAll = new Map<string, ReturnType<typeof compileAll>>();

export type SignedPolicy = EvidenceSources['policy'] &
  Pick<PlanSourceDeps, 'revisions' | 'compile'> & { readonly publish: (bundleText: string) => void };

/** Policy revisions in memory, signed by the operator as `countersign policy publish` signs them. */
export function signedPolicy(extensions: Extensions, operator: SigningKey): SignedPolicy {
  const stored: StoredRevision[] = [];
  const plans = new Map<string, Plan>();
  return {
    revisions: { list: async () => stored, revocations: async () => [] },
    revocations: async () => [],
    revision: async (revision) => stored.at(-revision) ?? null,
    plan: async (planHash) => plans.get(planHash) ?? null,
    ...operatorVerifier([operator.publicKey]),
    compile: (text, target, sourceTool) => {
      const key = `${target} ${sourceTool} ${text}`;
      const plan = compiled.get(key) ?? compileText(text, extensions, target, sourceTool);
      compiled.set(key, plan);
      return plan;
    },
    publish: (bundleText) => {
      const all = compiledAll.get(bundleText) ?? compileAll(bundleText, extensions);
      compiledAll.set(bundleText, all);
      for (const { planHash, plan } of all) plans.set(planHash, plan);
      const revision = {
        revision: stored.length + 1,
        bundleSha: sha256HexOfText(bundleText),
        plans: all.map(({ target, sourceTool, planHash }) => ({ target, sourceTool, planHash })),
        keyId: operator.keyId,
        issuedAt: PUBLISHED_AT,
      };
      const envelope = signPredicate('policy-revision', revision, operator);
      stored.unshift({ envelope, bundleText, storedAt: PUBLISHED_AT });
    },
  };
}
