import type { ValidatorDefinition } from '../define';
import { conflictPoint } from './conflict-point';
import { contractGuardian } from './contract';
import { evidenceIntegrity } from './evidence-integrity';
import { strongDecision } from './strong-decision';

/** The four guardians. A bundle enables each with `rule:` and its settings. */
export const guardians: readonly ValidatorDefinition<never>[] = Object.freeze([
  conflictPoint,
  strongDecision,
  contractGuardian,
  evidenceIntegrity,
] as unknown as ValidatorDefinition<never>[]);

export { conflictPoint, contractGuardian, evidenceIntegrity, strongDecision };
