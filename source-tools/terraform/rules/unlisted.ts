import { z } from 'zod';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import type { TerraformPlanFacts, TerraformResource } from '../facts/terraform-facts';
import { atResource, coversAny, globs, listOf, planOf, terraformRule } from './define-terraform-rule';
import { LISTED_DATA, LISTED_PROVIDERS } from './listed';
import { missingAttributes, unlistedAttributes } from './listed/changes';
import { ownPlaces } from './listed/own-places';
import { unlistedArguments } from './listed-arguments';
import { exposedOutputs, isListedSource, sensitiveMembers, taggedSecrets } from './secret-sources';
import { createdOrChanged } from './values';

const names = (expected: string) =>
  z
    .array(
      z
        .string()
        .max(300)
        .regex(/^[a-z0-9_-]+(?:\.[a-z0-9_]+)+$/, `expected ${expected}`),
    )
    .max(500)
    .default([]);

const Config = z.strictObject({
  providers: globs(300, 100)
    .default([])
    .describe('Globs of addresses of further providers, such as registry.terraform.io/datadog/datadog.'),
  types: globs(200, 500)
    .default([])
    .describe('Globs of further types of resources and data sources, of which any attribute may change.'),
  attributes: names('type.attribute, such as aws_lambda_function.environment').describe(
    'Further attributes that may change, with their type: aws_lambda_function.environment.',
  ),
  arguments: names('provider.argument, such as aws.assume_role').describe(
    'Further arguments in the configuration of providers: aws.assume_role, which covers aws.assume_role.role_arn.',
  ),
});
type Config = z.infer<typeof Config>;

const CREATE = { address: 'aws_sqs_queue.mail', actions: ['create'] };

/** An allowlist: a person checks what this pack does not know, such as what a provider has added. */
export const unlistedChange = terraformRule({
  name: 'terraform_unlisted_change',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Only listed providers, types and attributes, whose effects are known, may change without a question.',
  config: Config,
  advice: [
    'Check what the change does. If your team makes such changes often, add the provider, the type, the attribute or the argument to `providers`, `types`, `attributes` or `arguments` of this rule.',
  ],
  examples: {
    bad: planOf([
      {
        address: 'aws_s3_bucket_replication_configuration.copy',
        actions: ['create'],
        after: { bucket: 'orders', rule: [{ destination: [{ bucket: 'arn:aws:s3:::elsewhere' }] }] },
      },
    ]),
    good: planOf([
      { ...CREATE, after: { name: 'mail', visibility_timeout_seconds: 60 }, after_unknown: { url: true } },
    ]),
  },
  find: (facts, config) => [
    ...providerHits(facts, config),
    ...argumentHits(facts, config),
    ...createdOrChanged(facts.resources).flatMap((r) => resourceHits(r, config, facts.resources)),
    ...dataHits(facts, config),
    ...exposedOutputs(facts),
    ...taggedSecrets(facts),
  ],
});

function isListedProvider(address: string, { providers }: Config): boolean {
  return LISTED_PROVIDERS.has(address) || coversAny(providers, address);
}

const providerText = (address: string): string =>
  address === '' ? 'names no provider' : `the provider ${shown(address.slice(0, 200))} is not on the list of this rule`;

/** Hits for the providers of the configuration, and for those of read data sources. */
function providerHits({ providers, resources }: TerraformPlanFacts, config: Config): readonly Hit[] {
  const seen = new Set<string>();
  const read = resources.filter(({ mode, action }) => mode === 'data' && action === 'read');
  const named = [...providers, ...read.map(({ at, provider }) => ({ at, name: provider }))];
  return named.flatMap(({ at, name }): readonly Hit[] => {
    if (isListedProvider(name, config) || seen.has(name)) return [];
    seen.add(name);
    return [{ at, what: providerText(name) }];
  });
}

