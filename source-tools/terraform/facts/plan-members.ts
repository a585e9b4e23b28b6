import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';

/** The members of a plan that are read, or that say nothing about what apply does. Docs: "JSON Output Format" of Terraform. */
const MEMBERS: ReadonlySet<string> = new Set([
  'format_version',
  'terraform_version',
  'variables',
  'planned_values',
  'proposed_unknown',
  'resource_drift',
  'resource_changes',
  'output_changes',
  'prior_state',
  'configuration',
  'relevant_attributes',
  'checks',
  'timestamp',
  'applyable',
  'complete',
  'errored',
]);

/** The members of an entry of `resource_changes`, and of its `change`. */
const RESOURCE_MEMBERS: ReadonlySet<string> = new Set([
  'address',
  'previous_address',
  'module_address',
  'mode',
  'type',
  'name',
  'index',
  'provider_name',
  'deposed',
  'action_reason',
  'change',
]);
const CHANGE_MEMBERS: ReadonlySet<string> = new Set([
  'actions',
  'before',
  'after',
  'after_unknown',
  'before_sensitive',
  'after_sensitive',
  'replace_paths',
  'importing',
  'generated_config',
  'before_identity',
  'after_identity',
]);

/** Names of members that are not known and not empty, of the plan and of its changes of resources. */
export function unreadMembers(plan: JsonObject): string[] {
  const unknownOf = (value: JsonValue | undefined, known: ReadonlySet<string>, path: string): string[] =>
    isJsonObject(value)
      ? Object.keys(value).flatMap((name) =>
          known.has(name) || isEmpty(value[name] ?? null) ? [] : [`${path}${name.slice(0, 200)}`],
        )
      : [];
  const resources = plan['resource_changes'];
  const below = (Array.isArray(resources) ? (resources as readonly JsonValue[]) : []).flatMap((item) => [
    ...unknownOf(item, RESOURCE_MEMBERS, 'resource_changes.'),
    ...unknownOf(isJsonObject(item) ? item['change'] : undefined, CHANGE_MEMBERS, 'resource_changes.change.'),
  ]);
  return [...new Set([...unknownOf(plan, MEMBERS, ''), ...below])];
}

function isEmpty(value: JsonValue): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
