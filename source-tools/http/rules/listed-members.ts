import { tokensOf } from '../../../policy/text/json-pointer';
import { wordList } from '../../../policy/text/word-list';
import type { HttpPatchFacts, Member } from '../facts/http-facts';
import { oncePerName } from './define-http-rule';

/**
 * Members that describe a resource for people, without underscores and hyphens. A server can act on any other one: on a state, a
 * date, an amount, an address, a reference, a switch, and on a name by which something is found.
 */
const DESCRIBING = new Set(
  wordList(`
  title subtitle headline displayname displaytitle description shortdescription longdescription abstract summary synopsis
  note notes remark remarks caption alt alttext color colour biography bio excerpt keywords locale language
`),
);

/** Members that only contain others. */
const CONTAINERS = new Set(wordList('data attributes fields properties profile'));

/** A name that no server reads as a path or as another name. */
const PLAIN = /^[a-z][a-z0-9_-]{0,99}$/i;

const normalized = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');
const isDescribing = (name: string): boolean => PLAIN.test(name) && DESCRIBING.has(normalized(name));
const isContainer = (name: string): boolean => PLAIN.test(name) && CONTAINERS.has(normalized(name));

/** A location of the target document that the body writes, or takes in a copy. `at`: its JSON pointer in the staged bytes. */
export interface Place {
  readonly pointer: string;
  readonly at: string;
}

/** A member in the value of an operation of a JSON Patch. */
const IN_VALUE = /^\/body\/\d+\/value\//;

/** Everything that the body writes, down to the members without members. */
export function writtenPlaces({ method, body, writes, members }: HttpPatchFacts): readonly Place[] {
  const inBody = members.filter(({ at }) => at !== '/url');
  if (body === 'json-patch')
    return [
      ...writes.filter(({ changes, how }) => changes || how === 'copy'),
      ...inBody.filter(({ at }) => IN_VALUE.test(at)),
    ];
  // The whole document of a PUT is the question of another rule.
  const whole = method === 'PUT' ? [] : writes.filter(({ changes, pointer }) => changes && pointer === '');
  return [...whole, ...inBody.filter((member, i) => !contains(member, inBody[i + 1]))];
}

/** Whether the member has the next one in it. */
function contains({ pointer }: Member, next: Member | undefined): boolean {
  return next !== undefined && next.pointer.length > pointer.length && next.pointer.startsWith(`${pointer}/`);
}

/** The places that neither only describe the resource nor are at or below one of `fields`. */
export function unlistedPlaces(places: readonly Place[], fields: readonly string[]): readonly Place[] {
  const listed = fields.map((pointer) => tokensOf(pointer) ?? []);
  const describes = oncePerName(isDescribing);
  const holds = oncePerName(isContainer);
  const isPlain = (tokens: readonly string[]): boolean => {
    const names = tokens.filter((token) => !INDEX.test(token));
    const last = names.at(-1);
    return last !== undefined && describes(last) && names.slice(0, -1).every(holds);
  };
  return places.filter(({ pointer }) => {
    const tokens = tokensOf(pointer) ?? [];
    return !isPlain(tokens) && !listed.some((field) => isBelow(field, tokens));
  });
}

const INDEX = /^(?:-|\d{1,6})$/;

function isBelow(pointer: readonly string[], tokens: readonly string[]): boolean {
  return tokens.length >= pointer.length && pointer.every((token, i) => token === '*' || token === tokens[i]);
}
