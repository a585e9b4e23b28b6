/**
 * The public API for extensions (`countersign/extend`). A module exports `extension`; review worker, judge worker and committer
 * load the same file, which COUNTERSIGN_EXTENSIONS names.
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
