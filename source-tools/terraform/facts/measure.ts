import type { DiffMeasure } from '../../../policy/contracts/source-tool';
import type { TerraformPlanFacts } from './terraform-facts';

export function measurePlan({ resources }: TerraformPlanFacts): DiffMeasure {
  const changed = resources.filter(({ action }) => action !== 'no-op' && action !== 'read');
  const gone = changed.filter(({ action }) => action === 'delete' || action === 'replace' || action === 'forget');
  return { operations: changed.length, deletions: gone.length, rows: changed.length };
}
