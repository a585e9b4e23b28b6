import { z } from 'zod';
import { factsRules } from '../../../policy/rules/rule-maker';
import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import type { HttpPatchFacts } from '../facts/http-facts';
import { HTTP_PACK } from '../facts/http-parser';
import { normalizedName } from '../facts/private-names';

export const httpRule = factsRules<HttpPatchFacts>(HTTP_PACK);

/** A staged request for examples: a PATCH with `If-Match`, overridden by `change`. */
export function request(change: Readonly<Record<string, unknown>> = {}): string {
  const base = {
    method: 'PATCH',
    url: 'https://api.example.com/v1/orders/17',
    contentType: 'application/json-patch+json',
    headers: { 'If-Match': '"7"' },
    body: [{ op: 'replace', path: '/note', value: 'ring twice' }],
  };
  return `${JSON.stringify({ ...base, ...change }, null, 2)}\n`;
}

export const MERGE = 'application/merge-patch+json';

const Names = z.array(z.string().min(1).max(200)).max(500);

/** Settings of a rule that looks for names. `what` and `also` describe the two settings. */
export const namesConfig = (names: readonly string[], what: string, also: string) =>
  z.strictObject({
    names: Names.default([...names]).describe(what),
    also: Names.default([]).describe(also),
  });

/** All names of such settings, in the form that `normalizedName` returns. */
export const namesOf = memoizeByObject(
  ({ names, also }: z.infer<ReturnType<typeof namesConfig>>): ReadonlySet<string> =>
    new Set([...names, ...also].map(normalizedName)),
);

/** The test, computed once for each name, because the same names occur in every operation of a long patch. */
export function oncePerName(test: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const is = test(name);
    known.set(name, is);
    return is;
  };
}

/** Without the dots and spaces at the end, which some servers drop. A loop, because a pattern for the end takes quadratic time. */
export function withoutFinalDots(segment: string): string {
  let { length } = segment;
  while (length > 0 && '. '.includes(segment.charAt(length - 1))) length--;
  return segment.slice(0, length);
}

/** Setting of a rule: internal hosts that `what` may name. */
export const allowedHosts = (what: string) => z.array(z.string().min(1).max(253)).max(200).default([]).describe(what);

/** Whether an entry is the host, or `*.` and a parent domain of it. Ignores case; the host must be in lower case. */
export function coversHost(entries: readonly string[], host: string): boolean {
  return entries.some((entry) => {
    const lower = entry.toLowerCase();
    return lower.startsWith('*.') ? host.endsWith(lower.slice(1)) : lower === host;
  });
}

/** A JSON pointer of the diff as it appears in a reason. */
export function formatPointer(pointer: string): string {
  return pointer === '' ? 'the whole document' : shown(pointer.slice(0, 300));
}
