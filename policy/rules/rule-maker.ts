import { z } from 'zod';
import type { Metadata } from '../contracts/diff';
import type { Level } from '../contracts/plan';
import { defineRule, type Reads, type RuleOutcome, type ValidatorDefinition, type ValidatorInput } from './define';
import { DIFF_START, diffEvidence, type ExtractedFacts, type FactsRefusal } from '../contracts/facts';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { clip } from '../text/cut-text';
import { outcomeOf, type Hit } from './hit';

/** A minimal input that makes the rule fire, and a similar one that does not. Shown in the docs and run by the tests. */
export interface RuleExamples {
  readonly bad: ExampleBytes;
  readonly good: ExampleBytes;
  /** Settings for both examples. Default: the rule's defaults. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Source tool of the examples, for rules that read the diffs of every tool. */
  readonly sourceTool?: string;
  /** Metadata of the examples, for rules that read it. */
  readonly metadata?: { readonly bad: Metadata; readonly good: Metadata };
  /** Number of rows that the dry run touched, for rules that read the staging record. */
  readonly rows?: { readonly bad: number; readonly good: number };
  /** Source tool of the good example, if it is not that of the bad one. */
  readonly goodSourceTool?: string;
}

/** Text, or base64 if the bytes are not text. */
export type ExampleBytes = string | { readonly base64: string };

export interface PackRule {
  readonly definition: ValidatorDefinition;
  readonly examples: RuleExamples;
  /** Status of the finding when the rule fires. WARN if the rule only advises, even at a level that asks a person. */
  readonly severity: 'WARN' | 'BLOCK';
  /** One sentence: what happens if the data that the rule reads is missing. */
  readonly missing: string;
}

const MISSING_FACTS = 'If the diff cannot be parsed, the result is an ERROR that a person must confirm.';
const MISSING_RECORD = `${MISSING_FACTS} Before the dry run the result is SKIPPED.`;
const MISSING_NOTHING = 'This rule does not need a parsed diff, so it always has a result.';
export const MISSING_PARSE = 'This rule itself reports a diff that cannot be parsed.';

function missingOf(reads: readonly Reads[]): string {
  if (reads.includes('staging')) return MISSING_RECORD;
  return reads.includes('facts') ? MISSING_FACTS : MISSING_NOTHING;
}

export interface PackOptions {
  readonly pack: string;
  /** `kind` of the facts that the rules read. */
  readonly kind: string;
  readonly sourceTools: readonly string[];
  readonly parser: { readonly name: string; readonly version: string };
}

export interface FactsRuleOptions<F, Config> {
  readonly name: string;
  readonly logicRevision: number;
  readonly defaultLevel: Level;
  /** Default BLOCK. WARN if the rule only advises, even at a level that asks a person. */
  readonly status?: 'WARN' | 'BLOCK';
  readonly why: string;
  /** Default: no settings. */
  readonly config?: z.ZodType<Config>;
  readonly reads?: readonly Reads[];
  readonly advice?: readonly string[];
  readonly examples: RuleExamples;
  readonly find: (facts: F, config: Config, input: ValidatorInput<Config>) => readonly Hit[];
}

/** Configuration schema of a rule without settings. */
const noConfig = z.strictObject({});

const configOf = <Config>(options: { readonly config?: z.ZodType<Config> }): z.ZodType<Config> =>
  options.config ?? (noConfig as unknown as z.ZodType<Config>);

/**
 * Returns a factory for the rules of one pack that read the facts of one source tool. Without facts a rule fails closed: its
 * result is an ERROR with evidence. The pack's parse rule does not replace this, because a bundle may leave that rule out.
 */
export function factsRules<F extends ExtractedFacts>(
  pack: PackOptions,
): <Config>(options: FactsRuleOptions<F, Config>) => PackRule {
  return (options) => {
    const { name, status = 'BLOCK', reads = ['bytes', 'facts'], advice, examples, find, ...rest } = options;
    const code = codeOf(name);
    const definition = defineRule({
      ...rest,
      config: configOf(options),
      name,
      reads,
      pack: pack.pack,
      parser: pack.parser,
      sourceTools: pack.sourceTools,
      docs: pageOf(pack.pack, name),
      apply: (input) => {
        const { facts } = input;
        if (!facts.ok) return unavailable(input, facts);
        if (facts.kind !== pack.kind) return unexpectedKind(input, facts.kind, pack.kind);
        return outcomeOf(input, find(facts as F, input.config, input), code, status, advice);
      },
    });
    return packRule(definition, examples, status);
  };
}

