import { isJsonObject } from '../../../policy/contracts/canonical-json';
import { withoutKeys } from './addresses';
import type { ConfiguredResources } from './configuration';
import { containsTrue } from './masks';
import type { TerraformResource } from './terraform-facts';

/** Types of firewall groups that can contain rules, and the names of those blocks; the first has rules for incoming traffic. */
const GROUPS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  aws_security_group: ['ingress', 'egress'],
  azurerm_network_security_group: ['security_rule'],
};

/**
 * The resources, with `separateRules` set for each new firewall group whose rules are separate resources: its configuration sets no
 * block of rules for incoming traffic and none that is not known before apply, and a rule refers to it. The providers document that
 * a group must not have both kinds of rules.
 *
 * A configuration in a plan does not show blocks that `dynamic` generates. But these types are blocks that Terraform also accepts as
 * an attribute (https://developer.hashicorp.com/terraform/language/attr-as-blocks), and of such blocks, even if it is not known how
 * many `dynamic` generates, a plan shows a list. Only a list that nothing sets is not known as a whole.
 */
export function withSeparateRules(
  resources: readonly TerraformResource[],
  { expressions, groupsOfRules }: ConfiguredResources,
): readonly TerraformResource[] {
  const hasSeparateRules = ({ type, action, address, sources, unknown }: TerraformResource): boolean => {
    const blocks = Object.hasOwn(GROUPS, type) ? GROUPS[type] : undefined;
    if (blocks === undefined || (action !== 'create' && action !== 'replace') || !isJsonObject(unknown)) return false;
    const configured = withoutKeys(address);
    const given = expressions.get(configured);
    if (!groupsOfRules.has(configured) || given === undefined || Object.hasOwn(given, blocks[0])) return false;
    if (blocks.some((name) => unknown[name] !== true && containsTrue(unknown[name] ?? false))) return false;
    return !sources.some(({ name }) => blocks.includes(name));
  };
  return resources.map((r) => (hasSeparateRules(r) ? { ...r, separateRules: true } : r));
}
