import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { readJson } from '../../../policy/text/json-text';
import type { Hit } from '../../../policy/rules/rule-maker';
import { coverInternet } from './address-ranges';
import { broadRoles } from './broad-roles';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { isUnchanged, createdOrChanged, member, textsOf, valueAt, type Path } from './values';
import { wordList } from '../../../policy/text/word-list';

/** Members of AWS resources that contain a policy as JSON text. */
const POLICIES = new Set(
  wordList('policy assume_role_policy inline_policy key_policy access_policy access_policies policy_document'),
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

/** Services whose `*` action allows privilege escalation or access to all data. */
const POWERFUL = wordList('iam sts kms s3 organizations secretsmanager ssm ec2 lambda sso account');

/** Overly broad grants of an IAM policy document. `trust`: whether it is a trust policy, which names who may assume the role. */
function broadGrants(document: JsonValue, trust: boolean): string[] {
  const statements = element(document, 'Statement');
  const list = Array.isArray(statements) ? (statements as readonly JsonValue[]) : [statements];
  return list.flatMap((statement) => {
    if (!isJsonObject(statement) || element(statement, 'Effect') === 'Deny') return [];
    return [...broadPermissions(statement), ...broadPrincipals(statement, trust)];
  });
}

/** A member of a policy by its name, ignoring case; null if there is none. */
function element(value: JsonValue, name: string): JsonValue {
  if (!isJsonObject(value)) return null;
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? null : member(value, key);
}

/** What a statement allows without listing it. */
function broadPermissions(statement: JsonObject): string[] {
  const grants: string[] = [];
  const actions = textsOf(element(statement, 'Action')).map((action) => action.toLowerCase());
  const resources = textsOf(element(statement, 'Resource'));
  if (element(statement, 'NotAction') !== null) grants.push('allows every action except those listed');
  if (element(statement, 'NotResource') !== null) grants.push('allows every resource except those listed');
  const powerful = POWERFUL.find((service) => coverText(actions, `${service}:*`));
  if (coverText(actions, '*') || coverText(actions, '*:*')) grants.push('allows every action');
  else if (powerful !== undefined) grants.push(`allows every action of ${powerful}`);
  if (grants.length === 0 && resources.some(isEveryService) && actions.some(isBroadAction))
    grants.push('allows actions with a wildcard on every resource');
  if (resources.some(isEveryResource) && ESCALATING.some((name) => coverText(actions, name)))
    grants.push('allows privilege escalation on every resource');
  else if (coverText(actions, 'iam:passrole') && !resources.every(isNamed))
    grants.push('allows iam:PassRole without naming the role');
  return grants;
}

/** An action with a wildcard, except one that only lists or describes, which AWS mostly does not limit to resources. */
function isBroadAction(action: string): boolean {
  return isWild(action) && !/^[a-z0-9-]+:(?:describe|list)[a-z]*\*$/.test(action);
}

/** Whom a statement allows without naming them. */
function broadPrincipals(statement: JsonObject, trust: boolean): string[] {
  const grants: string[] = [];
  const principal = element(statement, 'Principal');
  const conditions = conditionsOf(statement);
  const named = conditions.some(namesCaller);
  if (element(statement, 'NotPrincipal') !== null) grants.push('allows everyone except those listed');
  if (namesEveryone(principal) && !named) grants.push(trust ? 'lets everyone assume the role' : 'allows everyone');
  if (trust && namesAccount(principal) && !named && !conditions.some(proves))
    grants.push('lets every identity of an account assume the role');
  if (trust && element(principal, 'Federated') !== null && !conditions.some(namesSubject))
    grants.push('trusts every subject of an identity provider');
  return grants;
}

const ESCALATING = wordList(`
  iam:passrole iam:createaccesskey iam:createloginprofile iam:updateloginprofile iam:attachrolepolicy iam:attachuserpolicy
  iam:attachgrouppolicy iam:putuserpolicy iam:putrolepolicy iam:putgrouppolicy iam:addusertogroup iam:createpolicyversion
  iam:setdefaultpolicyversion iam:updateassumerolepolicy iam:deleterolepermissionsboundary sts:assumerole
`);

const isWild = (text: string): boolean => /[*?]/.test(text);

/** Whether one of the patterns matches the text. `*` matches any text and `?` any character, as in IAM. */
function coverText(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => wildcardCovers(pattern, text));
}

function wildcardCovers(pattern: string, text: string): boolean {
  let [p, i, star, starAt] = [0, 0, -1, 0];
  while (i < text.length) {
    if (pattern[p] === '*') [star, starAt] = [p++, i];
    else if (pattern[p] === '?' || pattern[p] === text[i]) [p, i] = [p + 1, i + 1];
    else if (star === -1) return false;
    else [p, i] = [star + 1, ++starAt];
  }
  return /^\**$/.test(pattern.slice(p));
}

/** A name that no resource has, so that only a wildcard matches it. */
const UNLIKELY = '\u0000';
const KINDS = ['', 'role/', 'user/', 'group/', 'policy/'];

