import { PolicyViolation } from '../../policy/contracts/violation';
import { deadlineOf } from '../../policy/decide/counted-answers';
import type { StoredRow } from '../../policy/evidence/chain';

/** Ids of the violations of a change that can no longer be confirmed at this time, ISO 8601. Empty before the disclosure. */
export function pastDeadline(rows: readonly StoredRow[], at: string): ReadonlySet<string> {
  const disclosed = rows.find(({ row }) => row.kind === 'disclosed')?.row;
  const violations = PolicyViolation.array().safeParse(disclosed?.body['violations'] ?? []).data ?? [];
  const past = violations.filter(
    (violation) => violation.need === 'human' && deadlineOf(violation, disclosed?.at ?? at) <= Date.parse(at),
  );
  return new Set(past.map(({ violationId }) => violationId));
}
