import { gitRenderer } from '../../../source-tools/git/render';
import { jsonRenderer } from '../../text/render/json';
import type { DiffRenderer } from '../../text/render/source-lines';
import { sqlRenderer } from '../../../source-tools/sql/render';
import { textRenderer } from '../../text/render/text';

/** By source tool. One that is not in here has no renderer, and its diffs are refused before anything is sent. */
export const JUDGE_RENDERERS: Readonly<Record<string, DiffRenderer>> = Object.freeze({
  SQLDryRun: sqlRenderer,
  SQLCAS: jsonRenderer,
  HTTPPatch: jsonRenderer,
  TerraformPlan: jsonRenderer,
  GitPatch: gitRenderer,
});

/** All of ours, for `logic_hash`. */
export const RENDERERS_REVISION = [gitRenderer, jsonRenderer, sqlRenderer, textRenderer]
  .map((r) => `${r.name}@${r.revision}`)
  .join(' ');
