/**
 * What a team's own module is made of (`countersign/extend`): it exports `extension`, and review worker, judge worker and
 * committer load the same file, named by COUNTERSIGN_EXTENSIONS.
 */
export { defineRule, type RuleDefinition, type RuleOutcome, type ValidatorInput } from '../policy/rules/define';
export { type CallbackDefinition, defineCallback, type PolicyCallContext } from '../policy/rules/callback';
export { defineSourceTool, type SourceTool, type TargetEffects } from '../source-tools/define';
export {
  diffEvidence,
  type ExtractedFacts,
  type Facts,
  type FactsRefusal,
  metadataEvidence,
  pointerEvidence,
  type Span,
  stagingEvidence,
} from '../policy/contracts/facts';
export type { Extension } from './extensions';
