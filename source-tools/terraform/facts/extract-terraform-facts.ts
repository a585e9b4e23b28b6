import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { MAX_DIFF_BYTES } from '../../../policy/contracts/diff';
import type { FactsRefusal } from '../../../policy/contracts/facts';
import {
  isChanged,
  type TerraformAction,
  type TerraformOutput,
  type TerraformPlanFacts,
  type TerraformResource,
} from './terraform-facts';
import { TERRAFORM_PARSER } from './terraform-parser';
import { readJsonDocument } from '../../../policy/text/json-document';
import { pointerOf } from '../../../policy/text/json-pointer';
import { refusal, refuse, Refused } from '../../../policy/text/refusal';
import { withoutKeys } from './addresses';
import { readConfiguration, type ConfiguredResources } from './configuration';
import { leftToProvider } from './left-to-provider';
import { writeOnlyArguments } from './write-only';
import { changedHidden, containsTrue, maskOf, withoutHidden } from './masks';
import { isUnchanged, refuseNeverWritten, refuseOtherType } from './never-written';
import { unreadMembers } from './plan-members';
import { withSeparateRules } from './separate-rules';

const BOUNDS = { maxBytes: MAX_DIFF_BYTES, maxDepth: 128, maxEntries: 40_000 };
const MAX_RESOURCES = 5000;

/** Terraform's exact action sequences. Any other sequence is refused, because its meaning is unknown. */
const ACTIONS: Readonly<Record<string, TerraformAction>> = {
  'no-op': 'no-op',
  read: 'read',
  create: 'create',
  update: 'update',
  delete: 'delete',
  'delete,create': 'replace',
  'create,delete': 'replace',
  forget: 'forget',
  'create,forget': 'replace',
  // OpenTofu, for a resource with `destroy = false`.
  'forget,create': 'replace',
};

/**
 * Facts of a plan as `terraform show -json` writes it, or a refusal. Pure; bounded by bytes, depth, entries and resources;
 * never throws on the contents of the bytes. Values that the plan marks as sensitive are removed here, so that no rule can
 * disclose one. Refusal codes: those of `readJsonDocument`, not_a_plan, unknown_format, unknown_action,
 * invalid_document, too_many_resources.
 */
