import type { JsonValue } from '../contracts/canonical-json';
import type { AttestedKind } from '../contracts/attested';
import type { ValidatorFinding } from '../contracts/finding';
import { isAggregate } from '../contracts/readings';
import type { TriggeredPolicy } from '../decide/violations';
import type { AggregateRecord } from '../rules/aggregate/aggregate';

/** What an attestor was given: `attestedInputDigest` of it is in the record (records.md §4). */
export type Given = { readonly [key: string]: JsonValue };

export function givenToJudge(of: {
  readonly inputSha: string;
  readonly stagingSha: string | null;
  readonly planHash: string;
  readonly logicHash: string;
}): Given {
  const { inputSha, stagingSha, planHash, logicHash } = of;
  return { inputSha, stagingSha, planHash, logicHash };
}

/** What the attested built-ins are about: the submission alone. */
export function givenToWorldFact(of: {
  readonly changeId: string;
  readonly inputSha: string;
  readonly tenant: string;
  readonly sourceTool: string;
}): Given {
  const { changeId, inputSha, tenant, sourceTool } = of;
  return { changeId, inputSha, tenant, sourceTool };
}

/** What a sum was made of, all of it: so its record says what was counted, and nobody can take a change out of it. */
export function givenToAggregate(of: {
  readonly changeId: string;
  readonly inputSha: string;
  readonly record: AggregateRecord;
}): Given {
  const { changeId, inputSha, record } = of;
  return { changeId, inputSha, record: record as unknown as JsonValue };
}

export function givenToCallback(finding: ValidatorFinding, triggered: TriggeredPolicy, inputSha: string): Given {
  const { policyKey, callback } = triggered;
  return { inputSha, finding: finding as unknown as JsonValue, policyKey, callback };
}

/** The kind of record that an attested validator of the plan has. */
export function recordKindOf(validator: { readonly unit: string; readonly implementation: string }): AttestedKind {
  if (isAggregate(validator)) return 'aggregate';
  if (validator.unit !== 'builtin') return 'judge';
  return validator.implementation === 'previously_rejected' ? 'previously_rejected' : 'breaker';
}
