import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { coverInternet, isLarge, rangeOf } from './address-ranges';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import { PUBLIC_BY_TYPE, type PublicSetting } from './public-settings';
import { publicWordHits } from './public-words';
import type { TerraformResource } from '../facts/terraform-facts';
import { createdOrChanged, hiddenBelow, isUnchanged, itemsAt, valueAt, type Path, type Value } from './values';

export const publicAccess = terraformRule({
  name: 'terraform_public_access',
  logicRevision: 8,
  defaultLevel: 'confirm',
  why: 'Attackers scan the internet for public buckets and databases.',
  examples: {
    bad: planOf([{ address: 'aws_s3_bucket.logs', actions: ['create'], after: { acl: 'public-read' } }]),
    good: planOf([{ address: 'aws_s3_bucket.logs', actions: ['create'], after: { acl: 'private' } }]),
  },
  find: ({ resources }) =>
    createdOrChanged(resources).flatMap((r) => [
      ...(PUBLIC_BY_TYPE.get(r.type) ?? []).flatMap((setting) => settingHits(r, setting)),
      ...(PUBLIC_BY_TYPE.has(r.type) ? [] : publicWordHits(r)),
      ...azureFirewallHits(r),
    ]),
});

function settingHits(r: TerraformResource, setting: PublicSetting): readonly Hit[] {
  const { path: pattern, values, what, safeByDefault = false, onlyWith } = setting;
  if (safeByDefault && r.leftToProvider.includes(String(pattern[0]))) return [];
  if (onlyWith !== undefined && isFalse(valueAt(r, onlyWith))) return [];
  const paths = itemPaths(r, pattern);
  const hidden = paths.flatMap((path): readonly Hit[] => {
    const why = hiddenBelow(r, path);
    return why === null ? [] : [atResource(r, undecided(String(path[0]), why))];
  });
  const changed = paths.filter((path) => valueAt(r, path).state === 'known' && !isUnchanged(r, path));
  const found =
    values === 'internet'
      ? changed.length > 0 && coverInternet(paths.flatMap((path) => itemsAt(r, path)).map(String))
        ? changed.slice(0, 1)
        : []
      : changed.filter((path) => itemsAt(r, path).some((item) => isOneOf(values, item)));
  return [...hidden, ...found.map((path) => atResource(r, what, path))];
}

/** Whether a value is one of the listed ones; a provider may write a boolean as text. */
function isOneOf(values: readonly (string | boolean)[] | RegExp, item: JsonValue): boolean {
  if (values instanceof RegExp) return typeof item === 'string' && values.test(item);
  const text = String(item).toLowerCase();
  return values.some((value) => String(value).toLowerCase() === text);
}

const isFalse = (value: Value): boolean => value.state === 'known' && isOneOf([false], value.value);

/** The paths that a pattern names in this resource; `*` expands to every existing item, and a hidden list is returned as one path. */
function itemPaths(r: TerraformResource, pattern: Path): readonly Path[] {
  return pattern.reduce<readonly Path[]>(
    (paths, step) =>
      paths.flatMap((path): readonly Path[] => {
        if (step !== '*') return [[...path, step]];
        const value = valueAt(r, path);
        if (value.state === 'hidden') return [path];
        return value.state === 'known' && Array.isArray(value.value) ? value.value.map((_, i) => [...path, i]) : [];
      }),
    [[]],
  );
}

/** Hits for a firewall rule of an Azure database or cache, which admits the addresses from one to another. */
function azureFirewallHits(r: TerraformResource): readonly Hit[] {
  if (!/^azurerm_.+_firewall_rule$/.test(r.type)) return [];
  const ends = ['start', 'end'].map((end) => {
    const name = [`${end}_ip_address`, `${end}_ip`].find((key) => valueAt(r, [key]).state !== 'absent');
    return name === undefined ? null : { name, value: valueAt(r, [name]) };
  });
  const names = ends.flatMap((end) => (end === null ? [] : [end.name]));
  if (names.length > 0 && names.every((name) => isUnchanged(r, [name]))) return [];
  const hidden = ends.map((end) => end?.value).find((value) => value?.state === 'hidden');
  if (hidden?.state === 'hidden') return [atResource(r, undecided('the source of its traffic', hidden.why))];
  const [first, last] = ends.map((end) => (end?.value.state === 'known' ? rangeOf(String(end.value.value)) : null));
  // Azure reads the range from 0.0.0.0 to 0.0.0.0 as every address of its cloud.
  if (first != null && last != null && last.last !== 0n && !isLarge([{ ...first, last: last.last }])) return [];
  return names.length === 0
    ? []
    : [atResource(r, 'it is open to every address of the internet or of the cloud', [names.at(-1) as string])];
}
