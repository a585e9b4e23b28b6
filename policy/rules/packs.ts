import type { ValidatorDefinition } from './define';
import { gitDiffPack } from './git';
import { httpPatchPack } from './http';
import { secretsPack } from './secrets';
import { sqlPostgresPack } from './sql';
import { sqlPostgresStylePack } from './sql/style';
import { terraformPlanPack } from './terraform';

/** Every rule of every pack that we ship, in the order of the catalogue. */
export const packDefinitions: readonly ValidatorDefinition[] = [
  ...sqlPostgresPack,
  ...sqlPostgresStylePack,
  ...httpPatchPack,
  ...gitDiffPack,
  ...terraformPlanPack,
  ...secretsPack,
];
