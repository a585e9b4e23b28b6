import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { globCovers } from '../../../policy/text/glob';
import { readJson } from '../../../policy/text/json-text';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { isUnchanged, createdOrChanged, member, textsOf, valueAt, type Path } from './values';
import { wordList } from '../../../policy/text/word-list';

/** Members of AWS resources that contain a policy as JSON text. */
const POLICIES: readonly (readonly string[])[] = [
  'policy',
  'assume_role_policy',
  'inline_policy',
  'key_policy',
  'access_policy',
  'access_policies',
  'policy_document',
].map((name) => [name]);
/** Members that are text in every provider, never a block: if the configuration does not set one, the service uses its default. */
const TEXTS = new Set(['policy', 'assume_role_policy', 'key_policy', 'access_policies', 'policy_document']);
const POLICY_NAMES = new Set(POLICIES.flat());

/** Whether a value or mask may contain a policy. A cheap prefilter, because most do not. */
function mayHoldPolicy(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return value === true;
  for (const name of Object.keys(value)) if (POLICY_NAMES.has(name)) return true;
  return false;
}

/** Types whose `policy` is not an IAM policy. */
const OTHER_POLICIES = new Set([
  'aws_ecr_lifecycle_policy',
  'aws_dlm_lifecycle_policy',
  'aws_organizations_policy',
  'aws_ssoadmin_permission_set',
]);

/** Services whose `*` action allows privilege escalation or access to all data. */
const POWERFUL = new Set(wordList('iam sts kms s3 organizations secretsmanager ssm ec2 lambda sso account'));

/** Overly broad grants of an IAM policy document. `trust`: whether it is a trust policy, which names who may assume the role. */
function broadGrants(document: JsonValue, trust: boolean): string[] {
  const statements = member(document, 'Statement');
  const list = Array.isArray(statements) ? (statements as readonly JsonValue[]) : [statements];
  return list.flatMap((statement) => {
    if (typeof statement !== 'object' || statement === null || member(statement, 'Effect') !== 'Allow') return [];
    const grants: string[] = [];
    const actions = textsOf(member(statement, 'Action'));
    const resources = textsOf(member(statement, 'Resource'));
    const conditioned = isFilled(member(statement, 'Condition'));
    if (member(statement, 'NotAction') !== null) grants.push('allows every action except those listed');
    if (member(statement, 'NotPrincipal') !== null) grants.push('allows everyone except those listed');
    if (member(statement, 'NotResource') !== null) grants.push('allows every resource except those listed');
    if (actions.some((action) => action === '*' || action === '*:*')) grants.push('allows every action');
    const services = actions
      .filter((action) => action.endsWith(':*'))
      .map((action) => (action.split(':')[0] ?? '').toLowerCase());
    const powerful = services.find((service) => POWERFUL.has(service));
    if (powerful !== undefined) grants.push(`allows every action of ${powerful}`);
    if (resources.includes('*') && actions.some((action) => action.includes('*')) && grants.length === 0)
      grants.push('allows actions with a wildcard on every resource');
    if (resources.some(isEveryResource) && ESCALATING.some((name) => covers(actions, name)))
      grants.push('allows privilege escalation on every resource');
    else if (covers(actions, 'iam:passrole') && !resources.every(isNamed))
      grants.push('allows iam:PassRole without naming the role');
    const principal = member(statement, 'Principal');
    if (namesEveryone(principal) && !conditioned)
      grants.push(trust ? 'lets everyone assume the role' : 'allows everyone');
    if (trust && namesAccount(principal) && !conditioned)
      grants.push('lets every identity of an account assume the role');
    if (trust && member(principal, 'Federated') !== null && !namesSubject(statement))
      grants.push('trusts every subject of an identity provider');
    return grants;
  });
}

const ESCALATING = wordList(`
  iam:passrole iam:createaccesskey iam:createloginprofile iam:updateloginprofile iam:attachrolepolicy iam:attachuserpolicy
  iam:attachgrouppolicy iam:putuserpolicy iam:putrolepolicy iam:putgrouppolicy iam:addusertogroup iam:createpolicyversion
  iam:setdefaultpolicyversion iam:updateassumerolepolicy iam:deleterolepermissionsboundary sts:assumerole
`);

/** Whether one of the actions, which may contain wildcards, includes the action `name`. */
function covers(actions: readonly string[], name: string): boolean {
  return actions.some((action) => globCovers(action.toLowerCase().slice(0, 200), name));
}

/** `*`, or every resource of a kind, such as `arn:aws:iam::111122223333:role/*`. */
function isEveryResource(resource: string): boolean {
  return resource === '*' || /:(?:role|user|group|policy)?\/?\*$/.test(resource.slice(-40));
}

function isNamed(resource: string): boolean {
  return resource.startsWith('arn:') && !resource.includes('*') && !resource.includes('?');
}

/** Whether a trust policy lets every identity of an account assume the role. */
function namesAccount(principal: JsonValue): boolean {
  return textsOf(member(principal, 'AWS')).some((text) => text.endsWith(':root') || /^\d{12}$/.test(text));
}

