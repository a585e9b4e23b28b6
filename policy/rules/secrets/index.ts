import type { Pack } from '../pack';
import { assignedSecret, coveredSecret, knownToken, metadataSecret, privateKey, urlCredentials } from './rules';

/** From what is certain to what is likely, which is the order of their findings. A tool may add rules for its diffs. */
export const secretsPack: Pack = {
  name: 'secrets',
  about:
    'Secrets in what a change of any tool adds, and in its metadata. A finding says kind, place and length, never the secret.',
  rules: [knownToken, privateKey, urlCredentials, coveredSecret, assignedSecret, metadataSecret],
};
