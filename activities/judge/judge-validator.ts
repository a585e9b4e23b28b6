import type { PlanValidator } from '../../policy/contracts/plan';
import { judgeDefinition, JUDGE_ID, JUDGE_IMPLEMENTATION, type JudgeConfig } from '../../policy/judge/config';
import { definitionHash, type HashedTool } from '../../policy/rules/definition-hash';

/** The judge as a compiled plan lists it, for calls that belong to no plan: the evaluation of a labelled set, benches, tests. */
export function judgeValidator(settings: JudgeConfig, tool: HashedTool | undefined): PlanValidator {
  const { version, logicRevision } = judgeDefinition;
  const config = JSON.parse(JSON.stringify(settings)) as PlanValidator['config'];
  return {
    id: JUDGE_ID,
    version,
    class: 'POLICY',
    level: 'confirm',
    phase: 'preflight',
    kind: 'attested',
    unit: 'judge',
    implementation: JUDGE_IMPLEMENTATION,
    needsStaging: false,
    config,
    logicRevision,
    logic_hash: definitionHash(judgeDefinition, { id: JUDGE_ID, config }, tool),
  };
}
