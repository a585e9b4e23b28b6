import type { RuleOutcome, ValidatorInput } from './define';
import { diffEvidence, stagingEvidence } from '../contracts/facts';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { cutText } from '../text/cut-text';

/** The dry run could not capture all it touched: what was approved cannot be fully compared with what will be committed. */
export function baseUnverifiable(input: ValidatorInput): RuleOutcome {
  if (input.staging === null) {
    return {
      fires: true,
      reason: 'There is no staging record to read',
      reasonCode: 'staging_missing',
      errorClass: 'ErrValidatorBackend',
      evidence: [diffEvidence(input.diff.diffSha, { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 })],
    };
  }
  const { record, sha } = input.staging;
  if (record.fullyCaptured) return { fires: false };
  const first = record.uncaptured.slice(0, 5);
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
