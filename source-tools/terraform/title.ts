import type { TerraformAction, TerraformPlanFacts } from './facts/terraform-facts';

/** `terraform: 1 to destroy, 2 to create`: destroyed resources first. */
export function planTitle({ resources }: TerraformPlanFacts): string {
  const counts = ACTIONS.flatMap(([action, verb]) => {
    const count = resources.filter((resource) => resource.action === action).length;
    return count === 0 ? [] : [`${count} to ${verb}`];
  });
  return `terraform: ${counts.length === 0 ? 'no changes of resources' : counts.join(', ')}`;
}

const ACTIONS: readonly (readonly [TerraformAction, string])[] = [
  ['delete', 'destroy'],
  ['replace', 'replace'],
  ['forget', 'forget'],
  ['create', 'create'],
  ['update', 'update'],
];
