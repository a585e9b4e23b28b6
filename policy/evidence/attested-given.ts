import type { JsonValue } from '../contracts/canonical-json';
import type { AttestedKind } from '../contracts/attested';
import type { ValidatorFinding } from '../contracts/finding';
import { isAggregate } from '../contracts/readings';
import type { TriggeredPolicy } from '../decide/violations';
import type { AggregateRecord } from '../rules/aggregate/aggregate';

/** The input of an attestor. The signed record contains its `attestedInputDigest`. */
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

/** Input of the attested built-in validators: the submission only. */
export function givenToWorldFact(of: {
  readonly changeId: string;
  readonly inputSha: string;
  readonly tenant: string;
  readonly sourceTool: string;
}): Given {
  const { changeId, inputSha, tenant, sourceTool } = of;
  return { changeId, inputSha, tenant, sourceTool };
}

/** Input of an aggregate limit. Has every counted change, so that none can be removed from the record later. */
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

/** The kind of the signed record of an attested validator. */
export function recordKindOf(validator: { readonly unit: string; readonly implementation: string }): AttestedKind {
  if (isAggregate(validator)) return 'aggregate';
  if (validator.unit !== 'builtin') return 'judge';
  return validator.implementation === 'previously_rejected' ? 'previously_rejected' : 'breaker';
}
