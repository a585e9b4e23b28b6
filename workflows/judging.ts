import { isCancellation } from '@temporalio/workflow';
import type { ReviewValidator } from '../policy/contracts/history-plan';
import { isJudge } from '../policy/contracts/readings';
import { judgeFailureResult } from '../policy/decide/judge-failure';
import { failureOf, type Failure } from './failure';
import { judge, judgeFailure } from './proxies';
import type { Review } from './review-state';

/** One activity; its result is recorded and reused on replay. A judge that cannot answer gives an ERROR finding, never none. */
export async function askJudge(change: Review): Promise<void> {
  for (const validator of change.plan.validators) {
    if (!isJudge(validator) || change.findings.has(validator.id)) continue;
    if (
      change.plan.judgeWhen === 'onlyIfClean' &&
      change.findings.answered().some((f) => f.class === 'POLICY' && f.status !== 'ALLOW')
    ) {
      change.findings.record(validator.id, { kind: 'skipped', reasonCode: 'judge_when' });
      continue;
    }
    const input = { changeId: change.changeId, stagingSha: change.stagingSha, validatorId: validator.id };
    try {
      const { result } = await judge(String(validator.config['model'] ?? validator.id)).askJudge(input);
      change.findings.recordReported({ allowed: [], results: { [validator.id]: result } });
    } catch (error) {
      if (isCancellation(error)) throw error;
      change.findings.record(validator.id, {
        kind: 'result',
        result: await judgeFailed(change, validator, input, failureOf(error)),
      });
    }
  }
}

/** The failure is attested too. If the attestation also fails, the finding says so, and the committer treats the record as missing. */
async function judgeFailed(
  change: Review,
  validator: ReviewValidator,
  input: Parameters<ReturnType<typeof judge>['askJudge']>[0],
  failure: Failure,
): Promise<unknown> {
  try {
    const attested = await judgeFailure('judge failed').attestJudgeFailure({
      ...input,
      failureType: failure.type,
      message: failure.message,
    });
    return attested.result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return judgeFailureResult({
      validatorId: validator.id,
      changeId: change.changeId,
      failureType: failure.type,
      message: failure.message,
    });
  }
}