interface BytesRuleOptions<Config> extends Omit<FactsRuleOptions<never, Config>, 'find' | 'reads'> {
  readonly reads?: readonly Reads[];
  /** Source tools whose diffs the rule reads. Default: all. */
  readonly sourceTools?: readonly string[];
  readonly find: (input: ValidatorInput<Config>) => readonly Hit[];
}

/** Returns a factory for the rules of a pack that needs no facts. Such a rule always has a result, even for an unparseable diff. */
export function bytesRules(
  pack: string,
  parser: PackOptions['parser'] | null,
): <Config>(options: BytesRuleOptions<Config>) => PackRule {
  return (options) => {
    const { name, status = 'BLOCK', reads = ['bytes'], advice, examples, find, sourceTools = '*', ...rest } = options;
    const code = codeOf(name);
    const definition = defineRule({
      ...rest,
      config: configOf(options),
      name,
      reads,
      pack,
      parser,
      sourceTools,
      docs: pageOf(pack, name),
      apply: (input) => outcomeOf(input, find(input), code, status, advice),
    });
    return packRule(definition, examples, status);
  };
}

/** Makes the rule that fires if a diff cannot be parsed, with the extractor's message. Each pack with facts has one. */
export function parseRule(
  pack: PackOptions,
  options: Pick<FactsRuleOptions<unknown, unknown>, 'name' | 'logicRevision' | 'defaultLevel' | 'why' | 'examples'>,
): PackRule {
  const { name, examples, ...rest } = options;
  const definition = defineRule({
    ...rest,
    name,
    reads: ['bytes', 'facts'],
    pack: pack.pack,
    parser: pack.parser,
    sourceTools: pack.sourceTools,
    config: noConfig,
    docs: pageOf(pack.pack, name),
    apply: (input): RuleOutcome => {
      const { facts } = input;
      if (!facts.ok) return refused(input, facts);
      return facts.kind === pack.kind ? { fires: false } : unexpectedKind(input, facts.kind, pack.kind);
    },
  });
  return { ...packRule(definition, examples, 'BLOCK'), missing: MISSING_PARSE };
}

/** Documentation of a rule: a heading on the page of its pack. */
export function pageOf(pack: string, name: string): string {
  return `docs/rules/${pack}.md#${name}`;
}

/** A rule together with the texts that its documentation page shows. */
export function packRule<Config>(
  definition: ValidatorDefinition<Config>,
  examples: RuleExamples,
  severity: PackRule['severity'] = 'BLOCK',
): PackRule {
  return {
    definition: definition as unknown as ValidatorDefinition,
    examples,
    severity,
    missing: missingOf(definition.reads),
  };
}

/** Reason code of a rule that has no answer because the diff could not be read. */
export const FACTS_UNAVAILABLE = 'facts_unavailable';

/** The ERROR of a rule that needs facts, for a diff that has none. */
export function unavailable(input: Pick<ValidatorInput, 'diff'>, refusal: FactsRefusal): RuleOutcome {
  return {
    fires: true,
    reason: `The diff could not be read (${refusal.code}), so this rule has no answer`,
    reasonCode: FACTS_UNAVAILABLE,
    errorClass: 'ErrVerdictParse',
    evidence: [diffEvidence(input.diff.diffSha, refusal.span ?? DIFF_START)],
  };
}

function refused(input: Pick<ValidatorInput, 'diff'>, refusal: FactsRefusal): RuleOutcome {
  return {
    fires: true,
    reason: clip(`The diff cannot be read (${refusal.code}): ${refusal.message}`, MAX_REASON_LENGTH),
    reasonCode: refusal.code,
    evidence: [diffEvidence(input.diff.diffSha, refusal.span ?? DIFF_START)],
  };
}

/** The ERROR of a rule for facts of another kind. */
export function unexpectedKind(input: Pick<ValidatorInput, 'diff'>, kind: string, expected: string): RuleOutcome {
  return {
    fires: true,
    reason: `This rule reads facts of kind "${expected}", not "${kind}"`,
    reasonCode: 'unknown_facts',
    errorClass: 'ErrUnknownDiffType',
    evidence: [diffEvidence(input.diff.diffSha, DIFF_START)],
  };
}

/** Reason code of a rule: its name without the pack's word. */
export function codeOf(name: string): string {
  return name.slice(name.indexOf('_') + 1);
}
