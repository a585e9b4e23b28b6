/**
 * The entry point `countersign/validators`: the flyto validator contract as a library. See README.md.
 * Nothing here asks a person, commits or keeps evidence; a policy bundle's plan does.
 */
export { alwaysApprove } from './validated-tool';
export { compositeValidator } from './composite-validator';
export { CompositionMode } from '../../policy/validators/combine-verdicts';
export { diffSizeRule } from '../../policy/validators/diff-size-rule';
export { dispatchValidator } from './dispatch-validator';
export { hasErrorCode } from './has-error-code';
export { patternRule } from '../../policy/validators/pattern-rule';
export type { Rule, RuleResult } from '../../policy/validators/rule';
export { ruleValidator, type RuleValidator } from '../../policy/validators/rule-validator';
export { tableWhitelistRule } from '../../policy/validators/table-whitelist-rule';
export { type GateDecision, newValidatedTool, type ValidatedTool, type VerdictSink } from './validated-tool';
export { type Validator, type ValidatorContext, ValidatorError } from '../../policy/validators/validator';
export type { DiffInput } from '../../policy/contracts/diff';
export { type Severity, type Verdict, verdictStatus } from '../../policy/contracts/verdict';
export { FlytoLLMClient } from './flyto-llm-client';
export { backendError, type LLMClient } from './llm-client';
export { LLMValidator } from './llm-validator';
export { createOpenAIProvider, type OpenAIProviderConfig } from './openai-provider';
export type { FlytoEvent, FlytoProvider, FlytoRequest } from './llm-client';
