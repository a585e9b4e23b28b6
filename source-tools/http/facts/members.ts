import { isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import { arrayIndex, pointerOf, tokensOf } from '../../../policy/text/json-pointer';
import { refuse } from '../../../policy/text/refusal';
import type { HttpPatchFacts, HttpUrl, Link, Member, WrittenValue, Write } from './http-facts';
import { readUrl } from './url';
import { valueKind } from './value-kind';

/** Maximum total length of all stored pointers, because long names in deep documents multiply. */
const MAX_POINTER_CHARACTERS = 4_000_000;
const MAX_LINKS = 5000;
/** Two slashes, with or without schemes before them. The schemes of the web also start a URL without slashes. */
const URL_START = /^(?:(?<scheme>(?:[a-z][a-z0-9+.-]*:)+)?[/\\]{2}|(?<web>(?:https?|wss?|ftp):))/i;
const BARE_HOST =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\]|localhost|[a-z0-9.-]{1,100}\.(?:internal|local|localhost))(?::\d{1,5})?(?:[/?#]|$)/i;

/** Collects the named members, the values without members and the URLs of written values. */
export class Members {
  readonly #members: Member[] = [];
  readonly #links: Link[] = [];
  readonly #values: WrittenValue[] = [];
  /** Locations that operations in the values write. */
  readonly writes: Write[] = [];
  /** Parsed URLs by text, because a long patch may repeat one. */
  readonly #urls = new Map<string, HttpUrl | null>();
  #longest = 0;
  #characters = 0;

  facts(): Pick<HttpPatchFacts, 'members' | 'values' | 'links' | 'longestArray'> {
    return { members: this.#members, values: this.#values, links: this.#links, longestArray: this.#longest };
  }

  /** Collects every name in the path of an operation: `/user/role` names `role` just as a value does. */
  named(path: readonly string[], at: string): void {
    path.forEach((name, i) => {
      if (arrayIndex(name) === null && name !== '-')
        this.#push({ name, pointer: pointerOf(path.slice(0, i + 1)), at, length: null });
    });
  }

  member(name: string, path: readonly string[], at: readonly string[], value: JsonValue): void {
    const length = Array.isArray(value) ? value.length : null;
    this.#longest = Math.max(this.#longest, length ?? 0);
    this.#push({ name, pointer: pointerOf(path), at: pointerOf(at), length });
  }

  /** Collects all members, values and URLs of the value at any depth. */
  collect(value: JsonValue, path: readonly string[], at: readonly string[]): void {
    const kind = valueKind(value);
    if (kind !== null) this.#value(kind, path, at);
    if (typeof value === 'string') return this.#link(value, path, at);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return this.#items(value, path, at);
    if (isJsonObject(value)) this.operation(value, at);
    for (const [key, member] of Object.entries(value)) {
      this.member(key, [...path, key], [...at, key], member);
      this.collect(member, [...path, key], [...at, key]);
    }
  }

  /** Collects what the object writes if it is an operation of a patch inside of another body, as in SCIM (RFC 7644). */
  operation(value: JsonObject, at: readonly string[]): void {
    const { op } = value;
    if (typeof op !== 'string' || op === 'test') return;
    for (const key of ['path', 'from']) {
      const target = value[key];
      if (typeof target !== 'string') continue;
      const tokens = tokensOf(target) ?? [target];
      const place = pointerOf([...at, key]);
      this.named(tokens, place);
      this.#count(place.length);
      // Which operation a service understands, and whether it shifts items, is not known.
      this.writes.push({ how: 'set', changes: true, pointer: pointerOf(tokens), at: place, shifts: true });
    }
  }

  /** Items without members count as values of the array, once for each kind. */
  #items(items: readonly JsonValue[], path: readonly string[], at: readonly string[]): void {
    this.#longest = Math.max(this.#longest, items.length);
    const kinds = new Set<WrittenValue['kind']>();
    for (const [i, item] of items.entries()) {
      const kind = valueKind(item);
      const [itemPath, itemAt] = [
        [...path, String(i)],
        [...at, String(i)],
      ];
      if (kind === null) this.collect(item, itemPath, itemAt);
      else if (!kinds.has(kind)) {
        kinds.add(kind);
        this.#value(kind, path, at);
      }
      if (typeof item === 'string') this.#link(item, itemPath, itemAt);
    }
  }

  #value(kind: WrittenValue['kind'], path: readonly string[], at: readonly string[]): void {
    const value = { kind, pointer: pointerOf(path), at: pointerOf(at) };
    this.#count(value.pointer.length + value.at.length);
    this.#values.push(value);
  }

  #push(member: Member): void {
    this.#count(member.pointer.length + member.at.length);
    this.#members.push(member);
  }

  #link(value: string, path: readonly string[], at: readonly string[]): void {
    // As URL parsers do.
    const text = value.replaceAll(/[\t\n\r]/g, '').replace(/^[\s\p{Cc}]+/u, '');
    const start = URL_START.exec(text);
    if (start === null && !BARE_HOST.test(text)) return;
    const scheme = start?.groups?.['scheme'] ?? start?.groups?.['web'];
    let url = this.#urls.get(text);
    if (url === undefined) {
      url = readUrl(start === null ? `http://${text}` : scheme === undefined ? `http:${text}` : text);
      this.#urls.set(text, url);
    }
    if (this.#links.length >= MAX_LINKS)
      refuse('too_many_entries', 'The values of the request have too many URLs', null);
    const name = path.findLast((token) => arrayIndex(token) === null && token !== '-') ?? '';
    const pointer = pointerOf(at);
    this.#count(pointer.length);
    this.#links.push({ name, at: pointer, url, hasScheme: start !== null });
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_POINTER_CHARACTERS)
      refuse('too_many_entries', 'The member names of the document are too many or too long', null);
  }
}
