import { z } from 'zod';
import type { DiffInput } from '../contracts/diff';
import { Name } from '../contracts/diff';
import { canonicalJson } from '../contracts/canonical-json';
import type { ValidatorResult } from '../contracts/finding';
import { verdictStatus, type Verdict } from '../contracts/verdict';
import type { ValidatorDefinition, ValidatorInput } from '../rules/define';
import { conditionDefinition, stagedConditionDefinition } from '../rules/condition/condition';
import { diffEvidence, metadataEvidence } from '../contracts/facts';
import { guardians } from '../rules/guardians';
import { ALWAYS_APPROVE, alwaysApproveVerdict } from './always-approve';
import { combine, CompositionMode, failedChild, knownMode, stopsAfter, type ChildOutcome } from './combine-verdicts';
import { diffSizeRule } from './diff-size-rule';
import { patternProblem } from '../text/pattern-problem';
import { PATTERN_ENGINE, patternRule } from './pattern-rule';
import type { Rule, RulePlace } from './rule';
import { ruleValidator, type PlacedVerdict, type RuleValidator } from './rule-validator';
import { tableWhitelistRule } from './table-whitelist-rule';
import { ValidatorError } from './validator';
import { ValidatorName } from '../contracts/validator-name';
import { MAX_EVIDENCE_REFS, MAX_REASON_LENGTH } from '../contracts/limits';
import { cutText } from '../text/cut-text';
import { RecentValues } from '../text/recent-values';

const Pattern = z
  .string()
  .superRefine((source, ctx) => {
    const problem = patternProblem(source);
    if (problem !== null) ctx.addIssue({ code: 'custom', message: problem });
  })
  .describe('A regular expression in RE2 (Go) syntax. Case-sensitive unless it starts with (?i).');

const RuleName = Name.describe('Name of the rule, unique in its validator; the key of its result in `details`.');

const RuleConfig = z.union([
  z.strictObject({
    pattern: z
      .strictObject({
        name: RuleName,
        forbidden: z.array(Pattern).min(1).max(200).describe('Patterns that must not match the diff.'),
      })
      .describe('Blocks if the bytes match a forbidden pattern.'),
  }),
  z.strictObject({
    diffSize: z
      .strictObject({
        name: RuleName,
        maxRows: z.int().min(0).describe('Maximum number of rows that metadata.affected_rows may claim.'),
      })
      .describe('Blocks if metadata.affected_rows exceeds maxRows; warns if it is missing.'),
  }),
  z.strictObject({
    tableWhitelist: z
      .strictObject({
        name: RuleName,
        allowed: z
          .array(z.string().min(1).max(300))
          .max(1000)
          .describe('Table names, compared exactly. An empty list blocks every table.'),
      })
      .describe('Blocks if metadata.table_name is not in the list; warns if it is missing.'),
  }),
]);
type RuleConfig = z.infer<typeof RuleConfig>;

const uniqueRuleNames = (rules: readonly RuleConfig[], ctx: z.RefinementCtx): void =>
  duplicates(rules.map(ruleName), ctx, 'rule');

export const RuleValidatorConfig = z.strictObject({
  name: ValidatorName,
  policyVersion: z.string().max(100).default('').describe('Version of your policy; part of every verdict.'),
  rules: z
    .array(RuleConfig)
    .max(200)
    .superRefine(uniqueRuleNames)
    .describe('All rules run. The validator fails if one of them fails.'),
});
export type RuleValidatorConfig = z.infer<typeof RuleValidatorConfig>;

type Children = readonly (RuleValidatorConfig | CompositeConfig)[];

export interface CompositeConfig {
  readonly name: string;
  readonly policyVersion: string;
  readonly mode: CompositionMode;
  readonly children: Children;
}

export const CompositeConfig = z.strictObject({
  name: ValidatorName,
  policyVersion: z
    .string()
    .max(100)
    .default('')
    .describe('Version of this composite, separate from the versions of its children.'),
  mode: z
    .enum(CompositionMode)
    .default('allMustApprove')
    .describe('allMustApprove runs every child; waterfall stops at the first rejection or error.'),
  get children(): z.ZodType<Children> {
    return z
      .array(z.union([RuleValidatorConfig, CompositeConfig]))
      .max(100)
      .superRefine((children: Children, ctx) => {
        const names = children.map((child) => child.name);
        duplicates(names, ctx, 'child');
      })
      .describe('Rule validators or composites, in order.');
  },
});

export const AlwaysApproveConfig = z.strictObject({
  reason: z.string().min(1).max(500).describe('Why nothing is validated; shown in every review.'),
});

function duplicates(names: readonly string[], ctx: z.RefinementCtx, what: string): void {
  names.forEach((name, i) => {
    if (names.indexOf(name) !== i)
      ctx.addIssue({ code: 'custom', path: [i], message: `${what} "${name}" appears twice; give each its own name` });
  });
}

function ruleName(rule: RuleConfig): string {
  if ('pattern' in rule) return rule.pattern.name;
  return 'diffSize' in rule ? rule.diffSize.name : rule.tableWhitelist.name;
}

function toRule(config: RuleConfig): Rule {
  if ('pattern' in config) return patternRule(config.pattern);
  return 'diffSize' in config ? diffSizeRule(config.diffSize) : tableWhitelistRule(config.tableWhitelist);
}

