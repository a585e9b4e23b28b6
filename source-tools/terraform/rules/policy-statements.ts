import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { wordList } from '../../../policy/text/word-list';
import { coverInternet } from './address-ranges';
import { member, textsOf } from './values';

/** Services whose `*` action allows privilege escalation or access to all data. */
const POWERFUL = wordList('iam sts kms s3 organizations secretsmanager ssm ec2 lambda sso account');

/** Overly broad grants of an IAM policy document. `trust`: whether it is a trust policy, which names who may assume the role. */
export function broadGrants(document: JsonValue, trust: boolean): string[] {
  return statementsOf(document).flatMap((statement) => {
    if (!isJsonObject(statement) || element(statement, 'Effect') === 'Deny') return [];
    return [...broadPermissions(statement), ...broadPrincipals(statement, trust)];
  });
}

/** The statements of a policy that deny something. */
export function denialsOf(document: JsonValue): readonly JsonValue[] {
  return statementsOf(document).filter((statement) => element(statement, 'Effect') === 'Deny');
}

function statementsOf(document: JsonValue): readonly JsonValue[] {
  const statements = element(document, 'Statement');
  return Array.isArray(statements) ? (statements as readonly JsonValue[]) : [statements];
}

/** A member of a policy by its name, ignoring case; null if it is missing. */
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
  if (ESCALATING.some((name) => coverText(actions, name))) grants.push('allows privilege escalation');
  else if (resources.some(isEveryResource) && WIDE.some((name) => coverText(actions, name)))
    grants.push('allows to use, read or destroy every resource of a kind');
  else if (coverText(actions, 'iam:passrole') && !resources.filter(canBeRole).every(isNamed))
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
  iam:createaccesskey iam:createloginprofile iam:updateloginprofile iam:attachrolepolicy iam:attachuserpolicy
  iam:attachgrouppolicy iam:putuserpolicy iam:putrolepolicy iam:putgrouppolicy iam:addusertogroup iam:createpolicyversion
  iam:setdefaultpolicyversion iam:updateassumerolepolicy iam:deleterolepermissionsboundary
`);
/** Actions that are narrow only if the policy names the resource. */
const WIDE = wordList(`
  iam:passrole sts:assumerole s3:getobject s3:putobject s3:deleteobject secretsmanager:getsecretvalue kms:decrypt
  kms:creategrant ssm:sendcommand ssm:startsession lambda:updatefunctioncode
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

/** Whether a pattern can match the name of a role. */
function canBeRole(resource: string): boolean {
  return wildcardCovers(resource.split(':')[2] ?? '*', 'iam');
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
