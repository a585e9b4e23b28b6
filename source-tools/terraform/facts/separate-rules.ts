import { withoutKeys } from './addresses';
import type { ConfiguredResources } from './configuration';
import type { TerraformResource } from './terraform-facts';

/** Types of firewall groups that can contain rules, and the name of that block. */
const GROUPS: Readonly<Record<string, string>> = {
  aws_security_group: 'ingress',
  azurerm_network_security_group: 'security_rule',
};

/**
 * The resources, with `separateRules` set for each new firewall group whose rules are separate resources: its configuration sets
 * no block of rules, and a rule refers to it. The providers document that a group must not have both kinds of rules.
 */
export function withSeparateRules(
  resources: readonly TerraformResource[],
  { expressions, groupsOfRules }: ConfiguredResources,
): readonly TerraformResource[] {
  const hasSeparateRules = ({ type, action, address }: TerraformResource): boolean => {
    if (!Object.hasOwn(GROUPS, type) || (action !== 'create' && action !== 'replace')) return false;
    const configured = withoutKeys(address);
    const given = expressions.get(configured);
    return groupsOfRules.has(configured) && given !== undefined && !Object.hasOwn(given, GROUPS[type] as string);
  };
  return resources.map((r) => (hasSeparateRules(r) ? { ...r, separateRules: true } : r));
}
