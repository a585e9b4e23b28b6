/** All built-in source tools and rule packs. Only the committer loads staging code, when it needs it. */
import type { SourceTool } from '../policy/contracts/source-tool';
import { crossCuttingPack } from '../policy/rules/cross';
import type { ValidatorDefinition } from '../policy/rules/define';
import type { Pack } from '../policy/rules/pack';
import { secretsPack } from '../policy/rules/secrets';
import { textPack } from '../policy/rules/text';
import { gitPack, gitPatch, gitSecrets } from './git';
import { httpPack, httpPatch } from './http';
import { sqlCas, sqlDryRun, sqlPacks } from './sql';
import { terraformPack, terraformPlan } from './terraform';

export const SOURCE_TOOLS: readonly SourceTool[] = [sqlDryRun, sqlCas, httpPatch, gitPatch, terraformPlan];

/** In catalogue order, which is also the order of findings. */
export const PACKS: readonly Pack[] = [
  ...sqlPacks,
  httpPack,
  gitPack,
  terraformPack,
  secretsPack(gitSecrets),
  textPack,
  crossCuttingPack(SOURCE_TOOLS.map(({ sourceTool }) => sourceTool)),
];

export const packDefinitions: readonly ValidatorDefinition[] = PACKS.flatMap(({ rules }) =>
  rules.map((rule) => rule.definition),
);
