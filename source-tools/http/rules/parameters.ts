import { z } from 'zod';
import type { Hit } from '../../../policy/rules/hit';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import { READS, type HttpPatchFacts, type QueryParameter } from '../facts/http-facts';
import { normalizedName, readingsOfName, wordsOf } from '../facts/private-names';
import { isAction } from './action-words';
import { isIdentifier } from './identifier';

export const AllowedParameters = z
  .array(z.string().min(1).max(400))
  .max(200)
  .default([])
  .describe(
    'Allowed query parameters: `name` allows one plain value, such as an identifier or true, and any value of a request that only reads; `name=value` only this value, and `name=*` any value. Case of the name is ignored.',
  );

/** Names of parameters, in the form that `normalizedName` returns, whose value is a credential. */
const CREDENTIALS = new Set(
  wordList(`
  accesstoken authtoken apikey xapikey hapikey subscriptionkey clientsecret privatetoken password passwd pwd secret
  xamzsignature xgoogsignature sig xamzsecuritytoken xvaulttoken idtoken refreshtoken sessiontoken oauthtoken token jwt
  bearer authorization
`),
);

export function isCredential(parameter: string): boolean {
  return readingsOfName(parameter).some((part) => CREDENTIALS.has(normalizedName(part)));
}

const OVERRIDES = new Set(
  wordList('httpmethod xhttpmethod methodoverride xmethodoverride httpmethodoverride xhttpmethodoverride'),
);

/** Whether a server may read the parameter as the method. `method` alone is an ordinary name, such as of a payment. */
export function isOverride(parameter: string): boolean {
  const name = parameter.toLowerCase();
  const letters = name.replaceAll(/[^a-z]/g, '');
  return OVERRIDES.has(letters) || (letters === 'method' && name !== letters);
}

/** Parameters that say for whom a request acts, in the form that `normalizedName` returns: `doAs` of Hadoop, `sudo` of GitLab. */
const IDENTITY = new Set(wordList('sudo impersonate impersonateuser onbehalfof actas runas doas loginas asuser'));

/** Parameters, in the form that `normalizedName` returns, that name a request. */
const REQUEST_NAMES = new Set(wordList('idempotencykey requestid correlationid'));

/**
 * Parameters, in the form that `normalizedName` returns, that say what a response contains or which version of an API is called.
 * Any other one may choose other resources, another operation or an option, as `filter`, `action` and
 * `cascade` do.
 */
const ORDINARY = new Set(
  wordList(`
  fields $fields select $select expand $expand include pretty prettyprint format alt locale lang language apiversion
  fieldmanager fieldvalidation
`),
);

/** Parameters of a request that reads, in the form that `normalizedName` returns, that say which part of a collection it reads. */
const READING = new Set(
  wordList(`
  page pagesize perpage pagetoken nextpagetoken limit maxresults offset startat cursor after before startingafter
  endingbefore since until sort sortby order orderby q search filter filters $filter $top $skip $orderby $search $count
`),
);

/** Whether the parameter is known not to change what the request does. `filter[state]` is read as `filter`. */
function isOrdinary(name: string, method: string): boolean {
  const normalized = normalizedName(name);
  if (ORDINARY.has(normalized) || REQUEST_NAMES.has(normalized)) return true;
  return READS.has(method) && READING.has(normalizedName(name.split('[', 1)[0] as string));
}

/** Lists of names, also of members below others, as `items(id,title)`. An expression has other characters. */
const NAMES = /^[\w.,*()/:$=+ -]{0,2000}$/;

const NUMBER_OR_DATE =
  /^(?:\d{1,9}\.\d{1,9}|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?)$/;
const WORD = /^[A-Za-z][A-Za-z0-9]{0,63}(?:[_-][A-Za-z0-9]{1,63}){0,7}$/;
const UNSET = new Set(['null', 'undefined', 'nan']);

/** Whether the value is one identifier, number, date or word: no list, range, pattern or expression, and not `all` or `delete`. */
function isPlain({ name, value }: QueryParameter): boolean {
  if (isIdentifier(value, name, NO_WORDS) || NUMBER_OR_DATE.test(value)) return true;
  return WORD.test(value) && wordsOf(value).every((word) => !isAction(word) && !UNSET.has(word));
}

const NO_WORDS: ReadonlySet<string> = new Set();

/** Allowed values by name in lower case; null: one plain value. */
const allowedValues = memoizeByObject((entries: readonly string[]) => {
  const values = new Map<string, Set<string | null>>();
  for (const entry of entries) {
    const end = entry.indexOf('=');
    const name = (end === -1 ? entry : entry.slice(0, end)).toLowerCase();
    const known = values.get(name) ?? new Set();
    values.set(name, known.add(end === -1 ? null : entry.slice(end + 1)));
  }
  return values;
});

/** The parameters by which the request may act for another person, do something else or change more than one resource. */
export function parameterHits(
  { method, parameters }: Pick<HttpPatchFacts, 'method' | 'parameters'>,
  entries: readonly string[],
): readonly Hit[] {
  const values = allowedValues(entries);
  const count = new Map<string, number>();
  for (const { name } of parameters) count.set(name.toLowerCase(), (count.get(name.toLowerCase()) ?? 0) + 1);
  return parameters.flatMap((parameter): readonly Hit[] => {
    const lower = parameter.name.toLowerCase();
    const allowed = values.get(lower);
    let why = unlistedReason(parameter, method);
    if (why !== null && allowed !== undefined)
      why = valueReason(parameter, method, allowed, (count.get(lower) ?? 0) > 1);
    const name = shown(parameter.name.slice(0, 100));
    return why === null ? [] : [{ at: '/url', what: `the query parameter ${name} ${why}` }];
  });
}

/** Why a parameter that the bundle does not list asks; null if it does not. */
function unlistedReason({ name, value }: QueryParameter, method: string): string | null {
  const normalized = normalizedName(name);
  if (IDENTITY.has(normalized)) return 'says for whom the request acts';
  // Other rules report these.
  if (isCredential(name) || isOverride(name)) return null;
  if (!isOrdinary(name, method)) return 'is not in `allowParameters`, so it may change what the request does';
  if (READS.has(method) || REQUEST_NAMES.has(normalized) || NAMES.test(value)) return null;
  return 'has a value that may be an expression';
}

/** Why a listed parameter asks because of its value; null if it does not. `allowed`: its values, and null for one plain value. */
function valueReason(
  parameter: QueryParameter,
  method: string,
  allowed: ReadonlySet<string | null>,
  isRepeated: boolean,
): string | null {
  if (allowed.has('*') || allowed.has(parameter.value)) return null;
  if (!allowed.has(null)) return 'has another value than `allowParameters` lists';
  if (READS.has(method)) return null;
  if (isRepeated)
    return 'occurs more than once, so the request may change more than one resource; `name=*` in `allowParameters` allows this';
  if (isPlain(parameter)) return null;
  return 'has a value that may be a list, a pattern or an expression; `name=value` in `allowParameters` allows one';
}
