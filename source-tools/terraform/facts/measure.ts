import type { DiffMeasure } from '../../../policy/contracts/source-tool';
import { isChanged, type TerraformPlanFacts } from './terraform-facts';

export function measurePlan({ resources }: TerraformPlanFacts): DiffMeasure {
  const changed = resources.filter(isChanged);
  const gone = changed.filter(({ action }) => action === 'delete' || action === 'replace' || action === 'forget');
  return { operations: changed.length, deletions: gone.length, rows: changed.length };
}