/** Whether a pattern names no resource of its service, such as `*` or `arn:aws:iam::111122223333:role/*`. */
function isEveryResource(resource: string): boolean {
  const [, , , , , ...name] = resource.split(':');
  return name.length === 0
    ? isWild(resource)
    : KINDS.some((kind) => wildcardCovers(name.join(':'), `${kind}${UNLIKELY}`));
}

/** Whether a pattern names neither a resource nor a service, such as `*` or `arn:aws:*:*:*:*`. */
function isEveryService(resource: string): boolean {
  return isEveryResource(resource) && isWild(resource.split(':')[2] ?? '*');
}

function isNamed(resource: string): boolean {
  return resource.startsWith('arn:') && !isWild(resource);
}

/** Whether a trust policy lets every identity of an account assume the role. */
function namesAccount(principal: JsonValue): boolean {
  return textsOf(element(principal, 'AWS')).some((text) => text.endsWith(':root') || /^\d{12}$/.test(text));
}

function namesEveryone(principal: JsonValue): boolean {
  if (typeof principal === 'string') return isWild(principal);
  return isJsonObject(principal) && Object.values(principal).some((value) => textsOf(value).some(isWild));
}

/** One comparison of a condition, such as `StringEquals`, `aws:SourceAccount` and its values; names are in lower case. */
interface Comparison {
  readonly operator: string;
  readonly key: string;
  readonly values: readonly string[];
}

/** The comparisons of a condition, all of which must match. */
function conditionsOf(statement: JsonObject): readonly Comparison[] {
  const condition = element(statement, 'Condition');
  if (!isJsonObject(condition)) return [];
  return Object.entries(condition).flatMap(([operator, tests]) =>
    isJsonObject(tests)
      ? Object.entries(tests).map(([key, value]) => ({
          operator: operator.toLowerCase(),
          key: key.toLowerCase(),
          values: textsOf(typeof value === 'boolean' ? String(value) : value),
        }))
      : [],
  );
}

/** Operators that match only the listed values. `IfExists` and `ForAllValues` also match a request without a value. */
const POSITIVE = /^(?:foranyvalue:)?(?:string(?:equals|equalsignorecase|like)|arn(?:equals|like)|ipaddress)$/;

/** Keys that say who makes a request, or from where. */
const CALLER = new Set(
  wordList(`
  aws:principalarn aws:principalaccount aws:principalorgid aws:principalorgpaths aws:sourcearn aws:sourceaccount
  aws:sourceowner aws:sourceorgid aws:sourceorgpaths aws:sourceip aws:vpcsourceip aws:sourcevpc aws:sourcevpce aws:userid
  aws:username aws:principalservicename kms:calleraccount s3:dataaccesspointaccount s3:dataaccesspointarn
`),
);

/** Whether a comparison limits the callers to named ones, or to named networks. */
function namesCaller({ operator, key, values }: Comparison): boolean {
  if (!CALLER.has(key) || !POSITIVE.test(operator) || values.length === 0) return false;
  return operator.endsWith('ipaddress') ? !coverInternet(values) : values.every(namesOwner);
}

/** Whether a text has no wildcard, or names an account, an organization or an identity before it. */
function namesOwner(text: string): boolean {
  return !isWild(text) || /(?:^|:)\d{12}(?:$|:)/.test(text) || /^(?:o-[a-z0-9]{10}|A[A-Z]{3}[A-Z0-9]{12})/.test(text);
}

/** Whether a comparison demands something that an identity of the account must prove, such as a second factor. */
function proves({ operator, key, values }: Comparison): boolean {
  if (key === 'aws:multifactorauthpresent') return operator === 'bool' && values.join() === 'true';
  if (key !== 'sts:externalid' && !/^aws:(?:principal|request)tag\//.test(key)) return false;
  return POSITIVE.test(operator) && values.length > 0 && !values.some(isWild);
}

/** The subject of a token of one owner, such as `repo:example/` or `system:serviceaccount:example:`. */
const SUBJECT = /^(?:system:|(?!system:))[^:*?]+:[^:/*?]+[:/]/;

/** Whether a comparison limits the subject of a token to one owner. */
function namesSubject({ operator, key, values }: Comparison): boolean {
  if (!POSITIVE.test(operator) || values.length === 0) return false;
  if (key === 'cognito-identity.amazonaws.com:aud') return !values.some(isWild);
  return key.endsWith(':sub') && values.every((text) => !isWild(text) || SUBJECT.test(text));
}

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
  return broadGrants(read.value as JsonValue, name === 'assume_role_policy').map((what) =>
    atResource(r, `its ${name} ${what}`, path),
  );
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
  logicRevision: 5,
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
        r.type.startsWith('aws_') &&
        !OTHER_POLICIES.has(r.type) &&
        [r.after, r.unknown, r.afterSensitive].some(mayHoldPolicy);
      const documents = mayHaveOne ? [...POLICIES].flatMap((name) => policyHits(r, [name])) : [];
      return [...documents, ...broadRoles(r)];
    }),
});
