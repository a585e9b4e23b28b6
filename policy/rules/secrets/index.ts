import type { Pack } from '../pack';
import {
  assignedSecret,
  coveredSecret,
  knownToken,
  metadataSecret,
  privateKey,
  testDataSecret,
  urlCredentials,
} from './rules';

/** Ordered from certain to likely; findings have the same order. A source tool may add rules for its diffs. */
export const secretsPack: Pack = {
  name: 'secrets',
  about:
    'Secrets in added text and in metadata, for every source tool. A finding has the kind, place and length of a secret, never its value.',
  rules: [knownToken, privateKey, urlCredentials, coveredSecret, assignedSecret, testDataSecret, metadataSecret],
};
