import { withoutKeys } from './addresses';
import type { ConfiguredResources } from './configuration';
import type { TerraformResource } from './terraform-facts';

/** Types of firewall groups that can contain rules, and the names of those blocks; the first has rules for incoming traffic. */
const GROUPS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  aws_security_group: ['ingress', 'egress'],
  azurerm_network_security_group: ['security_rule'],
};

/**
 * The resources, with `separateRules` set for each new firewall group whose rules are separate resources: its configuration sets
 * no block of rules for incoming traffic and no block that is not known before apply, and a rule refers to it. The providers document that a group must not have both kinds of rules.
 */
export function withSeparateRules(
  resources: readonly TerraformResource[],
  { expressions, groupsOfRules }: ConfiguredResources,
): readonly TerraformResource[] {
  const hasSeparateRules = ({ type, action, address, sources }: TerraformResource): boolean => {
    const blocks = Object.hasOwn(GROUPS, type) ? GROUPS[type] : undefined;
    if (blocks === undefined || (action !== 'create' && action !== 'replace')) return false;
    const configured = withoutKeys(address);
    const given = expressions.get(configured);
    if (!groupsOfRules.has(configured) || given === undefined || Object.hasOwn(given, blocks[0])) return false;
    return !sources.some(({ name }) => blocks.includes(name));
  };
  return resources.map((r) => (hasSeparateRules(r) ? { ...r, separateRules: true } : r));
}
