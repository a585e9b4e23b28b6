import { factsRules } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import type { HttpPatchFacts } from '../facts/http-facts';
import { HTTP_PACK } from '../facts/http-parser';

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

/** A JSON pointer of the diff as it appears in a reason. */
export function formatPointer(pointer: string): string {
  return pointer === '' ? 'the whole document' : shown(pointer.slice(0, 300));
}
