/**
 * The public API for extensions (`countersign/extend`). A module exports `extension`; the four processes and the CLI load the same
 * file, which COUNTERSIGN_EXTENSIONS names.
 */
export { defineRule, type RuleDefinition, type RuleOutcome, type ValidatorInput } from '../policy/rules/define';
export { type CallbackDefinition, defineCallback, type PolicyCallContext } from '../policy/rules/callback';
export { defineSourceTool } from '../source-tools/define';
export type {
  Border,
  ClaimCheck,
  DiffMeasure,
  DiffRenderer,
  DiffText,
  FactsMembers,
  SourceLine,
  SourceTool,
  SourceToolDefinition,
  Touched,
} from '../policy/contracts/source-tool';
export type {
  CommitContext,
  SettleContext,
  StageContext,
  Staged,
  TargetAccess,
  TargetEffects,
} from '../policy/contracts/target-effects';
export { claimedRows } from '../policy/text/claimed-rows';
export { jsonRenderer } from '../policy/text/render/json';
export { plainBorders, splitLines } from '../policy/text/render/source-lines';
export { textRenderer } from '../policy/text/render/text';
export { wholeTexts } from '../policy/text/whole-texts';
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
export type { SqlFacts } from '../source-tools/sql/facts/sql-facts';
export type { SqlCasFacts } from '../source-tools/sql/facts/sql-cas-facts';
export type { GitPatchFacts } from '../source-tools/git/facts/git-facts';
export type { HttpPatchFacts } from '../source-tools/http/facts/http-facts';
export type { TerraformPlanFacts } from '../source-tools/terraform/facts/terraform-facts';
export type { Extension } from './extensions';
