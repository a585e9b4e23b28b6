import { z } from 'zod';
import { isJsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { globCovers } from '../../../policy/text/glob';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { atResource, coversAny, globs, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import {
  admitsOnlyTags,
  createdOrChanged,
  hiddenBelow,
  hidesBelow,
  itemsAt,
  member,
  valueAt,
  type Path,
} from './values';

const Type = z.string().min(1).max(200).describe('Glob of resource types.');
/** `a.b.0.c`; `*` matches every item of a list. */
const Attribute = z
  .string()
  .min(1)
  .max(300)
  .regex(
    /^[A-Za-z0-9_*-]+(?:\.[A-Za-z0-9_*-]+)*$/,
    'expected names separated by dots, such as metadata_options.0.http_tokens',
  );

/** Paths in this resource that an attribute names; `*` expands to every existing item. */
function pathsOf(r: TerraformResource, attribute: string): readonly Path[] {
  return attribute.split('.').reduce<readonly Path[]>(
    (paths, part) =>
      paths.flatMap((path): readonly Path[] => {
        if (part !== '*') return [[...path, /^\d{1,5}$/.test(part) ? Number(part) : part]];
        const value = valueAt(r, path);
        if (value.state !== 'known') return [[...path, 0]];
        return Array.isArray(value.value) ? value.value.map((_, i) => [...path, i]) : [];
      }),
    [[]],
  );
}

/** Attributes of access and network settings that must be known to review the plan. */
const NEEDED = [
  { type: 'aws_iam_*', attributes: ['policy', 'assume_role_policy', 'policy_arn'] },
  { type: 'aws_*_policy', attributes: ['policy'] },
  { type: 'aws_security_group*', attributes: ['ingress', 'cidr_blocks', 'ipv6_cidr_blocks'] },
  { type: 'google_*_iam_*', attributes: ['role', 'member', 'members'] },
  { type: 'google_compute_firewall', attributes: ['source_ranges', 'allow'] },
  { type: 'aws_cloudformation_stack*', attributes: ['template_body', 'template_url'] },
  { type: 'azurerm_role_assignment', attributes: ['role_definition_name'] },
  {
    type: 'azurerm_network_security_*',
    attributes: ['security_rule', 'source_address_prefix', 'source_address_prefixes'],
  },
];

/** Blocks of rules in a firewall group. Empty if the rules are separate resources. */
const RULE_BLOCKS = new Set(['ingress', 'egress', 'security_rule']);

/** Whether the rest of the plan shows that an unknown value opens nothing. */
function isDecided(r: TerraformResource, name: string): boolean {
  return (r.separateRules && RULE_BLOCKS.has(name)) || (name === 'source_ranges' && admitsOnlyTags(r));
}

export const unknownAfterApply = terraformRule({
  name: 'terraform_unknown_after_apply',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'A value that is known only after apply cannot be approved before it.',
  config: z.strictObject({
    needed: z
      .array(z.strictObject({ type: Type, attributes: z.array(Attribute).min(1).max(50) }))
      .max(200)
      .default(NEEDED)
      .describe('Attributes that must be known.'),
  }),
  examples: {
    bad: planOf([{ address: 'aws_iam_policy.p', actions: ['create'], after: {}, after_unknown: { policy: true } }]),
    good: planOf([
      { address: 'aws_iam_policy.p', actions: ['create'], after: { policy: '{}' }, after_unknown: { arn: true } },
    ]),
  },
  find: ({ resources }, { needed }) =>
    createdOrChanged(resources).flatMap((r): readonly Hit[] => {
      // Skip resources without hidden values before looking at each attribute.
      if (!hidesBelow(r, [])) return [];
      return needed
        .filter(({ type }) => globCovers(type, r.type))
        .flatMap(({ attributes }) => attributes.flatMap((name) => pathsOf(r, name)))
        .filter((path) => hidesBelow(r, path) && !isDecided(r, String(path[0])))
        .map((path) => atResource(r, `${shown(path.join('.'))} is not known before apply`));
    }),
});

export const requiredTags = terraformRule({
  name: 'terraform_required_tags',
  logicRevision: 3,
  defaultLevel: 'confirm',
  status: 'WARN',
  why: 'No one pays for or secures a resource without an owner tag.',
  config: z.strictObject({
    tags: z
      .array(z.string().min(1).max(200))
      .max(50)
      .default([])
      .describe('Tags or labels that each resource must have.'),
    types: globs(200, 200).nullable().default(null).describe('Globs of types; null for all that have tags or labels.'),
  }),
  examples: {
    bad: planOf([{ address: 'aws_instance.a', actions: ['create'], after: { tags: { Name: 'a' } } }]),
    good: planOf([{ address: 'aws_instance.a', actions: ['create'], after: { tags: { Name: 'a', Owner: 'b' } } }]),
    config: { tags: ['Owner'] },
  },
  find: ({ resources }, { tags, types }) =>
    createdOrChanged(resources).flatMap((r): readonly Hit[] => {
      const has = ['tags', 'labels'].some((key) => isJsonObject(r.after) && Object.hasOwn(r.after, key));
      if (types === null ? !has : !coversAny(types, r.type)) return [];
      const name = ['tags_all', 'tags', 'labels'].find((key) => hasMembers(member(r.after, key)));
      const missing = tags.filter((tag) => name === undefined || !isFilled(r, name, tag));
      return missing.length === 0 ? [] : [atResource(r, `has no ${missing.slice(0, 10).map(shown).join(', ')}`)];
    }),
});

function hasMembers(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}

/** Whether the tag exists and is not empty. A tag with an unknown value counts; `terraform_allowed_values` checks values. */
function isFilled(r: TerraformResource, name: string, tag: string): boolean {
  const value = valueAt(r, [name, tag]);
  return value.state === 'hidden' || (value.state === 'known' && value.value !== '');
}

const Values = z.array(z.union([z.string(), z.number(), z.boolean()])).max(1000);

const ValueRule = z.strictObject({
  type: Type,
  attribute: Attribute,
  allow: Values.optional().describe('Allowed values.'),
  deny: Values.optional().describe('Forbidden values.'),
  max: z.number().optional().describe('Maximum value.'),
  min: z.number().optional().describe('Minimum value.'),
  required: z.boolean().default(false).describe('Whether the attribute must be set.'),
});
type ValueRule = z.infer<typeof ValueRule>;

export const allowedValues = terraformRule({
  name: 'terraform_allowed_values',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Teams agree on regions, sizes, images and engines, so other values need a justification.',
  config: z.strictObject({
    rules: z
      .array(ValueRule)
      .max(500)
      .default([])
      .describe(
        'For each attribute of a type: its values (`allow`, `deny`), its bounds (`min`, `max`), and whether it must be set (`required`).',
      ),
  }),
  examples: {
    bad: planOf([{ address: 'aws_instance.a', actions: ['create'], after: { instance_type: 'p5.48xlarge' } }]),
    good: planOf([{ address: 'aws_instance.a', actions: ['create'], after: { instance_type: 't3.small' } }]),
    config: { rules: [{ type: 'aws_instance', attribute: 'instance_type', allow: ['t3.small'] }] },
  },
  find: ({ resources }, { rules }) =>
    rules.flatMap((rule) =>
      createdOrChanged(resources)
        .filter((r) => globCovers(rule.type, r.type))
        .flatMap((r) => pathsOf(r, rule.attribute).flatMap((path) => valueHits(r, path, rule))),
    ),
});

function valueHits(r: TerraformResource, path: Path, rule: ValueRule): readonly Hit[] {
  const name = shown(path.join('.'));
  const why = hiddenBelow(r, path);
  if (why !== null) return [atResource(r, undecided(name, why))];
  const items = itemsAt(r, path);
  if (items.length === 0) return rule.required ? [atResource(r, `has no ${name}`)] : [];
  return items.every((item) => isAllowed(rule, item))
    ? []
    : [atResource(r, `${name} has a value that is not allowed`, path)];
}

function isAllowed({ allow, deny, max, min }: ValueRule, item: JsonValue): boolean {
  if (allow !== undefined && !allow.some((value) => value === item)) return false;
  if (deny?.some((value) => String(value) === String(item)) === true) return false;
  if (max === undefined && min === undefined) return true;
  const number = typeof item === 'number' ? item : typeof item === 'string' && item !== '' ? Number(item) : Number.NaN;
  return number <= (max ?? Number.MAX_VALUE) && number >= (min ?? -Number.MAX_VALUE);
}
