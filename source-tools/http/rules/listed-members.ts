import { tokensOf } from '../../../policy/text/json-pointer';
import { wordList } from '../../../policy/text/word-list';
import type { HttpPatchFacts, WrittenValue } from '../facts/http-facts';
import { wordsOf } from '../facts/private-names';
import { oncePerName } from './define-http-rule';
import { PointerTree } from './pointer-tree';

/**
 * Members whose texts describe a resource for people, in lower case without underscores and hyphens. A server can act on any other
 * one: on a state, a date, an amount, an address, a reference, a switch, or a name by which something is found.
 */
const DESCRIBING = new Set(
  wordList(`
    title subtitle displaytitle headline heading displayname description shortdescription longdescription abstract summary
    synopsis excerpt note notes remark remarks caption alt alttext color colour emoji keywords bio biography nickname
    pronouns salutation locale language
  `),
);

/** Measures of a thing, as numbers. Without a unit some are settings, such as the weight of a backend. */
const MEASURES = new Set(wordList('weight width height length depth diameter thickness'));
const UNITS = new Set(wordList('mm cm m inches ft mg g kg grams oz lb'));

/** Members that only contain others. */
const CONTAINERS = new Set(wordList('data attributes fields properties profile'));

/** Members with which a document of JSON:API names itself; its server refuses others than those of the path. */
const JSON_API = { type: 'application/vnd.api+json', own: new Set(['/data/type', '/data/id']) };

/** A name that no server reads as a path or as another name. */
const PLAIN = /^[a-z][a-z0-9_-]{0,99}$/i;

const normalized = (name: string): string => (PLAIN.test(name) ? name.toLowerCase().replaceAll(/[_-]/g, '') : '');

function isMeasure(name: string): boolean {
  const [measure = '', unit = '', ...others] = wordsOf(name);
  return PLAIN.test(name) && MEASURES.has(measure) && UNITS.has(unit) && others.length === 0;
}

/** A location of the target document that the body writes, or takes. `kind`: of the value, if it is one without members. */
export interface Place {
  readonly kind?: WrittenValue['kind'];
  readonly pointer: string;
  readonly at: string;
}

/** Every value that the body writes, and what the body replaces, removes or takes as a whole. */
export function writtenPlaces(facts: HttpPatchFacts): readonly Place[] {
  const { method, body, writes, values } = facts;
  const valued = new Set(values.map(({ pointer }) => pointer));
  const others = writes.filter(({ changes, how, pointer }) => {
    if (body !== 'json-patch') return changes && pointer === '' && method !== 'PUT';
    return (changes || how === 'copy') && !valued.has(pointer);
  });
  return [...values, ...[...others, ...replacedArrays(facts)].map(({ pointer, at }) => ({ pointer, at }))];
}

/** Arrays whose items have members: except by a JSON Patch, an array is replaced, with all items that the body does not contain. */
function replacedArrays({ method, body, members }: HttpPatchFacts): readonly Place[] {
  if (method === 'POST' || body === 'json-patch') return [];
  return members.filter(({ length }) => length !== null && length > 0);
}

/** The places that neither only describe the resource nor are at or below one of `fields`. */
export function unlistedPlaces(facts: HttpPatchFacts, fields: readonly string[]): readonly Place[] {
  const listed = new PointerTree(fields);
  const isText = oncePerName((name) => DESCRIBING.has(normalized(name)));
  const isNumber = oncePerName(isMeasure);
  const isContainer = oncePerName((name) => CONTAINERS.has(normalized(name)));
  const isListedName = (kind: Place['kind'], name: string): boolean => {
    if (kind === undefined) return isText(name) || isNumber(name);
    return (kind === 'text' && isText(name)) || (kind === 'number' && isNumber(name));
  };
  const describes = ({ kind, pointer }: Place, tokens: readonly string[]): boolean => {
    if (facts.contentType === JSON_API.type && kind === 'text' && JSON_API.own.has(pointer)) return true;
    const end = tokens.findLastIndex((token) => !INDEX.test(token));
    const last = tokens[end];
    return last !== undefined && isListedName(kind, last) && tokens.slice(0, end).every(isContainer);
  };
  return writtenPlaces(facts).filter((place) => {
    const tokens = tokensOf(place.pointer) ?? [];
    return !describes(place, tokens) && !listed.covers(tokens);
  });
}

const INDEX = /^(?:-|\d{1,6})$/;