/** By canonical config: compiling a pattern costs more than running it. */
const compiled = new RecentValues<RuleValidator>({ entries: 256, length: 16 * 1024 * 1024 });

function judgeRules(config: RuleValidatorConfig, diff: DiffInput): PlacedVerdict {
  const make = (): RuleValidator => ruleValidator(config.name, config.policyVersion, ...config.rules.map(toRule));
  return compiled.getOrMake(canonicalJson(config), make).judge(diff);
}

/** `compositeValidator` for children that are synchronous. */
function judgeComposite(config: CompositeConfig, diff: DiffInput): PlacedVerdict {
  const mode = knownMode(config.name, config.policyVersion, config.mode);
  const outcomes: ChildOutcome[] = [];
  const places: RulePlace[] = [];
  let total = 0;
  for (const child of config.children) {
    let outcome: ChildOutcome;
    try {
      const judged = 'children' in child ? judgeComposite(child, diff) : judgeRules(child, diff);
      places.push(...judged.places);
      total += judged.total;
      outcome = { name: child.name, verdict: judged.verdict, error: null };
    } catch (error) {
      outcome = failedChild(child.name, error);
    }
    outcomes.push(outcome);
    if (stopsAfter(mode, outcome)) break;
  }
  return { verdict: combine(config.name, config.policyVersion, outcomes), places, total };
}

function evaluate<Config>(
  judge: (config: Config, diff: DiffInput) => PlacedVerdict,
): (input: ValidatorInput<Config>) => ValidatorResult {
  return (input) => {
    const validatorId = input.signature.validator_id;
    try {
      const { verdict, places, total } = judge(input.config, input.diff);
      return toResult(validatorId, input, verdict, places, total);
    } catch (error) {
      if (!(error instanceof ValidatorError)) throw error;
      return {
        ...toResult(validatorId, input, error.verdict, [], 0),
        status: 'BLOCK',
        errorClass: error.code,
        evidenceRefs: [`diff:${input.diff.diffSha}#`],
      };
    }
  };
}

/** Converts a verdict to a result, with the rules in `details` and the places as evidence. */
function toResult(
  validatorId: string,
  input: ValidatorInput,
  verdict: Verdict,
  places: readonly RulePlace[],
  total: number,
): ValidatorResult {
  const status = verdictStatus(verdict);
  const { approved, score, severity, validatorName, policyVersion } = verdict;
  const evidence = [...new Set(places.map((place) => toEvidence(place, input)))].slice(0, MAX_EVIDENCE_REFS);
  const counted = total > evidence.length ? { evidenceTotal: total } : {};
  const details = { approved, score, severity, validatorName, policyVersion, rules: verdict.details, ...counted };
  const result = { validator_id: validatorId, reason: cutText(verdict.reason, MAX_REASON_LENGTH), details };
  if (status === 'ALLOW') return { ...result, status, evidenceRefs: [] };
  return { ...result, status, evidenceRefs: evidence.length > 0 ? evidence : [`diff:${input.diff.diffSha}#`] };
}

function toEvidence(place: RulePlace, input: ValidatorInput): string {
  return place.kind === 'span'
    ? diffEvidence(input.diff.diffSha, place.span)
    : metadataEvidence(input.inputSha, place.pointer);
}

const common = {
  pack: null,
  kind: 'derived',
  version: 'v1',
  sourceTools: '*',
  phase: 'preflight',
  docs: 'docs/policy.md',
} as const;

export const ruleValidatorDefinition: ValidatorDefinition<RuleValidatorConfig> = Object.freeze({
  ...common,
  implementation: 'rule_validator',
  logicRevision: 5,
  config: RuleValidatorConfig,
  reads: ['bytes', 'metadata'] as const,
  parser: PATTERN_ENGINE,
  defaultLevel: 'confirm' as const,
  why: 'A team can forbid patterns, tables and sizes without writing code.',
  evaluate: evaluate(judgeRules),
});

export const compositeDefinition: ValidatorDefinition<CompositeConfig> = Object.freeze({
  ...common,
  implementation: 'composite',
  logicRevision: 5,
  config: CompositeConfig,
  reads: ['bytes', 'metadata'] as const,
  parser: PATTERN_ENGINE,
  defaultLevel: 'confirm' as const,
  why: 'Combines several validators into one result with a breakdown.',
  evaluate: evaluate(judgeComposite),
});

/** SAFETY and always ALLOW, so no one is asked; its finding shows the opt-out in every review. */
export const alwaysApproveDefinition: ValidatorDefinition<z.infer<typeof AlwaysApproveConfig>> = Object.freeze({
  ...common,
  implementation: 'always_approve',
  logicRevision: 3,
  config: AlwaysApproveConfig,
  reads: [] as const,
  parser: null,
  defaultLevel: 'advise' as const,
  why: 'Records and shows that nothing is validated.',
  evaluate: (input: ValidatorInput<z.infer<typeof AlwaysApproveConfig>>) => {
    const verdict = alwaysApproveVerdict(input.config.reason);
    return toResult(ALWAYS_APPROVE, input, verdict, [], 0);
  },
});

/** The definitions behind the entries of the bundle format, besides packs and built-in validators. */
export const contractValidators: readonly ValidatorDefinition<never>[] = Object.freeze([
  ruleValidatorDefinition,
  compositeDefinition,
  alwaysApproveDefinition,
  conditionDefinition,
  stagedConditionDefinition,
  ...guardians,
] as unknown as ValidatorDefinition<never>[]);
