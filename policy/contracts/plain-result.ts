import type { ValidatorResult } from './finding';
import { MAX_EVIDENCE_REFS } from './limits';
import {
  flag,
  isObject,
  json,
  listOf,
  oneOf,
  optional,
  recordOf,
  strict,
  text,
  withDefault,
  type Reader,
} from './plain';

/** A validator's result as the findings are built from it, in the sandbox as in the committer. `ValidatorResult` is the doors' schema of it. */

const fields = {
  validator_id: text({ min: 1 }),
  reason: text({ max: 4000 }),
  reasonCode: optional(text({ max: 100 })),
  errorClass: optional(oneOf('ErrValidatorBackend', 'ErrVerdictParse', 'ErrUnknownDiffType', 'ErrTimeout')),
  reproducible: optional(flag),
  recommendedActions: optional(listOf(text({ max: 500 }), 0, 10)),
  details: optional(recordOf(json) as Reader<NonNullable<ValidatorResult['details']>>),
};
const evidenceRef = text({ min: 1, max: 1000 });

const readAllow = strict<Extract<ValidatorResult, { status: 'ALLOW' }>>({
  ...fields,
  status: oneOf('ALLOW'),
  evidenceRefs: withDefault(listOf(evidenceRef, 0, MAX_EVIDENCE_REFS), () => []),
});
type Firing = Omit<ValidatorResult, 'status'> & { status: 'WARN' | 'BLOCK' };
const readFiring = strict<Firing>({
  ...fields,
  status: oneOf('WARN', 'BLOCK'),
  evidenceRefs: listOf(evidenceRef, 1, MAX_EVIDENCE_REFS),
});
const readStatus = oneOf('ALLOW', 'WARN', 'BLOCK');

export const readResult: Reader<ValidatorResult> = (value, place, issues) => {
  const status = isObject(value) ? readStatus(value['status'], 'status', issues) : undefined;
  return (status === 'ALLOW' ? readAllow : readFiring)(value, place, issues);
};
