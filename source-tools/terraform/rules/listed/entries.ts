import { wordList } from '../../../../policy/text/word-list';
import { CHECKS } from './checks';
import { hasNextVersion, oneOf, type Condition } from './conditions';

/**
 * What one provider lists, as words. An attribute is listed only if a change of it is harmless, or if another rule of this pack
 * reads it. It covers everything below it. Names of nested attributes are joined by dots, without positions in lists.
 *
 * - `name`: any value.
 * - `name+`: only for a new resource, which has nothing to lose yet.
 * - `name?`: only if the configuration does not set it, so that the provider computes it.
 * - `name=a|b*|1..9`: only these values, texts that match, or numbers in this range and not under half of the number before. `*`
 *   matches anything but a slash, `**` anything. Of a list, each item. Not a value of which a part is not known before apply.
 * - `name+=values`: only these values, and only for a new resource.
 * - `name:check`: only what this check of `checks.ts` accepts.
 * - `name~`: an image of which only the version or digest changes.
 * - `name!`: a new resource must set it. Other words list its values.
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

/** The listed attributes of one type. */
export interface ListedType {
  readonly conditions: ReadonlyMap<string, readonly Condition[]>;
  /** Names above a listed nested attribute. */
  readonly parents: ReadonlySet<string>;
  /** Attributes that a new resource must set. */
  readonly required: readonly string[];
}

export function listedType(words: string): ListedType {
  const conditions = new Map<string, Condition[]>();
  const parents = new Set<string>();
  const required: string[] = [];
  for (const word of wordList(words)) {
    if (/^[a-z0-9_]+!$/.test(word)) {
      required.push(word.slice(0, -1));
      continue;
    }
    const { name, condition } = readWord(word);
    conditions.set(name, [...(conditions.get(name) ?? []), condition]);
    for (let end = name.indexOf('.'); end !== -1; end = name.indexOf('.', end + 1)) parents.add(name.slice(0, end));
  }
  return { conditions, parents, required };
}

const WORD = /^([a-z0-9_]+(?:\.[a-z0-9_]+)*)(?:([?~])|(\+)?(?:=(\S+)|:([a-z_]+))?)$/;

function readWord(word: string): { readonly name: string; readonly condition: Condition } {
  const [, name, sign, create, values, check] = WORD.exec(word) ?? [];
  if (name === undefined)
    throw new TypeError(`Expected name, name+, name?, name~, name!, name=values or name:check, got ${word}`);
  if (sign === '?') return { name, condition: ({ leftToProvider }) => leftToProvider };
  if (sign === '~') return { name, condition: hasNextVersion };
  const holds = values === undefined ? checkOf(check, word) : oneOf(values.split('|'));
  return { name, condition: create === undefined ? holds : (setting) => setting.creates && holds(setting) };
}

function checkOf(name: string | undefined, word: string): Condition {
  if (name === undefined) return () => true;
  const check = CHECKS.get(name);
  if (check === undefined) throw new TypeError(`Expected a check of checks.ts, got ${word}`);
  return check;
}
