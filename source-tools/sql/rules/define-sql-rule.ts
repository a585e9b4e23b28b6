import type { Hit as RuleHit } from '../../../policy/rules/hit';
import { factsRules, type FactsRuleOptions, type PackRule, type RuleExamples } from '../../../policy/rules/rule-maker';
import type { Occurrence, SqlFacts, SqlStatement } from '../facts/sql-facts';
import { SQL_PARSER } from '../facts/sql-parser';

/** A position at which a rule fires. */
export interface Hit extends RuleHit {
  readonly at: Pick<Occurrence, 'span' | 'path'>;
}

/** The position of a full statement. */
export function atStatement({ span, index }: SqlStatement): Hit['at'] {
  return { span, path: `statement ${index + 1}` };
}

export interface SqlExamples extends RuleExamples {
  readonly bad: string;
  readonly good: string;
}

interface SqlRuleOptions<Config> extends FactsRuleOptions<SqlFacts, Config> {
  readonly pack?: keyof typeof makers;
  readonly examples: SqlExamples;
}

export interface SqlRule extends PackRule {
  readonly examples: SqlExamples;
}

const makers = {
  'sql-postgres': maker('sql-postgres'),
  'sql-postgres-style': maker('sql-postgres-style'),
};

function maker(pack: string): ReturnType<typeof factsRules<SqlFacts>> {
  return factsRules<SqlFacts>({ pack, kind: 'sql', sourceTools: ['SQLDryRun'], parser: SQL_PARSER });
}

/** Defines a rule on the facts of PostgreSQL text. */
export function defineSqlRule<Config>({ pack = 'sql-postgres', ...options }: SqlRuleOptions<Config>): SqlRule {
  return { ...makers[pack](options), examples: options.examples };
}
