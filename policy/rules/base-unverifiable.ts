import { stagingMissing, type RuleOutcome, type ValidatorInput } from './define';
import { stagingEvidence } from '../contracts/facts';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { cutText } from '../text/cut-text';

/**
 * Fires if the dry run could not capture everything it touched: the commit then cannot be compared with everything that was
 * approved.
 */
export function baseUnverifiable(input: ValidatorInput): RuleOutcome {
  if (input.staging === null) return stagingMissing(input);
  const { record, sha } = input.staging;
  if (record.fullyCaptured && record.reason === null) return { fires: false };
  const first = record.uncaptured.slice(0, 5);
  if (record.reason === 'not_rehearsed')
    return {
      fires: true,
      reason: cutText(
        `Not rehearsed: nothing shows what the change does, and it first executes in the commit: ${first.join('; ')}`,
        MAX_REASON_LENGTH,
      ),
      reasonCode: 'not_rehearsed',
      evidence: [stagingEvidence(sha, '/uncaptured')],
      details: { reasons: record.uncaptured.length },
    };
  return {
    fires: true,
    reason: cutText(
      `The dry run could not capture everything it touched${first.length === 0 ? '' : `: ${first.join('; ')}`}`,
      MAX_REASON_LENGTH,
    ),
    reasonCode: 'base_unverifiable',
    evidence: [stagingEvidence(sha, '/uncaptured')],
    details: { uncaptured: record.uncaptured.length },
  };
}
