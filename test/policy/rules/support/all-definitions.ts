import { aggregateDefinition } from '../../../../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../../../../policy/rules/builtin';
import type { ValidatorDefinition } from '../../../../policy/rules/define';
import { GIT_FACTS_REVISION } from '../../../../policy/rules/git/git-parser';
import { HTTP_FACTS_REVISION } from '../../../../policy/rules/http/http-parser';
import { packDefinitions } from '../../../../policy/rules/packs';
import { SQL_FACTS_REVISION } from '../../../../policy/rules/sql/sql-parser';
import { TERRAFORM_FACTS_REVISION } from '../../../../policy/rules/terraform/terraform-parser';

/** Every rule of a pack that we ship, the aggregate, and every built-in. */
export const ALL_DEFINITIONS: readonly Pick<
  ValidatorDefinition,
  'implementation' | 'logicRevision' | 'kind' | 'evaluate'
>[] = [
  ...packDefinitions,
  aggregateDefinition as Pick<ValidatorDefinition, 'implementation' | 'logicRevision' | 'kind' | 'evaluate'>,
  ...(BUILTIN_VALIDATORS as readonly Pick<ValidatorDefinition, 'implementation' | 'logicRevision' | 'kind'>[]).map(
    (d) => ({ ...d, evaluate: null }),
  ),
];

/** What reads the bytes for them, with the revision that stands in the parser's version and so in every `logic_hash`. */
export const ALL_EXTRACTORS: readonly {
  readonly name: string;
  readonly revision: number;
  readonly sources: readonly string[];
}[] = [
  {
    name: 'facts/sql',
    revision: SQL_FACTS_REVISION,
    sources: ['activities/facts/sql.ts', 'activities/facts/sql', 'policy/rules/shown-name.ts'],
  },
  {
    name: 'facts/git-patch',
    revision: GIT_FACTS_REVISION,
    sources: [
      'activities/facts/git-patch.ts',
      'activities/facts/git-patch',
      'activities/facts/sql/refusal.ts',
      'activities/staging/utf8.ts',
    ],
  },
  {
    name: 'facts/http-patch',
    revision: HTTP_FACTS_REVISION,
    sources: [
      'activities/facts/http-patch.ts',
      'activities/facts/http-patch',
      'activities/facts/json-document.ts',
      'policy/judge/json-text.ts',
      'policy/rules/json-pointer.ts',
    ],
  },
  {
    name: 'facts/terraform-plan',
    revision: TERRAFORM_FACTS_REVISION,
    sources: [
      'activities/facts/terraform-plan.ts',
      'activities/facts/terraform-plan',
      'activities/facts/json-document.ts',
      'policy/judge/json-text.ts',
    ],
  },
];
