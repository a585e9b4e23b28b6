import { z } from 'zod';
import type { Hit } from '../../../policy/rules/hit';
import { factsRules } from '../../../policy/rules/rule-maker';
import { globCovers } from '../../../policy/text/glob';
import { pointerOf } from '../../../policy/text/json-pointer';
import { shown } from '../../../policy/text/shown-name';
import { withoutKeys } from '../facts/addresses';
import type { TerraformPlanFacts, TerraformResource } from '../facts/terraform-facts';
import { TERRAFORM_PACK } from '../facts/terraform-parser';
import type { Path } from './values';

export const terraformRule = factsRules<TerraformPlanFacts>(TERRAFORM_PACK);

/** A hit at a resource, or at `path` in its value after the change. */
export function atResource(resource: TerraformResource, what: string, path: Path = []): Hit {
  const at = path.length === 0 ? resource.at : `${resource.at}/change/after${pointerOf(path.map(String))}`;
  return { at, what: `${shown(resource.address.slice(0, 300))}: ${what}` };
}

/** The reason used if the plan does not show a value that a rule needs. */
export function undecided(what: string, why: 'unknown' | 'sensitive'): string {
  return why === 'unknown'
    ? `${what} is not known before apply, so it cannot be checked`
    : `${what} is hidden as sensitive, so it cannot be checked`;
}

/** Most names in one finding. */
const MAX_NAMED = 8;

/** Names for a finding, without those after the first few. */
export function listOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const first = names.slice(0, MAX_NAMED).map((name) => shown(name.slice(0, 100)));
  return `${first.join(', ')}${more}`;
}

/** Setting of a rule: globs of resource types or of addresses. */
export const globs = (maxLength: number, max: number) => z.array(z.string().min(1).max(maxLength)).max(max);

export function coversAny(globList: readonly string[], text: string): boolean {
  return globList.some((glob) => globCovers(glob, text));
}

/** As `coversAny`, but `*` also matches a slash, which a `for_each` key can contain. */
export function coversAddress(globList: readonly string[], address: string): boolean {
  const plain = (text: string): string => text.replaceAll('/', '|');
  return coversAny(globList.map(plain), plain(address));
}

export interface ExampleResource {
  readonly address: string;
  readonly actions: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
  readonly [more: string]: unknown;
}

/**
 * A small plan for examples. Without another root module in `more`, its configuration sets the members that each resource has
 * after the change.
 */
export function planOf(
  resources: readonly ExampleResource[],
  { configuration, ...more }: Readonly<Record<string, unknown>> = {},
): string {
  const plan = {
    format_version: '1.2',
    terraform_version: '1.9.0',
    resource_changes: resources.map(
      ({ address, actions, before = null, after = null, after_unknown = {}, ...rest }) => {
        const { before_sensitive = false, after_sensitive = false, ...others } = rest;
        return {
          address,
          mode: 'managed',
          ...nameOf(address),
          provider_name: `registry.terraform.io/hashicorp/${nameOf(address).type.split('_')[0]}`,
          ...others,
          change: { actions, before, after, after_unknown, before_sensitive, after_sensitive },
        };
      },
    ),
    ...more,
  };
  const all = { root_module: configured(resources), ...(configuration as object | undefined) };
  // On one line, so that a reader of the documentation sees the changes first.
  return `${JSON.stringify(plan, null, 2).slice(0, -2)},\n  "configuration": ${JSON.stringify(all)}\n}\n`;
}

function nameOf(address: string): { readonly type: string; readonly name: string | undefined } {
  const [type = '', name] = withoutKeys(address).split('.').slice(-2);
  return { type, name };
}

interface ExampleModule {
  resources?: object[];
  module_calls?: Record<string, { readonly source: string; readonly module: ExampleModule }>;
}

/** A root module that contains each resource once, in its module. */
function configured(resources: readonly ExampleResource[]): ExampleModule {
  const byAddress = new Map(resources.map((resource) => [withoutKeys(resource.address), resource]));
  const root: ExampleModule = { resources: [] };
  for (const [plain, { after, after_unknown, mode = 'managed' }] of byAddress) {
    const steps = plain.split('.');
    let module = root;
    while (steps.length > 2 && steps[0] === 'module') module = moduleIn(module, steps.splice(0, 2)[1] ?? '');
    const members = Object.keys({ ...(after as object | null), ...(after_unknown as object | undefined) });
    const expressions = Object.fromEntries(members.map((name) => [name, {}]));
    (module.resources ??= []).push({ address: steps.join('.'), mode, ...nameOf(plain), expressions });
  }
  return root;
}

function moduleIn(parent: ExampleModule, name: string): ExampleModule {
  const calls = (parent.module_calls ??= {});
  return (calls[name] ??= { source: `./${name}`, module: {} }).module;
}
