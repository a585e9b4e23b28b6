import type { JsonValue } from '../../../../policy/contracts/canonical-json';
import { wordList } from '../../../../policy/text/word-list';
import { textsOf } from '../values';

/**
 * What one provider lists, as words. An attribute is listed only if a change of it is harmless, or if another rule of this pack
 * reads it. It covers everything below it. Names of nested attributes are joined by dots, without positions in lists.
 *
 * - `name`: any value.
 * - `name+`: only for a new resource, which has nothing to lose yet.
 * - `name?`: only if the configuration does not set it, so that the provider computes it.
 * - `name=a|b*|1..9`: only these values, texts that begin like this, or numbers in this range. Of a list, each item.
 * - `name~`: an image of which only the tag or digest changes.
 */
export interface ProviderTable {
  /** The last part of the addresses of the provider. */
  readonly names: readonly string[];
  /** Attributes of every type. */
  readonly common: string;
  readonly types: Readonly<Record<string, string>>;
  /** Data sources and ephemeral resources that only read or compute something. */
  readonly data: string;
}

/** What an attribute is after the change. `before` and `after` are null if there is no value or the plan hides it. */
export interface Setting {
  readonly creates: boolean;
  readonly leftToProvider: boolean;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

type Condition = (setting: Setting) => boolean;

/** The listed attributes of one type. */
export interface ListedType {
  readonly conditions: ReadonlyMap<string, readonly Condition[]>;
  /** Names above a listed nested attribute. */
  readonly parents: ReadonlySet<string>;
}

export function listedType(words: string): ListedType {
  const conditions = new Map<string, Condition[]>();
  const parents = new Set<string>();
  for (const word of wordList(words)) {
    const { name, condition } = readWord(word);
    conditions.set(name, [...(conditions.get(name) ?? []), condition]);
    for (let end = name.indexOf('.'); end !== -1; end = name.indexOf('.', end + 1)) parents.add(name.slice(0, end));
  }
  return { conditions, parents };
}

const WORD = /^([a-z0-9_]+(?:\.[a-z0-9_]+)*)(?:([+?~])|=(\S+))?$/;

function readWord(word: string): { readonly name: string; readonly condition: Condition } {
  const [, name, sign, values] = WORD.exec(word) ?? [];
  if (name === undefined) throw new TypeError(`Expected name, name+, name?, name~ or name=values, got ${word}`);
  return { name, condition: values === undefined ? conditionOf(sign) : oneOf(values.split('|')) };
}

function conditionOf(sign: string | undefined): Condition {
  switch (sign) {
    case '+':
      return ({ creates }) => creates;
    case '?':
      return ({ leftToProvider }) => leftToProvider;
    case '~':
      return ({ before, after }) =>
        typeof before === 'string' && typeof after === 'string' && repositoryOf(before) === repositoryOf(after);
    default:
      return () => true;
  }
}

/** An image without its tag and digest. A colon before a slash belongs to the port of a registry. */
function repositoryOf(image: string): string {
  const [name = ''] = image.split('@');
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name;
}

function oneOf(values: readonly string[]): Condition {
  const tests = values.map(valueTest);
  return ({ after }) => {
    const items = Array.isArray(after) ? textsOf(after) : [after];
    const isComplete = !Array.isArray(after) || items.length === after.length;
    return isComplete && items.length > 0 && items.every((item) => tests.some((test) => test(item)));
  };
}

function valueTest(text: string): (value: JsonValue) => boolean {
  const [from = '', to] = text.split('..');
  if (to !== undefined) {
    const most = to === '' ? Number.MAX_VALUE : Number(to);
    return (value) => isNumber(value) && Number(value) >= Number(from) && Number(value) <= most;
  }
  if (text.endsWith('*')) return (value) => typeof value === 'string' && value.startsWith(text.slice(0, -1));
  return (value) => value !== null && typeof value !== 'object' && String(value) === text;
}

/** Whether a value is a number, or the text of one, as some providers write them. */
function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value));
}