export function extractTerraformPlanFacts(raw: Uint8Array): TerraformPlanFacts | FactsRefusal {
  try {
    return extract(raw);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

function extract(raw: Uint8Array): TerraformPlanFacts | FactsRefusal {
  const read = readJsonDocument(raw, BOUNDS);
  if (!read.ok) return read;
  if (!isJsonObject(read.value)) return refusal('not_a_plan', 'Expected a JSON object: the plan', null);
  const plan = read.value;
  const formatVersion = plan['format_version'];
  if (typeof formatVersion !== 'string')
    return refusal('not_a_plan', 'Expected "format_version", as `terraform show -json` writes it', null);
  if (!/^[01]\.\d{1,4}(?:\.\d{1,4})?$/.test(formatVersion))
    return refusal('unknown_format', 'Unknown plan format: expected format_version 0.x or 1.x', null);
  if (
    Object.hasOwn(plan, 'values') &&
    !Object.hasOwn(plan, 'planned_values') &&
    !Object.hasOwn(plan, 'resource_changes')
  )
    return refusal('not_a_plan', 'This is the JSON of a state, not of a plan', null);
  const { parts, configured } = readConfiguration(configurationOf(plan));
  const resources = withSeparateRules(readResources(plan, 'resource_changes', configured), configured);
  return {
    ok: true,
    kind: 'terraform-plan',
    parser: TERRAFORM_PARSER,
    formatVersion,
    errored: flagOf(plan, 'errored'),
    complete: flagOf(plan, 'complete'),
    applyable: flagOf(plan, 'applyable'),
    inexactNumber: read.inexactAt !== null,
    unread: unreadMembers(plan),
    resources,
    drift: readResources(plan, 'resource_drift', configured),
    outputs: readOutputs(plan, configured),
    ...parts,
    failedChecks: readChecks(plan['checks'] ?? []),
    touched: [...new Set(resources.filter(isChanged).map(({ address }) => address))].map((name) => ({
      kind: 'path',
      schema: null,
      name,
    })),
  } satisfies TerraformPlanFacts;
}

/** Without the configuration, a plan does not show arguments of providers, data sources and where unknown values come from. */
function configurationOf({ configuration }: JsonObject): JsonObject {
  if (isJsonObject(configuration) && isJsonObject(configuration['root_module'])) return configuration;
  return refuse('not_a_plan', 'Expected "configuration" with "root_module", as `terraform show -json` writes it', null);
}

function flagOf(plan: JsonObject, key: string): boolean | null {
  const value = plan[key];
  if (value === undefined || value === null) return null;
  return typeof value === 'boolean' ? value : refuse('invalid_document', `Expected "${key}" to be true or false`, null);
}

function readResources(plan: JsonObject, key: string, configured: ConfiguredResources): TerraformResource[] {
  const list = plan[key] ?? [];
  if (!Array.isArray(list)) return refuse('invalid_document', `Expected "${key}" to be an array`, null);
  if (list.length > MAX_RESOURCES)
    refuse('too_many_resources', `The plan has more than ${MAX_RESOURCES} resources`, null);
  return list.map((item: JsonValue, i) => readResource(objectOf(item, key), `/${key}/${i}`, configured));
}

function readResource(item: JsonObject, at: string, configured: ConfiguredResources): TerraformResource {
  const change = objectOf(item['change'], 'change');
  const sequence = sequenceOf(change);
  const action = Object.hasOwn(ACTIONS, sequence) ? ACTIONS[sequence] : undefined;
  if (action === undefined) return refuse('unknown_action', 'A resource has an unknown sequence of actions', null);
  const address = textOf(item, 'address');
  const type = textOf(item, 'type');
  const plainAddress = withoutKeys(address);
  refuseOtherType(plainAddress, type);
  const given = configured.expressions.get(plainAddress);
  const beforeSensitive = maskOf(change['before_sensitive']);
  const afterSensitive = maskOf(change['after_sensitive']);
  const unknown = maskOf(change['after_unknown']);
  const before = change['before'] ?? null;
  const after = change['after'] ?? null;
  if (at.startsWith('/resource_changes/')) refuseNeverWritten(item, change, action);
  return {
    at,
    address,
    mode: action === 'read' || (action === 'no-op' && item['mode'] !== 'managed') ? 'data' : 'managed',
    type,
    provider: optionalText(item, 'provider_name') ?? '',
    action,
    destroyFirst: sequence === 'delete,create',
    actionReason: optionalText(item, 'action_reason'),
    previousAddress: optionalText(item, 'previous_address'),
    importing: (change['importing'] ?? null) !== null,
    deposed: (optionalText(item, 'deposed') ?? '') !== '',
    before: withoutHidden(before, beforeSensitive),
    after: withoutHidden(after, afterSensitive),
    unknown,
    leftToProvider: action === 'create' ? leftToProvider(unknown, after, given) : [],
    sources: sourcesOf(unknown, plainAddress, configured),
    writeOnly: writeOnlyArguments(given ?? {}),
    configured: given !== undefined,
    separateRules: false,
    beforeSensitive,
    afterSensitive,
    sensitiveChanges: changedHidden(before, after, [beforeSensitive, afterSensitive]),
  };
}

function sequenceOf({ actions }: JsonObject): string {
  return Array.isArray(actions) ? actions.join(',') : '';
}

/** Unknown members that the configuration sets, and what they refer to. */
function sourcesOf(unknown: JsonValue, address: string, { expressions, memberKinds }: ConfiguredResources) {
  const set = expressions.get(address);
  if (set === undefined || !isJsonObject(unknown)) return [];
  return Object.keys(unknown)
    .filter((name) => Object.hasOwn(set, name) && containsTrue(unknown[name] as JsonValue))
    .map((name) => ({ name, kinds: memberKinds(address, name) }));
}

/** Refuses a value that is not an object; `name` is the name of its member. */
function objectOf(value: JsonValue | undefined, name: string): JsonObject {
  return isJsonObject(value) ? value : refuse('invalid_document', `Expected an object in "${name}"`, null);
}

function textOf(item: JsonObject, key: string): string {
  return optionalText(item, key) ?? refuse('invalid_document', `Expected "${key}" to be a string`, null);
}

function optionalText(item: JsonObject, key: string): string | null {
  const value = item[key];
  return typeof value === 'string' ? value : null;
}

function readOutputs(plan: JsonObject, { outputKinds }: ConfiguredResources): TerraformOutput[] {
  return Object.entries(objectOf(plan['output_changes'] ?? {}, 'output_changes')).map(([name, value]) => {
    const change = objectOf(value, 'output_changes');
    return {
      at: pointerOf(['output_changes', name]),
      name,
      wasSensitive: containsTrue(maskOf(change['before_sensitive'])),
      isSensitive: containsTrue(maskOf(change['after_sensitive'])),
      changes: sequenceOf(change) !== 'no-op' || !isUnchanged(change),
      isRemoved: sequenceOf(change) === 'delete',
      kinds: outputKinds(name),
    };
  });
}

function readChecks(value: JsonValue): { at: string; address: string }[] {
  if (!Array.isArray(value)) return refuse('invalid_document', 'Expected "checks" to be an array', null);
  return value.flatMap((entry: JsonValue, i) => {
    const item = objectOf(entry, 'checks');
    // A check that Terraform evaluates only during apply is unknown.
    if (item['status'] === 'pass' || item['status'] === 'unknown') return [];
    const address = isJsonObject(item['address']) ? optionalText(item['address'], 'to_display') : null;
    return [{ at: `/checks/${i}`, address: address ?? 'a check' }];
  });
}
