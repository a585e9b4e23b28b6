import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { atResource } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { DESCRIPTIVE, isUnchanged, member, stepsOf, type Path } from './values';

/** Names of everyone, and of everyone with any account. */
export const EVERYONE =
  /(?:^|:)(?:allusers|allauthenticatedusers|authenticatedusers)$|\/(?:AllUsers|AuthenticatedUsers)$/i;

/** Words that make a bucket or a database of any provider public. */
const ACL = /acl$|^(?:access_type|access_level|visibility_level)$/;
const PUBLIC_ACL = /^(?:public|public-?read(?:-?write)?|authenticated-?read|objectread\w*)$/i;
const OPEN = /^(?:is_)?public$|publicly_accessible|anonymous|unauthenticated/;

/** Hits for such words in a resource of a type whose settings are not listed. `terraform_iam_widening` reads members of roles. */
export function publicWordHits(r: TerraformResource): readonly Hit[] {
  return /_iam_/.test(r.type) ? [] : wordHits(r, r.after, []);
}

function wordHits(r: TerraformResource, value: JsonValue, path: Path): readonly Hit[] {
  const name = String(path.findLast((step) => typeof step === 'string') ?? '');
  if (DESCRIPTIVE.has(name)) return [];
  if (typeof value === 'object' && value !== null)
    return stepsOf(value).flatMap((step) => wordHits(r, member(value, step), [...path, step]));
  const isPublic =
    typeof value === 'string'
      ? (ACL.test(name) && PUBLIC_ACL.test(value)) || EVERYONE.test(value)
      : value === true && OPEN.test(name);
  return isPublic && !isUnchanged(r, path) ? [atResource(r, `${shown(name.slice(0, 100))} makes it public`, path)] : [];
}
