import type { ValidatorDefinition } from '../../../../../policy/rules/define';
import { sqlPostgresRules } from '../../../../../source-tools/sql/rules';
import { sqlPostgresStyleRules } from '../../../../../source-tools/sql/rules/style';

export const sqlPostgresPack: readonly ValidatorDefinition[] = sqlPostgresRules.map(({ definition }) => definition);

export const sqlPostgresStylePack: readonly ValidatorDefinition[] = sqlPostgresStyleRules.map(
  ({ definition }) => definition,
);
