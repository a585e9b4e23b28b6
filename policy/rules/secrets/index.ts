import type { Pack } from '../pack';
import type { PackRule, RuleExamples } from '../rule-maker';
import {
  assignedSecret,
  coveredSecret,
  knownToken,
  metadataSecret,
  privateKey,
  testDataSecret,
  urlCredentials,
} from './rules';

/** Ordered from certain to likely; findings have the same order. The source tools add examples and rules for their diffs. */
export function secretsPack(ofTools: { readonly inTestData: RuleExamples; readonly rules: readonly PackRule[] }): Pack {
  return {
    name: 'secrets',
    about:
      'Secrets in added text and in metadata, for every source tool. A finding has the kind, place and length of a secret, never its value.',
    rules: [
      knownToken,
      privateKey,
      urlCredentials,
      coveredSecret,
      assignedSecret,
      testDataSecret(ofTools.inTestData),
      metadataSecret,
      ...ofTools.rules,
    ],
  };
}
