import type { AttestedPredicate } from '../../policy/contracts/attested';
import type { DiffInput, Submission } from '../../policy/contracts/diff';
import type { ValidatorResult } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { isAggregate, isJudge } from '../../policy/contracts/readings';
import { errorResult, FILLED_HERE, type RawOutcome } from '../../policy/decide/findings';
import { givenToJudge, givenToWorldFact, recordKindOf, type Given } from '../../policy/evidence/attested-given';
import type { StoredRow } from '../../policy/evidence/chain';
import { measureOf } from '../../policy/rules/aggregate/measure';
import { givenToSums, type GivenToSum } from './verify-aggregates';
import { readFacts, type DerivationDeps } from '../review/derive';
import type { AttestedRecords } from './attested-outcomes';

/** Nothing is read where the plan adds nothing up. */
export async function addedUp(
  deps: DerivationDeps & { readonly ledger: Parameters<typeof givenToSums>[0] },
  plan: Plan,
  of: {
    readonly changeId: string;
    readonly inputSha: string;
    readonly submission: Submission;
    readonly requester: string | null;
    readonly rows: readonly StoredRow[];
    readonly diff: DiffInput;
  },
): Promise<ReadonlyMap<string, GivenToSum>> {
  if (!plan.validators.some(isAggregate)) return new Map();
  const { changeId, inputSha, requester, rows, diff } = of;
  const { tenant, target, sourceTool, supersedes = null } = of.submission;
  const submitted = rows.find(({ row }) => row.kind === 'submitted')?.row;
  const own = measureOf(diff, await readFacts(deps, diff));
  const change = { tenant, target, sourceTool, requester, openedAt: submitted?.at ?? '', own };
  const written = submitted?.body['measure'];
  return givenToSums(deps.ledger, plan, { changeId, inputSha, change, written, supersedes });
}

/** C1: what each validator says, by its own outcome recomputed or its record verified. */
export function collectOutcomes(
  plan: Plan,
  derived: Readonly<Record<string, unknown>>,
  attested: AttestedRecords,
  sums: ReadonlyMap<string, GivenToSum>,
  change: {
    readonly changeId: string;
    readonly inputSha: string;
    readonly planHash: string;
    readonly stagingSha: string | null;
    readonly submission: Submission;
  },
): Map<string, RawOutcome> {
  const outcomes = new Map<string, RawOutcome>();
  for (const validator of plan.validators) {
    if (FILLED_HERE.has(validator.id)) continue;
    if (validator.kind === 'derived') {
      if (validator.id in derived) outcomes.set(validator.id, { kind: 'result', result: derived[validator.id] });
      continue;
    }
    const { changeId, inputSha, planHash, submission } = change;
    const base = { changeId, inputSha, planHash };
    const missing = missingRecord(validator.id, changeId);
    const kind = recordKindOf(validator);
    const given = (record: AttestedPredicate): Given | null => {
      if (kind === 'judge')
        return givenToJudge({ inputSha, stagingSha: record.stagingSha, planHash, logicHash: validator.logic_hash });
      return kind === 'aggregate'
        ? (sums.get(validator.id)?.(record) ?? null)
        : givenToWorldFact({ ...submission, ...base });
    };
    const stagingSha = kind === 'judge' ? change.stagingSha : null;
    const result = attested.validator(validator, { ...base, kind, stagingSha, given }, missing);
    if (result !== null) outcomes.set(validator.id, { kind: 'result', result });
    else if (isJudge(validator) && plan.judgeWhen === 'onlyIfClean')
      outcomes.set(validator.id, { kind: 'skipped', reasonCode: 'judge_when' });
    else outcomes.set(validator.id, { kind: 'result', result: missing });
  }
  return outcomes;
}

function missingRecord(validatorId: string, changeId: string): ValidatorResult {
  return errorResult(validatorId, changeId, {
    errorClass: 'ErrValidatorBackend',
    reason: 'No valid attested record',
    reasonCode: MISSING_RECORD,
    reproducible: false,
  });
}

/** `reasonCode` of the ERROR that stands for a record which is not there. */
export const MISSING_RECORD = 'attestation_missing';
