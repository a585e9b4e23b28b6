import { isJsonObject } from '../../../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../../../policy/contracts/finding';

/** What the LLM judge said about one policy. */
export interface JudgedPolicy {
  readonly policyId: string;
  readonly result: string;
  readonly why: string;
  /** Whether its quotation occurs verbatim in the bytes that it was shown; null if it quoted nothing. */
  readonly quoteVerified: boolean | null;
}

/** The policies that the judge did not find clear. Empty for a finding of another validator. */
export function judgedPolicies({ details }: ValidatorFinding): JudgedPolicy[] {
  const policies = details?.['policies'];
  if (!isJsonObject(policies)) return [];
  return Object.entries(policies).flatMap(([policyId, policy]) => {
    if (!isJsonObject(policy)) return [];
    const { result, why, quoteVerified = null } = policy;
    if (typeof result !== 'string' || typeof why !== 'string' || result === 'clear') return [];
    return [{ policyId, result, why, quoteVerified: typeof quoteVerified === 'boolean' ? quoteVerified : null }];
  });
}
