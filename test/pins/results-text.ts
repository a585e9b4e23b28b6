import { createHash } from 'node:crypto';
import type { Results } from './evaluate-input';

/** JSON with sorted keys that also distinguishes values that JSON omits or merges. */
export function resultText(value: unknown): string {
  if (value === undefined) return '"<undefined>"';
  if (typeof value === 'bigint') return `"<bigint ${value}>"`;
  if (typeof value === 'function') return '"<function>"';
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return `"<number ${Object.is(value, -0) ? '-0' : value}>"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(resultText).join(',')}]`;
  if (value instanceof Uint8Array) return `"<bytes ${Buffer.from(value).toString('base64')}>"`;
  if (value instanceof Map) return `{"<map>":${resultText([...value])}}`;
  if (value instanceof Set) return `{"<set>":${resultText([...value])}}`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${resultText(member)}`).join(',')}}`;
}

/** The results of these names, or of all. */
export function chosen(results: Results, only: readonly string[] | null): Results {
  return only === null ? results : Object.fromEntries(Object.entries(results).filter(([name]) => only.includes(name)));
}

/** The results without members of these names, at every depth. */
export function withoutMembers(results: Results, names: ReadonlySet<string>): Results {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, member]) => (names.has(key) ? [] : [[key, strip(member)] as const])),
    );
  };
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, strip(result)]));
}

export const digestOf = (results: Results): string => createHash('sha256').update(resultText(results)).digest('hex');

export interface Difference {
  readonly name: string;
  readonly base: string;
  readonly now: string;
}

/** What differs between two results for one input, by the name of the pin. */
export function differencesBetween(base: Results, now: Results): readonly Difference[] {
  const names = [...new Set([...Object.keys(base), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    const difference = { name, base: resultText(base[name]), now: resultText(now[name]) };
    return difference.base === difference.now ? [] : [difference];
  });
}
