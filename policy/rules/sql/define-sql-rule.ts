import { z } from 'zod';
import type { Level } from '../../contracts/plan';
import { defineRule, type Reads, type RuleOutcome, type ValidatorDefinition, type ValidatorInput } from '../define';
import { diffEvidence, type FactsRefusal, type Span } from '../facts';
import type { Occurrence, SqlFacts } from './sql-facts';
import { SQL_PARSER } from './sql-parser';

/** One place where a rule fires, with what is there in plain words. */
export interface Hit {
  readonly at: Pick<Occurrence, 'span' | 'path'>;
  readonly what: string;
}

/** The smallest text that makes the rule fire, and its nearest neighbour that does not. Shown in the docs, run by the tests. */
export interface SqlExamples {
  readonly bad: string;
  readonly good: string;
  /** Settings with which both hold; the defaults where absent. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Rows that the dry run touched, for rules that read its record. */
  readonly rows?: { readonly bad: number; readonly good: number };
}

export interface SqlRule {
  readonly definition: ValidatorDefinition;
  readonly examples: SqlExamples;
}

export interface SqlRuleOptions<Config> {
  readonly name: string;
  readonly pack?: 'sql-postgres' | 'sql-postgres-style';
  readonly logicRevision: number;
  readonly defaultLevel: Level;
  /** BLOCK unless the rule only advises even where it asks a person. */
  readonly status?: 'WARN' | 'BLOCK';
  readonly why: string;
  readonly config: z.ZodType<Config>;
  readonly reads?: readonly Reads[];
  readonly advice?: readonly string[];
  readonly examples: SqlExamples;
  readonly find: (facts: SqlFacts, config: Config, input: ValidatorInput<Config>) => readonly Hit[];
}

/** For rules without settings. */
export const noConfig = z.strictObject({});
export type NoConfig = z.infer<typeof noConfig>;

const SHOWN_IN_REASON = 3;
const SHOWN_IN_DETAILS = 20;

/**
 * A rule over the facts of PostgreSQL text. Without facts it does not pass: it is an ERROR that points at why, whatever
 * `sql_parse_failure` says beside it, since a bundle may leave that one out.
 */
export function defineSqlRule<Config>(options: SqlRuleOptions<Config>): SqlRule {
  const {
    name,
    pack = 'sql-postgres',
    status = 'BLOCK',
    reads = ['bytes', 'facts'],
    advice,
    examples,
    find,
    ...rest
  } = options;
  const definition = defineRule<Config>({
    ...rest,
    name,
    pack,
    reads,
    sourceTools: ['SQLDryRun'],
    parser: SQL_PARSER,
    docs: `docs/rules/${name}.md`,
    apply: (input) => {
      const { facts } = input;
      if (!facts.ok) return unavailable(input, facts);
      if (facts.kind !== 'sql') return unknownKind(input, facts.kind);
      const hits = find(facts as SqlFacts, input.config, input);
      return hits.length === 0 ? { fires: false } : fired(input, hits, name.slice(4), status, advice);
    },
  });
  return { definition: definition as unknown as ValidatorDefinition, examples };
}

/** The outcome for `hits`; at least one. */
export function fired(
  input: Pick<ValidatorInput, 'diff'>,
  hits: readonly Hit[],
  reasonCode: string,
  status: 'WARN' | 'BLOCK',
  advice?: readonly string[],
): RuleOutcome {
  const named = hits.slice(0, SHOWN_IN_REASON).map((hit) => `${hit.what} (${hit.at.path})`);
  const more = hits.length - named.length;
  return {
    fires: true,
    status,
    reason: clip(`${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`, 4000),
    reasonCode,
    evidence: hits.map((hit) => diffEvidence(input.diff.diffSha, hit.at.span)),
    details: {
      places: hits.slice(0, SHOWN_IN_DETAILS).map((hit) => ({
        what: clip(hit.what, 500),
        path: clip(hit.at.path, 500),
        line: hit.at.span.startLine,
        column: hit.at.span.startColumn,
      })),
    },
    ...(advice === undefined ? {} : { recommendedActions: advice }),
  };
}

const START: Span = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 };

/** The ERROR of a rule that has no facts to read. */
export function unavailable(input: Pick<ValidatorInput, 'diff'>, refusal: FactsRefusal): RuleOutcome {
  return {
    fires: true,
    reason: `The text could not be read (${refusal.code}), so this rule has no answer`,
    reasonCode: 'facts_unavailable',
    errorClass: 'ErrVerdictParse',
    evidence: [diffEvidence(input.diff.diffSha, refusal.span ?? START)],
  };
}

function unknownKind(input: Pick<ValidatorInput, 'diff'>, kind: string): RuleOutcome {
  return {
    fires: true,
    reason: `This rule reads facts of SQL text, not of kind "${kind}"`,
    reasonCode: 'unknown_facts',
    errorClass: 'ErrUnknownDiffType',
    evidence: [diffEvidence(input.diff.diffSha, START)],
  };
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
