import { BUILTIN_VALIDATORS } from '../../../../policy/rules/builtin';
import type { ValidatorDefinition } from '../../../../policy/rules/define';
import { sqlPostgresPack } from '../../../../policy/rules/sql';
import { SQL_FACTS_REVISION } from '../../../../policy/rules/sql/sql-parser';
import { sqlPostgresStylePack } from '../../../../policy/rules/sql/style';

/** Every derived validator that we ship. A new pack adds its line here; the pinning test then covers it. */
export const ALL_DEFINITIONS: readonly Pick<
  ValidatorDefinition,
  'implementation' | 'logicRevision' | 'kind' | 'evaluate'
>[] = [
  ...sqlPostgresPack,
  ...sqlPostgresStylePack,
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
];
