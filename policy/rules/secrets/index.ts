import type { ValidatorDefinition } from '../define';
import type { PackRule, RuleExamples } from '../rule-maker';
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
const RULES: readonly PackRule[] = [
  knownToken,
  privateKey,
  urlCredentials,
  coveredSecret,
  assignedSecret,
  metadataSecret,
  keyFile,
  removedSecret,
];

export const secretsPack: readonly ValidatorDefinition[] = RULES.map((rule) => rule.definition);

/** A bad and a good text for each rule, by its name. */
export const secretsExamples: Readonly<Record<string, RuleExamples>> = Object.fromEntries(
  RULES.map((rule) => [rule.definition.implementation, rule.examples]),
);
