import { aggregateDefinition } from '../../../../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../../../../policy/rules/builtin';
import type { ValidatorDefinition } from '../../../../policy/rules/define';
import { GIT_FACTS_REVISION } from '../../../../source-tools/git/facts/git-parser';
import { HTTP_FACTS_REVISION } from '../../../../source-tools/http/facts/http-parser';
import { packDefinitions } from '../../../../policy/rules/packs';
import { SQL_FACTS_REVISION } from '../../../../source-tools/sql/facts/sql-parser';
import { TERRAFORM_FACTS_REVISION } from '../../../../source-tools/terraform/facts/terraform-parser';

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
    sources: [
      'source-tools/sql/facts/extract-sql-facts.ts',
      'source-tools/sql/facts/extract-sql-facts',
      'policy/text/shown-name.ts',
    ],
  },
  {
    name: 'facts/git-patch',
    revision: GIT_FACTS_REVISION,
    sources: [
      'source-tools/git/facts/extract-git-facts.ts',
      'source-tools/git/facts/extract-git-facts',
      'source-tools/refusal.ts',
      'policy/text/utf8.ts',
    ],
  },
  {
    name: 'facts/http-patch',
    revision: HTTP_FACTS_REVISION,
    sources: [
      'source-tools/http/facts/extract-http-facts.ts',
      'source-tools/http/facts/extract-http-facts',
      'policy/text/json-document.ts',
      'policy/text/json-text.ts',
      'policy/text/json-pointer.ts',
    ],
  },
  {
    name: 'facts/terraform-plan',
    revision: TERRAFORM_FACTS_REVISION,
    sources: [
      'source-tools/terraform/facts/extract-terraform-facts.ts',
      'source-tools/terraform/facts/extract-terraform-facts',
      'policy/text/json-document.ts',
      'policy/text/json-text.ts',
    ],
  },
];
