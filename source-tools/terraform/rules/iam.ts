import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { readJson } from '../../../policy/text/json-text';
import type { Hit } from '../../../policy/rules/hit';
import { broadRoles } from './broad-roles';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import { broadGrants, denialsOf } from './policy-statements';
import type { TerraformResource } from '../facts/terraform-facts';
import { isUnchanged, createdOrChanged, itemsNotIn, memberAt, valueAt, type Path } from './values';
import { wordList } from '../../../policy/text/word-list';

/** Members of AWS resources that contain a policy as JSON text. */
const POLICIES = new Set(
  wordList(`
  policy assume_role_policy assume_role_policy_document inline_policy key_policy access_policy access_policies
  policy_document
`),
);
/** Those that are always text, never a block: if the configuration does not set one, the service uses its default. */
const TEXTS = new Set(wordList('policy assume_role_policy key_policy access_policies policy_document'));

/** Whether a value or mask may contain a policy. A cheap prefilter, because most do not. */
function mayHoldPolicy(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return value === true;
  return Object.keys(value).some((name) => POLICIES.has(name));
}

/** Types whose `policy` is not an IAM policy. */
const OTHER_POLICIES = new Set([
  'aws_ecr_lifecycle_policy',
  'aws_dlm_lifecycle_policy',
  'aws_organizations_policy',
  'aws_ssoadmin_permission_set',
]);

/** Hits for the policy documents in one member: JSON text, or blocks with JSON text in `policy`. */
function policyHits(r: TerraformResource, path: Path): readonly Hit[] {
  const value = valueAt(r, path);
  if (value.state === 'absent' || isUnchanged(r, path)) return [];
  const name = String(path[0]);
  if (TEXTS.has(name) && r.leftToProvider.includes(name)) return [];
  if (value.state === 'hidden') return [atResource(r, undecided(`its ${name}`, value.why))];
  if (Array.isArray(value.value)) return value.value.flatMap((_, i) => policyHits(r, [...path, i]));
  if (typeof value.value === 'object') return policyHits(r, [...path, 'policy']);
  if (typeof value.value !== 'string' || value.value === '') return [];
  const read = readJson(value.value, 32);
  if (!read.ok) return [atResource(r, `its ${name} is not JSON, so it cannot be checked`, path)];
  return broadGrants(read.value as JsonValue, name.startsWith('assume_role_policy')).map((what) =>
    atResource(r, `its ${name} ${what}`, path),
  );
}

/** Hits for the denials that an update removes from the policy in one member, or changes. */
function lostDenials(r: TerraformResource, path: Path): readonly Hit[] {
  const [before, after] = [denialsIn(memberAt(r.before, path)), denialsIn(memberAt(r.after, path))];
  return r.action !== 'update' || itemsNotIn(before, after).length === 0
    ? []
    : [atResource(r, `its ${path.join('.')} no longer denies the same`, path)];
}

function denialsIn(policy: JsonValue): readonly JsonValue[] {
  const read = typeof policy === 'string' ? readJson(policy, 32) : null;
  return read?.ok === true ? denialsOf(read.value as JsonValue) : [];
}

/** Types of credentials for people and programs. */
const CREDENTIALS = new Set(
  wordList(`
  aws_iam_access_key aws_iam_user_login_profile aws_iam_service_specific_credential aws_iam_user_ssh_key
  google_service_account_key google_storage_hmac_key google_apikeys_key azuread_application_password
  azuread_service_principal_password azuread_application_federated_identity_credential github_repository_deploy_key
  gitlab_deploy_token gitlab_project_access_token gitlab_personal_access_token
`),
);

const policyOf = (statement: Readonly<Record<string, unknown>>): string =>
  planOf([
    {
      address: 'aws_iam_policy.p',
      actions: ['create'],
      after: { policy: JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] }) },
    },
  ]);

export const iamWidening = terraformRule({
  name: 'terraform_iam_widening',
  logicRevision: 7,
  defaultLevel: 'confirm',
  why: 'A wildcard in a policy grants permissions that were never listed or reviewed.',
  examples: {
    bad: policyOf({ Action: ['s3:GetObject', 'iam:*'], Resource: 'arn:aws:s3:::logs/*' }),
    good: policyOf({ Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::logs/*' }),
  },
  find: ({ resources }) =>
    createdOrChanged(resources).flatMap((r): readonly Hit[] => {
      if (CREDENTIALS.has(r.type) && r.action !== 'update')
        return [atResource(r, 'creates a credential that does not expire by default')];
      const mayHaveOne =
        /^(?:aws|awscc|alicloud)_/.test(r.type) &&
        !OTHER_POLICIES.has(r.type) &&
        [r.after, r.unknown, r.afterSensitive].some(mayHoldPolicy);
      const documents = mayHaveOne ? [...POLICIES].flatMap((name) => policyHits(r, [name])) : [];
      const denials = mayHaveOne || r.type === 'aws_organizations_policy' ? ['policy', 'content'] : [];
      return [...documents, ...denials.flatMap((name) => lostDenials(r, [name])), ...broadRoles(r)];
    }),
});
