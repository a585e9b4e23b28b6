import type { ValidatorDefinition } from '../define';
import type { PackRule } from '../rule-maker';
import {
  assignedSecret,
  coveredSecret,
  keyFile,
  knownToken,
  metadataSecret,
  privateKey,
  removedSecret,
  urlCredentials,
} from './rules';

/** From what is certain to what is likely, which is the order of their findings. */
export const secretsRules: readonly PackRule[] = [
  knownToken,
  privateKey,
  urlCredentials,
  coveredSecret,
  assignedSecret,
  metadataSecret,
  keyFile,
  removedSecret,
];

export const secretsPack: readonly ValidatorDefinition[] = secretsRules.map((rule) => rule.definition);
