import { celEnv, isCelError, parse, plan, type CelInput } from '@bufbuild/cel';
import { z } from 'zod';
import { escapePointer, isJsonObject, type JsonValue } from '../../contracts/canonical-json';
import { touchedRows } from '../../contracts/readings';
import { ValidatorName } from '../../contracts/validator-name';
import { toResult, type Reads, type RuleOutcome, type ValidatorDefinition, type ValidatorInput } from '../define';
import { DIFF_START, diffEvidence, metadataEvidence, stagingEvidence } from '../../contracts/facts';
import { RecentValues } from '../../text/recent-values';
import { checkExpression, MAX_EXPRESSION_LENGTH, type ConditionName, type ExpressionUse } from './check-expression';
import { toCel, ValueTooLarge } from './to-cel';

/** Part of `logic_hash`. A test compares it with the installed package. */
export const CONDITION_ENGINE = { name: '@bufbuild/cel', version: '0.6.1' } as const;

export const ConditionConfig = z.strictObject({
  name: ValidatorName,
  when: z
    .string()
    .min(1)
    .max(MAX_EXPRESSION_LENGTH)
    .superRefine((text, ctx) => {
      const checked = checkExpression(text);
      if (!checked.ok) ctx.addIssue({ code: 'custom', message: checked.problem });
    })
    .describe(
      'A CEL expression over diff, metadata, facts and, after the dry run, staging. It fires on true. An error, or a result that is not a boolean, blocks.',
    ),
  reason: z.string().min(1).max(500).describe('Reason that reviewers see when it fires.'),
});
export type ConditionConfig = z.infer<typeof ConditionConfig>;

const StaticConfig = ConditionConfig.superRefine(({ when }, ctx) => {
  const checked = checkExpression(when);
  if (checked.ok && checked.use.reads.has('staging'))
    ctx.addIssue({
      code: 'custom',
      path: ['when'],
      message: 'reads "staging", which exists only after the dry run: add "staged: true"',
    });
});

/** A condition that runs before the dry run. */
export const conditionDefinition = define('condition', StaticConfig, ['facts', 'metadata']);
/** A condition that reads the dry run as well. */
export const stagedConditionDefinition = define('staged_condition', ConditionConfig, ['facts', 'metadata', 'staging']);

function define(
  implementation: string,
  config: z.ZodType<ConditionConfig>,
  reads: readonly Reads[],
): ValidatorDefinition<ConditionConfig> {
  return Object.freeze({
    implementation,
    pack: null,
    kind: 'derived' as const,
    version: 'v1',
    logicRevision: 5,
    config,
    sourceTools: '*' as const,
    phase: 'preflight' as const,
    reads,
    parser: CONDITION_ENGINE,
    defaultLevel: 'confirm' as const,
    why: 'A team can say in one line which changes need a review.',
    docs: 'docs/policy.md',
    evaluate: (input: ValidatorInput<ConditionConfig>) => toResult(input.signature.validator_id, apply(input)),
  });
}

function apply(input: ValidatorInput<ConditionConfig>): RuleOutcome {
  const checked = checkExpression(input.config.when);
  // The bundle was checked when it was compiled, but a forged plan must not pass either.
  if (!checked.ok) return undecided(input, checked.problem);
  let answer: unknown;
  try {
    answer = evaluate(input.config.when, bindings(input, checked.use));
  } catch (error) {
    if (error instanceof ValueTooLarge) return undecided(input, error.message);
    return undecided(input, 'the evaluation failed');
  }
  if (isCelError(answer)) return undecided(input, describe(answer.message, input.config.when));
  if (answer === false) return { fires: false };
  if (answer !== true) return undecided(input, 'the result is neither true nor false');
  return {
    fires: true,
    reason: input.config.reason,
    reasonCode: 'condition_met',
    evidence: evidenceOf(input, checked.use),
  };
}

const env = celEnv();
const programs = new RecentValues<ReturnType<typeof plan>>({ entries: 256, length: 256 * MAX_EXPRESSION_LENGTH });

function evaluate(when: string, variables: Record<string, CelInput>): unknown {
  return programs.getOrMake(when, () => plan(env, parse(when)))(variables);
}

/** Only the values that the expression reads are converted: a long text that it does not read costs nothing. */
function bindings(input: ValidatorInput<ConditionConfig>, { reads, nesting }: ExpressionUse): Record<string, CelInput> {
  return Object.fromEntries(
    [...reads].map(([name, fields]) => {
      const value = valueOf(name, input);
      const part = fields === null ? value : pick(value, fields);
      return [name, toCel(part, nesting)];
    }),
  );
}

function pick(value: JsonValue, fields: ReadonlySet<string>): JsonValue {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => fields.has(key)));
}

function valueOf(name: ConditionName, input: ValidatorInput<ConditionConfig>): JsonValue {
  const { diff } = input;
  switch (name) {
    case 'diff':
      return { sourceTool: diff.sourceTool, bytes: diff.raw.length, diffSha: diff.diffSha };
    case 'metadata':
      return diff.metadata;
    case 'facts':
      // Facts are plain data by contract; toCel or CEL rejects anything else.
      return input.facts as unknown as JsonValue;
    case 'staging':
      return stagingValue(input);
    default:
      return name satisfies never;
  }
}

function stagingValue({ staging }: ValidatorInput<ConditionConfig>): JsonValue {
  if (staging === null) return null;
  const { record } = staging;
  // Unknown, not 0: a comparison with null is an error, so the condition fails closed.
  const rows = record.reason === 'not_rehearsed' ? null : touchedRows(record);
  return { ...record, rows } as unknown as JsonValue;
}

function undecided(input: ValidatorInput<ConditionConfig>, why: string): RuleOutcome {
  return {
    fires: true,
    reason: `The condition "${input.config.name}" could not be evaluated: ${why.split('\n')[0]?.slice(0, 500) ?? ''}`,
    reasonCode: 'condition_undecided',
    errorClass: 'ErrValidatorBackend',
    evidence: [diffEvidence(input.diff.diffSha, DIFF_START)],
  };
}

/** The library's message may quote a value of the diff, which may be a secret, so only a name that occurs in the expression is shown. */
function describe(message: string, when: string): string {
  const missing = 'field not found: ';
  const field = message.startsWith(missing) ? (message.slice(missing.length).split('\n')[0] ?? '') : '';
  return field !== '' && when.includes(field) ? `field "${field}" does not exist` : 'the evaluation failed';
}

function evidenceOf(input: ValidatorInput<ConditionConfig>, { reads }: ExpressionUse): string[] {
  const refs = [...reads].flatMap(([name, fields]) => {
    const pointers = fields === null ? [''] : [...fields].map((field) => `/${escapePointer(field)}`);
    if (name === 'metadata') return pointers.map((pointer) => metadataEvidence(input.inputSha, pointer));
    const sha = name === 'staging' ? input.staging?.sha : undefined;
    return sha === undefined
      ? [diffEvidence(input.diff.diffSha, DIFF_START)]
      : pointers.map((pointer) => stagingEvidence(sha, pointer));
  });
  return refs.length === 0 ? [diffEvidence(input.diff.diffSha, DIFF_START)] : [...new Set(refs)];
}
