import { isJsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { withoutKeys } from './addresses';
import { RULE_TYPES, type ConfiguredResources } from './configuration';
import type { TerraformResource } from './terraform-facts';

/** Types of firewall groups that can contain rules, and the name of that block. */
const GROUPS: Readonly<Record<string, string>> = {
  aws_security_group: 'ingress',
  azurerm_network_security_group: 'security_rule',
};

/**
 * The resources, with `separateRules` set for each new firewall group whose rules are separate resources. The configuration
 * shows this if it sets no block of rules and a rule refers to the group. Without a configuration, a rule must name the group, or
 * there must be only one such group, and a new rule for a group that is not known before apply. The providers document that a
 * group must not have both kinds of rules.
 */
export function withSeparateRules(
  resources: readonly TerraformResource[],
  { expressions, groupsOfRules }: ConfiguredResources,
): readonly TerraformResource[] {
  const isNewGroup = ({ type, action }: TerraformResource): boolean =>
    Object.hasOwn(GROUPS, type) && (action === 'create' || action === 'replace');
  const groups = resources.filter(isNewGroup);
  if (groups.length === 0) return resources;
  const rules = resources.filter(({ type, action }) => Object.hasOwn(RULE_TYPES, type) && action !== 'delete');
  const groupOf = (r: TerraformResource, value: JsonValue) => memberOf(value, RULE_TYPES[r.type] as string);
  const azureNames = new Set(rules.filter(isOfAzure).map((rule) => groupOf(rule, rule.after)));
  const hasNewAwsRule = rules.some((rule) => !isOfAzure(rule) && groupOf(rule, rule.unknown) === true);
  const isOnlyAwsGroup = groups.filter((group) => !isOfAzure(group)).length === 1;
  const hasRules = (group: TerraformResource): boolean => {
    if (group.configured) {
      const address = withoutKeys(group.address);
      const given = expressions.get(address);
      return groupsOfRules.has(address) && given !== undefined && !Object.hasOwn(given, GROUPS[group.type] as string);
    }
    if (!isOfAzure(group)) return isOnlyAwsGroup && hasNewAwsRule;
    const name = memberOf(group.after, 'name');
    return typeof name === 'string' && azureNames.has(name);
  };
  return resources.map((r) => (isNewGroup(r) && hasRules(r) ? { ...r, separateRules: true } : r));
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const isOfAzure = ({ type }: TerraformResource): boolean => type.startsWith('azurerm_');
