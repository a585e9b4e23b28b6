import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { readJson } from '../../../policy/text/json-text';
import { noConfig, type Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { isUnchanged, madeBy, member, textsOf, valueAt } from './values';

/** Members of AWS resources that hold a policy as JSON text. */
const POLICIES: readonly (readonly string[])[] = [
  'policy',
  'assume_role_policy',
  'inline_policy',
  'key_policy',
  'access_policy',
  'access_policies',
  'policy_document',
].map((name) => [name]);
/** Those that are text in every provider: no block, so what the configuration does not set is the service's own default. */
const TEXTS = new Set(['policy', 'assume_role_policy', 'key_policy', 'access_policies', 'policy_document']);
const POLICY_NAMES = new Set(POLICIES.flat());

/** Whether a value or mask says anything of a policy: most say nothing. */
function mayHoldPolicy(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return value === true;
  for (const name of Object.keys(value)) if (POLICY_NAMES.has(name)) return true;
  return false;
}

/** Types whose `policy` is no IAM policy. */
const OTHER_POLICIES = new Set([
  'aws_ecr_lifecycle_policy',
  'aws_dlm_lifecycle_policy',
  'aws_organizations_policy',
  'aws_ssoadmin_permission_set',
]);

/** Services where every action is a way to more rights, or to all data. */
const POWERFUL = new Set([
  'iam',
  'sts',
  'kms',
  's3',
  'organizations',
  'secretsmanager',
  'ssm',
  'ec2',
  'lambda',
  'sso',
  'account',
]);

/** What an IAM policy document allows too widely. `trust`: who may assume the role, where a principal is expected. */
function wideIn(document: JsonValue, trust: boolean): string[] {
  const statements = member(document, 'Statement');
  const list = Array.isArray(statements) ? (statements as readonly JsonValue[]) : [statements];
  return list.flatMap((statement) => {
    if (typeof statement !== 'object' || statement === null || member(statement, 'Effect') !== 'Allow') return [];
    const said: string[] = [];
    const actions = textsOf(member(statement, 'Action'));
    const resources = textsOf(member(statement, 'Resource'));
    const conditioned = isFilled(member(statement, 'Condition'));
    if (member(statement, 'NotAction') !== null) said.push('allows everything but some actions');
    if (member(statement, 'NotPrincipal') !== null) said.push('allows everybody but some');
    if (member(statement, 'NotResource') !== null) said.push('allows all resources but some');
    if (actions.some((action) => action === '*' || action === '*:*')) said.push('allows every action');
    const services = actions
      .filter((action) => action.endsWith(':*'))
      .map((action) => (action.split(':')[0] ?? '').toLowerCase());
    const powerful = services.find((service) => POWERFUL.has(service));
    if (powerful !== undefined) said.push(`allows every action of ${powerful}`);
    if (resources.includes('*') && actions.some((action) => action.includes('*')) && said.length === 0)
      said.push('allows actions with a wildcard on every resource');
    if (actions.some((action) => ESCALATING.has(action.toLowerCase())) && resources.includes('*'))
      said.push('allows to take on or hand out other rights');
    const principal = member(statement, 'Principal');
    if (isEverybody(principal) && !conditioned)
      said.push(trust ? 'lets everybody assume the role' : 'allows everybody');
    if (trust && member(principal, 'Federated') !== null && !namesSubject(statement))
      said.push('trusts every subject of an identity provider');
    return said;
  });
}

const ESCALATING = new Set([
  'iam:passrole',
  'iam:createaccesskey',
  'iam:attachrolepolicy',
  'iam:attachuserpolicy',
  'iam:putuserpolicy',
  'iam:putrolepolicy',
  'iam:createpolicyversion',
  'iam:updateassumerolepolicy',
  'sts:assumerole',
]);

function isFilled(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function isEverybody(principal: JsonValue): boolean {
  if (principal === '*') return true;
  return (
    typeof principal === 'object' &&
    principal !== null &&
    Object.values(principal as JsonObject).some((value) => textsOf(value).includes('*'))
  );
}

/** A condition on the subject of a token that is more than a lone wildcard. */
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

/** Documents of one member: JSON text, or blocks that hold it in `policy`. */
function inPolicy(r: TerraformResource, path: readonly (string | number)[]): readonly Hit[] {
  const value = valueAt(r, path);
  if (value.state === 'absent' || isUnchanged(r, path)) return [];
  const [name] = path;
  if (typeof name === 'string' && TEXTS.has(name) && r.leftToProvider.includes(name)) return [];
  if (value.state === 'hidden') return [atResource(r, undecided(`its ${String(path[0])}`, value.why))];
  if (Array.isArray(value.value)) return value.value.flatMap((_, i) => inPolicy(r, [...path, i]));
  if (typeof value.value === 'object') return inPolicy(r, [...path, 'policy']);
  if (typeof value.value !== 'string' || value.value === '') return [];
  const read = readJson(value.value, 32);
  if (!read.ok) return [atResource(r, `its ${String(path[0])} is no JSON, so nobody can say what it allows`, path)];
  return wideIn(read.value as JsonValue, path[0] === 'assume_role_policy').map((what) =>
    atResource(r, `its ${String(path[0])} ${what}`, path),
  );
}

const MANAGED = [
  'administratoraccess',
  'poweruseraccess',
  'iamfullaccess',
  'amazons3fullaccess',
  'awskeymanagementservicepoweruser',
  'systemadministrator',
];
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

/** How the types begin that `wideRole` reads. */
const BINDING = ['aws_iam_', 'google_', 'azurerm_role_', 'kubernetes_'];

/** Roles and bindings by their well-known names. */
function wideRole(r: TerraformResource): readonly Hit[] {
  if (!BINDING.some((prefix) => r.type.startsWith(prefix))) return [];
  const check = (name: string, is: (text: string) => boolean, what: string): readonly Hit[] => {
    const value = valueAt(r, [name]);
    if (value.state === 'absent' || isUnchanged(r, [name])) return [];
    if (value.state === 'hidden') return [atResource(r, undecided(`its ${name}`, value.why))];
    const found = textsOf(value.value).find((text) => is(text.toLowerCase()));
    return found === undefined ? [] : [atResource(r, `${what} ${shown(found.slice(0, 200))}`, [name])];
  };
  const everybody = (text: string): boolean => text === 'allusers' || text === 'allauthenticatedusers';
  const isWideRole = (text: string): boolean =>
    GOOGLE_ROLES.some((role) => (role.endsWith('.') ? text.startsWith(role) && text.includes('admin') : text === role));
  if (r.type.startsWith('aws_iam_') && r.type.endsWith('policy_attachment'))
    return check('policy_arn', (text) => MANAGED.some((name) => text.endsWith(`/${name}`)), 'attaches');
  if (/^google_.*_iam_(?:member|binding)$/.test(r.type))
    return [
      ...check('role', isWideRole, 'gives'),
      ...check('member', everybody, 'gives rights to'),
      ...check('members', everybody, 'gives rights to'),
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
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A wildcard in a policy is a right that nobody named, for whoever comes by it.',
  config: noConfig,
  examples: {
    bad: role({ Action: ['s3:GetObject', 'iam:*'], Resource: 'arn:aws:s3:::logs/*' }),
    good: role({ Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::logs/*' }),
  },
  find: ({ resources }) =>
    madeBy(resources).flatMap((r): readonly Hit[] => {
      if (!r.type.startsWith('aws_') || OTHER_POLICIES.has(r.type)) return wideRole(r);
      if (![r.after, r.unknown, r.afterSensitive].some(mayHoldPolicy)) return wideRole(r);
      const documents = POLICIES.flatMap((path) => inPolicy(r, path));
      return documents.length === 0 ? wideRole(r) : [...documents, ...wideRole(r)];
    }),
});
