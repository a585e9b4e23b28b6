/**
 * flyto's validators as a library (`countersign/validators`): rules, a model and compositions of them over one diff, in
 * one process. Nothing here waits for a person, commits or keeps evidence; a bundle's plan does.
 */
export { alwaysApprove } from '../../policy/validators/always-approve';
export { CompositionMode, compositeValidator } from '../../policy/validators/composite-validator';
export { diffSizeRule } from '../../policy/validators/diff-size-rule';
export { dispatchValidator } from './dispatch-validator';
export { patternRule } from '../../policy/validators/pattern-rule';
export type { Rule, RuleResult } from '../../policy/validators/rule';
export { ruleValidator, type RuleValidator } from '../../policy/validators/rule-validator';
export { tableWhitelistRule } from '../../policy/validators/table-whitelist-rule';
export { type GateDecision, newValidatedTool, type ValidatedTool } from './validated-tool';
export {
  hasErrorCode,
  type Validator,
  type ValidatorContext,
  ValidatorError,
  type VerdictSink,
} from '../../policy/validators/validator';
export type { DiffInput } from '../../policy/contracts/diff';
export { type Severity, type Verdict, verdictStatus } from '../../policy/contracts/verdict';
export { FlytoLLMClient } from './flyto-llm-client';
export { backendError, type LLMClient } from './llm-client';
export { LLMValidator } from './llm-validator';
export { createOpenAIProvider, type OpenAIProviderConfig } from './openai-provider';
export type { FlytoEvent, FlytoProvider, FlytoRequest } from './provider';
