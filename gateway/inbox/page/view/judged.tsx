import type { JSX } from 'preact';
import type { ValidatorFinding } from '../../../../policy/contracts/finding';
import { judgedPolicies } from '../model/judged-policies';
import { Badge } from './badge';
import { SafeText } from './safe-text';

/** What the LLM judge said about each policy, and whether its quotation is in the bytes. */
export function Judged({ finding }: { readonly finding: ValidatorFinding }): JSX.Element | null {
  const policies = judgedPolicies(finding);
  if (policies.length === 0) return null;
  return (
    <ul class="judged" aria-label="What the judge said">
      {policies.map(({ policyId, result, why, quoteVerified }) => (
        <li key={policyId}>
          <strong>
            <SafeText text={policyId} />
          </strong>{' '}
          <SafeText text={result} />: <SafeText text={why} />{' '}
          {quoteVerified === true && <Badge tone="good" text="Quotation found in the bytes" />}
          {quoteVerified === false && <Badge tone="bad" text="Quotation not found: not verified" />}
          {quoteVerified === null && <Badge tone="quiet" text="No quotation" />}
        </li>
      ))}
    </ul>
  );
}