/** Hits for arguments in the configuration of providers, which a plan shows as they are, and not as they were. */
function argumentHits({ providers }: TerraformPlanFacts, config: Config): readonly Hit[] {
  return providers.flatMap(({ at, name, arguments: given }): readonly Hit[] => {
    const names = unlistedArguments(name, given, config.arguments);
    if (names.length === 0) return [];
    const provider = shown(name.slice(0, 200));
    return [{ at, what: `the configuration of ${provider} sets ${listOf(names)}, not on the list of this rule` }];
  });
}

function resourceHits(r: TerraformResource, config: Config, resources: readonly TerraformResource[]): readonly Hit[] {
  if (!isListedProvider(r.provider, config)) return [atResource(r, providerText(r.provider))];
  if (!r.configured) return [atResource(r, 'is not in the configuration of the plan')];
  if (coversAny(config.types, r.type)) return [];
  const listed = LISTED_PROVIDERS.get(r.provider)?.types.get(r.type);
  if (listed === undefined)
    return [atResource(r, `its type ${shown(r.type.slice(0, 200))} is not on the list of this rule`)];
  const added = attributesOf(config.attributes).get(r.type) ?? [];
  const isAdded = (name: string): boolean => coversName(added, name);
  const names = unlistedAttributes(r, listed, ownPlaces(resources)).filter((name) => !isAdded(name));
  const reported = new Set(names.flatMap((one) => [one, one.split('.', 1)[0]]));
  const isNew = (name: string): boolean => !isAdded(name) && !reported.has(name);
  const secret = sensitiveMembers(r).filter(isNew);
  const hits: Hit[] = [];
  const missing = missingAttributes(r, listed).filter((name) => !isAdded(name));
  if (missing.length > 0) hits.push(atResource(r, `does not set ${listOf(missing)}`));
  if (names.length > 0)
    hits.push(atResource(r, `changes ${listOf(names)}, not on the list of this rule for ${shown(r.type)}`));
  // An update that sends it again also changes its version, which a plan shows.
  const writeOnly =
    r.action === 'update' ? [] : r.writeOnly.filter((name) => !listed.conditions.has(name) && !isAdded(name));
  if (writeOnly.length > 0) hits.push(atResource(r, `sets ${listOf(writeOnly)}, of which a plan shows no value`));
  if (secret.length > 0) hits.push(atResource(r, `sets sensitive values in ${listOf(secret)}`));
  for (const { name, kinds } of r.sources) {
    const unlisted = kinds.filter((kind) => !isListedSource(kind, config.types, resources));
    if (unlisted.length > 0 && isNew(name))
      hits.push(
        atResource(r, `sets ${shown(name.slice(0, 100))}, which is not known before apply, from ${listOf(unlisted)}`),
      );
  }
  return hits;
}

/** Names of attributes by type. */
const attributesOf = memoizeByObject((attributes: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const byType = new Map<string, string[]>();
  for (const attribute of attributes) {
    const dot = attribute.indexOf('.');
    const type = attribute.slice(0, dot);
    byType.set(type, [...(byType.get(type) ?? []), attribute.slice(dot + 1)]);
  }
  return byType;
});

/** Whether the list has the name, or one that contains it. */
function coversName(names: readonly string[], name: string): boolean {
  return names.some((one) => name === one || name.startsWith(`${one}.`));
}

/** Hits for data sources and ephemeral resources, which planning or applying reads, also without a change. */
function dataHits({ dataSources, resources }: TerraformPlanFacts, { types }: Config): readonly Hit[] {
  const read = resources.filter(({ mode, action }) => mode === 'data' && action === 'read');
  const seen = new Set<string>();
  return [...dataSources, ...read].flatMap(({ at, type }): readonly Hit[] => {
    if (LISTED_DATA.has(type) || seen.has(type) || coversAny(types, type)) return [];
    seen.add(type);
    return [{ at, what: `reads ${shown(type.slice(0, 200))}, which is not on the list of this rule` }];
  });
}