function isFilled(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function namesEveryone(principal: JsonValue): boolean {
  if (principal === '*') return true;
  return (
    typeof principal === 'object' &&
    principal !== null &&
    Object.values(principal as JsonObject).some((value) => textsOf(value).includes('*'))
  );
}

/** Whether a condition restricts the subject of a token to more than a wildcard. */
function namesSubject(statement: JsonValue): boolean {
  const condition = member(statement, 'Condition');
  if (typeof condition !== 'object' || condition === null) return false;
  return Object.values(condition as JsonObject).some((tests) => {
    if (typeof tests !== 'object' || tests === null) return false;
    return Object.entries(tests as JsonObject).some(([key, value]) => {
      const texts = textsOf(value);
      const names = key.endsWith(':sub') || key === 'cognito-identity.amazonaws.com:aud';
      return names && texts.length > 0 && !texts.some((text) => text === '*' || text === 'repo:*');
    });
  });
}

/** Hits for the policy documents in one member: JSON text, or blocks with JSON text in `policy`. */
function policyHits(r: TerraformResource, path: Path): readonly Hit[] {
  const value = valueAt(r, path);
  if (value.state === 'absent' || isUnchanged(r, path)) return [];
  const [name] = path;
  if (typeof name === 'string' && TEXTS.has(name) && r.leftToProvider.includes(name)) return [];
  if (value.state === 'hidden') return [atResource(r, undecided(`its ${String(path[0])}`, value.why))];
  if (Array.isArray(value.value)) return value.value.flatMap((_, i) => policyHits(r, [...path, i]));
  if (typeof value.value === 'object') return policyHits(r, [...path, 'policy']);
  if (typeof value.value !== 'string' || value.value === '') return [];
  const read = readJson(value.value, 32);
  if (!read.ok) return [atResource(r, `its ${String(path[0])} is not JSON, so it cannot be checked`, path)];
  return broadGrants(read.value as JsonValue, path[0] === 'assume_role_policy').map((what) =>
    atResource(r, `its ${String(path[0])} ${what}`, path),
  );
}

const MANAGED = ['administratoraccess', 'poweruseraccess', 'awskeymanagementservicepoweruser', 'systemadministrator'];
const GOOGLE_ROLES = [
  'roles/owner',
  'roles/editor',
  'roles/iam.',
  'roles/resourcemanager.',
  'roles/storage.admin',
  'roles/cloudkms.admin',
  'roles/secretmanager.admin',
  'roles/compute.admin',
];
const AZURE_ROLES = [
  'owner',
  'contributor',
  'user access administrator',
  'role based access control administrator',
  'key vault administrator',
];

/** Prefixes of the types that `broadRoles` reads. */
const BINDING = ['aws_iam_', 'google_', 'azurerm_role_', 'kubernetes_'];

/** Hits for well-known broad roles, attached or bound by name. */
function broadRoles(r: TerraformResource): readonly Hit[] {
  if (!BINDING.some((prefix) => r.type.startsWith(prefix))) return [];
  const check = (name: string, is: (text: string) => boolean, what: string): readonly Hit[] => {
    const value = valueAt(r, [name]);
    if (value.state === 'absent' || isUnchanged(r, [name])) return [];
    if (value.state === 'hidden') return [atResource(r, undecided(`its ${name}`, value.why))];
    const found = textsOf(value.value).find((text) => is(text.toLowerCase()));
    return found === undefined ? [] : [atResource(r, `${what} ${shown(found.slice(0, 200))}`, [name])];
  };
  const isEveryone = (text: string): boolean => text === 'allusers' || text === 'allauthenticatedusers';
  const isBroadRole = (text: string): boolean =>
    GOOGLE_ROLES.some((role) => (role.endsWith('.') ? text.startsWith(role) && text.includes('admin') : text === role));
  if (r.type.startsWith('aws_iam_') && r.type.endsWith('policy_attachment'))
    return check(
      'policy_arn',
      (text) => text.endsWith('fullaccess') || MANAGED.some((name) => text.endsWith(`/${name}`)),
      'attaches',
    );
  if (/^google_.*_iam_(?:member|binding)$/.test(r.type))
    return [
      ...check('role', isBroadRole, 'grants'),
      ...check('member', isEveryone, 'grants access to'),
      ...check('members', isEveryone, 'grants access to'),
    ];
  if (r.type === 'azurerm_role_assignment')
    return check('role_definition_name', (text) => AZURE_ROLES.includes(text), 'assigns');
  if (r.type === 'kubernetes_cluster_role_binding') {
    const role = valueAt(r, ['role_ref', 0, 'name']);
    return role.state === 'known' && role.value === 'cluster-admin' ? [atResource(r, 'binds cluster-admin')] : [];
  }
  if (r.type === 'kubernetes_cluster_role' || r.type === 'kubernetes_role') {
    const rules = valueAt(r, ['rule']);
    const list = rules.state === 'known' && Array.isArray(rules.value) ? (rules.value as readonly JsonValue[]) : [];
    return list.flatMap((rule, i) =>
      textsOf(member(rule, 'verbs')).includes('*') ? [atResource(r, 'allows every verb', ['rule', i, 'verbs'])] : [],
    );
  }
  return [];
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

const role = (statement: Readonly<Record<string, unknown>>): string =>
  planOf([
    {
      address: 'aws_iam_policy.p',
      actions: ['create'],
      after: { policy: JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] }) },
    },
  ]);

export const iamWidening = terraformRule({
  name: 'terraform_iam_widening',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A wildcard in a policy grants permissions that were never listed or reviewed.',
  examples: {
    bad: role({ Action: ['s3:GetObject', 'iam:*'], Resource: 'arn:aws:s3:::logs/*' }),
    good: role({ Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::logs/*' }),
  },
  find: ({ resources }) =>
    createdOrChanged(resources).flatMap((r): readonly Hit[] => {
      if (CREDENTIALS.has(r.type) && r.action !== 'update')
        return [atResource(r, 'creates a credential that does not expire by default')];
      if (!r.type.startsWith('aws_') || OTHER_POLICIES.has(r.type)) return broadRoles(r);
      if (![r.after, r.unknown, r.afterSensitive].some(mayHoldPolicy)) return broadRoles(r);
      const documents = POLICIES.flatMap((path) => policyHits(r, path));
      return documents.length === 0 ? broadRoles(r) : [...documents, ...broadRoles(r)];
    }),
});
