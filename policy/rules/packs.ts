import { crossCuttingRules } from './cross';
import type { ValidatorDefinition } from './define';
import { gitDiffRules } from '../../source-tools/git/rules';
import { httpPatchRules } from '../../source-tools/http/rules';
import type { PackRule } from './rule-maker';
import { secretsRules } from './secrets';
import { sqlPostgresRules } from '../../source-tools/sql/rules';
import { casParseFailure } from '../../source-tools/sql/rules/cas-parse-failure';
import { sqlPostgresStyleRules } from '../../source-tools/sql/rules/style';
import { terraformPlanRules } from '../../source-tools/terraform/rules';
import { textRules } from './text';

/** Rules that a bundle names together. */
export interface Pack {
  readonly name: string;
  /** One sentence: what it looks at. */
  readonly about: string;
  readonly rules: readonly PackRule[];
}

/** All that we ship, in the order of the catalogue. */
export const PACKS: readonly Pack[] = [
  {
    name: 'sql-postgres',
    about:
      'SQL text for PostgreSQL, read by its own grammar at every depth: statements, common table expressions, function bodies, DO blocks.',
    rules: [...sqlPostgresRules, casParseFailure],
  },
  {
    name: 'sql-postgres-style',
    about: 'Advice on types, names and habits in SQL; off until a bundle names the pack.',
    rules: sqlPostgresStyleRules,
  },
  {
    name: 'http-patch',
    about:
      'Requests with a JSON Patch, a Merge Patch or another body: where they go, what they write, what they would leave.',
    rules: httpPatchRules,
  },
  {
    name: 'git-diff',
    about: 'Patches as git reads them: names, modes, sizes, pipelines, tests and dependencies.',
    rules: gitDiffRules,
  },
  {
    name: 'terraform-plan',
    about: 'Plans as `terraform show -json` writes them: what is destroyed, opened, granted, run, and not known.',
    rules: terraformPlanRules,
  },
  {
    name: 'secrets',
    about:
      'Secrets in what a change of any tool adds, and in its metadata. A finding says kind, place and length, never the secret.',
    rules: secretsRules,
  },
  {
    name: 'text',
    about: 'Characters that make text look other than it is, in what a change of any tool adds.',
    rules: textRules,
  },
  {
    name: 'cross-cutting',
    about: 'What concerns a change of any tool: its digest, its tool, its size, and words addressed to a reviewer.',
    rules: crossCuttingRules,
  },
];

export const packDefinitions: readonly ValidatorDefinition[] = PACKS.flatMap(({ rules }) =>
  rules.map((rule) => rule.definition),
);
