import { ValidatorResult } from '../../policy/contracts/finding';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { isJudge } from '../../policy/contracts/readings';
import { validatorFailedResult, type RawOutcome } from '../../policy/decide/findings';
import { isJudgeFailureResult } from '../../policy/decide/judge-failure';

/**
 * The outcomes that a validator without a row or a record can have. Their texts are fixed, so a workflow cannot add text of its own: the
 * disclosure accepts only these, and each verifier computes them again. `claimed`: the result that is claimed for a judge.
 */
export function outcomesWithoutRow(
  plan: Pick<Plan, 'judgeWhen'>,
  validator: PlanValidator,
  changeId: string,
  claimed: unknown,
): RawOutcome[] {
  if (validator.kind === 'derived')
    return (['ErrValidatorBackend', 'ErrUnknownDiffType'] as const).map((errorClass) => ({
      kind: 'result',
      result: validatorFailedResult(validator.id, changeId, errorClass),
    }));
  if (!isJudge(validator)) return [];
  const failure = ValidatorResult.safeParse(claimed).data;
  return [
    ...(plan.judgeWhen === 'onlyIfClean' ? [{ kind: 'skipped', reasonCode: 'judge_when' } as const] : []),
    ...(failure !== undefined && isJudgeFailureResult(failure, changeId)
      ? [{ kind: 'result', result: failure } as const]
      : []),
  ];
}
