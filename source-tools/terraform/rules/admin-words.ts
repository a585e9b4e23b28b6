import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import type { TerraformResource } from '../facts/terraform-facts';
import { atResource, undecided } from './define-terraform-rule';
import { DESCRIPTIVE, isUnchanged, member, stepsOf, valueAt, type Path } from './values';

/** Providers whose broad roles are listed by name. */
const LISTED = /^(?:aws|awscc|google|azurerm|azuread|kubernetes|helm)_/;
/** Names of members that say what someone may do. */
const RIGHTS = /role|permission|privilege|access_level|polic(?:y|ies)|groups?(?:_|$)|^access$/i;
const ADMINISTRATOR =
  /admin|superuser|fullaccess|:masters$|^(?:[a-z]+[_-])?owner$|^(?:root|maintainer|all(?:[ _]privileges)?)$/i;
/** Members that the plan must show. */
const HIDDEN = ['role', 'permission', 'access_level'];
const ADMINISTRATES = /superuser|all_privileges|(?:^|_)admin(?:_|$)/;
/** A text that is longer is a document, not the name of a role. */
const MAX_NAME = 200;

/** Hits for the name of an administrator's role or right in a resource of a provider whose roles are not listed. */
export function administratorHits(r: TerraformResource): readonly Hit[] {
  if (LISTED.test(r.type)) return [];
  const hidden = HIDDEN.flatMap((name): readonly Hit[] => {
    const value = valueAt(r, [name]);
    return value.state === 'hidden' && !r.leftToProvider.includes(name)
      ? [atResource(r, undecided(`its ${name}`, value.why))]
      : [];
  });
  return [...hidden, ...wordHits(r, r.after, [])];
}

function wordHits(r: TerraformResource, value: JsonValue, path: Path): readonly Hit[] {
  const name = String(path.findLast((step) => typeof step === 'string') ?? '');
  if (DESCRIPTIVE.has(name) && path.length === 1) return [];
  if (typeof value === 'object' && value !== null)
    return stepsOf(value).flatMap((step) => wordHits(r, member(value, step), [...path, step]));
  const found =
    typeof value === 'string'
      ? value.length <= MAX_NAME && RIGHTS.test(name) && ADMINISTRATOR.test(value)
      : value === true && ADMINISTRATES.test(name);
  if (!found || isUnchanged(r, path)) return [];
  const what = typeof value === 'string' ? ` ${shown(value)}` : '';
  return [atResource(r, `its ${shown(name.slice(0, 100))}${what} may give the rights of an administrator`, path)];
}
